"""SUPPORTS, CONTRADICTS and INHERITS_FROM between memories, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alma_graph.backends.protocol import EdgeRow, Row

MEMORY_EDGES = ("SUPPORTS", "CONTRADICTS", "INHERITS_FROM")
_WEIGHT_PROPERTY = {"SUPPORTS": "weight", "CONTRADICTS": "score", "INHERITS_FROM": "trust"}
_CLOSED = frozenset({"both_true", "scope_difference"})


@dataclass(frozen=True, slots=True)
class MemoryEdge:
    """One typed edge, by memory rows.

    Attributes:
        weight: SUPPORTS' weight, CONTRADICTS' score, INHERITS_FROM's trust; 1 where the edge has none.
        disposition: of a contradiction, else None.
        retired: no longer believed.
        id: of a contradiction, else None.
    """

    type: str
    source: int
    target: int
    weight: float
    disposition: str | None = None
    retired: bool = False
    id: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the edge speaks for or against its target now."""
        return not self.retired and self.disposition not in _CLOSED


@dataclass(frozen=True, slots=True)
class EdgesAt:
    """The edges at one row as arrays, outgoing ones first.

    Attributes:
        others: (edges,) int64, the row at the other end.
        outgoing: (edges,) whether the row is the source.
        types: (edges,) int8, places in `MEMORY_EDGES`.
        weights: (edges,) float64, see `MemoryEdge`.
        counts: (edges,) see `MemoryEdge`.
    """

    others: npt.NDArray[np.int64]
    outgoing: npt.NDArray[np.bool_]
    types: npt.NDArray[np.int8]
    weights: npt.NDArray[np.float64]
    counts: npt.NDArray[np.bool_]


class MemoryEdges:
    """Edges by source and by target row."""

    def __init__(self) -> None:
        self._out: dict[int, list[MemoryEdge]] = {}
        self._in: dict[int, list[MemoryEdge]] = {}
        self._contradicted: dict[int, int] = {}
        self._arrays: dict[int, EdgesAt] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, edge: EdgeRow, source: int, target: int) -> None:
        """Adds an edge of the graph between two rows."""
        self._insert(_read(edge.type, edge.properties, source, target))

    def of(self, row: int) -> list[MemoryEdge]:
        """All edges at a row, outgoing first."""
        return [*self._out.get(row, ()), *self._in.get(row, ())]

    def at(self, row: int) -> EdgesAt:
        """All edges at a row as arrays, in the order of `of`; kept until one of them changes."""
        kept = self._arrays.get(row)
        if kept is None:
            edges = self.of(row)
            outgoing = [edge.source == row for edge in edges]
            others = [edge.target if out else edge.source for edge, out in zip(edges, outgoing, strict=True)]
            kept = self._arrays[row] = EdgesAt(
                others=np.array(others, dtype=np.int64),
                outgoing=np.array(outgoing, dtype=np.bool_),
                types=np.array([MEMORY_EDGES.index(edge.type) for edge in edges], dtype=np.int8),
                weights=np.array([edge.weight for edge in edges], dtype=np.float64),
                counts=np.array([edge.counts for edge in edges], dtype=np.bool_),
            )
        return kept

    def outgoing(self, row: int) -> list[MemoryEdge]:
        """Edges whose source is the row."""
        return list(self._out.get(row, ()))

    def incoming(self, row: int) -> list[MemoryEdge]:
        """Edges whose target is the row."""
        return list(self._in.get(row, ()))

    def contradicted_rows(self) -> Collection[int]:
        """Rows that are the target of any CONTRADICTS edge."""
        return self._contradicted.keys()

    def remove_memory(self, row: int) -> None:
        """Takes all edges at a row out."""
        for edge in self.of(row):
            self._drop(edge)

    def remove(self, matches: Callable[[MemoryEdge], bool], source: int | None, target: int | None) -> None:
        """Takes the edges out that match, looking only at the given ends where there are any."""
        for edge in self._candidates(source, target):
            if matches(edge):
                self._drop(edge)

    def update(
        self, matches: Callable[[MemoryEdge], bool], source: int | None, target: int | None, values: Row
    ) -> None:
        """Sets properties of the edges that match."""
        for edge in self._candidates(source, target):
            if not matches(edge):
                continue
            known = {
                _WEIGHT_PROPERTY[edge.type]: edge.weight,
                "disposition": edge.disposition,
                "retired_at": edge.retired or None,
                "id": edge.id,
            }
            self._drop(edge)
            self._insert(_read(edge.type, {**known, **values}, edge.source, edge.target))

    def _candidates(self, source: int | None, target: int | None) -> list[MemoryEdge]:
        if source is not None:
            return [edge for edge in self._out.get(source, ()) if target is None or edge.target == target]
        if target is not None:
            return list(self._in.get(target, ()))
        return [edge for edges in self._out.values() for edge in edges]

    def _insert(self, edge: MemoryEdge) -> None:
        self._arrays.pop(edge.source, None)
        self._arrays.pop(edge.target, None)
        self._out.setdefault(edge.source, []).append(edge)
        self._in.setdefault(edge.target, []).append(edge)
        if edge.type == "CONTRADICTS":
            self._contradicted[edge.target] = self._contradicted.get(edge.target, 0) + 1
        self._size += 1

    def _drop(self, edge: MemoryEdge) -> None:
        out = self._out.get(edge.source, [])
        if edge not in out:
            return
        out.remove(edge)
        self._arrays.pop(edge.source, None)
        self._arrays.pop(edge.target, None)
        self._in[edge.target].remove(edge)
        if edge.type == "CONTRADICTS":
            self._contradicted[edge.target] -= 1
            if not self._contradicted[edge.target]:
                del self._contradicted[edge.target]
        self._size -= 1


def _read(type_: str, properties: Row, source: int, target: int) -> MemoryEdge:
    weight = properties.get(_WEIGHT_PROPERTY[type_])
    disposition = properties.get("disposition")
    return MemoryEdge(
        type=type_,
        source=source,
        target=target,
        weight=1.0 if weight is None else float(weight),
        disposition=None if disposition is None else str(disposition),
        retired=properties.get("retired_at") is not None,
        id=properties.get("id"),
    )
