"""Relations of two lemmas, the polarity of plain words, and the one shape of graded conditions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.beliefs.lexicon_relations import OPPOSITES
from alma_graph.beliefs.scales import EDGE, SUSPECTED, ramp
from alma_graph.beliefs.words import word_relation


@pytest.mark.parametrize(
    ("left", "right", "relation"),
    [
        ("enable", "disable", "antonym"),
        ("compatible", "incompatible", "antonym"),
        ("deploy", "deployment", "synonym"),
        ("available", "availability", "synonym"),
        ("db", "database", "synonym"),
        ("read-only", "readonly", "same"),
        ("python3", "python2", "none"),
        ("sprint14", "sprint15", "none"),
        ("tea", "coffee", "none"),
        ("stand", "understand", "none"),
    ],
)
def test_relations(left: str, right: str, relation: str) -> None:
    assert word_relation(left, right).relation == relation


@given(st.text(max_size=12), st.text(max_size=12))
def test_relations_are_symmetric(left: str, right: str) -> None:
    assert word_relation(left, right) == word_relation(right, left)
    assert word_relation(left, left).relation == "same"


def test_no_word_is_its_own_opposite() -> None:
    assert [sorted(left & right) for left, right in OPPOSITES if left & right] == []


def test_ramp_and_thresholds() -> None:
    assert [ramp(value, 0.2, 0.6) for value in (0.1, 0.2, 0.4, 0.6, 0.9)] == [0, 0, pytest.approx(0.5), 1, 1]
    assert 0 < SUSPECTED < EDGE < 1
