"""Heuristics and anti-patterns in the graph, kept in step with what outcomes teach, in the outcomes' transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alma_graph.backends.protocol import EdgeMatch, EdgeRow, NodeUpdate
from alma_graph.backends.schema import node_key
from alma_graph.codec import compact_json, memory_to_row, row_to_memory
from alma_graph.errors import AlmaGraphError, StoreChangedError
from alma_graph.ids import formed_id
from alma_graph.index.rows import STATUSES
from alma_graph.ingest.retiring import amend
from alma_graph.ingest.unit import Reading, Unit
from alma_graph.learning import (
    AntiPatternLesson,
    LearnedOutcome,
    Lesson,
    LessonUpdate,
    StrategyBook,
)
from alma_graph.learning.strategies import DEFAULT_LEAST_SUCCESSES
from alma_graph.model import (
    AntiPattern,
    AntiPatternLevel,
    Authority,
    Disposition,
    Heuristic,
    Memory,
    MemoryScope,
    Outcome,
    Signal,
    Status,
)
from alma_graph.store import Store
from alma_graph.store.following import take_unread

OUTCOME_SCORE = 0.7
"""Score of the edge by which one outcome speaks against a lesson: it counts against it, it does not refute it."""

TURNED = "its outcomes no longer bear it out"
"""Why a lesson is archived whose counts turned."""

_STANDING: dict[str, Any] = {"status": str(Status.ACTIVE), "retired_at": None, "retired_reason": None}
_UPDATED = ("data", "confidence", "text", "content_hash", "category")


class Lessons:
    """Learns from outcomes in one project."""

    def __init__(self, store: Store, project_id: str, scopes: Mapping[str, MemoryScope]) -> None:
        self._store = store
        self._project_id = project_id
        self._least = {name: scope.min_occurrences_for_heuristic for name, scope in scopes.items()}

    def texts_needed(self, outcomes: Sequence[Outcome]) -> list[str]:
        """Wordings that learning these outcomes compares and whose vectors are not known yet."""
        if not outcomes:
            return []
        with self._store.lock:
            return self._book().texts_needed(map(_learned, outcomes))

    def provide(self, wordings: Sequence[str], vectors: Sequence[NDArray[np.float32]]) -> None:
        """Takes the vectors of `texts_needed`."""
        if wordings:
            with self._store.lock:
                self._book().provide(wordings, np.stack(vectors))

    @contextmanager
    def learning(self, outcomes: Sequence[Outcome], unit: Unit) -> Iterator[None]:
        """Adds what these outcomes teach to the unit of work; the body commits it. If it fails, nothing was learned."""
        if not outcomes:
            yield
            return
        book = self._book()
        fresh = [outcome.id for outcome in outcomes if outcome.id not in book]
        try:
            book.record(map(_learned, outcomes))
            self._write(book.settle(), unit)
            yield
        except StoreChangedError:  # made again at once, from what others wrote: the book goes back, not away
            book.forget(fresh)
            book.settle()
            raise
        except BaseException:
            self._store.drop_book(self._project_id)  # read again from the graph, which has none of this
            raise

    def forgetting(self, outcome_ids: Sequence[str], unit: Unit) -> AbstractContextManager[None]:
        """As `learning`, for outcomes that go: lessons that rested on them shrink or go too."""
        return self._without(outcome_ids, unit, gone=frozenset(outcome_ids))

    def retracting(self, outcome_ids: Sequence[str], unit: Unit) -> AbstractContextManager[None]:
        """As `learning`, for outcomes that count no longer and stay: lessons that rested on them shrink or are
        archived, and the outcomes' edges to them are kept."""
        return self._without(outcome_ids, unit, gone=frozenset())

    @contextmanager
    def _without(self, outcome_ids: Sequence[str], unit: Unit, *, gone: frozenset[str]) -> Iterator[None]:
        if not outcome_ids:
            yield
            return
        book = self._book()
        try:
            book.forget(outcome_ids)
            updates = book.settle()
            self._write(updates, unit, gone=gone, resting=frozenset(outcome_ids) - gone)
            self._drop_quoting(gone, {update.lesson.id for update in updates}, unit)
            yield
        except BaseException:
            self._store.drop_book(self._project_id)
            raise

    def _drop_quoting(self, gone: frozenset[str], told: set[str], unit: Unit) -> None:
        """Removes the lessons that stand no longer and quote what was forgotten: nothing would ever word them anew."""
        index = unit.index
        status, formed = index.rows.column("status"), index.rows.column("occurrences") > 0
        quoting: set[int] = set()
        for row in (row for name in sorted(gone) if (row := index.row(name)) is not None):
            counted = STATUSES[int(status[row])] is Status.ACTIVE
            for edge in index.edges.outgoing(row):
                stands = STATUSES[int(status[edge.target])]
                unworded = stands is Status.ARCHIVED or (stands is Status.RETRACTED and counted)
                if formed[edge.target] and unworded and index.ids[edge.target] not in told:
                    quoting.add(edge.target)
        unit.work.node_deletes.extend(("Memory", index.keys[row]) for row in sorted(quoting))

    def _book(self) -> StrategyBook:
        """The project's book, read from its stored outcomes on first use."""
        book = self._store.book(self._project_id, self._least)
        if book is not None and (changed := take_unread(self._store.shared, self._project_id)):
            book = self._follow(book, changed)
        if book is None:
            book = StrategyBook(
                self._project_id,
                self._embed,
                least_successes=lambda agent: self._least.get(agent, DEFAULT_LEAST_SUCCESSES),
            )
            columns = ("kind", *_OUTCOME_COLUMNS)
            rows = self._store.backend.nodes("Memory", project_id=self._project_id, columns=columns)
            counted = (row for row in rows if row["kind"] == "outcome" and row["status"] == Status.ACTIVE)
            stored = [row_to_memory(row) for row in counted]
            book.load(_learned(memory) for memory in stored if isinstance(memory, Outcome))
            self._store.keep_book(self._project_id, self._least, book)
        return book

    def _follow(self, book: StrategyBook, keys: Collection[str]) -> StrategyBook | None:
        """The book with what other processes made of these memories, whose lessons they have written; None where it
        must be read again."""
        beginning = node_key(self._project_id, "")
        changed = [key.removeprefix(beginning) for key in sorted(keys)]
        try:
            rows = self._store.backend.nodes("Memory", keys=sorted(keys), columns=("kind", *_OUTCOME_COLUMNS))
            counted = (row for row in rows if row["kind"] == "outcome" and row["status"] == Status.ACTIVE)
            memories = [memory for memory in map(row_to_memory, counted) if isinstance(memory, Outcome)]
            found = {memory.id: _learned(memory) for memory in memories}
            book.forget(name for name in changed if name in book and book.get(name) != found.get(name))
            book.settle()
            book.record(found.values())
            book.settle()
        except AlmaGraphError:  # comparing needs vectors, and the embedder is not here; reading again compares nothing
            self._store.drop_book(self._project_id)
            return None
        except BaseException:  # the keys are taken: a book that did not follow them must not stay
            self._store.drop_book(self._project_id)
            raise
        return book

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([item.vector for item in self._store.encoder.encode(texts, tokens=False)])

    def _write(
        self,
        updates: Sequence[LessonUpdate],
        unit: Unit,
        *,
        gone: frozenset[str] = frozenset(),
        resting: frozenset[str] = frozenset(),
    ) -> None:
        now = self._store.clock()
        heirs: dict[str, list[Memory]] = {}
        for update in updates:
            if update.action == "withdraw":
                self._withdraw(update, unit, now, gone, heirs)
        standing = [update for update in updates if update.action != "withdraw"]
        # what the graph holds decides: a lesson may have been forgotten, or the agent's threshold changed, since
        self._create([update for update in standing if unit.index.row(update.lesson.id) is None], unit, now, heirs)
        for update in standing:
            if unit.index.row(update.lesson.id) is not None:
                self._update(update.lesson, unit, now, back=update.action == "create", resting=resting)

    def _withdraw(
        self, update: LessonUpdate, unit: Unit, now: datetime, gone: frozenset[str], heirs: dict[str, list[Memory]]
    ) -> None:
        """A lesson that was replaced, or quotes what was forgotten, goes; one whose counts turned is archived. One that
        was retracted stays so, and will be archived when it is restored."""
        lesson = update.lesson
        key = node_key(self._project_id, lesson.id)
        if unit.index.row(lesson.id) is None:
            return
        if update.replaced_by is not None or gone & lesson.outcome_ids:
            if update.replaced_by is not None:
                heirs.setdefault(update.replaced_by, []).append(self._store.memory(self._project_id, lesson.id))
            unit.work.node_deletes.append(("Memory", key))
            return
        archived = {"status": str(Status.ARCHIVED), "retired_at": now, "retired_reason": TURNED}
        stored = self._store.memory(self._project_id, lesson.id)
        if stored.status is Status.RETRACTED:
            unit.work.node_updates.append(amend(self._store.backend, stored, **archived))
        else:
            unit.work.node_updates.append(NodeUpdate("Memory", key, archived))

    def _create(
        self, updates: Sequence[LessonUpdate], unit: Unit, now: datetime, heirs: Mapping[str, Sequence[Memory]]
    ) -> None:
        fresh: list[tuple[Lesson, Memory]] = []
        for update in updates:
            fresh.append((update.lesson, self._memory(update.lesson, now, heirs.get(update.lesson.id, ()))))
        if not fresh:
            return
        texts = [memory.text for _, memory in fresh]
        encoded = self._store.encoder.encode(texts)
        extractions = self._store.extractor.extract_batch(texts)
        for (lesson, memory), vectors, extraction in zip(fresh, encoded, extractions, strict=True):
            unit.add(memory, Reading(vectors, extraction))
            self._join(lesson, unit, now)

    def _memory(self, lesson: Lesson, now: datetime, former: Sequence[Memory]) -> Memory:
        """The lesson as a memory; what was used and noted of the ones it replaces stays with it."""
        common: dict[str, Any] = {
            "id": lesson.id,
            "project_id": self._project_id,
            "agent": lesson.agent,
            "created_at": min([now, *(item.created_at for item in former if item.created_at is not None)]),
            "confidence": lesson.confidence,
            "authority": Authority.INFERRED,
            "category": lesson.category,
            "context": lesson.context,
            "success_count": len(lesson.success_ids),
            "occurrence_count": lesson.occurrence_count,
            "use_count": sum(item.use_count for item in former),
            "last_used_at": max((item.last_used_at for item in former if item.last_used_at is not None), default=None),
            "metadata": {name: value for item in former for name, value in item.metadata.items()},
        }
        retracted = next((item for item in former if item.status is Status.RETRACTED), None)
        if retracted is not None:
            common |= {name: getattr(retracted, name) for name in ("status", "retired_at", "retired_reason")}
        if isinstance(lesson, AntiPatternLesson):
            return AntiPattern(
                pattern=lesson.pattern,
                why_bad=lesson.why_bad,
                better_alternative=lesson.better_alternative or "",
                level=AntiPatternLevel(lesson.level),
                **common,
            )
        return Heuristic(
            strategy=lesson.strategy,
            supporting_outcomes=lesson.success_ids,
            similar=lesson.similar,
            updated_at=now,
            **common,
        )

    def _update(
        self, lesson: Lesson, unit: Unit, now: datetime, *, back: bool, resting: frozenset[str] = frozenset()
    ) -> None:
        """Brings a stored lesson up to date; one that was archived when its counts turned may come back."""
        stored = self._store.memory(self._project_id, lesson.id)
        row = memory_to_row(self._memory(lesson, now, (stored,)))
        values = {name: row[name] for name in _UPDATED}
        if back and stored.status is Status.ARCHIVED:
            values |= _STANDING
        elif back and stored.status is Status.RETRACTED:
            values |= amend(self._store.backend, stored, **_STANDING).values
        if row["text"] != stored.text:  # another spelling of the same wording
            values["embedding"] = self._store.encoder.encode([row["text"]])[0].vector
        unit.work.node_updates.append(NodeUpdate("Memory", row["key"], values))
        self._join(lesson, unit, now, resting)

    def _join(self, lesson: Lesson, unit: Unit, now: datetime, resting: frozenset[str] = frozenset()) -> None:
        """One edge from each of the lesson's outcomes; edges that no longer hold are removed, but for those of
        retracted outcomes, which come back with them."""
        bad = isinstance(lesson, AntiPatternLesson)
        for_it, against = (lesson.failure_ids, lesson.success_ids) if bad else (lesson.success_ids, lesson.failure_ids)
        wanted = {("SUPPORTS", name) for name in for_it} | {("CONTRADICTS", name) for name in against}
        there = _outcome_edges(unit, lesson.id)
        key = node_key(self._project_id, lesson.id)
        for type_, name in sorted(name for name, counted in there.items() if counted and name not in wanted):
            if name in resting:
                continue
            unit.work.edge_deletes.append(EdgeMatch(type_, node_key(self._project_id, name), key))
        for type_, name in sorted(wanted - there.keys()):
            properties = _support(lesson, now) if type_ == "SUPPORTS" else self._speaks_against(lesson, name, now)
            unit.work.edges.append(EdgeRow(type_, node_key(self._project_id, name), key, properties))

    def _speaks_against(self, lesson: Lesson, outcome_id: str, now: datetime) -> dict[str, Any]:
        return {
            "id": formed_id(self._project_id, "contradiction", outcome_id, lesson.id),
            "signal": str(Signal.OUTCOME),
            "origin": "learning",
            "evidence": compact_json({"context": lesson.context}),
            "disposition": str(Disposition.OPEN),
            "score": OUTCOME_SCORE,
            "recorded_at": now,
        }


_OUTCOME_COLUMNS = (
    *("id", "project_id", "agent", "user_id", "text", "data", "metadata", "status", "authority", "confidence"),
    *("strength", "use_count", "valid_from", "valid_to", "recorded_at", "retired_at", "retired_reason", "last_used_at"),
)


def _learned(outcome: Outcome) -> LearnedOutcome:
    return LearnedOutcome(
        id=outcome.id,
        agent=outcome.agent or "",
        task=outcome.task,
        strategy=outcome.strategy_used,
        success=outcome.succeeded,
        task_type=outcome.task_type,
        error_message=outcome.error_message,
    )


def _support(lesson: Lesson, now: datetime) -> dict[str, Any]:
    evidence = compact_json({"context": lesson.context})
    return {"weight": 1.0, "origin": "learning", "evidence": evidence, "recorded_at": now}


def _outcome_edges(unit: Unit, lesson_id: str) -> dict[tuple[str, str], bool]:
    """(type, outcome id) of the edges that stored outcomes have to a stored lesson, and whether the outcome counts."""
    index = unit.index
    row = index.row(lesson_id)
    if row is None:
        return {}
    outcomes, active = index.kind_mask(["outcome"]), index.active()
    edges = [edge for edge in index.edges.incoming(row) if edge.type in ("SUPPORTS", "CONTRADICTS")]
    return {(edge.type, index.ids[edge.source]): bool(active[edge.source]) for edge in edges if outcomes[edge.source]}


def is_formed(memory: Memory) -> bool:
    """Whether a memory is a lesson that outcomes formed, whose wording and counts follow them."""
    return isinstance(memory, (Heuristic, AntiPattern)) and memory.occurrence_count > 0
