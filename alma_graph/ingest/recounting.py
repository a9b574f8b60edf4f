"""Stored lessons made to follow from the stored outcomes: after outcomes came in that nobody learned from, and where
lessons were found to miscount."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from alma_graph.codec import row_to_memory
from alma_graph.ingest.lessons import Lessons, _outcome_edges, is_formed
from alma_graph.ingest.pruning import prune
from alma_graph.ingest.unit import Unit
from alma_graph.learning import AntiPatternLesson, HeuristicLesson, Lesson
from alma_graph.learning.lessons import LessonUpdate, changes
from alma_graph.learning.strategies import DEFAULT_LEAST_SUCCESSES
from alma_graph.model import AntiPattern, Heuristic, MemoryKind, MemoryScope, Status
from alma_graph.store import Store

_Stored = Heuristic | AntiPattern


@dataclass(frozen=True, slots=True)
class Recounted:
    """What a recount found.

    Attributes:
        changed: lessons that were written, removed or archived.
        taught: ids of all lessons that the outcomes teach.
    """

    changed: int
    taught: frozenset[str]


def recount_lessons(
    store: Store, project_id: str, scopes: Mapping[str, MemoryScope], *, only: Collection[str] | None = None
) -> Recounted:
    """Brings the lessons of a project to what all its outcomes teach, in one transaction.

    An agent that has a heuristic of few successes keeps that threshold, since its scope need not be known here.

    Args:
        only: ids of the lessons to bring up to date where outcomes teach them; nothing else is made, archived or
            removed then.

    Raises:
        AlmaGraphError: the store's embedder cannot be made here, so strategies cannot be compared.
    """
    return store.transact(lambda: _Recount(store, project_id, scopes).run(only))


class _Recount(Lessons):
    """The lessons as the graph has them, against those that the outcomes of the graph teach."""

    def run(self, only: Collection[str] | None) -> Recounted:
        """Writes what differs."""
        unit = Unit(self._store, self._project_id)
        stored = self._stored()
        for memory in stored.values():
            if isinstance(memory, Heuristic):
                agent = memory.agent or ""
                least = self._least.get(agent, DEFAULT_LEAST_SUCCESSES)
                self._least[agent] = max(1, min(least, memory.success_count))
        self._store.drop_book(self._project_id)  # the graph alone is believed here
        taught = {lesson.id: lesson for lesson in self._book().lessons()}
        told = {memory.id: _as_told(memory, unit) for memory in stored.values() if memory.status is not Status.ARCHIVED}
        updates = [update for update in changes(told, taught) if self._matters(update, stored, unit)]
        if only is not None:
            updates = [update for update in updates if update.action == "update" and update.lesson.id in only]
        if updates:
            self._write(updates, unit)
            work = unit.finish()
            prune(work, self._store.backend, unit.index)
            self._store.commit(self._project_id, work)
        return Recounted(len(updates), frozenset(taught))

    def _stored(self) -> dict[str, _Stored]:
        kinds = (MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN)
        backend = self._store.backend
        rows = backend.nodes("Memory", project_id=self._project_id, columns=("key", "kind"))
        keys = [row["key"] for row in rows if row["kind"] in kinds]
        found = (row_to_memory(row) for row in self._store.memory_rows(keys))
        return {memory.id: cast("_Stored", memory) for memory in found if is_formed(memory)}

    def _matters(self, update: LessonUpdate, stored: Mapping[str, _Stored], unit: Unit) -> bool:
        memory = stored.get(update.lesson.id)
        if memory is None or update.action == "create":
            return True
        if update.action == "withdraw":  # what a person retracted stays retracted
            return memory.status is Status.ACTIVE
        lesson = update.lesson
        fresh = self._memory(lesson, self._store.clock(), (memory,))
        names = {"confidence", *memory.own_fields} - {"updated_at"}
        if any(getattr(fresh, name) != getattr(memory, name) for name in names):
            return True
        told = _as_told(memory, unit)
        return (told.success_ids, told.failure_ids) != (lesson.success_ids, lesson.failure_ids)


def _as_told(memory: _Stored, unit: Unit) -> Lesson:
    """A stored lesson with the outcomes that its edges name."""
    edges = [name for name, counted in _outcome_edges(unit, memory.id).items() if counted]
    supports = tuple(sorted(name for type_, name in edges if type_ == "SUPPORTS"))
    against = tuple(sorted(name for type_, name in edges if type_ == "CONTRADICTS"))
    common: dict[str, Any] = {
        "id": memory.id,
        "agent": memory.agent or "",
        "context": memory.context,
        "category": memory.category,
        "wordings": (),
        "confidence": memory.confidence or 0.0,
        "interval": (0.0, 0.0),
    }
    if isinstance(memory, Heuristic):
        return HeuristicLesson(
            strategy=memory.strategy, success_ids=supports, failure_ids=against, similar=tuple(memory.similar), **common
        )
    return AntiPatternLesson(
        pattern=memory.pattern,
        why_bad=memory.why_bad,
        better_alternative=memory.better_alternative,
        level=memory.level,
        success_ids=against,
        failure_ids=supports,
        similar=(),
        **common,
    )
