"""What is learned depends on the set of outcomes alone: not on order, batches, repeats, restarts or forgotten ones."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.embedding import HashingEmbedder
from alma_graph.learning import LearnedOutcome, Lesson, StrategyBook
from alma_graph.learning.likeness import Likeness
from alma_graph.learning.readings import Readings
from tests.learning.conftest import replay

_EMBEDDER = HashingEmbedder(64)
STRATEGIES = (
    *("Use blue-green", "blue-green deployment", "use a blue-green deployment", "Blue green", "avoid blue-green"),
    *("rolling update", "Rolling updates", "no rolling updates", "canary release of the shop", "canary"),
    *("retry 3 times", "retry three times", "retry 5 times", "Retry three times with jitter", "启用缓存", "禁用缓存"),
    *("restart the auth service", "bounce auth-service", "restart the billing service", "go first", "Go first"),
)
TASKS = (
    *("Deploy the auth service", "deploy auth-service", "Deploy the auth service to production", "Deploy the shop"),
    *("auth service rollout", "Fix the login page", "fix login page", "login page fix", "部署"),
)

outcomes_of_a_run = st.lists(
    st.builds(
        LearnedOutcome,
        id=st.integers(0, 60).map(str),
        agent=st.sampled_from(["ann", "bo"]),
        task=st.sampled_from(TASKS),
        strategy=st.sampled_from(STRATEGIES),
        success=st.booleans(),
        task_type=st.sampled_from([None, None, None, "deploy", "Deploy "]),
        error_message=st.sampled_from([None, "timeout", "Timeout", "disk full"]),
    ),
    max_size=40,
    unique_by=lambda outcome: outcome.id,
)


def new_book() -> StrategyBook:
    return StrategyBook("shop", _EMBEDDER.embed, least_successes=2)


def learned(outcomes: list[LearnedOutcome]) -> list[Lesson]:
    book = new_book()
    book.record(outcomes)
    return book.lessons()


@settings(max_examples=60, deadline=None)
@given(outcomes_of_a_run, st.randoms(use_true_random=False), st.integers(1, 7))
def test_order_batches_and_repeats_do_not_matter(outcomes: list[LearnedOutcome], random: Random, batch: int) -> None:
    book = new_book()
    held: dict[str, Lesson] = {}
    shuffled = [*outcomes, *outcomes[:5]]
    random.shuffle(shuffled)
    for start in range(0, len(shuffled), batch):
        book.record(shuffled[start : start + batch])
        replay(book.settle(), held)
    assert [held[key] for key in sorted(held)] == book.lessons() == learned(outcomes)


@settings(max_examples=60, deadline=None)
@given(outcomes_of_a_run, st.integers(0, 40), st.integers(1, 7))
def test_a_restart_goes_on_where_it_was(outcomes: list[LearnedOutcome], cut: int, batch: int) -> None:
    held = {lesson.id: lesson for lesson in learned(outcomes[:cut])}
    book = new_book()
    book.load(outcomes[:cut])
    for start in range(cut, len(outcomes), batch):
        book.record(outcomes[start : start + batch])
        replay(book.settle(), held)
    assert [held[key] for key in sorted(held)] == learned(outcomes)


@settings(max_examples=60, deadline=None)
@given(outcomes_of_a_run, st.integers(0, 40), st.booleans())
def test_forgetting_is_as_if_it_had_never_been(outcomes: list[LearnedOutcome], cut: int, restarted: bool) -> None:
    book = new_book()
    if restarted:
        book.load(outcomes)
    else:
        book.record(outcomes)
        book.settle()
    held = {lesson.id: lesson for lesson in learned(outcomes)}
    book.forget(outcome.id for outcome in outcomes[cut:])
    replay(book.settle(), held)
    assert [held[key] for key in sorted(held)] == book.lessons() == learned(outcomes[:cut])


@settings(max_examples=60, deadline=None)
@given(outcomes_of_a_run)
def test_no_outcome_is_lost_or_counted_twice(outcomes: list[LearnedOutcome]) -> None:
    book = new_book()
    book.record(outcomes)
    standings = book.standings()
    assert sum(standing.successes for standing in standings) == sum(outcome.success for outcome in outcomes)
    assert sum(standing.successes + standing.failures for standing in standings) == len(outcomes)
    by_kind: dict[str, Counter[str]] = {}
    for lesson in book.lessons():
        by_kind.setdefault(type(lesson).__name__, Counter()).update(lesson.outcome_ids)
        assert not set(lesson.success_ids) & set(lesson.failure_ids)
    assert all(count == 1 for counter in by_kind.values() for count in counter.values())


@settings(max_examples=40, deadline=None)
@given(st.permutations(STRATEGIES), st.integers(0, 5))
def test_groups_of_wordings_are_a_function_of_their_set(order: list[str], removed: int) -> None:
    def groups(texts: list[str], gone: list[str]) -> list[tuple[str, ...]]:
        readings = Readings(_EMBEDDER.embed)
        likeness = Likeness("pool")
        for text in texts:
            (signature,) = readings.signatures([text])
            if signature.wording not in likeness:
                likeness.add([signature], readings.codes([signature]))
                likeness.groups.settle()
        for text in gone:
            (signature,) = readings.signatures([text])
            if signature.wording in likeness:
                likeness.remove(signature.wording)
        likeness.groups.settle()
        return likeness.groups.groups()

    once = [text for text in order if text != "Go first"]
    kept = sorted(set(once) - set(once[:removed]))
    assert groups(once, once[:removed]) == groups(kept, [])


@pytest.mark.parametrize("project", ["shop", "shop\u0000", "店"])
def test_ids_are_fixed_and_belong_to_the_project(project: str) -> None:
    def ids(name: str) -> list[str]:
        book = StrategyBook(name, _EMBEDDER.embed)
        book.record(
            LearnedOutcome(str(number), "ann", "Deploy the shop", "Use blue-green", number < 3) for number in range(8)
        )
        return [lesson.id for lesson in book.lessons()]

    assert ids(project) == ids(project)
    assert len(ids(project)) == 2
    assert not set(ids(project)) & set(ids(project + " "))
