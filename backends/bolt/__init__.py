"""Servers that speak Bolt and Cypher: Neo4j, and Memgraph as a dialect of it."""
