"""Records of single things and of what happens again and again do not contradict each other."""

from __future__ import annotations

import pytest

from alma_graph.beliefs import SUSPECTED
from tests.beliefs.conftest import JudgeTexts
from tests.beliefs.routine_pairs import RECURRING, STILL_CONFLICTING, TWO_THINGS


def _contradicts(judge: JudgeTexts, older: str, newer: str) -> bool:
    verdict = judge(older, newer)
    return verdict is not None and verdict.relation == "contradicts" and verdict.score >= SUSPECTED


@pytest.mark.parametrize(("older", "newer"), TWO_THINGS)
def test_two_single_things_do_not_conflict(judge: JudgeTexts, older: str, newer: str) -> None:
    assert not _contradicts(judge, older, newer)


@pytest.mark.parametrize(("older", "newer"), RECURRING)
def test_what_happens_again_does_not_conflict(judge: JudgeTexts, older: str, newer: str) -> None:
    assert not _contradicts(judge, older, newer)


@pytest.mark.parametrize(("older", "newer"), STILL_CONFLICTING)
def test_one_thing_still_conflicts(judge: JudgeTexts, older: str, newer: str) -> None:
    assert _contradicts(judge, older, newer)
