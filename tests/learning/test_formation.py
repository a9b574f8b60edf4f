"""When a heuristic or an anti-pattern is formed, what it says, and when it goes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from alma_graph.errors import EmbeddingError, InvalidInputError
from alma_graph.learning import (
    AntiPatternLesson,
    HeuristicLesson,
    LearnedOutcome,
    Lesson,
    LessonUpdate,
    StrategyBook,
)
from alma_graph.learning.lessons import MAX_ERRORS, explain_failures
from tests.learning.conftest import MakeBook, outcome


def learn(book: StrategyBook, *outcomes: LearnedOutcome) -> list[LessonUpdate]:
    book.record(outcomes)
    return book.settle()


def heuristics(lessons: Iterable[Lesson]) -> list[HeuristicLesson]:
    return [lesson for lesson in lessons if isinstance(lesson, HeuristicLesson)]


def anti_patterns(lessons: Iterable[Lesson]) -> list[AntiPatternLesson]:
    return [lesson for lesson in lessons if isinstance(lesson, AntiPatternLesson)]


def test_three_successes_make_one_heuristic_and_its_counts_go_on(make_book: MakeBook) -> None:
    book = make_book()
    assert learn(book, outcome(1, "Use blue-green"), outcome(2, "blue green")) == []
    (created,) = learn(book, outcome(3, "use blue-green."))
    assert created.action == "create"
    for number in range(4, 11):
        (update,) = learn(book, outcome(number, "Use blue-green", success=number not in (5, 9)))
        assert update.action == "update"
        assert update.lesson.id == created.lesson.id
    (lesson,) = heuristics(book.lessons())
    assert (lesson.success_count, lesson.occurrence_count) == (8, 10)
    assert lesson.success_ids == tuple(sorted(str(number) for number in (1, 2, 3, 4, 6, 7, 8, 10)))
    assert lesson.failure_ids == ("5", "9")
    assert lesson.confidence == pytest.approx(10 / 14, abs=0.001)
    assert lesson.interval[0] < 0.8 < lesson.interval[1]
    assert lesson.wordings == ("Use blue-green", "blue green", "use blue-green.")


def test_the_scope_says_how_many_successes_it_takes(make_book: MakeBook) -> None:
    book = make_book(least_successes=lambda agent: 1 if agent == "eager" else 5)
    assert len(learn(book, outcome(1, "Use blue-green", agent="eager"))) == 1
    assert learn(book, *(outcome(number, "Use blue-green") for number in range(2, 6))) == []
    assert len(learn(book, outcome(6, "Use blue-green"))) == 1


def test_opposites_never_share_a_count(make_book: MakeBook) -> None:
    book = make_book()
    for number in range(6):
        learn(
            book, outcome(f"on-{number}", "Enable caching"), outcome(f"off-{number}", "Disable caching", success=False)
        )
    learn(book, *(outcome(f"cjk-{number}", "启用缓存") for number in range(3)))
    learn(book, *(outcome(f"off-cjk-{number}", "禁用缓存", success=False) for number in range(3)))
    assert {lesson.strategy: lesson.occurrence_count for lesson in heuristics(book.lessons())} == {
        "Enable caching": 6,
        "启用缓存": 3,
    }
    assert {lesson.pattern: lesson.occurrence_count for lesson in anti_patterns(book.lessons())} == {
        "Disable caching": 6,
        "禁用缓存": 3,
    }


def test_an_anti_pattern_quotes_its_errors_and_names_what_works_instead(make_book: MakeBook) -> None:
    book = make_book()
    learn(book, *(outcome(f"good-{number}", "Use blue-green") for number in range(3)))
    first = outcome("bad-1", "Rolling update", success=False, error_message="Timeout after 30s")
    assert all(update.action == "update" for update in learn(book, first))
    updates = learn(book, outcome("bad-2", "rolling update", success=False, error_message="timeout  after 30s"))
    (created,) = [update for update in updates if update.action == "create"]
    lesson = created.lesson
    assert isinstance(lesson, AntiPatternLesson)
    assert lesson.pattern == "Rolling update"
    assert lesson.why_bad == "Failed 2 of 2 times: Timeout after 30s (2 times)"
    assert lesson.better_alternative == "Use blue-green"
    assert lesson.level == "warning"
    learn(book, outcome("bad-3", "rolling update", success=False))
    (lesson,) = anti_patterns(book.lessons())
    assert lesson.level == "established"
    assert lesson.why_bad == "Failed 3 of 3 times: Timeout after 30s (2 times); no message (once)"


def test_no_alternative_is_made_up(make_book: MakeBook) -> None:
    book = make_book()
    learn(book, outcome("good", "Use blue-green"))
    learn(book, *(outcome(f"elsewhere-{number}", "Use a canary", task="Write the manual") for number in range(3)))
    learn(book, *(outcome(number, "Rolling update", success=False) for number in range(2)))
    (lesson,) = anti_patterns(book.lessons())
    assert lesson.better_alternative is None


def test_an_anti_pattern_goes_when_counts_turn_and_comes_back(make_book: MakeBook) -> None:
    book = make_book()
    (created,) = learn(book, outcome(1, "Rolling update", False), outcome(2, "Rolling update", False))
    (gone,) = learn(book, outcome(3, "Rolling update"), outcome(4, "Rolling update"))
    assert (gone.action, gone.lesson.id, gone.replaced_by) == ("withdraw", created.lesson.id, None)
    assert anti_patterns(book.lessons()) == []
    (back,) = learn(book, outcome(5, "Rolling update", False))
    assert (back.action, back.lesson.id) == ("create", created.lesson.id)
    assert back.lesson.occurrence_count == 5


def test_a_heuristic_that_fails_keeps_its_counts_and_loses_confidence(make_book: MakeBook) -> None:
    book = make_book()
    learn(book, *(outcome(number, "Rolling update") for number in range(3)))
    learn(book, *(outcome(f"bad-{number}", "Rolling update", False) for number in range(9)))
    (lesson,) = heuristics(book.lessons())
    assert (lesson.success_count, lesson.occurrence_count) == (3, 12)
    assert lesson.confidence < 0.35
    (warning,) = anti_patterns(book.lessons())
    assert warning.level == "established"


def test_contexts_and_agents_learn_apart(make_book: MakeBook) -> None:
    book = make_book()
    learn(
        book,
        outcome(1, "Use blue-green", task_type="deploy"),
        outcome(2, "Use blue-green", task="Deploy the portal", task_type="Deploy"),
        outcome(3, "Use blue-green", task_type="test"),
        outcome(4, "Use blue-green", task_type="deploy", agent="other"),
        outcome(5, "Use blue-green"),
    )
    assert book.lessons() == []
    (created,) = learn(book, outcome(6, "Use blue-green", task_type=" DEPLOY "))
    assert created.lesson.outcome_ids == {"1", "2", "6"}
    assert (created.lesson.context, created.lesson.category) == (" DEPLOY ", " DEPLOY ")


def test_tasks_that_are_kin_are_one_context(make_book: MakeBook) -> None:
    book = make_book()
    learn(
        book,
        outcome(1, "Use blue-green", task="Deploy the auth service to production"),
        outcome(2, "Use blue-green", task="deploy auth service to prod"),
        outcome(3, "Use blue-green", task="Deploy the auth service to staging"),
        outcome(4, "Use blue-green", task="Deploy the billing service to production"),
    )
    assert book.lessons() == []
    (created,) = learn(book, outcome(5, "Use blue-green", task="Deploy auth service to production"))
    assert created.lesson.outcome_ids == {"1", "2", "5"}
    assert created.lesson.category == "general"


def test_a_new_first_wording_renames_the_lesson_in_one_list(make_book: MakeBook) -> None:
    book = make_book()
    (created,) = learn(book, *(outcome(number, "use blue-green") for number in range(3)))
    gone, new = learn(book, outcome(3, "blue-green"))
    assert (gone.action, gone.lesson.id, gone.replaced_by) == ("withdraw", created.lesson.id, new.lesson.id)
    assert (new.action, new.replaces) == ("create", (created.lesson.id,))
    assert new.lesson.occurrence_count == 4


def test_forgetting_takes_back_what_was_learned(make_book: MakeBook) -> None:
    book = make_book()
    (created,) = learn(book, *(outcome(number, "Use blue-green") for number in range(3)))
    book.forget(["1", "never seen"])
    (gone,) = book.settle()
    assert (gone.action, gone.lesson.id, gone.replaced_by) == ("withdraw", created.lesson.id, None)
    assert len(book) == 2
    (back,) = learn(book, outcome(1, "Use blue-green"))
    assert back.lesson == created.lesson
    book.record([outcome(9, "Use blue-green")])
    book.forget(["9"])
    assert book.settle() == []


def test_ids_are_counted_once_and_empty_strategies_not_at_all(make_book: MakeBook) -> None:
    book = make_book()
    learn(book, *(outcome("same", "Use blue-green") for _ in range(5)), outcome("none", "  "))
    assert len(book) == 1
    assert book.lessons() == []


def test_texts_needed_are_all_that_is_embedded() -> None:
    asked: list[str] = []

    def embed(texts: Iterable[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        wanted = list(texts)
        asked.extend(wanted)
        return np.eye(64, dtype=np.float32)[[hash_of(text) for text in wanted]]

    def hash_of(text: str) -> int:
        return sum(text.encode()) % 64

    book = StrategyBook("shop", embed)
    batch = [outcome(number, f"Use plan {number % 4} of the {word}") for number, word in enumerate(["dog", "cat"] * 6)]
    needed = book.texts_needed(batch)
    assert len(needed) == len(set(needed)) == 4
    book.provide(needed, embed(needed))
    asked.clear()
    learn(book, *batch)
    assert asked == []
    assert book.texts_needed([outcome("next", "Use plan 1 of the cat")]) == []
    typed = [outcome(f"typed-{number}", f"Use plan {number % 4}", task_type="x") for number in range(4)]
    assert len(book.texts_needed(typed)) == 4


def test_codes_kept_between_runs_spare_the_embedder(make_book: MakeBook) -> None:
    first = make_book()
    outcomes = [outcome(number, text) for number, text in enumerate(["Use blue-green", "blue green", "Canary"] * 3)]
    learn(first, *outcomes)

    def no_embedder(texts: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        raise AssertionError(f"asked for {texts}")

    second = StrategyBook("shop", no_embedder)
    second.provide_codes(*first.codes())
    second.load(outcomes)
    assert second.lessons() == first.lessons()


@pytest.mark.parametrize(
    "vectors",
    [np.zeros((1, 8)), np.full((1, 8), np.nan), np.ones((2, 8)), np.ones(8)],
    ids=["zero", "nan", "too many", "one-dimensional"],
)
def test_bad_vectors_are_refused(
    make_book: MakeBook, vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    with pytest.raises(EmbeddingError):
        make_book().provide(["Use blue-green"], vectors.astype(np.float32))


def test_load_comes_first(make_book: MakeBook) -> None:
    book = make_book()
    book.record([outcome(1, "Use blue-green")])
    with pytest.raises(InvalidInputError, match="load"):
        book.load([outcome(2, "Use blue-green")])


def test_why_bad_is_bounded_and_independent_of_order() -> None:
    errors: list[str | None] = [*(f"error {letter}" for letter in "abcdefgh"), "error c", None, " ", "x" * 900]
    text = explain_failures(12, 20, errors)
    assert text == explain_failures(12, 20, reversed(errors))
    assert text.startswith("Failed 12 of 20 times: error c (2 times); error a (once)")
    assert text.endswith(f"; {9 - MAX_ERRORS} other errors; no message (2 times)")
    assert explain_failures(2, 3, [None, ""]) == "Failed 2 of 3 times."
    assert len(explain_failures(1, 1, ["y" * 900])) < 260
