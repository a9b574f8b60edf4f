"""Whether a graph is whole: asked of any backend through the protocol alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

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


class FaultKind(StrEnum):
    """What can be wrong with a graph."""

    META = "meta"
    VERSION = "version"
    KEYS = "keys"
    COUNTS = "counts"
    NO_VECTOR = "no vector"
    BAD_VECTOR = "bad vector"
    DANGLING_EDGE = "dangling edge"
    ORPHAN_ENTITY = "orphan entity"
    WRONG_OWNER = "wrong owner"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        kind: what it is.
        text: it in words, without the names.
        where: the label or the edge type.
        keys: the nodes it is about, sorted as they were read.
        edges: the edges it is about.
    """

    kind: FaultKind
    text: str
    where: str = ""
    keys: tuple[str, ...] = ()
    edges: tuple[EdgeRow, ...] = ()

    @property
    def count(self) -> int:
        """How many nodes or edges it is about; 1 where it is about none in particular."""
        return max(1, len(self.keys) + len(self.edges))

    def __str__(self) -> str:
        names = [repr(key) for key in self.keys] or [repr(f"{edge.source} -> {edge.target}") for edge in self.edges]
        if not names:
            return self.text
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"{self.text}: {', '.join(names[:_SHOWN])}{more}"


def graph_problems(backend: Readable) -> list[str]:
    """What is wrong with the graph, one line each; empty is well. See `graph_faults`."""
    return [str(fault) for fault in graph_faults(backend)]


def graph_faults(backend: Readable) -> list[Fault]:
    """What is wrong with the graph; empty is well.

    Checked: one Meta node of a known version; keys are there once; every vector has the store's dimension, is finite
    and not zero, and is there where a memory has text; both ends of every edge exist; no entity without a mention or a
    relation; a memory's agent and its LEARNED edge agree.
    """
    meta = backend.meta()
    if meta is None:
        stray = [label for label in NODES if backend.count(label)]
        return [Fault(FaultKind.META, f"no Meta node, but nodes of {', '.join(stray)}", "Meta")] if stray else []
    faults: list[Fault] = []
    if backend.count("Meta") != 1:
        faults.append(Fault(FaultKind.META, f"{backend.count('Meta')} Meta nodes instead of one", "Meta"))
    if meta["schema_version"] != SCHEMA_VERSION:
        text = f"schema version {meta['schema_version']} instead of {SCHEMA_VERSION}"
        faults.append(Fault(FaultKind.VERSION, text, "Meta"))
    keys: dict[str, set[str]] = {}
    for label in NODES:
        found = [row["key"] for row in backend.nodes(label, columns=("key",))]
        keys[label] = set(found)
        if len(keys[label]) != len(found):
            text = f"{label}: {len(found) - len(keys[label])} keys are there more than once"
            faults.append(Fault(FaultKind.KEYS, text, label))
        if len(found) != (counted := backend.count(label)):
            faults.append(Fault(FaultKind.COUNTS, f"{label}: {len(found)} rows read, {counted} counted", label))
    faults += _vector_faults(backend, int(meta["dimension"]))
    edges = {edge_type: backend.edges(edge_type) for edge_type in EDGES}
    faults += _edge_faults(backend, edges, keys)
    faults += _orphan_entities(edges, keys["Entity"])
    faults += _owner_faults(backend, edges["LEARNED"])
    return faults


def of_nodes(kind: FaultKind, text: str, label: str, keys: list[str]) -> list[Fault]:
    """A fault of these nodes; none where there are none."""
    return [Fault(kind, text, label, keys=tuple(keys))] if keys else []


def of_edges(kind: FaultKind, text: str, edge_type: str, edges: list[EdgeRow]) -> list[Fault]:
    """A fault of these edges; none where there are none."""
    return [Fault(kind, text, edge_type, edges=tuple(edges))] if edges else []


def _vector_faults(backend: Readable, dimension: int) -> list[Fault]:
    import numpy as np

    faults: list[Fault] = []
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
        faults += of_nodes(FaultKind.NO_VECTOR, f"{label} without a vector", label, missing)
        faults += of_nodes(FaultKind.BAD_VECTOR, f"{label} with an unusable vector", label, wrong)
    return faults


def _edge_faults(backend: Readable, edges: dict[str, list[EdgeRow]], keys: dict[str, set[str]]) -> list[Fault]:
    faults: list[Fault] = []
    for edge_type, rows in edges.items():
        dangling = [
            edge
            for edge in rows
            if edge.source not in keys.get(edge.source_label or "", ())
            or edge.target not in keys.get(edge.target_label or "", ())
        ]
        text = f"{edge_type} with an end that does not exist"
        faults += of_edges(FaultKind.DANGLING_EDGE, text, edge_type, dangling)
        if len(rows) != (counted := backend.count(edge_type)):
            text = f"{edge_type}: {len(rows)} edges read, {counted} counted"
            faults.append(Fault(FaultKind.COUNTS, text, edge_type))
    return faults


def _orphan_entities(edges: dict[str, list[EdgeRow]], entities: set[str]) -> list[Fault]:
    used = {edge.target for edge in edges["MENTIONS"]}
    for edge in edges["RELATES_TO"]:
        used.update((edge.source, edge.target))
    return of_nodes(FaultKind.ORPHAN_ENTITY, "Entity that nothing mentions", "Entity", sorted(entities - used))


def _owner_faults(backend: Readable, learned: list[EdgeRow]) -> list[Fault]:
    names = {row["key"]: row["id"] for row in backend.nodes("Agent", columns=("key", "id"))}
    agents = {row["key"]: row["agent"] for row in backend.nodes("Memory", columns=("key", "agent"))}
    wrong = [edge for edge in learned if agents.get(edge.target) != names.get(edge.source)]
    return of_edges(FaultKind.WRONG_OWNER, "LEARNED from an agent that is not the memory's", "LEARNED", wrong)
