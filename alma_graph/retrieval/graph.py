"""The graph arm: from the best memories along entities, and along SUPPORTS and INHERITS_FROM, to what no word reaches.

Best-path spread (RETRIEVAL's part B): memory -> entity -> memory, two rounds. A path's worth is the product along it
and a memory gets its best path, not the sum: sums reward near-copies that share many entities, and shares of a degree
(as in PageRank) let rich memories lead nowhere. Hubs are damped by idf, by a cap on their degree, and by their
popularity where the memory only mentions them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.dense import top_rows
from alma_graph.index.edges import MEMORY_EDGES
from alma_graph.index.project import ProjectIndex
from alma_graph.retrieval.arms import entity_idf
from alma_graph.retrieval.query import NamedEntity

Floats = npt.NDArray[np.float64]

SEEDS = 8
"""Memories that are expanded in each round."""
ROUNDS = 2
ROUND_DECAY = 0.8
FLOOR = 0.7
DAMPING = 0.33
"""A memory that only mentions an entity is reached with `FLOOR / (df - 1) ** DAMPING`, one that is about it with 1."""
SUBJECT = 0.99
"""From this salience on a memory is about the entity; its own subject leads nowhere new."""
MAX_ENTITIES = 24
"""Most telling entities of one memory that are followed."""
EDGE_SHARE = {
    ("SUPPORTS", True): 0.6,
    ("SUPPORTS", False): 0.2,
    ("INHERITS_FROM", True): 0.3,
    ("INHERITS_FROM", False): 0.6,
}
"""What an edge of weight 1 passes on, along it (True) and against it: much from evidence to the lesson that rests on it
and from a source to what was derived from it, little back."""


_SHARES = np.array([[EDGE_SHARE.get((name, along), 0.0) for along in (False, True)] for name in MEMORY_EDGES])
"""The same by place in `MEMORY_EDGES` and direction; 0 where nothing is passed on."""

_Reaches = dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]
"""Entity -> the rows that mention it and how well each is reached from it."""

_VIA_EDGE = {"SUPPORTS": -2, "INHERITS_FROM": -3}
_EDGE_OF_VIA = {code: name for name, code in _VIA_EDGE.items()}


@dataclass(frozen=True, slots=True)
class Step:
    """How a row was reached: from which row, by which edge, over which entity (its number, for MENTIONS)."""

    source: int
    edge: str
    entity: int | None = None


@dataclass(slots=True)
class _Paths:
    """Bundles of paths, each from one row over one entity or edge to several rows."""

    sources: list[int]
    via: list[int]
    worth: list[float]
    rows: list[npt.NDArray[Any]]
    shares: list[npt.NDArray[Any]]

    def add(self, source: int, via: int, worth: float, rows: npt.NDArray[Any], shares: npt.NDArray[Any]) -> None:
        """One bundle: `worth` at its start, `shares` of it arrive. `via`: an entity's number or one of `_VIA_EDGE`."""
        self.sources.append(source)
        self.via.append(via)
        self.worth.append(worth)
        self.rows.append(rows)
        self.shares.append(shares)


class Spread:
    """Worth of the best path to every row, in [0, 1.5], and the last step of it.

    Attributes:
        values: (rows,) the worth, relative to the best of the first ranking.
        span: evidence that a worth of 1 stands for; set by the fusion.
    """

    def __init__(self, size: int) -> None:
        self.values = np.zeros(size)
        self.span = 1.0
        self._source = np.full(size, -1)
        self._via = np.full(size, -1)

    def step(self, row: int) -> Step | None:
        """How a row was reached; None where no path leads to it."""
        if self._source[row] < 0:
            return None
        via = int(self._via[row])
        if via < 0:
            return Step(int(self._source[row]), _EDGE_OF_VIA[via])
        return Step(int(self._source[row]), "MENTIONS", via)

    def reach(self, paths: _Paths, allowed: npt.NDArray[np.bool_]) -> None:
        """Takes over the best path to each row; to be called once."""
        if not paths.rows:
            return
        sizes = [len(rows) for rows in paths.rows]
        rows = np.concatenate(paths.rows)
        values = np.repeat(paths.worth, sizes) * np.concatenate(paths.shares)
        source, via = np.repeat(paths.sources, sizes), np.repeat(paths.via, sizes)
        keep = np.flatnonzero(allowed[rows] & (rows != source))
        np.maximum.at(self.values, rows[keep], values[keep])
        best = keep[values[keep] == self.values[rows[keep]]]  # of equal paths to a row the last one written stays
        self._source[rows[best]], self._via[rows[best]] = source[best], via[best]

    def take_over(self, other: Spread, decay: float) -> None:
        """Takes over what another round reached by a better path."""
        better = np.flatnonzero(other.values * decay > self.values)
        self.values[better] = other.values[better] * decay
        self._source[better], self._via[better] = other._source[better], other._via[better]


def spread(
    index: ProjectIndex, front: Floats, named: tuple[NamedEntity, ...], allowed: npt.NDArray[np.bool_]
) -> Spread | None:
    """Spreads from the best rows of a first ranking.

    Args:
        front: the first ranking, scaled so that its best is 1.
        named: entities of the query; memories about them were found already, so no path goes over them.
        allowed: rows that may be passed and reached.

    Returns:
        None where no edge leads anywhere.
    """
    if not len(index.entities) and not len(index.edges):
        return None
    skipped = {entity.code for entity in named if entity.words > 1}
    total = Spread(len(front))
    current = np.where(allowed, front, 0.0)
    reaches: _Reaches = {}
    for round_number in range(ROUNDS):
        reached = _one_round(index, current, skipped, allowed, reaches)
        total.take_over(reached, ROUND_DECAY**round_number)
        current = np.minimum(reached.values, 1.5)
        if not current.any():
            break
    return total if total.values.any() else None


def _one_round(
    index: ProjectIndex, front: Floats, skipped: set[int], allowed: npt.NDArray[np.bool_], reaches: _Reaches
) -> Spread:
    paths = _Paths([], [], [], [], [])
    cap = max(20, min(300, int(0.02 * len(index))))
    frequencies = index.entities.frequencies
    for seed in top_rows(front, None, SEEDS, index.rows.ties).tolist():
        codes, salience = index.entities.mentioned_by(seed)
        if len(codes):
            degree = frequencies[codes]
            open_ = (degree >= 2) & (degree <= cap) & (salience < SUBJECT)
            codes = codes[open_]
            worth = front[seed] * entity_idf(index, degree[open_])
            order = np.lexsort((index.entities.ties[codes], -worth))[:MAX_ENTITIES]
            for code, value in zip(codes[order].tolist(), worth[order].tolist(), strict=True):
                if code in skipped:
                    continue
                if code not in reaches:
                    rows, weight = index.entities.mentioning(code)
                    fallback = FLOOR / max(1, int(frequencies[code]) - 1) ** DAMPING
                    reaches[code] = rows, np.maximum(weight, fallback)
                paths.add(seed, code, value, *reaches[code])
        edges = index.edges.at(seed)
        if len(edges.others):
            share = _SHARES[edges.types, edges.outgoing.view(np.int8)]
            passing = np.flatnonzero(edges.counts & (share > 0))
            passing = passing[np.argsort(edges.types[passing], kind="stable")]
            types = edges.types[passing]
            cuts = [0, *(np.flatnonzero(types[1:] != types[:-1]) + 1).tolist(), len(passing)]
            for run in (passing[start:end] for start, end in pairwise(cuts) if end > start):
                via = _VIA_EDGE[MEMORY_EDGES[edges.types[run[0]]]]
                strength = share[run] * np.clip(edges.weights[run], 0.0, 1.0)
                paths.add(seed, via, float(front[seed]), edges.others[run], strength)
    found = Spread(len(front))
    found.reach(paths, allowed)
    return found
