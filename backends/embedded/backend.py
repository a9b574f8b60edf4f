"""The backend of the embedded engines: one file, one writer, everything in one transaction."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from alma_graph.arguments import path_text
from alma_graph.backends.embedded import readonly_run, statements
from alma_graph.backends.embedded.building import build_with_vectors
from alma_graph.backends.embedded.copying import copy_store
from alma_graph.backends.embedded.dialect import Dialect
from alma_graph.backends.embedded.ends import build_whole, inspect_ends, one_sided
from alma_graph.backends.embedded.engine import Engine, Link
from alma_graph.backends.embedded.failures import read_failure
from alma_graph.backends.embedded.files import store_files
from alma_graph.backends.embedded.inspecting import inspect_files, remove_leftovers
from alma_graph.backends.embedded.migrating import migrate
from alma_graph.backends.embedded.opening import OpenedStore
from alma_graph.backends.embedded.reader import Reader
from alma_graph.backends.embedded.rewrite import Rewrite, apply_rewrites, sets_vector, take_vector_updates
from alma_graph.backends.embedded.writer import apply_work, rows_to_copy
from alma_graph.backends.inspection import Inspection
from alma_graph.backends.maintenance import Migrated, VectorSource, VectorSpace
from alma_graph.backends.meta import new_meta
from alma_graph.backends.migrations import Migration
from alma_graph.backends.ordering import in_order_of_keys
from alma_graph.backends.protocol import EdgeRow, Result, Row, UnitOfWork
from alma_graph.backends.schema import EDGES, META_KEY, NODES, ColumnType
from alma_graph.backends.validation import CheckedWork, check_sequence, check_work
from alma_graph.backends.values import chosen_columns, edge_spec, node_spec
from alma_graph.backends.verify import graph_problems
from alma_graph.clock import system_clock
from alma_graph.errors import AlmaGraphError, ReadOnlyError, StoreClosedError, StoreError

_log = logging.getLogger(__name__)

_VECTOR_WEIGHT = 30


class EmbeddedBackend:
    """A store of Ladybug or Kuzu. Made by `open_backend`, which shares one object per path and process."""

    def __init__(self, store: OpenedStore, on_close: Callable[[], None], migrations: Sequence[Migration]) -> None:
        self._store = store
        self._engine: Engine = store.engine
        self._dialect: Dialect = store.dialect
        self.name: str = store.dialect.name
        self.path: str | None = store.path
        self.capabilities = store.dialect.capabilities
        self.read_only: bool = store.read_only
        self._on_close = on_close
        self._pid = os.getpid()
        self._closed = False
        self._dimension: int | None = None
        self._dimension_read = -1
        self._updates = 0
        self._wrote = False
        self._migrated: Migrated | None = None
        self._migrate(migrations)

    def engine_version(self) -> str:
        """Version of the engine's library."""
        self._usable()
        return self._engine.version()

    def meta(self) -> Row | None:
        """The one Meta row; None where the store is new and nothing was written."""
        with self._reading() as link:
            return self._meta(link)

    def initialise(self, *, dimension: int, embedder: str, embedder_revision: str | None, created_with: str) -> None:
        """Makes the schema and the Meta node, in one transaction."""
        with self._writing():
            if self.meta() is not None:
                raise StoreError(f"{self.path} is initialised already; open another file")
            row = new_meta(dimension, embedder, embedder_revision, created_with, system_clock())
            with self._translated("the schema was not made"), self._engine.transaction() as transaction:
                for statement in statements.create_tables(dimension):
                    transaction.run(statement)
                transaction.run(*statements.create_node(NODES["Meta"], row, dimension))
            self._checkpoint()
            self._store.lock.mark_ready()

    def write(self, work: UnitOfWork, *, expected: int | None = None) -> None:
        """Applies the unit of work in one transaction; an empty one does nothing."""
        with self._writing():
            dimension = self._known_dimension()
            if dimension is None:
                raise StoreError(f"{self.path} is not initialised; call initialise() before the first write")
            if not work:
                return
            if expected is not None:
                check_sequence(self.sequence(), expected)
            checked = check_work(work, dimension=dimension, existing=self._existing)
            self._apply(checked, dimension)
            self._wrote = True
            self._count_updates(checked)
            if (
                self._engine.log_bytes() >= self._dialect.checkpoint_bytes
                or self._updates >= self._dialect.update_budget
            ):
                try:
                    self._checkpoint()
                except StoreError as error:  # the unit is committed and in the log, and the next write tries again
                    _log.warning("%s: the checkpoint after a write failed and comes later: %s", self.path, error)

    def sequence(self) -> int:
        """Meta.sequence as stored now; 0 for a new store."""
        meta = self.meta()
        return int(meta["sequence"]) if meta is not None else 0

    def nodes(
        self,
        label: str,
        *,
        keys: Sequence[str] | None = None,
        project_id: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> list[Row]:
        """Rows of one label: of the keys, in their order; or all (of one project), by key."""
        chosen = chosen_columns(label, columns)
        with self._reader() as reader:
            if reader is None:
                return []
            if keys is None:
                return reader.nodes(label, chosen, project_id=project_id)
            extra = () if project_id is None else chosen_columns(label, ("project_id",))
            found = reader.nodes_by_key(label, (*chosen, *extra), list(keys))
        return in_order_of_keys(found, keys, chosen, project_id)

    def vectors(self, label: str, *, project_id: str) -> tuple[list[str], Any]:
        """Keys and vectors, (n, dimension) float32, of the nodes that have one, by key."""
        import numpy as np

        chosen_columns(label, ("embedding",))
        with self._reader() as reader:
            return ([], np.zeros((0, 0), dtype=np.float32)) if reader is None else reader.vectors(label, project_id)

    def edges(
        self,
        type: str,
        *,
        project_id: str | None = None,
        sources: Sequence[str] | None = None,
        targets: Sequence[str] | None = None,
    ) -> list[EdgeRow]:
        """Edges of one type, in the order (source, target)."""
        spec = edge_spec(type)
        with self._reader() as reader:
            if reader is None:
                return []
            return reader.edges(spec, project_id=project_id, sources=sources, targets=targets)

    def count(self, label_or_type: str, *, project_id: str | None = None) -> int:
        """How many nodes of a label or edges of a type there are."""
        edge = EDGES.get(label_or_type)
        if edge is None:
            node_spec(label_or_type)
        with self._reader() as reader:
            if reader is None:
                return 0
            if edge is None:
                return reader.count_nodes(label_or_type, project_id)
            return reader.count_edges(edge, project_id)

    def tally(self, label: str, columns: Sequence[str], *, project_id: str) -> dict[tuple[Any, ...], int]:
        """How many nodes of a label a project has for each combination of values of these properties."""
        chosen = chosen_columns(label, columns)
        with self._reader() as reader:
            return {} if reader is None else reader.tally(label, chosen, project_id)

    def run(self, statement: str, parameters: Mapping[str, Any]) -> Result:
        """Runs one read-only Cypher statement of a caller, on a connection of its own."""
        self._usable()
        return readonly_run.run(self._store, statement, parameters)

    def checkpoint(self) -> None:
        """Folds the log into the main file."""
        if self.read_only:
            self._usable()
            return
        with self._writing():
            self._checkpoint()

    def stage_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Nothing: a new file is made of one state of the old one."""
        self._usable()

    def replace_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Builds the graph with other vectors in a new file, and puts that in the store's place."""
        with self._writing():
            meta = self.meta()
            if meta is None:
                raise StoreError(f"{self.path} is not initialised; there are no vectors to replace")
            with self._translated("the vectors were not replaced"):
                self._replace_file(lambda link, fresh: build_with_vectors(link, fresh, meta, space, source))

    @property
    def migrated(self) -> Migrated | None:
        """What opening did to the schema; None for a store that is new."""
        return self._migrated

    def back_up(self, target: str) -> None:
        """Copies the store into one new file, which is opened once to see that it holds the same."""
        path = os.path.expanduser(path_text(target, "target"))
        if self.read_only:
            self._usable()
            with self._translated("the store was not copied"):
                copy_store(self._store, path)
            return
        with self._writing(), self._translated("the store was not copied"):
            self._store.checkpoint()
            copy_store(self._store, path)

    def verify(self) -> list[str]:
        """Problems found in the graph; empty is well."""
        return graph_problems(self)

    def one_state(self) -> AbstractContextManager[None]:
        """Inside, every read of this thread sees one committed state, whatever another process writes."""
        self._usable()
        return self._store.one_state()

    def inspect(self) -> list[Inspection]:
        """Driver, sizes, what a crash left behind, and edges that the engine has lost at one of their ends."""
        with self._reading() as link:
            engine = f"{self.name} {self._engine.version()}"
            ends = [inspect_ends(link)] if self._meta(link) is not None else []
            return [*inspect_files(self._store.path, read_only=self.read_only, engine=engine), *ends]

    def tidy(self) -> list[str]:
        """Removes copies that a crash left, and folds the log."""
        with self._writing():
            removed = remove_leftovers(self._store.path)
            self._checkpoint()
            return removed

    def rebuild(self) -> list[str]:
        """Where edges are seen from one end only, makes a new file in which they are seen from both; the store keeps no
        index of the engine's."""
        with self._writing():
            with self._reading() as link:
                meta = self._meta(link)
                lost = one_sided(link) if meta is not None else []
            if meta is None or not lost:
                return []
            with self._translated("the file was not made anew"):
                self._replace_file(lambda link, fresh: build_whole(link, fresh, int(meta["dimension"])))
            return [f"made the file anew, {len(lost)} edges in it that were seen from one end only"]

    def _replace_file(self, build: Callable[[Link, Engine], None]) -> None:
        def build_from_here(fresh: Engine) -> None:
            with self._store.using():
                link = self._engine.connect()
                try:
                    build(link, fresh)
                finally:
                    link.close()

        self._store.replace_file(build_from_here)
        self._updates = 0

    def size_bytes(self) -> int:
        """Bytes on disk, of all files of the store."""
        self._usable()
        return sum(file.stat().st_size for file in store_files(self.path or ""))

    def close(self) -> None:
        """Gives back one handle; the last one closes the engine and frees the lock. Idempotent after that."""
        if not self._closed and self._pid == os.getpid():
            self._on_close()

    def shutdown(self) -> None:
        """Closes the engine whatever handles there are; for the registry."""
        with self._engine.write_lock:
            if self._closed:
                return
            self._closed = True
            try:
                # Closed, the main file is the whole store. Only after a write of this handle's own: a checkpoint of
                # nothing but a replayed log folds it and leaves it, and the next opening replays it again.
                if self._wrote and self._engine.log_bytes():
                    self._store.checkpoint(wait=1.0)
            except Exception as error:
                _log.warning("%s: closed with its log beside it, which holds the last writes: %s", self.path, error)
            finally:
                self._store.close()

    @property
    def closed(self) -> bool:
        """Whether the engine is closed."""
        return self._closed

    def _usable(self) -> None:
        if self._closed:
            raise StoreClosedError(f"{self.path} was closed; open it again")
        if self._pid != os.getpid():
            raise StoreError(
                f"{self.path} was opened by process {self._pid} and is used in its forked child {os.getpid()}, "
                "where the "
                "engine would hang; open stores after the fork, or use the 'spawn' start method"
            )

    @contextmanager
    def _reading(self) -> Iterator[Link]:
        self._usable()
        with self._store.reading() as link, self._translated("the read failed"):
            yield link

    @contextmanager
    def _reader(self) -> Iterator[Reader | None]:
        """A reader over the store; None where it has no schema yet."""
        with self._reading() as link:
            dimension = self._kept_dimension or self._load_dimension(link)
            yield None if dimension is None else Reader(link, dimension, dialect=self._dialect)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._usable()
        if self.read_only:
            raise ReadOnlyError(f"{self.path} is open for reading only; open it without read_only=True to write")
        with self._engine.write_lock:
            self._usable()
            self._store.ensure_open()
            yield

    @contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        try:
            yield
        except AlmaGraphError:
            raise
        except Exception as error:
            raise read_failure(self.path, what, self.name, error) from error

    def _meta(self, link: Link) -> Row | None:
        if not any(row[0] == "Meta" for row in link.rows("CALL show_tables() RETURN name")):
            return None
        found = Reader(link, 0, dialect=self._dialect).nodes_by_key("Meta", NODES["Meta"].columns, [META_KEY])
        return found.get(META_KEY)

    def _load_dimension(self, link: Link) -> int | None:
        meta = self._meta(link)
        self._dimension = int(meta["dimension"]) if meta is not None else None
        self._dimension_read = self._engine.opened
        return self._dimension

    @property
    def _kept_dimension(self) -> int | None:
        """The vectors' dimension where it was read since the file was opened; another process may have changed it."""
        return self._dimension if self._dimension_read == self._engine.opened else None

    def _known_dimension(self) -> int | None:
        if self._kept_dimension is None:
            with self._reading() as link:
                self._load_dimension(link)
        return self._dimension

    def _existing(self, label: str, keys: Sequence[str]) -> set[str]:
        with self._reader() as reader:
            return set() if reader is None else reader.existing(label, keys)

    def _apply(self, checked: CheckedWork, dimension: int) -> None:
        """One transaction. What COPY writes is not in the log, so a unit that uses it runs alone, with a copy of the
        files standing by, and is followed by a checkpoint; only where that pays."""
        rewrites: list[Rewrite] = []
        if self._dialect.rewrites_vectors and any(sets_vector(update) for update in checked.node_updates):
            with self._reader() as reader:
                rewrites = take_vector_updates(checked, reader) if reader is not None else []
        try:
            with self._translated("the unit of work was not applied"), ExitStack() as around:
                bulk = self._copy_pays(checked) and self._store.enter_bulk(around)
                with self._engine.transaction(guarded=bulk) as transaction:
                    apply_rewrites(transaction, rewrites, self._dialect, dimension=dimension)
                    apply_work(transaction, checked, self._dialect, dimension=dimension, bulk=bulk)
        except BaseException:
            self._recover()
            raise

    def _recover(self) -> None:
        """Opens the engine again after a failure; where that fails now (a full disk), the next use tries again."""
        try:
            self._store.ensure_open()
        except Exception as error:
            _log.warning("%s: not opened again after a failed write, until the next use: %s", self.path, error)

    def _copy_pays(self, checked: CheckedWork) -> bool:
        rows = rows_to_copy(checked, self._dialect.copy_rows)
        return rows > 0 and rows * self._dialect.row_seconds > self._store.guard_seconds()

    def _count_updates(self, checked: CheckedWork) -> None:
        self._updates += 1
        for update in checked.node_updates:
            vectors = {column.name for column in NODES[update.label].columns if column.type is ColumnType.VECTOR}
            self._updates += sum(_VECTOR_WEIGHT if name in vectors else 1 for name in update.values)
        self._updates += sum(len(values) for _, values in checked.edge_updates)

    def _checkpoint(self) -> None:
        try:
            with self._translated("the checkpoint failed; what was written is safe in the log"):
                if self._store.checkpoint():
                    self._updates = 0
        except BaseException:
            self._recover()
            raise

    def _migrate(self, migrations: Sequence[Migration]) -> None:
        self._migrated = migrate(self._store, self.meta(), migrations)
        if self._migrated is not None and self._migrated.steps:
            self._checkpoint()  # a reader cannot replay a change of the schema
