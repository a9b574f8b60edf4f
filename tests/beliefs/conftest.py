"""Helpers that judge plain texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from alma_graph.beliefs import Judgement, Side, SymbolicDetector, parse_claims

JudgeTexts = Callable[..., Judgement | None]


@pytest.fixture
def judge() -> JudgeTexts:
    """`judge(older, newer, older_side={...}, newer_side={...})`: parses both and judges them."""

    def run(
        older: str,
        newer: str,
        *,
        older_side: dict[str, Any] | None = None,
        newer_side: dict[str, Any] | None = None,
    ) -> Judgement | None:
        older_claims, newer_claims = parse_claims([older, newer])
        return SymbolicDetector().judge(
            Side(newer, newer_claims, **(newer_side or {})), Side(older, older_claims, **(older_side or {}))
        )

    return run
