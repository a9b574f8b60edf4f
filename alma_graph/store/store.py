"""The state that every handle of one path shares."""

from __future__ import annotations

import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from alma_graph.backends.inspection import Snapshots
from alma_graph.backends.protocol import Backend, Row, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.clock import Clock
from alma_graph.codec import row_to_memory
from alma_graph.embedding import Encoder
from alma_graph.errors import (
    AlmaGraphError,
    MemoryNotFoundError,
    ReadOnlyError,
    StoreChangedError,
    StoreClosedError,
    StoreCorruptError,
    shown,
)
from alma_graph.index import ProjectIndex
from alma_graph.index.following import load_whole
from alma_graph.model import Memory, Observation, Outcome
from alma_graph.store.embedders import check_embedder, stored_encoder
from alma_graph.store.following import follow_others
from alma_graph.store.spools import forget_spooled
from alma_graph.text import checked

if TYPE_CHECKING:  # what only writing needs is loaded by the first write
    from alma_graph.beliefs import ContradictionDetector
    from alma_graph.extraction import Extractor, SessionContext
    from alma_graph.learning import StrategyBook
    from alma_graph.store.sides import JudgedSide

_KEPT_SESSIONS = 1024
_KEPT_SIDES = 5_000
_KEPT_MEMORIES = 10_000
_ATTEMPTS = 20
_PAUSE = 0.02

_T = TypeVar("_T")


@dataclass(slots=True, weakref_slot=True)
class Shared:
    """What all handles of one path have in common; guarded by `lock`."""

    backend: Backend
    encoder: Encoder | AlmaGraphError
    sequence: int
    pinned: int = 0
    cleared: int = 0
    handles: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    indexes: dict[str, ProjectIndex] = field(default_factory=dict)
    sessions: OrderedDict[tuple[str, str], SessionContext] = field(default_factory=OrderedDict)
    books: dict[str, tuple[dict[str, int], StrategyBook]] = field(default_factory=dict)
    unread: dict[str, set[str]] = field(default_factory=dict)
    """Keys of memories, by project, that other processes changed since the project's book was made."""
    sides: OrderedDict[str, JudgedSide] = field(default_factory=OrderedDict)
    memories: dict[str, Memory] = field(default_factory=dict)

    def clear(self) -> None:
        """Drops everything that can be read from the graph again."""
        self.cleared += 1
        self.indexes.clear()
        self.books.clear()
        self.unread.clear()
        self.sides.clear()
        self.memories.clear()


class Store:
    """One handle of a store: what its path shares, with this handle's own extractor and clock.

    The graph is the truth: indexes are loaded from it on first use and brought up to date with every unit of work. All
    of it is guarded by `lock`; texts of callers are encoded and parsed outside of it.
    """

    def __init__(self, location: str, shared: Shared, extractor: str | Extractor, clock: Clock) -> None:
        self.location = location
        self.shared = shared
        self.backend = shared.backend
        self.lock = shared.lock
        self._extractor = extractor
        self.clock = clock
        self._closed = False
        shared.handles += 1

    @property
    def encoder(self) -> Encoder:
        """Makes vectors.

        Raises:
            AlmaGraphError: the store's embedder could not be made here; reading without vectors still works.
        """
        if isinstance(self.shared.encoder, AlmaGraphError):
            raise self.shared.encoder
        return self.shared.encoder

    @cached_property
    def extractor(self) -> Extractor:
        """Finds entities and relations in what is written."""
        from alma_graph.extraction import create_extractor

        return create_extractor(self._extractor)

    @cached_property
    def detector(self) -> ContradictionDetector:
        """Judges pairs of memories."""
        from alma_graph.beliefs import SymbolicDetector

        return SymbolicDetector()

    @property
    def judges(self) -> bool:
        """Whether new memories are judged against others; the extractors without a parser ask for speed."""
        return self.extractor.name not in ("rules", "none")

    def check_open(self) -> None:
        """Raises StoreClosedError once this handle was closed."""
        if self._closed:
            raise StoreClosedError(f"the store {shown(self.location)} is closed; open it again")

    def check_writable(self) -> None:
        """Raises ReadOnlyError or StoreClosedError where nothing may be written."""
        self.check_open()
        if self.backend.read_only:
            raise ReadOnlyError(f"the store {shown(self.location)} is open read-only; open it without, to write")

    def index(self, project_id: str) -> ProjectIndex:
        """The derived arrays of a project, current with the graph; call it with `lock` held."""
        self.check_open()
        if not self.shared.pinned:
            self.refresh()
        index = self.shared.indexes.get(project_id)
        if index is None:
            index = self.shared.indexes[project_id] = load_whole(self.backend, project_id)
        return index

    def refresh(self) -> None:
        """Notices what another process wrote; call it with `lock` held."""
        if not (self.backend.read_only or self.backend.capabilities.shared_writers):
            return
        sequence = self.backend.sequence()
        if sequence != self.shared.sequence:
            if not follow_others(self.shared):
                self.shared.clear()
                self.shared.sequence = sequence
            self._follow_embedder()

    def _follow_embedder(self) -> None:
        """Takes the embedder that Meta names, where another process has re-embedded the store."""
        encoder, meta = self.shared.encoder, self.backend.meta()
        if meta is None:
            return
        try:
            if isinstance(encoder, AlmaGraphError):
                raise encoder
            check_embedder(meta, encoder.embedder, self.location)
        except AlmaGraphError:
            try:
                self.shared.encoder = stored_encoder(meta, self.location)
            except AlmaGraphError as error:
                self.shared.encoder = error  # what needs no vectors of texts still works

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """One committed state of the store for all reads inside, the latest; other processes may write meanwhile.

        Where the engine cannot hold a state (a server), the derived arrays are of one, and single reads may be newer.
        """
        with self.lock:
            self.check_open()
            with self.backend.one_state() if isinstance(self.backend, Snapshots) else nullcontext():
                if not self.shared.pinned:
                    self.refresh()
                self.shared.pinned += 1
                try:
                    yield
                finally:
                    self.shared.pinned -= 1

    def kept_index(self, project_id: str) -> ProjectIndex | None:
        """The derived arrays of a project as they are kept now; None where they were not needed yet."""
        return self.shared.indexes.get(project_id)

    def catch_up(self) -> bool:
        """Notices what other processes wrote; whether that was anything."""
        with self.lock:
            self.check_open()
            before = self.shared.sequence
            self.refresh()
            return self.shared.sequence != before

    def transact(self, build: Callable[[], _T]) -> _T:
        """The value of `build`, which reads the store and commits one unit of work made from what it read.

        It sees one state of the store, with `lock` held, and runs again from the start where another process wrote in
        between.

        Raises:
            StoreChangedError: others were faster every time.
        """
        with self.lock:
            self.check_open()
            attempt = 1
            while True:
                self.refresh()
                self.shared.pinned += 1
                try:
                    return build()
                except StoreChangedError:
                    if attempt == _ATTEMPTS:
                        raise
                finally:
                    self.shared.pinned -= 1
                time.sleep(random.uniform(0, _PAUSE * attempt))  # others wait for the same node: not all at once again
                attempt += 1

    def commit(self, project_id: str, work: UnitOfWork) -> None:
        """Writes a unit of work and brings the project's index up to date; call it in `transact`."""
        index = self.index(project_id)
        expected = self.shared.sequence if self.backend.capabilities.shared_writers else None
        try:
            self.backend.write(work, expected=expected)
            self.shared.sequence += 1
            self._drop_changed(work)
            index.apply(work)
        except StoreChangedError:
            raise  # nothing was written: the next look at the store takes over what others did
        except BaseException:
            self.shared.clear()  # whatever was written: the next reader loads it anew from the graph
            raise

    def use_encoder(self, encoder: Encoder) -> None:
        """Takes another encoder, whose vectors the graph has now, for all handles of the path; call it with `lock`
        held."""
        self.shared.encoder = encoder
        self.shared.clear()
        self.shared.sequence = self.backend.sequence()

    def rewrite(self, work: UnitOfWork, made_at: int | None = None, *, projects: Collection[str] | None = None) -> None:
        """Writes a unit of work, and drops what is derived of the projects that it concerns; None is every one. Call it
        in `transact`, or with `lock` held and the sequence of the state that it was made from.

        Raises:
            StoreChangedError: another process wrote since then; nothing was written, and nothing is dropped.
        """
        known = self.shared.sequence if made_at is None else made_at
        expected = known if self.backend.capabilities.shared_writers else None
        try:
            self.backend.write(work, expected=expected)
        except StoreChangedError:
            raise
        except BaseException:
            self._drop_all()
            raise
        if projects is None:
            self._drop_all()
            return
        self.shared.sequence += 1
        self._drop_changed(work)
        for project_id in projects:
            self.drop_index(project_id)
            self.drop_book(project_id)

    def erase(self, project_id: str, work: UnitOfWork) -> None:
        """Writes a unit of work that removes nodes of one project, and drops what is kept of that project; call it in
        `transact`.

        Raises:
            StoreChangedError: another process wrote since then; nothing was written, and nothing is dropped.
        """
        shared = self.shared
        expected = shared.sequence if self.backend.capabilities.shared_writers else None
        try:
            self.backend.write(work, expected=expected)
            shared.sequence += 1
        except StoreChangedError:
            raise
        except BaseException:
            shared.clear()
            self._drop_project(project_id, work)
            raise
        self._drop_project(project_id, work)

    def _drop_project(self, project_id: str, work: UnitOfWork) -> None:
        """Drops all that is kept of a project that is being removed, texts of its memories included."""
        self.drop_index(project_id)
        self.drop_book(project_id)
        self._drop_changed(work)
        for name in [name for name in self.shared.sessions if name[0] == project_id]:
            del self.shared.sessions[name]
        if isinstance(self.shared.encoder, Encoder):
            self.shared.encoder.clear_cache()  # which of its texts were the project's is not known
        forget_spooled(self.backend, None)

    def _drop_all(self) -> None:
        """Drops what is derived, to be read from the graph as it is now."""
        self.shared.clear()
        self.shared.sequence = self.backend.sequence()

    def _drop_changed(self, work: UnitOfWork) -> None:
        for key in [*(update.key for update in work.node_updates), *(key for _, key in work.node_deletes)]:
            self.shared.memories.pop(key, None)
            self.shared.sides.pop(key, None)

    @property
    def sequence(self) -> int:
        """Grows with every unit of work written here, and with those of others that a reader has seen."""
        return self.shared.sequence

    @property
    def state(self) -> tuple[int, int]:
        """Changes with all that may change an answer: the sequence, and each time what is derived was dropped."""
        return self.shared.sequence, self.shared.cleared

    def drop_index(self, project_id: str) -> None:
        """Forgets the derived arrays of a project; they are loaded again on the next use."""
        self.shared.indexes.pop(project_id, None)

    def memory(self, project_id: str, memory_id: str) -> Memory:
        """The memory with this id.

        Raises:
            MemoryNotFoundError: the project has none.
        """
        wanted = checked(memory_id, "memory_id")
        with self.lock:
            if not self.shared.pinned:
                self.refresh()
            found = self.memories(project_id, [wanted])
        if not found:
            raise MemoryNotFoundError(f"no memory has the id {shown(memory_id)} in project {project_id!r}")
        return found[0]

    def memories(self, project_id: str, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in their order; absent ones are left out."""
        return self.memories_by_key([node_key(project_id, name) for name in ids])

    def memories_by_key(self, keys: Sequence[str], damaged: list[str] | None = None) -> list[Memory]:
        """The memories with these node keys, in their order; absent ones are left out. Models are frozen, so those read
        lately are given again until they are written.

        Args:
            damaged: takes what is wrong with memories that cannot be read, which are then left out.

        Raises:
            StoreCorruptError: a memory cannot be read, and there is no `damaged`.
        """
        missing = [key for key in keys if key not in self.shared.memories]
        if missing:
            for row in self.memory_rows(missing):
                try:
                    self.shared.memories[row["key"]] = row_to_memory(row)
                except StoreCorruptError as error:
                    if damaged is None:
                        raise
                    damaged.append(str(error))
        found = [memory for key in keys if (memory := self.shared.memories.get(key)) is not None]
        while len(self.shared.memories) > _KEPT_MEMORIES:
            del self.shared.memories[next(iter(self.shared.memories))]
        return found

    def memory_rows(self, keys: Sequence[str], *, claims: bool = False) -> list[Row]:
        """Memory nodes by key, without vectors; with `claims`, what their texts claim comes along."""
        columns = (*MEMORY_COLUMNS, "claims") if claims else MEMORY_COLUMNS
        return self.backend.nodes("Memory", keys=keys, columns=columns) if keys else []

    def session_context(self, project_id: str, session_id: str) -> SessionContext:
        """What pronouns of the next turn of this session may look back at."""
        from alma_graph.extraction import SessionContext

        with self.lock:
            key = (project_id, session_id)
            context = self.shared.sessions.setdefault(key, SessionContext())
            self.shared.sessions.move_to_end(key)
            while len(self.shared.sessions) > _KEPT_SESSIONS:
                self.shared.sessions.popitem(last=False)
            return context

    def forget_memories(self, project_id: str, memories: Sequence[Memory]) -> None:
        """Drops what caches hold of memories that were removed."""
        with self.lock:
            if any(isinstance(memory, Outcome) for memory in memories):
                self.drop_book(project_id)
            for memory in memories:
                self.shared.sides.pop(node_key(project_id, memory.id), None)
                if isinstance(memory, Observation):
                    self.shared.sessions.pop((project_id, memory.session_id), None)
            if isinstance(self.shared.encoder, Encoder):
                wordings = [memory.strategy_used for memory in memories if isinstance(memory, Outcome)]
                self.shared.encoder.forget([*(memory.text for memory in memories), *wordings])
        forget_spooled(self.backend, [memory.text for memory in memories])

    def kept_side(self, key: str) -> JudgedSide | None:
        """A memory as the detector sees it, if it was judged lately."""
        return self.shared.sides.get(key)

    def keep_side(self, side: JudgedSide) -> None:
        """Remembers how the detector sees a memory, so that judging the next one needs no reading."""
        self.shared.sides[side.key] = side
        while len(self.shared.sides) > _KEPT_SIDES:
            self.shared.sides.popitem(last=False)

    def book(self, project_id: str, least: Mapping[str, int]) -> StrategyBook | None:
        """What the outcomes of a project teach, as kept in memory; None where it must be read from the graph, also when
        the agents' thresholds are others than it was made with."""
        kept = self.shared.books.get(project_id)
        return kept[1] if kept is not None and kept[0] == least else None

    def keep_book(self, project_id: str, least: Mapping[str, int], book: StrategyBook) -> None:
        """Keeps the book of a project."""
        self.shared.books[project_id] = (dict(least), book)

    def drop_book(self, project_id: str) -> None:
        """Forgets the book of a project; it is read from the graph on the next use."""
        self.shared.books.pop(project_id, None)
        self.shared.unread.pop(project_id, None)

    def release(self) -> None:
        """Gives this handle back; the last one of a path closes the engine. Idempotent."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            self.shared.handles -= 1
            if self.shared.handles == 0:
                self.shared.clear()
            self.backend.close()


MEMORY_COLUMNS = (
    *("key", "id", "project_id", "agent", "user_id", "kind", "text", "data", "metadata", "category", "status"),
    *("authority", "content_hash", "confidence", "strength", "use_count", "valid_from", "valid_to", "recorded_at"),
    *("retired_at", "retired_reason", "last_used_at"),
)
"""Properties of a Memory node that make its model: all but vectors and claims."""
