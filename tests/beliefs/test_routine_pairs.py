"""Records of single things and of what happens again and again do not contradict each other."""

from __future__ import annotations

from itertools import combinations

import pytest

from alma_graph.beliefs import SUSPECTED, Side, SymbolicDetector, parse_claims
from tests.beliefs.conftest import JudgeTexts
from tests.beliefs.routine_pairs import AVERSIONS, RECURRING, STILL_CONFLICTING, TWO_THINGS

_BULK = (
    "The build of commit {code:07x} took {value} minutes.",
    "Sensor S{number} reported a temperature of {value} degrees.",
    "fact number {number} of the series about topic{number}: the value is {value}",
    "Host web-{number:02d}.prod listens on port {port}.",
    "Ticket OPS-{number} has {value} comments.",
    "PR #{number} changes {value} files.",
    "The nightly run took {value} minutes.",
)


@pytest.mark.parametrize("template", _BULK)
def test_bulk_records_do_not_conflict(template: str) -> None:
    texts = [
        template.format(number=n, code=0x3FA9C1D + 7919 * n * n, value=5 + 3 * n, port=8000 + n) for n in range(1, 25)
    ]
    sides = [Side(text, claims) for text, claims in zip(texts, parse_claims(texts), strict=True)]
    detector = SymbolicDetector()
    verdicts = [detector.judge(newer, older) for older, newer in combinations(sides, 2)]
    assert not [verdict for verdict in verdicts if verdict is not None and verdict.relation == "contradicts"]


def _contradicts(judge: JudgeTexts, older: str, newer: str) -> bool:
    verdict = judge(older, newer)
    return verdict is not None and verdict.relation == "contradicts" and verdict.score >= SUSPECTED


@pytest.mark.parametrize(("older", "newer"), TWO_THINGS)
def test_two_single_things_do_not_conflict(judge: JudgeTexts, older: str, newer: str) -> None:
    assert not _contradicts(judge, older, newer)


@pytest.mark.parametrize(("older", "newer"), RECURRING)
def test_what_happens_again_does_not_conflict(judge: JudgeTexts, older: str, newer: str) -> None:
    assert not _contradicts(judge, older, newer)


@pytest.mark.parametrize(("older", "newer"), AVERSIONS)
def test_an_aversion_agrees_with_none_of_it(judge: JudgeTexts, older: str, newer: str) -> None:
    assert not _contradicts(judge, older, newer)


@pytest.mark.parametrize(("older", "newer"), STILL_CONFLICTING)
def test_one_thing_still_conflicts(judge: JudgeTexts, older: str, newer: str) -> None:
    assert _contradicts(judge, older, newer)
