"""Lessons stand for the outcomes that they rest on.

A heuristic is worded for the strategy, its outcomes for their tasks; a task that is like theirs concerns the lesson as
much as it concerns them. So a lesson inherits the evidence of the best outcome behind it, and once a lesson is a hit,
only a few of its outcomes come along as examples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import KINDS
from alma_graph.model import MemoryKind

Floats = npt.NDArray[np.float64]

LESSON_KINDS = (MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN)
EXAMPLES = 2
"""Outcomes of one lesson that may be hits beside it."""


def inherited(index: ProjectIndex, evidence: Floats, allowed: npt.NDArray[np.bool_]) -> Floats | None:
    """What each lesson gains from the best of its outcomes; None where the project has no lesson to show.

    Args:
        evidence: (rows,) what the arms found, at least 0.
        allowed: rows that the query may see.
    """
    lessons = np.flatnonzero(allowed & index.kind_mask(LESSON_KINDS))
    if not len(lessons):
        return None
    gain = np.zeros(len(evidence))
    for lesson in lessons.tolist():
        outcomes = [row for row in outcomes_of(index, lesson) if allowed[row]]
        if outcomes:
            gain[lesson] = max(0.0, float(evidence[outcomes].max()) - float(evidence[lesson]))
    return gain if gain.any() else None


def outcomes_of(index: ProjectIndex, lesson: int) -> list[int]:
    """Rows of the outcomes that speak for or against a lesson."""
    kinds = index.rows.column("kind")
    outcome = KINDS.index(MemoryKind.OUTCOME)
    return [edge.source for edge in index.edges.incoming(lesson) if kinds[edge.source] == outcome]


def is_lesson(index: ProjectIndex, row: int) -> bool:
    """Whether a row is a heuristic or an anti-pattern."""
    return KINDS[int(index.rows.column("kind")[row])] in LESSON_KINDS
