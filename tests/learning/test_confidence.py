"""Counts to confidence."""

from __future__ import annotations

import math

import pytest

from alma_graph.learning.confidence import (
    Counts,
    anti_pattern_level,
    backed_off,
    better_alternative,
    probability_below,
    wilson_interval,
)


def test_back_off_without_evidence_is_even_and_grows_with_it() -> None:
    assert backed_off([]) == 0.5
    assert backed_off([Counts(3, 0)]) == pytest.approx(5 / 7)
    assert backed_off([Counts(8, 2)]) == pytest.approx(10 / 14)
    assert backed_off([Counts(0, 20), Counts(3, 0)]) < backed_off([Counts(3, 0)])
    assert backed_off([Counts(800, 200)]) == pytest.approx(0.8, abs=0.01)


def test_wilson_interval_holds_the_rate_and_narrows() -> None:
    assert wilson_interval(Counts()) == (0.0, 1.0)
    low, high = wilson_interval(Counts(8, 2))
    assert 0.55 < low < 0.8 < high < 0.95
    wide, narrow = wilson_interval(Counts(4, 1)), wilson_interval(Counts(400, 100))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_the_posterior_tail_is_exact() -> None:
    assert probability_below(Counts(0, 3)) == pytest.approx(1 - 0.5**4)
    assert probability_below(Counts(2, 2)) == pytest.approx(0.5)
    assert probability_below(Counts(250, 252)) == pytest.approx(
        0.5 * math.erfc(-1 / math.sqrt(2 * 503)), abs=0.02
    )  # beyond 500 outcomes, against the normal tail


@pytest.mark.parametrize(
    ("successes", "failures", "level"),
    [
        (0, 1, None),
        (0, 2, "warning"),
        (1, 2, "warning"),
        (0, 3, "established"),
        (2, 2, None),
        (3, 4, "warning"),
        (2, 8, "established"),
        (9, 3, None),
    ],
)
def test_level_of_an_anti_pattern(successes: int, failures: int, level: str | None) -> None:
    assert anti_pattern_level(Counts(successes, failures)) == level


def test_the_alternative_must_have_won() -> None:
    bad = Counts(1, 4)
    assert better_alternative({}, bad) is None
    assert better_alternative({"once": Counts(1, 0), "even": Counts(2, 2)}, bad) is None
    assert better_alternative({"a": Counts(2, 0), "b": Counts(9, 1), "c": Counts(2, 1)}, bad) == "b"
    assert better_alternative({"z": Counts(2, 0), "a": Counts(2, 0)}, bad) == "a"
