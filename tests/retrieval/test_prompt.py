"""The slice as text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.errors import InvalidInputError
from alma_graph.model import (
    AntiPattern,
    DomainKnowledge,
    Heuristic,
    Memory,
    Observation,
    Outcome,
    Result,
    UserPreference,
)
from alma_graph.retrieval import MemoryHit, MemorySlice
from alma_graph.retrieval.prompt import estimate_tokens

MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
MEMORIES: tuple[Memory, ...] = (
    Heuristic(id="h", strategy="roll out slowly", category="deploy", success_count=8, occurrence_count=10),
    AntiPattern(
        id="a", pattern="deploy by hand", why_bad="it broke twice", better_alternative="use the pipeline",
        success_count=1, occurrence_count=3,
    ),
    DomainKnowledge(id="d", domain="infra", fact="Redis\nis   the cache"),
    Outcome(id="o", task="deploy", outcome=Result.FAILURE, strategy_used="ssh", error_message="timeout"),
    Observation(id="t", text="It is done.", session_id="s", speaker="Ann", occurred_at=MOMENT),
    UserPreference(id="u", user_id="eve", category="style", preference="short answers"),
)  # fmt: skip


def sliced(memories: tuple[Memory, ...] = MEMORIES, **options: object) -> MemorySlice:
    hits = tuple(MemoryHit(memory, 0.9, {"dense": 0.9}) for memory in memories)
    return MemorySlice("q", hits, **options)  # type: ignore[arg-type]


def test_every_kind_is_told_in_its_group() -> None:
    assert sliced().to_prompt() == "\n\n".join(
        [
            "Strategies that work:\n- deploy: roll out slowly (8 of 10 succeeded)",
            "Warnings:\n- Avoid: deploy by hand (2 of 3 failed). Why: it broke twice. Instead: use the pipeline",
            "Facts:\n- Redis is the cache",
            "Preferences:\n- style: short answers",
            "Evidence:\n- Failed: deploy by ssh (timeout)",
            "Said or seen:\n- (2026-01-02) Ann: It is done.",
        ]
    )


@given(st.integers(1, 200), st.permutations(MEMORIES))
def test_the_budget_holds(budget: int, memories: list[Memory]) -> None:
    text = sliced(tuple(memories)).to_prompt(budget)
    assert estimate_tokens(text) <= budget


def test_what_does_not_fit_is_the_least_relevant() -> None:
    facts = tuple(DomainKnowledge(id=f"{n}", domain="d", fact=f"fact number {n}") for n in range(50))
    text = sliced(facts).to_prompt(40)
    assert "number 0" in text and "number 49" not in text


def test_the_slice_remembers_its_budget() -> None:
    assert estimate_tokens(sliced(token_budget=20).to_prompt()) <= 20


@pytest.mark.parametrize("budget", [0, -1, True])
def test_no_budget_is_refused(budget: int) -> None:
    with pytest.raises(InvalidInputError, match="token_budget"):
        sliced().to_prompt(budget)


def test_typed_lists_and_html() -> None:
    answer = sliced()
    assert [m.id for m in answer.memories] == [m.id for m in MEMORIES]
    assert [len(answer.heuristics), len(answer.anti_patterns), len(answer.outcomes)] == [1, 1, 1]
    assert [len(answer.domain_knowledge), len(answer.preferences), len(answer.observations)] == [1, 1, 1]
    assert "&lt;" in sliced((DomainKnowledge(id="x", domain="d", fact="<b>"),))._repr_html_()


def test_scripts_without_spaces_count_by_character() -> None:
    assert estimate_tokens("我喜欢绿茶") == 5
    assert estimate_tokens("abcd efgh") == 3
    assert estimate_tokens("") == 0
