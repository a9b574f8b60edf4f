"""The state that every handle of one path shares."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from alma_graph.backends.protocol import Backend, Row, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.beliefs import ContradictionDetector, SymbolicDetector
from alma_graph.clock import Clock
from alma_graph.codec import row_to_memory
from alma_graph.embedding import Encoder
from alma_graph.errors import AlmaGraphError, MemoryNotFoundError, ReadOnlyError, StoreClosedError
from alma_graph.extraction import Extractor, SessionContext
from alma_graph.index import ProjectIndex
from alma_graph.learning import StrategyBook
from alma_graph.model import Memory
from alma_graph.store.sides import JudgedSide

_KEPT_SESSIONS = 1024
_KEPT_SIDES = 5_000
_KEPT_MEMORIES = 10_000


class Store:
    """A backend with its locks, indexes, models and caches.

    The graph is the truth: indexes are loaded from it on first use and brought up to date with every unit of work. All
    of it is guarded by `lock`; texts are encoded and parsed outside of it.
    """

    def __init__(
        self, location: str, backend: Backend, encoder: Encoder | AlmaGraphError, extractor: Extractor, clock: Clock
    ) -> None:
        self.location = location
        self.backend = backend
        self.extractor = extractor
        self.clock = clock
        self.lock = threading.RLock()
        self.handles = 0
        self._encoder = encoder
        self._indexes: dict[str, ProjectIndex] = {}
        self._sequence = backend.sequence()
        self._sessions: OrderedDict[tuple[str, str], SessionContext] = OrderedDict()
        self._books: dict[str, tuple[dict[str, int], StrategyBook]] = {}
        self._sides: OrderedDict[str, JudgedSide] = OrderedDict()
        self._memories: dict[str, Memory] = {}
        self.detector: ContradictionDetector = SymbolicDetector()

    @property
    def encoder(self) -> Encoder:
        """Makes vectors.

        Raises:
            AlmaGraphError: the store's embedder could not be made here; reading without vectors still works.
        """
        if isinstance(self._encoder, AlmaGraphError):
            raise self._encoder
        return self._encoder

    @property
    def judges(self) -> bool:
        """Whether new memories are judged against others; the extractors without a parser ask for speed."""
        return self.extractor.name not in ("rules", "none")

    def check_open(self) -> None:
        """Raises StoreClosedError once every handle was closed."""
        if self.handles == 0:
            raise StoreClosedError(f"the store {self.location!r} is closed; open it again")

    def check_writable(self) -> None:
        """Raises ReadOnlyError or StoreClosedError where nothing may be written."""
        self.check_open()
        if self.backend.read_only:
            raise ReadOnlyError(f"the store {self.location!r} is open read-only; to write, open it without read_only")

    def index(self, project_id: str) -> ProjectIndex:
        """The derived arrays of a project, current with the graph; call it with `lock` held."""
        self.check_open()
        if self.backend.read_only:  # another process may have written
            sequence = self.backend.sequence()
            if sequence != self._sequence:
                self._indexes.clear()
                self._memories.clear()
                self._sides.clear()
                self._sequence = sequence
        index = self._indexes.get(project_id)
        if index is None:
            index = self._indexes[project_id] = ProjectIndex.load(self.backend, project_id)
        return index

    def commit(self, project_id: str, work: UnitOfWork) -> None:
        """Writes a unit of work and brings the project's index up to date; call it with `lock` held."""
        index = self.index(project_id)
        self.backend.write(work)
        self._sequence += 1
        written = [update.key for update in work.node_updates] + [key for _, key in work.node_deletes]
        for key in written:
            self._memories.pop(key, None)
        try:
            index.apply(work)
        except BaseException:
            self._indexes.pop(project_id, None)  # derived: the next reader loads it anew from the graph
            raise

    def drop_index(self, project_id: str) -> None:
        """Forgets the derived arrays of a project; they are loaded again on the next use."""
        self._indexes.pop(project_id, None)

    def memory(self, project_id: str, memory_id: str) -> Memory:
        """The memory with this id.

        Raises:
            MemoryNotFoundError: the project has none.
        """
        found = self.memories(project_id, [memory_id])
        if not found:
            raise MemoryNotFoundError(f"no memory has the id {memory_id!r} in project {project_id!r}")
        return found[0]

    def memories(self, project_id: str, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in their order; absent ones are left out."""
        return self.memories_by_key([node_key(project_id, name) for name in ids])

    def memories_by_key(self, keys: Sequence[str]) -> list[Memory]:
        """The memories with these node keys, in their order; absent ones are left out. Models are frozen, so those read
        lately are given again until they are written."""
        missing = [key for key in keys if key not in self._memories]
        if missing:
            for row in self.memory_rows(missing):
                self._memories[row["key"]] = row_to_memory(row)
        found = [memory for key in keys if (memory := self._memories.get(key)) is not None]
        while len(self._memories) > _KEPT_MEMORIES:
            del self._memories[next(iter(self._memories))]
        return found

    def memory_rows(self, keys: Sequence[str], *, claims: bool = False) -> list[Row]:
        """Memory nodes by key, without vectors; with `claims`, what their texts claim comes along."""
        columns = (*MEMORY_COLUMNS, "claims") if claims else MEMORY_COLUMNS
        return self.backend.nodes("Memory", keys=keys, columns=columns) if keys else []

    def session_context(self, project_id: str, session_id: str) -> SessionContext:
        """What pronouns of the next turn of this session may look back at."""
        with self.lock:
            key = (project_id, session_id)
            context = self._sessions.setdefault(key, SessionContext())
            self._sessions.move_to_end(key)
            while len(self._sessions) > _KEPT_SESSIONS:
                self._sessions.popitem(last=False)
            return context

    def forget_text(self, text: str) -> None:
        """Drops what caches hold of a text that was removed."""
        self._sides.clear()
        if isinstance(self._encoder, Encoder):
            self._encoder.forget([text])

    def kept_side(self, key: str) -> JudgedSide | None:
        """A memory as the detector sees it, if it was judged lately."""
        return self._sides.get(key)

    def keep_side(self, side: JudgedSide) -> None:
        """Remembers how the detector sees a memory, so that judging the next one needs no reading."""
        self._sides[side.key] = side
        while len(self._sides) > _KEPT_SIDES:
            self._sides.popitem(last=False)

    def book(self, project_id: str, least: Mapping[str, int]) -> StrategyBook | None:
        """What the outcomes of a project teach, as kept in memory; None where it must be read from the graph, also when
        the agents' thresholds are others than it was made with."""
        kept = self._books.get(project_id)
        return kept[1] if kept is not None and kept[0] == least else None

    def keep_book(self, project_id: str, least: Mapping[str, int], book: StrategyBook) -> None:
        """Keeps the book of a project."""
        self._books[project_id] = (dict(least), book)

    def drop_book(self, project_id: str) -> None:
        """Forgets the book of a project; it is read from the graph on the next use."""
        self._books.pop(project_id, None)

    def release(self) -> None:
        """Gives back one handle; the last one closes the engine."""
        with self.lock:
            if self.handles > 0:
                self.handles -= 1
                self.backend.close()
                if self.handles == 0:
                    self._indexes.clear()
                    self._books.clear()
                    self._memories.clear()
                    self._sides.clear()


MEMORY_COLUMNS = (
    *("key", "id", "project_id", "agent", "user_id", "kind", "text", "data", "metadata", "category", "status"),
    *("authority", "content_hash", "confidence", "strength", "use_count", "valid_from", "valid_to", "recorded_at"),
    *("retired_at", "last_used_at"),
)
"""Properties of a Memory node that make its model: all but vectors and claims."""
