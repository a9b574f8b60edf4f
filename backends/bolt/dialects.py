"""Every server that speaks Bolt here, by name and by the scheme of its locations."""

from __future__ import annotations

from alma_graph.backends.bolt.dialect import NEO4J, Dialect
from alma_graph.backends.bolt.memgraph import MEMGRAPH

SCHEMES: dict[str, Dialect] = {"bolt": NEO4J, "neo4j": NEO4J, "memgraph": MEMGRAPH}
"""The engine that each scheme of a location names."""

BOLT_DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (NEO4J, MEMGRAPH)}
