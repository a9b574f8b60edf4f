"""The one order of edges, the same on every engine."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from alma_graph.backends.protocol import EdgeRow
from alma_graph.clock import to_micros


def edge_order(edge: EdgeRow) -> tuple[Any, ...]:
    """Sort key: source, target, labels, then the properties, so that parallel edges have one order too."""
    properties = tuple((name, _plain(edge.properties[name])) for name in sorted(edge.properties))
    return (edge.source, edge.target, edge.source_label or "", edge.target_label or "", properties)


def _plain(value: Any) -> tuple[int, float, str]:
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, datetime):
        return (1, float(to_micros(value)), "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (2, 0.0, str(value))
