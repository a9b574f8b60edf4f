"""The one order of nodes and edges that were read, the same on every engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import Column
from alma_graph.clock import to_micros


def edge_order(edge: EdgeRow) -> tuple[Any, ...]:
    """Sort key: source, target, labels, then the properties, so that parallel edges have one order too."""
    properties = tuple((name, _plain(edge.properties[name])) for name in sorted(edge.properties))
    return (edge.source, edge.target, edge.source_label or "", edge.target_label or "", properties)


def in_order_of_keys(
    found: Mapping[str, Row], keys: Iterable[str], columns: Sequence[Column], project_id: str | None
) -> list[Row]:
    """These columns of the rows that were found, in the order of the keys, each once; of one project, whose column the
    rows then have."""
    names = [column.name for column in columns]
    return [
        {name: found[key][name] for name in names}
        for key in dict.fromkeys(keys)
        if key in found and (project_id is None or found[key]["project_id"] == project_id)
    ]


def between(edges: Iterable[EdgeRow], sources: Iterable[str] | None, targets: Iterable[str] | None) -> list[EdgeRow]:
    """The edges out of these sources and into these targets (None: any), in order."""
    from_set = None if sources is None else set(sources)
    to_set = None if targets is None else set(targets)
    kept = (
        edge
        for edge in edges
        if (from_set is None or edge.source in from_set) and (to_set is None or edge.target in to_set)
    )
    return sorted(kept, key=edge_order)


def _plain(value: Any) -> tuple[int, float, str]:
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, datetime):
        return (1, float(to_micros(value)), "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (2, 0.0, str(value))
