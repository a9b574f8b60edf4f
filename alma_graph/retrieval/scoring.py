"""How much recency, success, confidence and trust may move a memory, given that it is relevant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import FAILED, KINDS, NEVER, SUCCEEDED
from alma_graph.model import MemoryKind, Model, Unit

Floats = npt.NDArray[np.float64]
_DAY = 86_400 * 1_000_000
NEUTRAL = 0.5
"""Value of a factor that does not apply."""


class ScoringConfig(Model):
    """The weights of a memory's score.

    In mode "bounded" `score = relevance * (1 + sum of weight * (factor - 0.5))`: nothing irrelevant is lifted, and with
    the defaults a factor moves a score by at most an eighth. Mode "additive" is ALMA's plain weighted sum,
    `similarity * relevance + sum of weight * factor`. In both, a contradiction that stands against a memory takes up
    to a quarter of its relevance away (the part "contradicted").

    Attributes:
        similarity: weight of relevance, in additive mode only.
        recency: weight of `0.5 ** (age / half-life)`; age since `valid_from`, else since it was recorded.
        success: weight of the posterior mean of the success rate, (successes + 1) / (tries + 2); of an anti-pattern the
            rate of failure, since that is what it claims; an outcome is one try.
        confidence: weight of the memory's confidence.
        trust: weight of the trust in the memory's agent, where the caller gives it.
        recency_half_life_days: half-life of recency, in days.
        mode: "bounded" or "additive".
        floor: relevance that the best memory's own content must have, in [0, 1], or nothing comes back; other hits need
            three quarters of it. None takes the measured default (`fusion.FLOOR`).
    """

    similarity: Unit = 0.4
    recency: Unit = 0.2
    success: Unit = 0.25
    confidence: Unit = 0.15
    trust: Unit = 0.1
    recency_half_life_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0
    mode: Literal["bounded", "additive"] = "bounded"
    floor: Unit | None = None


def factors(
    index: ProjectIndex,
    rows: npt.NDArray[np.int64],
    config: ScoringConfig,
    now: int,
    trust: Mapping[str, float] | None = None,
) -> dict[str, Floats]:
    """What a score is weighed by: name -> values in [0, 1] of some rows, `NEUTRAL` where a factor does not apply.

    Args:
        now: microseconds since 1970.
        trust: agent -> trust in [0, 1].
    """
    columns = index.rows
    moment = columns.column("valid_from")[rows]
    moment = np.where(moment == NEVER, columns.column("recorded_at")[rows], moment)
    age = np.maximum(now - np.where(moment == NEVER, now, moment), 0) / _DAY
    recency = np.where(moment == NEVER, NEUTRAL, np.exp2(-age / config.recency_half_life_days))
    confidence = columns.column("confidence")[rows].astype(np.float64)
    values = {
        "recency": recency,
        "success": _success(index, rows),
        "confidence": np.where(np.isnan(confidence), NEUTRAL, confidence),
    }
    if trust:
        names = columns.agents.names
        by_code = np.array([trust.get(name, NEUTRAL) for name in names] + [NEUTRAL])
        values["trust"] = by_code[columns.column("agent")[rows]]
    return values


def _success(index: ProjectIndex, rows: npt.NDArray[np.int64]) -> Floats:
    """Posterior mean of the success rate under a uniform prior (for an anti-pattern: of the failure rate)."""
    columns = index.rows
    successes = columns.column("successes")[rows].astype(np.float64)
    tries = columns.column("occurrences")[rows].astype(np.float64)
    result = columns.column("result")[rows]
    kind = columns.column("kind")[rows]
    warns = kind == KINDS.index(MemoryKind.ANTI_PATTERN)
    successes = np.where(warns, tries - successes, successes)
    successes = np.where(result == SUCCEEDED, 1.0, np.where(result == FAILED, 0.0, successes))
    tries = np.where((result == SUCCEEDED) | (result == FAILED), 1.0, tries)
    posterior: Floats = (successes + 1) / (tries + 2)
    return posterior
