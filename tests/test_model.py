"""Models as a caller makes and reads them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.backends.schema import node_key
from alma_graph.codec import memory_to_row, row_to_memory
from alma_graph.enums import KnowledgeSource, Result
from alma_graph.errors import AlmaGraphError, InvalidInputError
from alma_graph.model import (
    KINDS,
    AntiPattern,
    Authority,
    DomainKnowledge,
    Heuristic,
    Memory,
    MemoryKind,
    MemoryScope,
    Observation,
    Outcome,
    Status,
    UserPreference,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def one_of_each(**common: Any) -> list[Memory]:
    made: list[Memory] = [
        Heuristic(strategy="Blue-green deployment", category="deploy", supporting_outcomes=["o1", "o2"], **common),
        Outcome(task="Deploy auth", outcome=Result.SUCCESS, strategy_used="Blue-green", duration_ms=340, **common),
        AntiPattern(pattern="sleep() in tests", why_bad="flaky", better_alternative="wait for the event", **common),
        DomainKnowledge(domain="auth", fact="Tokens expire in 24h", source=KnowledgeSource.DOCUMENTATION, **common),
        UserPreference(user_id="u1", category="style", preference="Prefers verbose output", **common),
        Observation(text="I moved to Oslo", speaker="Ann", session_id="s1", occurred_at=NOW, **common),
    ]
    return made


@pytest.mark.parametrize("memory", one_of_each(), ids=lambda memory: str(memory.kind))
def test_every_kind_has_what_callers_rely_on(memory: Memory) -> None:
    assert memory.text
    assert memory.status == "active"
    assert memory.kind == str(memory.kind)
    assert (
        json.dumps({"kind": memory.kind, "status": memory.status}) == f'{{"kind": "{memory.kind}", "status": "active"}}'
    )
    assert KINDS[memory.kind] is type(memory)
    with pytest.raises(Exception, match="frozen"):
        setattr(memory, "id", "other")  # noqa: B010 - a type checker refuses the plain form


@pytest.mark.parametrize(
    "memory",
    one_of_each(id="i", project_id="p", agent="a", created_at=NOW, metadata={"a": [1, {"b": None}]}),
    ids=lambda m: str(m.kind),
)
def test_rows_of_the_graph_lose_nothing(memory: Memory) -> None:
    assert row_to_memory(memory_to_row(memory)) == memory


@pytest.mark.parametrize(
    ("given_outcome", "meant"),
    [("success", True), ("Success", True), (" FAILURE ", False), (True, True), (False, False)],
)
def test_an_outcome_is_understood(given_outcome: Any, meant: bool) -> None:
    assert Outcome(task="t", outcome=given_outcome).succeeded is meant


@pytest.mark.parametrize("bad", ["ok", "done", "", 1, 0, None, "failed?"])
def test_an_unknown_outcome_is_an_error_and_never_a_failure(bad: Any) -> None:
    with pytest.raises(InvalidInputError, match="outcome"):
        Outcome(task="t", outcome=bad)


@pytest.mark.parametrize(
    ("cls", "fields", "named"),
    [
        (Outcome, {"task": "  ", "outcome": True}, "task"),
        (Outcome, {"task": "t", "outcome": True, "duration_ms": -1}, "duration_ms"),
        (Outcome, {"task": "t", "outcome": True, "unknown": 1}, "unknown"),
        (Outcome, {"task": "t", "outcome": True, "metadata": {"a": float("nan")}}, "metadata"),
        (Outcome, {"task": "t", "outcome": True, "metadata": {1: "a"}}, "metadata"),
        (DomainKnowledge, {"domain": "d", "fact": "f", "source": "rumour"}, "rumour"),
        (DomainKnowledge, {"domain": "d", "fact": "f", "confidence": 1.5}, "confidence"),
        (DomainKnowledge, {"domain": "d", "fact": "f", "confidence": float("nan")}, "confidence"),
        (DomainKnowledge, {"domain": "d", "fact": "\ud800"}, "surrogate"),
        (UserPreference, {"category": "c", "preference": "p"}, "user_id"),
        (
            DomainKnowledge,
            {"domain": "d", "fact": "f", "valid_from": NOW, "valid_to": NOW - timedelta(days=1)},
            "valid_to",
        ),
        (DomainKnowledge, {"domain": "d", "fact": "f", "valid_from": "yesterday"}, "yesterday"),
        (MemoryScope, {"agent_name": "a", "min_occurrences_for_heuristic": 0}, "min_occurrences_for_heuristic"),
    ],
)
def test_bad_input_is_named_in_the_error(cls: type[Any], fields: dict[str, Any], named: str) -> None:
    with pytest.raises(AlmaGraphError) as caught:
        cls(**fields)
    assert named in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_times_are_utc_whatever_comes_in() -> None:
    naive = DomainKnowledge(domain="d", fact="f", valid_from=datetime(2024, 6, 1, 0, 0))
    aware = DomainKnowledge(
        domain="d", fact="f", valid_from=datetime(2024, 6, 1, 2, 0, tzinfo=timezone(timedelta(hours=2)))
    )
    fields: dict[str, Any] = {"domain": "d", "fact": "f", "valid_from": "2024-06-01T00:00:00Z"}
    text = DomainKnowledge(**fields)
    assert naive.valid_from == aware.valid_from == text.valid_from == datetime(2024, 6, 1, tzinfo=UTC)


def test_none_means_absent() -> None:
    fields: dict[str, Any] = {"task": "t", "outcome": True}
    absent: dict[str, Any] = {"task_type": None, "metadata": None, "id": None}
    assert Outcome(**fields, **absent) == Outcome(**fields)


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_no_two_pairs_of_project_and_id_share_a_key(
    project: str, name: str, other_project: str, other_name: str
) -> None:
    same = (project, name) == (other_project, other_name)
    assert (node_key(project, name) == node_key(other_project, other_name)) is same


def test_enumerations_take_their_plain_text() -> None:
    fields: dict[str, Any] = {"domain": "d", "fact": "f", "authority": "user", "status": "superseded"}
    fact = DomainKnowledge(**fields)
    assert fact.authority is Authority.USER
    assert fact.status is Status.SUPERSEDED
    assert MemoryKind("outcome") == "outcome"


def test_an_event_has_one_time_under_two_names() -> None:
    said = Observation(text="hi", session_id="s", occurred_at=NOW)
    assert said.valid_from == said.occurred_at == NOW
    assert Observation(text="hi", session_id="s", valid_from=NOW).occurred_at == NOW
    assert Outcome(task="t", outcome=Result.SUCCESS, occurred_at=NOW).valid_from == NOW
