"""Floors on the hand-written pairs, so that the quality holds without the public sets."""

from __future__ import annotations

import pytest

from alma_graph.beliefs import SUSPECTED, Judgement, Side, SymbolicDetector, parse_claims
from tests.beliefs.labelled_pairs import PAIRS


@pytest.fixture(scope="module")
def verdicts() -> list[tuple[str, str, str, Judgement | None]]:
    texts = sorted({text for _, *pair in PAIRS for text in pair})
    claims = dict(zip(texts, parse_claims(texts), strict=True))
    detector = SymbolicDetector()
    return [
        (label, older, newer, detector.judge(Side(newer, claims[newer]), Side(older, claims[older])))
        for label, older, newer in PAIRS
    ]


def test_there_are_enough_pairs_and_half_of_them_must_not_be_flagged() -> None:
    harmless = sum(label != "C" for label, _, _ in PAIRS)
    assert len(PAIRS) >= 150
    assert 0.4 <= harmless / len(PAIRS) <= 0.6


def test_hardly_any_harmless_pair_is_flagged(verdicts: list[tuple[str, str, str, Judgement | None]]) -> None:
    wrong = [
        (older, newer, verdict)
        for label, older, newer, verdict in verdicts
        if label != "C" and verdict is not None and verdict.relation == "contradicts"
    ]
    assert len(wrong) <= 1, wrong


def test_nearly_all_contradictions_are_found(verdicts: list[tuple[str, str, str, Judgement | None]]) -> None:
    missed = [
        (older, newer)
        for label, older, newer, verdict in verdicts
        if label == "C" and (verdict is None or verdict.relation != "contradicts" or verdict.score < SUSPECTED)
    ]
    labelled = sum(label == "C" for label, *_ in verdicts)
    assert len(missed) <= 0.1 * labelled, missed


def test_supports_are_precise(verdicts: list[tuple[str, str, str, Judgement | None]]) -> None:
    said = [label for label, _, _, verdict in verdicts if verdict is not None and verdict.relation == "supports"]
    assert said.count("S") == len(said)
    assert len(said) >= 0.8 * sum(label == "S" for label, *_ in verdicts)
