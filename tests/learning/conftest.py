"""Outcomes and books that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from alma_graph.embedding import HashingEmbedder
from alma_graph.learning import LearnedOutcome, Lesson, LessonUpdate, StrategyBook

MakeBook = Callable[..., StrategyBook]


def outcome(number: int | str, strategy: str, success: bool = True, **fields: Any) -> LearnedOutcome:
    """An outcome of agent "dev" on one task, unless `fields` says otherwise."""
    given: dict[str, Any] = {"agent": "dev", "task": "Deploy the shop"} | fields
    return LearnedOutcome(id=str(number), strategy=strategy, success=success, **given)


def replay(updates: Iterable[LessonUpdate], held: dict[str, Lesson]) -> None:
    """Does with a dictionary what a store does with its nodes, and checks that each change makes sense."""
    for update in updates:
        lesson = update.lesson
        if update.action == "withdraw":
            del held[lesson.id]
        elif update.action == "create":
            assert lesson.id not in held
            held[lesson.id] = lesson
        else:
            assert held[lesson.id] != lesson
            held[lesson.id] = lesson


@pytest.fixture
def make_book() -> MakeBook:
    """Makes a book over the hashing embedder."""

    def make(**options: Any) -> StrategyBook:
        return StrategyBook("shop", HashingEmbedder().embed, **options)

    return make
