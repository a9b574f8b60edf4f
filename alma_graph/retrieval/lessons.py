"""Lessons stand for the outcomes that they rest on.

A heuristic is worded for the strategy, its outcomes for their tasks; a task that is like theirs concerns the lesson as
much as it concerns them. So a lesson inherits the evidence of the best outcome behind it, and once a lesson is a hit,
only a few of its outcomes come along as examples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alma_graph.index.dense import top_rows
from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import KINDS
from alma_graph.model import MemoryKind

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LESSON_KINDS = (MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN)
SOURCES = 200
"""Best outcomes whose lessons are looked at; a lesson of lesser ones alone would rank below all of these."""
SHARE = 0.9
"""How much of an outcome's evidence its lessons inherit: a question about a detail of one run is about that run."""
EXAMPLES = 2
"""Outcomes of one lesson that may be hits beside it."""


def inherited(index: ProjectIndex, evidence: Floats, allowed: Mask, readable: Mask) -> Floats | None:
    """What each lesson gains from the best of its outcomes; None where the project has no lesson to show.

    Args:
        evidence: (rows,) what the arms found, at least 0.
        allowed: rows that may be hits.
        readable: rows that may speak for a lesson.
    """
    if not len(index.edges):
        return None
    wanted = allowed & index.kind_mask(LESSON_KINDS)
    outcomes = readable & index.kind_mask([MemoryKind.OUTCOME]) & (evidence > 0)
    gain = np.zeros(len(evidence))
    sources = top_rows(evidence, outcomes, SOURCES, index.rows.ties)
    edges = [index.edges.at(row) for row in sources.tolist()]
    if not edges:
        return None
    targets = np.concatenate([at.others for at in edges])
    passed = np.repeat(SHARE * evidence[sources], [len(at.others) for at in edges])
    kept = np.concatenate([at.outgoing for at in edges]) & wanted[targets]
    targets = targets[kept]
    np.maximum.at(gain, targets, passed[kept] - evidence[targets])
    return gain if gain.any() else None


def outcomes_of(index: ProjectIndex, lesson: int) -> list[int]:
    """Rows of the outcomes that speak for or against a lesson."""
    edges = index.edges.at(lesson)
    sources = edges.others[~edges.outgoing]
    found: list[int] = sources[index.rows.column("kind")[sources] == KINDS.index(MemoryKind.OUTCOME)].tolist()
    return found


def is_lesson(index: ProjectIndex, row: int) -> bool:
    """Whether a row is a heuristic or an anti-pattern."""
    return KINDS[int(index.rows.column("kind")[row])] in LESSON_KINDS
