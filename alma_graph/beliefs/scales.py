"""Scores, thresholds and the one shape all graded conditions have."""

from __future__ import annotations

EDGE = 0.7
"""A contradiction with at least this score becomes an edge."""

SUSPECTED = 0.5
"""From this score on a contradiction is reported as suspected."""

DOUBTED = 0.3
"""From this contradiction score on two memories are not said to support each other."""

SUPPORTED = 0.5
"""From this score on a memory supports another."""


def ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, linear between."""
    if value <= low:
        return 0.0
    if value >= high:
        return 1.0
    return (value - low) / (high - low)
