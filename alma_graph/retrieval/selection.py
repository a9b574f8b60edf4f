"""Which of the ranked memories become hits: the best, each content once, lessons before the runs they sum up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from alma_graph.index.project import ProjectIndex
from alma_graph.retrieval.lessons import EXAMPLES, is_lesson, outcomes_of
from alma_graph.retrieval.weighing import Ranked

_FIRST = 256
"""Places that are sorted at first; few requests look further."""


def choose(index: ProjectIndex, ranked: Ranked, count: int) -> list[int]:
    """Places in `ranked` of the hits: by score, equal ones by id; a repeat of what was chosen already is passed over.

    Greedy, so the choice of k is the beginning of the choice of any larger k. Two memories repeat each other where
    kind, outcome and content hash are equal, whoever learned them. Nothing looser: "A calls B" and "B calls A" have the
    same words and nearly the same vector. Of the outcomes that a chosen lesson sums up, only the first few come along.
    """
    chosen: list[int] = []
    examples: dict[int, list[int]] = {}
    seen: set[tuple[object, ...]] = set()
    for place in in_order(index, ranked):
        row = int(ranked.rows[place])
        content = _content(index, row)
        if content in seen:
            continue
        left = examples.get(row)
        if left is not None:
            if not left[0]:
                continue
            left[0] -= 1
        seen.add(content)
        chosen.append(place)
        if is_lesson(index, row):
            shared = [EXAMPLES]
            for outcome in outcomes_of(index, row):
                examples.setdefault(outcome, shared)
        if len(chosen) == count:
            break
    return chosen


def in_order(index: ProjectIndex, ranked: Ranked) -> Iterator[int]:
    """Places by falling score, equal scores by id; sorted no further than they are asked for."""
    edge = -np.inf
    if len(ranked.score) > _FIRST:
        edge = np.partition(ranked.score, -_FIRST)[-_FIRST]
    front = ranked.score >= edge
    for places in (np.flatnonzero(front), np.flatnonzero(~front)):
        yield from _sorted_places(index, ranked, places)


def _sorted_places(index: ProjectIndex, ranked: Ranked, places: npt.NDArray[np.int64]) -> Iterator[int]:
    order = places[np.argsort(-ranked.score[places], kind="stable")]
    start = 0
    while start < len(order):
        score = ranked.score[order[start]]
        end = start + 1
        while end < len(order) and ranked.score[order[end]] == score:
            end += 1
        yield from sorted(order[start:end].tolist(), key=lambda place: index.ids[int(ranked.rows[place])])
        start = end


def _content(index: ProjectIndex, row: int) -> tuple[object, ...]:
    rows = index.rows
    same = rows.hashes[row] or row
    return int(rows.column("kind")[row]), int(rows.column("result")[row]), same
