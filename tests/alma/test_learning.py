"""Outcomes become strategies and anti-patterns."""

from __future__ import annotations

import random
from typing import Any

import pytest

from alma_graph import (
    ALMA,
    AntiPattern,
    Heuristic,
    IdConflictError,
    InvalidInputError,
    MemoryScope,
    Outcome,
    ScopeError,
)
from tests.alma.conftest import Open
from tests.conftest import durable_only

DEPLOY: dict[str, Any] = {"agent": "dev", "task": "Deploy auth service"}


def heuristics(alma: ALMA) -> list[Heuristic]:
    return [memory for memory in alma.memories(kind="heuristic") if isinstance(memory, Heuristic)]


def anti_patterns(alma: ALMA, status: str | None = "active") -> list[AntiPattern]:
    return [memory for memory in alma.memories(kind="anti_pattern", status=status) if isinstance(memory, AntiPattern)]


def learn(alma: ALMA, successes: int, failures: int = 0, **fields: Any) -> list[Outcome]:
    given = {**DEPLOY, **fields}
    results = ["success"] * successes + ["failure"] * failures
    return alma.learn_batch([{**given, "outcome": result} for result in results])


def test_three_successes_make_one_heuristic_and_counts_go_on_growing(alma: ALMA) -> None:
    learn(alma, 2, strategy_used="Blue-green deployment")
    assert heuristics(alma) == []
    learn(alma, 1, strategy_used="blue green deployment")
    [first] = heuristics(alma)
    assert (first.success_count, first.occurrence_count) == (3, 3)
    learn(alma, 5, 2, strategy_used="Blue-green deployment")
    [grown] = heuristics(alma)
    assert (grown.success_count, grown.occurrence_count) == (8, 10)
    assert grown.id == first.id
    assert len(grown.supporting_outcomes) == 8


def test_the_evidence_is_edges_one_for_each_outcome(alma: ALMA) -> None:
    done = learn(alma, 3, 2, strategy_used="Blue-green deployment")
    [lesson] = heuristics(alma)
    why = alma.why(lesson.id)
    assert {link.memory.id for link in why.supported_by} == {item.id for item in done if item.succeeded}
    assert {link.memory.id for link in why.contradicted_by} == {item.id for item in done if not item.succeeded}
    assert len(why.supported_by) == 3
    assert {link.evidence["signal"] for link in why.contradicted_by} == {"outcome"}


def test_two_failures_make_one_anti_pattern_with_its_reason_and_what_works_instead(alma: ALMA) -> None:
    learn(alma, 4, strategy_used="Blue-green deployment")
    learn(alma, 0, 1, strategy_used="Rolling update", error_message="ERR-503 from the gateway")
    assert anti_patterns(alma) == []
    learn(alma, 0, 1, strategy_used="rolling update", error_message="ERR-503 from the gateway")
    [warning] = anti_patterns(alma)
    assert "ERR-503 from the gateway" in warning.why_bad
    assert warning.better_alternative == "Blue-green deployment"
    assert warning.level == "warning"
    assert warning.occurrence_count == 2


def test_where_nothing_works_no_alternative_is_invented(alma: ALMA) -> None:
    learn(alma, 0, 2, strategy_used="Rolling update", error_message="timeout")
    [warning] = anti_patterns(alma)
    assert warning.better_alternative == ""


def test_an_anti_pattern_is_withdrawn_when_the_counts_turn_and_comes_back(alma: ALMA) -> None:
    learn(alma, 0, 2, strategy_used="Rolling update")
    [first] = anti_patterns(alma)
    learn(alma, 2, strategy_used="Rolling update")
    assert anti_patterns(alma) == []
    assert [item.id for item in anti_patterns(alma, status=None)] == [first.id]
    learn(alma, 0, 3, strategy_used="Rolling update")
    [again] = anti_patterns(alma)
    assert again.id == first.id
    assert (again.success_count, again.occurrence_count) == (2, 7)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Enable caching", "Disable caching"), ("Retry 3 times", "Retry 5 times"), ("启用缓存", "禁用缓存")],
)
def test_opposites_never_merge(alma: ALMA, one: str, other: str) -> None:
    learn(alma, 3, strategy_used=one)
    learn(alma, 3, strategy_used=other)
    assert sorted(item.strategy for item in heuristics(alma)) == sorted([one, other])
    assert [item.occurrence_count for item in heuristics(alma)] == [3, 3]


def test_agents_learn_apart_and_projects_are_walls(open_alma: Open) -> None:
    shop, bank = open_alma(), open_alma(project_id="bank")
    for agent in ("dev", "ops", "qa"):
        learn(shop, 1, agent=agent, strategy_used="Canary release")
    learn(bank, 2, strategy_used="Canary release")
    assert heuristics(shop) == []
    assert heuristics(bank) == []


def test_the_threshold_is_the_agents_own(open_alma: Open) -> None:
    scopes = [MemoryScope(agent_name="dev", min_occurrences_for_heuristic=2, cannot_learn=["secrets"])]
    alma = open_alma(scopes=scopes)
    learn(alma, 2, strategy_used="Canary release")
    assert len(heuristics(alma)) == 1
    with pytest.raises(ScopeError, match="secrets"):
        alma.learn(agent="dev", task="t", outcome=True, strategy_used="s", task_type="secrets")


def test_order_and_batches_do_not_matter(open_alma: Open) -> None:
    strategies = ["Blue-green deployment", "blue green deployment", "Rolling update", "Canary release"]
    picker = random.Random(7)
    items = [
        {**DEPLOY, "id": f"o{n}", "strategy_used": picker.choice(strategies), "outcome": picker.random() < 0.6}
        for n in range(40)
    ]
    graphs = []
    for project in ("one", "two", "three"):
        alma = open_alma(project_id=project)
        shuffled = items[:]
        picker.shuffle(shuffled)
        if project == "one":
            alma.learn_batch(shuffled)
        else:
            for start in range(0, len(shuffled), 7):
                alma.learn_batch(shuffled[start : start + 7])
        lessons: list[Heuristic | AntiPattern] = [*heuristics(alma), *anti_patterns(alma)]
        graphs.append(
            sorted(
                (lesson.text, lesson.success_count, lesson.occurrence_count, lesson.confidence) for lesson in lessons
            )
        )
    assert graphs[0] == graphs[1] == graphs[2]
    assert graphs[0]


@durable_only
def test_learning_goes_on_after_reopening(open_alma: Open) -> None:
    alma = open_alma()
    learn(alma, 2, strategy_used="Blue-green deployment")
    alma.close()
    alma = open_alma()
    learn(alma, 1, strategy_used="Blue-green deployment")
    [lesson] = heuristics(alma)
    assert lesson.success_count == 3


def test_one_encode_a_learn(alma: ALMA) -> None:
    learn(alma, 1, strategy_used="Blue-green deployment")
    before = alma._store.encoder.calls
    learn(alma, 1, strategy_used="A strategy nobody has tried")
    assert alma._store.encoder.calls == before + 1


def test_a_repeated_id_counts_once_and_other_fields_are_a_conflict(alma: ALMA) -> None:
    given: dict[str, Any] = {**DEPLOY, "outcome": "success", "strategy_used": "Canary release", "id": "o1"}
    first = alma.learn(**given)
    assert alma.learn(**given) == first
    assert alma.stats().memories == 1
    with pytest.raises(IdConflictError, match="outcome"):
        alma.learn(**{**given, "outcome": "failure"})
    assert alma.get("o1") == first


def test_a_bad_item_refuses_the_whole_batch(plain: ALMA) -> None:
    good = {**DEPLOY, "outcome": "success", "strategy_used": "x"}
    with pytest.raises(InvalidInputError, match=r"items\[1\].*maybe"):
        plain.learn_batch([good, {**good, "outcome": "maybe"}])
    with pytest.raises(InvalidInputError, match=r"items\[1\].*agent"):
        plain.learn_batch([good, {**good, "agent": None}])
    assert plain.stats().memories == 0


def test_a_task_finds_the_lesson_before_the_runs_it_sums_up(alma: ALMA) -> None:
    for number in range(6):
        given: dict[str, Any] = {
            "agent": "dev",
            "task": f"Deploy orders-api 1.{number}.0 to production",
            "task_type": "deploy",
        }
        alma.learn(**given, outcome="success", strategy_used="Release to a canary with 5 % of the traffic first")
        alma.learn(
            **given,
            outcome="failure",
            strategy_used="Deploy to all hosts at once",
            error_message="HTTP 502 from every host",
        )
    found = alma.retrieve("Deploy orders-api 1.7.0 to production", agent="dev", top_k=10)
    assert [hit.memory.kind for hit in found.hits[:2]] == ["heuristic", "anti_pattern"]
    assert len(found.outcomes) == 4  # two examples of each
    lessons = alma.retrieve("Deploy orders-api 1.7.0 to production", kinds=["heuristic", "anti_pattern"])
    assert {hit.memory.kind for hit in lessons.hits} == {"heuristic", "anti_pattern"}
    assert len(alma.retrieve("Deploy orders-api 1.7.0", kinds=["outcome"], top_k=10).hits) == 10


def test_a_forgotten_lesson_forms_again_with_the_next_outcome(alma: ALMA) -> None:
    learn(alma, 3, strategy_used="Blue-green deployment")
    alma.forget(heuristics(alma)[0].id)
    assert heuristics(alma) == []
    learn(alma, 1, strategy_used="Blue-green deployment")
    [lesson] = heuristics(alma)
    assert lesson.success_count == 4
    assert alma.doctor().ok


def test_another_threshold_on_an_existing_store(open_alma: Open, engine: str) -> None:
    alma = open_alma()
    learn(alma, 2, strategy_used="Blue-green deployment")
    if engine != "memory":
        alma.close()
    alma = open_alma(scopes=[MemoryScope(agent_name="dev", min_occurrences_for_heuristic=2)])
    learn(alma, 2, strategy_used="Blue-green deployment")
    [lesson] = heuristics(alma)
    assert lesson.success_count == (2 if engine == "memory" else 4)


def test_a_lesson_follows_its_outcomes_and_nothing_else(alma: ALMA) -> None:
    learn(alma, 3, strategy_used="Blue-green deployment")
    [lesson] = heuristics(alma)
    other = alma.learn(**DEPLOY, outcome="success", strategy_used="Something else entirely")
    with pytest.raises(InvalidInputError, match="follows from its outcomes"):
        alma.revise(lesson.id, strategy="Canary release")
    with pytest.raises(InvalidInputError, match="counts its own"):
        alma.relate(other.id, "SUPPORTS", lesson.id)
    assert alma.get(lesson.id) == lesson
