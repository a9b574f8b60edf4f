"""Numbers with units, dates, versions and bounds, and how two of them relate."""

from __future__ import annotations

import math

import pytest

from alma_graph.beliefs import parse_claims
from alma_graph.beliefs.quantities import find_quantities
from alma_graph.beliefs.quantity_relation import CONFLICT, EQUAL, NOT_COMPARABLE, WITHIN, relate_quantities


@pytest.mark.parametrize(
    ("text", "kind", "low"),
    [
        ("30 s", "time", 30),
        ("half an hour", "time", 1800),
        ("half of the requests", "percent", 37.5),
        ("a 30-minute window", "time", 1800),
        ("2 GB", "byte", 2e9),
        ("$1,200", "money", 1200),
        ("$12 per year", "money", 1),
        ("99.9%", "percent", 99.9),
        ("port 8080", "port", 8080),
        ("Python 3.11", "version", 3.11),
        ("on 2024-06-01", "date", 20240601),
        ("3 March", "date", 303),
        ("at 2:30 pm", "clock", 870),
        ("on Thursday", "weekday", 3),
        ("sprint 14", "ident", 14),
        ("twelve nodes", "count", 12),
        ("2000 entries", "count", 2000),
        ("since 2019", "date", 20190000),
    ],
)
def test_kinds_and_base_units(text: str, kind: str, low: float) -> None:
    (found,) = find_quantities(text)
    assert found.kind == kind
    assert found.low == pytest.approx(low)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("at least 5 nodes", 5, math.inf),
        ("up to 10 nodes", -math.inf, 10),
        ("about 100 nodes", 75, 125),
        ("between 5 and 8 nodes", 5, 8),
        ("the count is up to 340 now", 340, 340),
    ],
)
def test_bounds(text: str, low: float, high: float) -> None:
    (found,) = find_quantities(text)
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize("text", ["p95", "utf-8", "file_2", "a 3-way merge", "may we march on", "x"])
def test_names_with_digits_are_not_numbers(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize("text", ["9" * 400, "ſix ² ٣", "0 to 0 days", "99:99", "2024-99-99", "$" * 50, "1,,,,2"])
def test_odd_numbers_do_not_raise(text: str) -> None:
    for quantity in find_quantities(text):
        assert 0 <= quantity.start < quantity.end <= len(text)


@pytest.mark.parametrize(
    ("left", "right", "relation"),
    [
        ("The timeout is 30 seconds.", "The timeout is 0.5 minutes.", EQUAL),
        ("The timeout is 30 seconds.", "The timeout is 60 seconds.", CONFLICT),
        ("The disk has 1 GB.", "The disk has 1024 MB.", EQUAL),
        ("The trip is on 3 January 2025.", "The trip is in January 2025.", EQUAL),
        ("The trip is on 3 January.", "The trip is on 4 January.", CONFLICT),
        ("The app needs Python 3.11.", "The app needs Python 3.11.4.", EQUAL),
        ("The team has about 100 members.", "The team has 110 members.", WITHIN),
        ("The team has 5 members.", "The team has 5 GB.", NOT_COMPARABLE),
        ("Sprint 14 was good.", "Sprint 15 was good.", NOT_COMPARABLE),
        ("The team is small.", "The team is big.", NOT_COMPARABLE),
    ],
)
def test_relations(left: str, right: str, relation: float) -> None:
    first, second = parse_claims([left, right])
    assert relate_quantities(first.claims[0], second.claims[0]).relation == relation
    assert relate_quantities(second.claims[0], first.claims[0]).relation == relation
