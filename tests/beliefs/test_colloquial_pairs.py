"""Floors on short notes in plain speech; see `colloquial_pairs`."""

from __future__ import annotations

import pytest

from alma_graph.beliefs import SUSPECTED, Judgement, Side, SymbolicDetector, parse_claims
from tests.beliefs.colloquial_pairs import PAIRS

Verdict = tuple[str, str, str, Judgement | None]


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    texts = sorted({text for _, *pair in PAIRS for text in pair})
    claims = dict(zip(texts, parse_claims(texts), strict=True))
    detector = SymbolicDetector()
    return [
        (label, older, newer, detector.judge(Side(newer, claims[newer]), Side(older, claims[older])))
        for label, older, newer in PAIRS
    ]


def _flagged(verdict: Judgement | None) -> bool:
    return verdict is not None and verdict.relation == "contradicts" and verdict.score >= SUSPECTED


def test_harmless_pairs_are_left_alone(verdicts: list[Verdict]) -> None:
    wrong = [(older, newer, verdict) for label, older, newer, verdict in verdicts if label != "C" and _flagged(verdict)]
    assert len(wrong) <= 1, wrong


def test_most_contradictions_are_found(verdicts: list[Verdict]) -> None:
    missed = [(older, newer) for label, older, newer, verdict in verdicts if label == "C" and not _flagged(verdict)]
    assert len(missed) <= 0.12 * sum(label == "C" for label, *_ in verdicts), missed


def test_evidence_is_whole_words_of_each_text(verdicts: list[Verdict]) -> None:
    for _, older, newer, verdict in verdicts:
        for span in verdict.evidence if verdict is not None else ():
            text = newer if span.side == "newer" else older
            assert span.text == text[span.start : span.end] != ""
            assert not text[max(0, span.start - 1) : span.start].isalnum()
            assert not text[span.end : span.end + 1].isalnum()
