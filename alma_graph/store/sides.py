"""Memories as the contradiction detector sees them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from alma_graph.beliefs import Claims, Side
from alma_graph.errors import StoreCorruptError
from alma_graph.model import Memory, Observation


@dataclass(frozen=True, slots=True)
class JudgedSide:
    """One memory to be judged, with what decides which of two is the newer one.

    Attributes:
        moments: valid time (system time where it has none), then system time.
    """

    memory_id: str
    key: str
    side: Side
    moments: tuple[datetime, datetime]


def judged_side(memory: Memory, key: str, claims: Claims) -> JudgedSide:
    """How the detector sees a stored memory, or one that is about to be stored."""
    recorded = memory.created_at
    if recorded is None:
        raise StoreCorruptError(f"the memory {memory.id!r} has no recorded_at; run: alma-graph doctor")
    side = Side(
        text=memory.text,
        claims=claims,
        speaker=memory.speaker if isinstance(memory, Observation) else None,
        user_id=memory.user_id,
        kind=memory.kind,
        category=memory.category_name,
        valid_from=memory.valid_from,
    )
    return JudgedSide(memory.id, key, side, (memory.valid_from or recorded, recorded))
