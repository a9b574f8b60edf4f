"""What is read from a query by rules."""

from __future__ import annotations

import pytest

from alma_graph.retrieval.query import NamedDate, named_date, parse_query
from tests.index.world import World, fact, turn


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("what happened in may 2023?", NamedDate(2023, 5, None)),
        ("on 8 may, 2023", NamedDate(2023, 5, 8)),
        ("on may 8th", NamedDate(None, 5, 8)),
        ("the 3rd of march", NamedDate(None, 3, 3)),
        ("in march", NamedDate(None, 3, None)),
        ("during sept", NamedDate(None, 9, None)),
        ("since 2021", NamedDate(2021, None, None)),
        ("at 2023-05-08", NamedDate(2023, 5, 8)),
        ("2023-05", NamedDate(2023, 5, None)),
        ("you may march on", None),
        ("version 2.2023.1", None),
        ("december at 5 pm", NamedDate(None, 12, None)),
        ("no date", None),
    ],
)
def test_dates(text: str, date: NamedDate | None) -> None:
    assert named_date(text) == date


def test_longest_names_win_and_common_single_words_are_no_names() -> None:
    world = World()
    world.add(
        fact("a", "New York Times wrote it"),
        fact("b", "New York is large"),
        *(fact(f"c{n}", f"Alpha again {n}") for n in range(60)),
        mentions={"a": ["New York Times"], "b": ["New York"], **{f"c{n}": ["Alpha"] for n in range(60)}},
    )
    index = world.index()
    named = parse_query("what did the New York Times say of Alpha?", index).entities
    assert [index.entities.name(entity.code) for entity in named] == ["New York Times"]
    assert parse_query("new york", index).entities[0].words == 2


def test_speakers_are_a_prior_and_no_search_words() -> None:
    world = World()
    world.add(turn("a", "hello", speaker="Caroline"), turn("b", "hi", speaker="Mel"))
    index = world.index()
    one = parse_query("What does Caroline paint?", index)
    assert {index.rows.speakers.names[code] for code in one.speakers} == {"Caroline"}
    assert [concept.terms[0] for concept in one.concepts] == ["paint"]
    assert parse_query("What do Caroline and Mel paint?", index).speakers == frozenset()
    assert [concept.terms[0] for concept in parse_query("Caroline", index).concepts] == ["carolin"]


def test_roles_are_read_in_dialogues_with_an_assistant() -> None:
    world = World()
    world.add(turn("a", "hello", speaker="user"), turn("b", "hi", speaker="assistant"))
    index = world.index()
    assert parse_query("what did you recommend", index).role == "assistant"
    assert parse_query("where did I park", index).role == "user"
    assert parse_query("where is it", index).role is None


def test_negation() -> None:
    index = World().index()
    assert parse_query("what should I not do", index).negated
    assert parse_query("why doesn't it work", index).negated
    assert not parse_query("note the knot", index).negated
