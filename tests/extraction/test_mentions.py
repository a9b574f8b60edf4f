"""A query is read by rules and the store's own names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.extraction import canonical, query_mentions

KNOWN = {
    "auth service": "e1",
    "auth service v2": "e2",
    "checkout service": "e3",
    "postgresql": "e4",
    "acme": "e5",
    "maria lopez": "e6",
    "REDIS_URL": "e7",
    "国土交通省": "e8",
    "支付服务": "e9",
    "quarterly revenue forecast for the north of spain": "e10",
    "ann lee": "e11",
    "task 5": "e12",
}


def ids(query: str) -> list[tuple[str, str | None]]:
    return [(m.surface, m.known) for m in query_mentions(query, KNOWN)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("How do I deploy the auth-service?", [("auth-service", "e1")]),
        ("What broke Auth Service v2 yesterday", [("Auth Service v2", "e2"), ("yesterday", None)]),
        ("is the checkout svc's cache on postgres", [("checkout svc's", "e3"), ("postgres", "e4")]),
        ("Who at Acme Corp knows María López?", [("Acme Corp", "e5"), ("María López", "e6")]),
        ("set $REDIS_URL", [("$REDIS_URL", "e7")]),
        ("国土交通省の担当者は？", [("国土交通省", "e8")]),
        ("为什么支付服务很慢", [("支付服务", "e9")]),
        ("the Quarterly revenue forecast for the north of Spain, please", [(
            "Quarterly revenue forecast for the north of Spain", "e10")]),
        ("Anna Lee and Task 6", []),
        ("Ann Lee and Task 5", [("Ann Lee", "e11"), ("Task 5", "e12")]),
        ("", []),
    ],
)  # fmt: skip
def test_known_names(query: str, expected: list[tuple[str, str | None]]) -> None:
    assert ids(query) == expected


def test_unknown_names_come_from_the_patterns() -> None:
    nothing: dict[str, str] = {}
    mentions = query_mentions("Does src/app.py use Kafka?", nothing.get)
    assert [(m.surface, m.type, m.key, m.known) for m in mentions] == [
        ("src/app.py", "FILE", "src/app.py", None),
        ("Kafka", "TECH", "kafka", None),
    ]


@settings(max_examples=60)
@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1, max_size=20))
def test_a_name_is_found_under_its_own_key(name: str) -> None:
    key = canonical(name)
    mentions = query_mentions(f"what about {name} now", {key: "e"})
    assert name in [m.surface for m in mentions if m.known == "e"]


@settings(max_examples=60)
@given(st.text(max_size=120))
def test_any_query(query: str) -> None:
    end = 0
    for mention in query_mentions(query, KNOWN):
        assert end <= mention.start_char < mention.end_char <= len(query)
        assert query[mention.start_char : mention.end_char] == mention.surface
        end = mention.end_char
