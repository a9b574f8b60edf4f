"""Whether a graph is whole: asked of any backend through the protocol alone."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import EDGES, NODES, SCHEMA_VERSION, ColumnType

_SHOWN = 5


class Readable(Protocol):
    """The part of a backend that is needed here."""

    def meta(self) -> Row | None:
        """The Meta row."""
        ...

    def nodes(self, label: str, *, columns: Any = None) -> list[Row]:
        """All rows of a label."""
        ...

    def edges(self, type: str) -> list[EdgeRow]:
        """All edges of a type."""
        ...

    def count(self, label_or_type: str) -> int:
        """How many there are."""
        ...


def graph_problems(backend: Readable) -> list[str]:
    """What is wrong with the graph, one line each; empty is well.

    Checked: one Meta node of a known version; keys are there once; every vector has the store's dimension, is finite
    and not zero, and is there where a memory has text; both ends of every edge exist; no entity without a mention or a
    relation; a memory's agent and its LEARNED edge agree.
    """
    meta = backend.meta()
    if meta is None:
        stray = [label for label in NODES if backend.count(label)]
        return [f"no Meta node, but nodes of {', '.join(stray)}"] if stray else []
    problems: list[str] = []
    if backend.count("Meta") != 1:
        problems.append(f"{backend.count('Meta')} Meta nodes instead of one")
    if meta["schema_version"] != SCHEMA_VERSION:
        problems.append(f"schema version {meta['schema_version']} instead of {SCHEMA_VERSION}")
    keys: dict[str, set[str]] = {}
    for label in NODES:
        found = [row["key"] for row in backend.nodes(label, columns=("key",))]
        keys[label] = set(found)
        if len(keys[label]) != len(found):
            problems.append(f"{label}: {len(found) - len(keys[label])} keys are there more than once")
        if len(found) != backend.count(label):
            problems.append(f"{label}: {len(found)} rows read, {backend.count(label)} counted")
    problems += _vector_problems(backend, int(meta["dimension"]))
    edges = {edge_type: backend.edges(edge_type) for edge_type in EDGES}
    problems += _edge_problems(backend, edges, keys)
    problems += _orphan_entities(edges, keys["Entity"])
    problems += _owner_problems(backend, edges["LEARNED"])
    return problems


def _named(what: str, found: list[str]) -> list[str]:
    if not found:
        return []
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return [f"{what}: {', '.join(repr(key) for key in found[:_SHOWN])}{more}"]


def _vector_problems(backend: Readable, dimension: int) -> list[str]:
    problems: list[str] = []
    for label, spec in NODES.items():
        if not any(column.type is ColumnType.VECTOR for column in spec.columns):
            continue
        has_text = any(column.name == "text" for column in spec.columns)
        missing: list[str] = []
        wrong: list[str] = []
        for row in backend.nodes(label, columns=("key", "embedding", *(("text",) if has_text else ()))):
            vector = row["embedding"]
            if vector is None:
                if not has_text or row["text"]:
                    missing.append(row["key"])
            elif vector.shape != (dimension,) or not np.isfinite(vector).all() or not vector.any():
                wrong.append(row["key"])
        problems += _named(f"{label} without a vector", missing)
        problems += _named(f"{label} with an unusable vector", wrong)
    return problems


def _edge_problems(backend: Readable, edges: dict[str, list[EdgeRow]], keys: dict[str, set[str]]) -> list[str]:
    problems: list[str] = []
    for edge_type, rows in edges.items():
        dangling = [
            f"{edge.source} -> {edge.target}"
            for edge in rows
            if edge.source not in keys.get(edge.source_label or "", ())
            or edge.target not in keys.get(edge.target_label or "", ())
        ]
        problems += _named(f"{edge_type} with an end that does not exist", dangling)
        if len(rows) != backend.count(edge_type):
            problems.append(f"{edge_type}: {len(rows)} edges read, {backend.count(edge_type)} counted")
    return problems


def _orphan_entities(edges: dict[str, list[EdgeRow]], entities: set[str]) -> list[str]:
    used = {edge.target for edge in edges["MENTIONS"]}
    for edge in edges["RELATES_TO"]:
        used.update((edge.source, edge.target))
    return _named("Entity that nothing mentions", sorted(entities - used))


def _owner_problems(backend: Readable, learned: list[EdgeRow]) -> list[str]:
    names = {row["key"]: row["id"] for row in backend.nodes("Agent", columns=("key", "id"))}
    agents = {row["key"]: row["agent"] for row in backend.nodes("Memory", columns=("key", "agent"))}
    wrong = [
        f"{names.get(edge.source)} -> {edge.target}"
        for edge in learned
        if agents.get(edge.target) != names.get(edge.source)
    ]
    return _named("LEARNED from an agent that is not the memory's", wrong)
