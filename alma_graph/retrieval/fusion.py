"""One fusion for every shape of store: weighted evidence on absolute scales, and relevance from it.

Evidence is the sum of weight times value over the arms; relevance is `1 - exp(-evidence)`: independent grounds add up
as in a noisy-or, it lies in [0, 1), and it depends on nothing but the memory and the query. The graph arm's share is
relative to the best evidence found, since a path is worth what it starts from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alma_graph.index.dense import top_rows
from alma_graph.index.project import ProjectIndex
from alma_graph.retrieval.arms import FIRST_ARMS, LATE_ARM, Request
from alma_graph.retrieval.graph import Spread, spread
from alma_graph.retrieval.lessons import inherited

Floats = npt.NDArray[np.float64]

WEIGHTS: Mapping[str, float] = {
    "dense": 0.47,
    "lexical": 0.69,
    "late": 0.77,
    "entity": 0.3,
    "date": 0.44,
    "speaker": 0.1,
    "role": 0.15,
    "question": -0.25,
    "graph": 1.0,
}
"""Evidence of an arm's value 1; tuned on development halves, see benchmarks/retrieval_quality.py."""

FLOOR = 0.165
"""Relevance of the best memory's own content (dense, lexical, entity, graph) below which nothing comes back at all.

Chosen on development data (173 notes of agents, two of LoCoMo's conversations; 253 questions they answer, 543 about
other things): with all-MiniLM-L6-v2 100 % of the answerable questions have a hit and 5 % of the others, with the
hashing embedder 98 % and 5 %. Late interaction is left out: not every embedder has it, and it separated no better.
"""
LEAST_SHARE = 0.75
"""Share of the floor that every hit's own content must reach; at 1, LoCoMo's development half loses .012 any@10."""

LESSONS = "lessons"
"""Name of what a heuristic or anti-pattern inherits from its outcomes, among the parts."""

CANDIDATES = 100
"""Memories that costlier arms look at, best first."""
SHARPEN = 2.0
"""Power of a path's worth: strong paths stay, weak ones fade. With it the graph does LoCoMo's development half no harm
(any@10 .931, all@10 .834; .929 and .830 without the graph), and 2Wiki's loses nothing."""
POOL = 100
"""The front of the spread is scaled between the best evidence and that of this rank."""


@dataclass(slots=True)
class Fused:
    """Evidence of all rows.

    Attributes:
        parts: arm -> its evidence (weight times value).
        evidence: their sum, at least 0.
        content: the sum of those that speak of what a memory says.
        raw: arm -> its values before weighing.
        spread: the graph arm's paths.
    """

    parts: dict[str, Floats]
    evidence: Floats
    content: Floats
    raw: dict[str, Floats]
    spread: Spread | None


def fuse(
    index: ProjectIndex,
    request: Request,
    allowed: npt.NDArray[np.bool_],
    *,
    weights: Mapping[str, float] = WEIGHTS,
    without: frozenset[str] = frozenset(),
    evidence: npt.NDArray[np.bool_] | None = None,
) -> Fused:
    """Runs the arms and adds up what they find; `without` leaves arms out.

    Args:
        allowed: rows that may be hits.
        evidence: rows that may speak for a lesson though they may not be hits; those of `allowed` if left out.
    """
    size = len(index.rows)
    parts: dict[str, Floats] = {}
    raw: dict[str, Floats] = {}
    content = np.zeros(size)
    total = np.zeros(size)
    for arm in FIRST_ARMS:
        if arm.name in without or not weights.get(arm.name):
            continue
        values = arm.values(index, request)
        if values is None:
            continue
        raw[arm.name] = values
        parts[arm.name] = weights[arm.name] * values
        total += parts[arm.name]
        if arm.content:
            content += parts[arm.name]
    late = LATE_ARM.name
    if late not in without and weights.get(late) and request.tokens is not None:
        values = LATE_ARM.on(index, request, top_rows(total, allowed, CANDIDATES, index.rows.ties))
        if values is not None:
            raw[late] = values
            parts[late] = weights[late] * values
            total = total + parts[late]
    found: Spread | None = None
    if "graph" not in without and weights.get("graph"):
        found = _graph(index, request, allowed, total, weight=weights["graph"], parts=parts, raw=raw)
        if found is not None:
            total = total + parts["graph"]
            # What only lifts a row to the front is no evidence of its own.
            content = content + weights["graph"] * found.span * found.values**SHARPEN
    if LESSONS not in without:
        gain = inherited(index, np.maximum(total, 0.0), allowed, allowed if evidence is None else evidence)
        if gain is not None:
            raw[LESSONS] = parts[LESSONS] = gain
            total = total + gain
            content = content + gain
    return Fused(parts, np.maximum(total, 0.0), content, raw, found)


def _graph(
    index: ProjectIndex,
    request: Request,
    allowed: npt.NDArray[np.bool_],
    total: Floats,
    *,
    weight: float,
    parts: dict[str, Floats],
    raw: dict[str, Floats],
) -> Spread | None:
    best = top_rows(total, allowed, POOL, index.rows.ties)
    if not len(best) or total[best[0]] <= 0:
        return None
    high, low = float(total[best[0]]), max(float(total[best[-1]]), 0.0)
    span = high - low if len(best) == POOL else high
    base = low if len(best) == POOL else 0.0
    front = np.zeros(len(total))
    front[best] = np.clip((total[best] - base) / max(span, 1e-9), 0.0, None)
    found = spread(index, front, request.query.entities, allowed)
    if found is None:
        return None
    found.span = span
    raw["graph"] = found.values
    # What a path reaches starts from the end of the front, as if it had been the last of the candidates.
    lifted = np.where(found.values > 0, np.maximum(base - total, 0.0), 0.0)
    parts["graph"] = lifted + weight * span * found.values**SHARPEN
    return found


def relevance(evidence: Floats) -> Floats:
    """1 - exp(-evidence), in [0, 1)."""
    share: Floats = -np.expm1(-np.maximum(evidence, 0.0))
    return share


def relevant_rows(fused: Fused, allowed: npt.NDArray[np.bool_], floor: float) -> npt.NDArray[np.int64]:
    """Rows that may be hits: none where no memory's content reaches the floor."""
    content = relevance(fused.content)
    if not allowed.any() or float(content[allowed].max()) < floor:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(allowed & (content >= LEAST_SHARE * floor) & (fused.evidence > 0))
