"""The graph arm: from the best memories along entities, and along SUPPORTS and INHERITS_FROM, to what no word reaches.

Best-path spread (RETRIEVAL's part B): memory -> entity -> memory, two rounds. A path's worth is the product along it
and a memory gets its best path, not the sum: sums reward near-copies that share many entities, and shares of a degree
(as in PageRank) let rich memories lead nowhere. Hubs are damped by idf, by a cap on their degree, and by their
popularity where the memory only mentions them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alma_graph.index.dense import top_rows
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


@dataclass(frozen=True, slots=True)
class Step:
    """How a row was reached: from which row, by which edge, over which entity (its number, for MENTIONS)."""

    source: int
    edge: str
    entity: int | None = None


@dataclass(slots=True)
class Spread:
    """Worth of the best path to every row, in [0, 1.5], and the last step of it."""

    values: Floats
    steps: dict[int, Step]


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
    total = np.zeros(len(front))
    steps: dict[int, Step] = {}
    current = np.where(allowed, front, 0.0)
    for round_number in range(ROUNDS):
        reached, came = _one_round(index, current, skipped, allowed)
        worth = reached * ROUND_DECAY**round_number
        better = np.flatnonzero(worth > total)
        for row in better.tolist():
            steps[row] = came[row]
        total[better] = worth[better]
        current = np.minimum(reached, 1.5)
        if not current.any():
            break
    return Spread(total, steps) if total.any() else None


def _one_round(
    index: ProjectIndex, front: Floats, skipped: set[int], allowed: npt.NDArray[np.bool_]
) -> tuple[Floats, dict[int, Step]]:
    out = np.zeros(len(front))
    came: dict[int, Step] = {}
    seeds = [row for row in top_rows(front, None, SEEDS).tolist() if front[row] > 0]
    cap = max(20, min(300, int(0.02 * len(index))))
    frequencies = index.entities.frequencies
    reaches: dict[int, tuple[npt.NDArray[np.int64], Floats]] = {}
    for seed in seeds:
        codes, salience = index.entities.mentioned_by(seed)
        degree = frequencies[codes]
        open_ = (degree >= 2) & (degree <= cap) & (salience < SUBJECT)
        codes, degree = codes[open_], degree[open_]
        worth = front[seed] * entity_idf(index, degree)
        order = np.argsort(-worth, kind="stable")[:MAX_ENTITIES]
        rows_found: list[npt.NDArray[np.int64]] = []
        values_found: list[Floats] = []
        via: list[npt.NDArray[np.int64]] = []
        for code, value in zip(codes[order].tolist(), worth[order].tolist(), strict=True):
            if code in skipped:
                continue
            if code not in reaches:
                rows, weight = index.entities.mentioning(code)
                fallback = FLOOR / max(1, int(frequencies[code]) - 1) ** DAMPING
                reaches[code] = rows.astype(np.int64), np.maximum(weight, fallback).astype(np.float64)
            rows, share = reaches[code]
            rows_found.append(rows)
            values_found.append(value * share)
            via.append(np.full(len(rows), code))
        if rows_found:
            rows, values = np.concatenate(rows_found), np.concatenate(values_found)
            _keep_best(out, came, seed, allowed, rows=rows, values=values, via=np.concatenate(via))
        for edge in index.edges.of(seed):
            other = edge.target if edge.source == seed else edge.source
            share = EDGE_SHARE.get((edge.type, edge.source == seed))
            if share is None or not edge.counts or not allowed[other]:
                continue
            value = front[seed] * share * min(max(edge.weight, 0.0), 1.0)
            if value > out[other]:
                out[other] = value
                came[other] = Step(seed, edge.type)
    return out, came


def _keep_best(
    out: Floats,
    came: dict[int, Step],
    seed: int,
    allowed: npt.NDArray[np.bool_],
    *,
    rows: npt.NDArray[np.int64],
    values: Floats,
    via: npt.NDArray[np.int64],
) -> None:
    keep = (rows != seed) & allowed[rows] & (values > out[rows])
    rows, values, via = rows[keep], values[keep], via[keep]
    order = np.argsort(values, kind="stable")
    for at in order.tolist():  # the best comes last
        came[int(rows[at])] = Step(seed, "MENTIONS", int(via[at]))
    np.maximum.at(out, rows, values)
