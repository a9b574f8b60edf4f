"""The flow of a write: identify, read, embed, link, judge, learn, then one unit of work to the backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from alma_graph.backends.protocol import chunked
from alma_graph.errors import AlmaGraphError, EmbedderMismatchError, ScopeError
from alma_graph.extraction import Extraction
from alma_graph.ingest.identity import Placed, confirm, place
from alma_graph.ingest.known import StoredMemories
from alma_graph.ingest.lessons import Lessons
from alma_graph.ingest.pruning import prune
from alma_graph.ingest.reading_text import parse_claims_or_none, read_entities
from alma_graph.ingest.unit import Reading, Unit
from alma_graph.learning.territory import type_key
from alma_graph.model import Memory, MemoryScope, Outcome
from alma_graph.store import Store

Progress = Callable[[int, int], None]
"""Called with (done, total)."""

UNIT_SIZE = 500
"""Memories to a transaction in a batch: enough for bulk writes, few enough for steady progress."""

_M = TypeVar("_M", bound=Memory)
_T = TypeVar("_T")


class Writer:
    """Writes memories of one project."""

    def __init__(self, store: Store, project_id: str, scopes: Mapping[str, MemoryScope]) -> None:
        self.store = store
        self.project_id = project_id
        self.scopes = scopes
        self.known = StoredMemories(store, project_id)
        self.lessons = Lessons(store, project_id, scopes)

    def add(self, memories: Sequence[_M], *, extract: bool = True, progress: Progress | None = None) -> list[_M]:
        """Stores the memories; those that are stored already come back as they are.

        Everything is checked before the first is written. Each transaction holds whole memories with all that belongs
        to them.
        """
        self.store.check_writable()
        for memory in memories:
            self.check_scope(memory)
        with self.store.one_state():
            placed = place(memories, self.project_id, self.known, self.store.clock)
        done: list[Memory] = []
        for part in chunked(placed, UNIT_SIZE):
            done.extend(self._add_unit(part, extract))
            if progress is not None:
                progress(len(done), len(placed))
        return cast("list[_M]", done)

    def check_scope(self, memory: Memory) -> None:
        """Raises ScopeError where the agent's scope forbids it to learn the memory's category."""
        scope = self.scopes.get(memory.agent) if memory.agent is not None else None
        category = memory.category_name
        if scope is None or category is None:
            return
        named = type_key(category)
        if named in map(type_key, scope.cannot_learn):
            raise ScopeError(f"agent {memory.agent!r} may not learn {category!r} (cannot_learn of its scope)")
        if scope.can_learn and named not in map(type_key, scope.can_learn):
            allowed = ", ".join(repr(name) for name in scope.can_learn)
            raise ScopeError(f"agent {memory.agent!r} may not learn {category!r}; its scope allows {allowed}")

    def read(self, memories: Sequence[Memory], extract: bool = True) -> dict[str, Reading]:
        """Encodes and parses; by memory id. One call of the encoder, for texts and strategies together."""
        texts = [memory.text for memory in memories]
        wordings = self.lessons.texts_needed([memory for memory in memories if isinstance(memory, Outcome)])
        encoder = self.store.encoder
        encoded = encoder.encode([*texts, *wordings])
        with self.store.lock:
            if encoder is self.store.shared.encoder:
                self.lessons.provide(wordings, [item.vector for item in encoded[len(texts) :]])
        extractions = read_entities(self.store, self.project_id, memories) if extract else [Extraction()] * len(texts)
        claims = parse_claims_or_none(memories) if extract and self.store.judges else [None] * len(texts)
        readings = map(Reading, encoded, extractions, claims, [encoder] * len(texts))
        return {memory.id: reading for memory, reading in zip(memories, readings, strict=False)}

    def _add_unit(self, part: Sequence[Placed], extract: bool) -> list[Memory]:
        fresh = [item.memory for item in part if item.new]
        if not fresh:
            return [item.memory for item in part]
        return self.read_and_commit(fresh, lambda readings: self._commit_unit(part, readings), extract)

    def read_and_commit(
        self, memories: Sequence[Memory], commit: Callable[[Mapping[str, Reading]], _T], extract: bool = True
    ) -> _T:
        """The value of `commit`, run by `Store.transact` with what was read out of the memories; they are read again
        where the store was re-embedded meanwhile.

        Raises:
            EmbedderMismatchError: it was, by a process that has an embedder which cannot be made here.
        """
        while True:
            readings = self.read(memories, extract)  # outside of the lock: this is where the time goes
            try:
                return self.store.transact(lambda: commit(readings))  # noqa: B023 - run at once
            except EmbedderMismatchError as error:
                now = self.store.shared.encoder
                if isinstance(now, AlmaGraphError):
                    raise EmbedderMismatchError(
                        f"another process re-embedded {self.store.location!r} meanwhile, with an embedder that cannot "
                        f"be made here ({now}); nothing was written: open the store again with embedder= that one"
                    ) from error
                if now is readings[memories[0].id].encoder:
                    raise

    def _commit_unit(self, part: Sequence[Placed], readings: Mapping[str, Reading]) -> list[Memory]:
        confirmed = confirm(part, self.known)
        new = [item.memory for item in confirmed if item.new]
        if new:
            unit = Unit(self.store, self.project_id)
            for memory in new:
                unit.add(memory, readings[memory.id])
            with self.lessons.learning([memory for memory in new if isinstance(memory, Outcome)], unit):
                work = unit.finish()
                prune(work, self.store.backend, unit.index)  # a lesson may have taken another's place
                self.store.commit(self.project_id, work)
        return [item.memory for item in confirmed]
