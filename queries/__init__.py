"""Named Cypher."""
