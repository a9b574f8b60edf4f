"""Graph stores behind one protocol: in memory, Ladybug, Kuzu."""

from __future__ import annotations

from alma_graph.backends.protocol import (
    Backend,
    Capabilities,
    EdgeMatch,
    EdgeRow,
    NodeUpdate,
    Result,
    Row,
    UnitOfWork,
)
from alma_graph.backends.registry import BACKENDS, create_backend, open_backend
from alma_graph.backends.schema import EDGES, NODES, SCHEMA_VERSION, node_key

__all__ = [
    "BACKENDS",
    "EDGES",
    "NODES",
    "SCHEMA_VERSION",
    "Backend",
    "Capabilities",
    "EdgeMatch",
    "EdgeRow",
    "NodeUpdate",
    "Result",
    "Row",
    "UnitOfWork",
    "create_backend",
    "node_key",
    "open_backend",
]
