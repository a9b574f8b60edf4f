"""What is learned, as plain data: heuristics and anti-patterns with their evidence, and how two states differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from alma_graph.ids import formed_id
from alma_graph.text import normalise

MAX_ERRORS = 5
"""Distinct error messages that `why_bad` quotes."""
MAX_ERROR_LENGTH = 200
"""Characters of one quoted error message."""


@dataclass(frozen=True, slots=True)
class LearnedOutcome:
    """What learning needs of one outcome.

    Attributes:
        id: unique in the project; the same id is counted once.
        agent: who learned it. Nothing is learned across agents.
        task: what was to be done, as the caller wrote it.
        strategy: what was tried, as the caller wrote it; without one, nothing is learned.
        success: whether it worked.
        task_type: the caller's own context; None lets the task's text decide.
        error_message: why it failed, where known.
    """

    id: str
    agent: str
    task: str
    strategy: str
    success: bool
    task_type: str | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class HeuristicLesson:
    """A strategy that succeeded often enough in one context.

    Attributes:
        id: UUIDv5 of project, kind, agent, context and the canonical wording.
        agent: whose outcomes it rests on.
        context: the task type, or the first of the context's tasks in text order.
        category: the task type, or "general" where the caller gave none.
        strategy: the canonical wording: the first in text order of those pooled here, as it was written.
        wordings: all pooled wordings, as written, sorted.
        success_ids: outcomes that support it, sorted: one SUPPORTS edge each.
        failure_ids: outcomes that speak against it, sorted: one CONTRADICTS edge each (signal `outcome`).
        confidence: expected success rate (see `alma_graph.learning.confidence`), 3 decimals.
        interval: Wilson interval of the raw success rate, 80 %, 3 decimals.
        similar: canonical wordings of kin strategies of the context, whose counts are not in these.
    """

    id: str
    agent: str
    context: str
    category: str
    strategy: str
    wordings: tuple[str, ...]
    success_ids: tuple[str, ...]
    failure_ids: tuple[str, ...]
    confidence: float
    interval: tuple[float, float]
    similar: tuple[str, ...]

    @property
    def success_count(self) -> int:
        """Number of successes."""
        return len(self.success_ids)

    @property
    def occurrence_count(self) -> int:
        """Successes plus failures."""
        return len(self.success_ids) + len(self.failure_ids)

    @property
    def outcome_ids(self) -> frozenset[str]:
        """All outcomes it rests on."""
        return frozenset((*self.success_ids, *self.failure_ids))


@dataclass(frozen=True, slots=True)
class AntiPatternLesson:
    """A strategy that fails more often than it succeeds in one context. The fields are those of a heuristic, and:

    Attributes:
        pattern: the canonical wording.
        why_bad: how often it failed, and the distinct error messages, the most frequent first.
        better_alternative: the strategy that does succeed in this context, or None when none is known.
        level: `warning` or `established`.
        confidence: 1 - expected success rate, 3 decimals.
    """

    id: str
    agent: str
    context: str
    category: str
    pattern: str
    wordings: tuple[str, ...]
    why_bad: str
    better_alternative: str | None
    level: str
    success_ids: tuple[str, ...]
    failure_ids: tuple[str, ...]
    confidence: float
    interval: tuple[float, float]
    similar: tuple[str, ...]

    @property
    def occurrence_count(self) -> int:
        """Successes plus failures."""
        return len(self.success_ids) + len(self.failure_ids)

    @property
    def outcome_ids(self) -> frozenset[str]:
        """All outcomes it rests on."""
        return frozenset((*self.success_ids, *self.failure_ids))


Lesson = HeuristicLesson | AntiPatternLesson


@dataclass(frozen=True, slots=True, order=True)
class Standing:
    """How one strategy of one context stands, whether it taught something yet or not.

    Attributes:
        agent: whose outcomes.
        context: as in the lessons.
        strategy: canonical wording.
        successes: number of successes over all pooled wordings.
        failures: number of failures.
    """

    agent: str
    context: str
    strategy: str
    successes: int
    failures: int


@dataclass(frozen=True, slots=True)
class LessonUpdate:
    """One change of what is learned.

    Attributes:
        action: `create` (also when a withdrawn one comes back: make it or make it active again), `update`, or
            `withdraw`.
        lesson: its state now; for `withdraw` its last state.
        replaces: for `create`, ids of lessons of the same kind that are withdrawn in the same change because their
            outcomes are in this one now: a new wording or task came first in text order, or groups joined.
        replaced_by: for `withdraw`, the id of the lesson that has its outcomes now; None when its counts turned or its
            outcomes were forgotten.
    """

    action: Literal["create", "update", "withdraw"]
    lesson: Lesson
    replaces: tuple[str, ...] = ()
    replaced_by: str | None = None


def lesson_id(project_id: str, kind: str, agent: str, context: str, wording: str) -> str:
    """Deterministic id. It is a function of the content alone, so every engine and every order gives the same one."""
    return formed_id(project_id, kind, agent, context, wording)


def explain_failures(failures: int, occurrences: int, errors: Iterable[str | None]) -> str:
    """Why a strategy is bad, from the error messages of its failures. Independent of their order."""
    surfaces: dict[str, list[str]] = {}
    silent = 0
    for error in errors:
        if error is None or not error.strip():
            silent += 1
        else:
            surfaces.setdefault(normalise(error), []).append(" ".join(error.split()))
    counts = Counter({key: len(found) for key, found in surfaces.items()})
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    quoted = [f"{_cut(min(surfaces[key]))} ({_times(counts[key])})" for key in ordered[:MAX_ERRORS]]
    if len(ordered) > MAX_ERRORS:
        quoted.append(f"{len(ordered) - MAX_ERRORS} other errors")
    if silent and quoted:
        quoted.append(f"no message ({_times(silent)})")
    opening = f"Failed {failures} of {occurrences} times"
    return f"{opening}: {'; '.join(quoted)}" if quoted else f"{opening}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1].rstrip() + "…"


def changes(before: Mapping[str, Lesson], after: Mapping[str, Lesson]) -> list[LessonUpdate]:
    """What turns one state (lessons by id) into the other: withdrawals first, each part sorted by id."""
    gone = sorted(before.keys() - after.keys())
    new = sorted(after.keys() - before.keys())
    heir = {
        old: _heir(before[old], [after[key] for key in (*new, *sorted(before.keys() & after.keys()))]) for old in gone
    }
    updates = [LessonUpdate("withdraw", before[old], replaced_by=heir[old]) for old in gone]
    updates += [
        LessonUpdate("create", after[key], replaces=tuple(old for old in gone if heir[old] == key)) for key in new
    ]
    updates += [
        LessonUpdate("update", after[key]) for key in sorted(before.keys() & after.keys()) if before[key] != after[key]
    ]
    return updates


def _heir(lost: Lesson, candidates: Sequence[Lesson]) -> str | None:
    """The lesson of the same kind that has most of the lost one's outcomes, at least half of them."""
    shared = [
        (len(lost.outcome_ids & lesson.outcome_ids), lesson.id) for lesson in candidates if type(lesson) is type(lost)
    ]
    best = max(shared, key=lambda pair: (pair[0], pair[1]), default=(0, ""))
    return best[1] if 2 * best[0] >= len(lost.outcome_ids) and best[0] else None
