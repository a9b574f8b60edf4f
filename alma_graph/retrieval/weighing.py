"""From evidence to a score whose parts add up exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alma_graph.enums import ASSERTED
from alma_graph.index.edges import MEMORY_EDGES, MemoryEdge
from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import KINDS, STATUSES
from alma_graph.model import MemoryKind, Status
from alma_graph.retrieval.fusion import Fused, relevance
from alma_graph.retrieval.lessons import LESSON_KINDS
from alma_graph.retrieval.scoring import NEUTRAL, ScoringConfig, factors

Floats = npt.NDArray[np.float64]

GRID = 2.0**20
"""Parts are multiples of 1 / GRID: so they add up exactly, in any order, and no machine's last bit ranks anything."""
_CONTRADICTS = MEMORY_EDGES.index("CONTRADICTS")
_LESSONS = [KINDS.index(kind) for kind in LESSON_KINDS]
INHIBITION = 0.25
"""Share of its relevance that a memory loses to a contradiction of score 1 that stands against it."""


@dataclass(slots=True)
class Ranked:
    """Rows that may be hits, with their scores.

    Attributes:
        rows: memory rows.
        relevance: in [0, 1].
        parts: name -> what it adds to each row's score; multiples of 1 / GRID.
        score: the sum of the parts.
    """

    rows: npt.NDArray[np.int64]
    relevance: Floats
    parts: dict[str, Floats]
    score: Floats

    def parts_of(self, place: int) -> dict[str, float]:
        """The parts of one row that are not zero, arms first."""
        return {name: float(values[place]) for name, values in self.parts.items() if values[place]}


def weigh(
    index: ProjectIndex,
    fused: Fused,
    rows: npt.NDArray[np.int64],
    config: ScoringConfig,
    *,
    now: int,
    trust: Mapping[str, float] | None = None,
) -> Ranked:
    """Scores of some rows: relevance split over the arms, then what the factors add or take.

    Args:
        now: microseconds since 1970, from which recency is measured.
        trust: agent -> trust in [0, 1].
    """
    share = relevance(fused.evidence[rows]) / fused.evidence[rows]
    bounded = config.mode == "bounded"
    parts: dict[str, Floats] = {}
    for name, values in fused.parts.items():
        parts[name] = on_grid(values[rows] * share)
    total = _sum(parts, len(rows))
    if not bounded:
        parts = {name: on_grid(values * config.similarity) for name, values in parts.items()}
    for name, values in factors(index, rows, config, now, trust).items():
        weight = getattr(config, name)
        parts[name] = on_grid(total * weight * (values - NEUTRAL) if bounded else weight * values)
    contested = contested_share(index, rows)
    if contested.any():
        parts["contradicted"] = on_grid(-INHIBITION * contested * (total if bounded else config.similarity * total))
    return Ranked(rows, np.clip(total, 0.0, 1.0), parts, _sum(parts, len(rows)))


def on_grid(values: Floats) -> Floats:
    """Rounded to multiples of 1 / GRID."""
    rounded: Floats = np.round(values * GRID) / GRID
    return rounded


def standing_against(index: ProjectIndex, row: int) -> list[MemoryEdge]:
    """Contradictions that stand against a memory: asserted, from active memories, none settled as both true or of
    another scope. What is merely suspected stands against nothing.

    An outcome against a lesson is counted in its success rate and is no contradiction here.
    """
    if row not in index.edges.contradicted_rows():
        return []
    status, kind = index.rows.column("status"), index.rows.column("kind")
    active, outcome = STATUSES.index(Status.ACTIVE), KINDS.index(MemoryKind.OUTCOME)
    edges = index.edges.at(row)
    speaking = edges.others[(edges.types == _CONTRADICTS) & edges.counts]
    if not ((kind[speaking] != outcome) & (status[speaking] == active)).any():
        return []
    return [
        edge
        for edge in index.edges.incoming(row)
        if edge.type == "CONTRADICTS"
        and edge.weight >= ASSERTED
        and edge.counts
        and kind[edge.source] != outcome
        and status[edge.source] == active
    ]


def disputes(index: ProjectIndex, row: int) -> bool:
    """Whether a memory itself stands against an active one: the newer side of an open dispute."""
    status, kind = index.rows.column("status"), index.rows.column("kind")
    active, outcome = STATUSES.index(Status.ACTIVE), KINDS.index(MemoryKind.OUTCOME)
    return kind[row] != outcome and any(
        edge.type == "CONTRADICTS" and edge.weight >= ASSERTED and edge.counts and status[edge.target] == active
        for edge in index.edges.outgoing(row)
    )


def contested_share(index: ProjectIndex, rows: npt.NDArray[np.int64]) -> Floats:
    """Score of the strongest contradiction that stands against each row, in [0, 1]."""
    share = np.zeros(len(rows))
    contested = index.edges.contradicted_rows()
    if not contested:
        return share
    # what speaks against a lesson are its outcomes, by the hundred: none of them counts here
    candidates = np.zeros(len(index.rows), dtype=np.bool_)
    candidates[np.fromiter(contested, dtype=np.int64, count=len(contested))] = True
    for kind in _LESSONS:
        candidates &= index.rows.column("kind") != kind
    for place in np.flatnonzero(candidates[rows]).tolist():
        edges = standing_against(index, int(rows[place]))
        share[place] = max((min(max(edge.weight, 0.0), 1.0) for edge in edges), default=0.0)
    return share


def _sum(parts: dict[str, Floats], size: int) -> Floats:
    total = np.zeros(size)
    for values in parts.values():
        total = total + values
    return total
