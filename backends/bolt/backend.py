"""The backend of a server: one database, many processes that read and write it."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from alma_graph.backends.bolt import feed, readonly_run
from alma_graph.backends.bolt.candidates import near, with_words
from alma_graph.backends.bolt.connection import COMMIT_TRIES, CommitUnknownError, Connection, Transaction
from alma_graph.backends.bolt.dialect import Dialect
from alma_graph.backends.bolt.inspecting import inspect_server, make_missing, rebuild_indexes
from alma_graph.backends.bolt.reader import Reader
from alma_graph.backends.bolt.revectoring import Exchange
from alma_graph.backends.bolt.schema import create_meta, labels_of_others, make_indexes, migrate
from alma_graph.backends.bolt.writer import Writer
from alma_graph.backends.candidates import EVERY_MEMORY, Candidates, Wanted
from alma_graph.backends.changes import Changes
from alma_graph.backends.inspection import Inspection
from alma_graph.backends.maintenance import Migrated, VectorSource, VectorSpace
from alma_graph.backends.meta import new_meta
from alma_graph.backends.migrations import MIGRATIONS, Migration
from alma_graph.backends.ordering import in_order_of_keys
from alma_graph.backends.protocol import EdgeRow, Result, Row, UnitOfWork
from alma_graph.backends.schema import EDGES, ColumnType
from alma_graph.backends.validation import check_sequence, check_work
from alma_graph.backends.values import chosen_columns, clean_value, edge_spec, node_spec
from alma_graph.backends.verify import graph_problems
from alma_graph.clock import system_clock
from alma_graph.errors import (
    ReadOnlyError,
    StoreChangedError,
    StoreClosedError,
    StoreError,
    UnsupportedError,
)

_T = TypeVar("_T")


class BoltBackend:
    """A store in a database of a server. Made by `open_backend`, which shares one object per database and process."""

    def __init__(
        self, connection: Connection, on_close: Callable[[], None], migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        settings = connection.settings
        self._connection = connection
        self._dialect: Dialect = settings.dialect
        self.name: str = settings.dialect.name
        self.path: str | None = settings.shown
        self.capabilities = settings.dialect.capabilities
        self.read_only: bool = settings.read_only
        self._on_close = on_close
        self._pid = os.getpid()
        self._owner = str(uuid.uuid4())
        self._closed = False
        self._dimension: int | None = None
        self._settled: int | None = None
        self.max_rows_in_memory: int = settings.max_rows_in_memory
        meta = self.meta()
        self._migrated = migrate(connection, meta, migrations)
        if meta is not None and not self.read_only:
            make_indexes(connection, int(meta["dimension"]))

    def engine_version(self) -> str:
        """Version and edition of the server."""
        self._usable()
        return str(self._connection.command(self._dialect.version, "the version was not read")[0][0])

    def meta(self) -> Row | None:
        """The one Meta row; None where the database holds no store yet."""
        row = self._read(lambda transaction: self._reader(transaction).meta())
        if row is not None and row["sequence"] != self._settled:
            if Exchange(self._connection, self._owner).finish():
                row = self._read(lambda transaction: self._reader(transaction).meta())
            self._settled = int(row["sequence"]) if row is not None else None
            self._dimension = int(row["dimension"]) if row is not None else None
        return row

    def initialise(self, *, dimension: int, embedder: str, embedder_revision: str | None, created_with: str) -> None:
        """Makes constraints and indexes, waits for them, and makes the Meta node.

        Raises:
            StoreError: there is a store already, or nodes of another program under a label of the store's.
        """
        self._writable()
        row = new_meta(dimension, embedder, embedder_revision, created_with, system_clock())
        if self.meta() is not None:
            raise self._initialised_already()
        self._refuse_others()
        make_indexes(self._connection, dimension)
        create_meta(self._connection, row)

    def write(self, work: UnitOfWork, *, expected: int | None = None) -> None:
        """Applies the unit of work in one transaction; an empty one does nothing.

        A unit whose commit was not answered is looked for by its token, and sent again only where it is not there.
        """
        self._writable()
        if not work:
            if self.meta() is None:
                raise self._not_initialised()
            return
        token = str(uuid.uuid4())
        runs = written = 0

        def unit(transaction: Transaction) -> None:
            nonlocal runs, written
            runs += 1
            locked = feed.lock(transaction, self._owner)
            if locked is None:
                raise self._not_initialised()
            if runs > 1 and feed.is_known(transaction, token):
                raise feed.AppliedBeforeError
            if locked.waits:
                raise _NotOurTurnError
            check_sequence(locked.sequence - 1, expected)
            checked = check_work(work, dimension=locked.dimension, existing=self._reader(transaction).existing)
            ends = Writer(transaction, self._dialect).apply(checked)
            feed.record(transaction, locked, token, feed.touched_by(checked, ends), self._owner)
            written = locked.sequence

        try:
            self._commit(unit, "the unit of work was not applied")
        except StoreChangedError:
            ticks = self._dialect.ticks
            with suppress(CommitUnknownError):  # a turn may be there or not
                self._connection.write(lambda inner: feed.claim(inner, self._owner, ticks), "the turn was not taken")
            raise
        if self._settled == written - 1:
            self._settled = written  # nothing but this unit came since the last look

    def sequence(self) -> int:
        """Meta.sequence as stored now; 0 for a new store."""
        meta = self.meta()
        return int(meta["sequence"]) if meta is not None else 0

    def changes(self, since: int) -> Changes | None:
        """What was done after this sequence; None where the feed does not reach back that far."""
        return self._read(lambda transaction: feed.read(transaction, since))

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
        if keys is None:
            return self._read(lambda transaction: self._reader(transaction).nodes(label, chosen, project_id=project_id))
        extra = () if project_id is None else chosen_columns(label, ("project_id",))
        found = self._read(lambda transaction: self._reader(transaction).nodes_by_key(label, (*chosen, *extra), keys))
        return in_order_of_keys(found, keys, chosen, project_id)

    def vectors(self, label: str, *, project_id: str) -> tuple[list[str], Any]:
        """Keys and vectors, (n, dimension) float32, of the nodes that have one, by key."""
        chosen_columns(label, ("embedding",))
        dimension = self._known_dimension()
        if dimension is None:
            self._usable()
            return [], np.zeros((0, 0), dtype=np.float32)
        return self._read(lambda transaction: self._reader(transaction).vectors(label, project_id, dimension))

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
        return self._read(
            lambda transaction: self._reader(transaction).edges(
                spec, project_id=project_id, sources=sources, targets=targets
            )
        )

    def count(self, label_or_type: str, *, project_id: str | None = None) -> int:
        """How many nodes of a label or edges of a type there are."""
        edge = EDGES.get(label_or_type)
        if edge is not None:
            return self._read(lambda transaction: self._reader(transaction).count_edges(edge, project_id))
        node_spec(label_or_type)
        return self._read(lambda transaction: self._reader(transaction).count_nodes(label_or_type, project_id))

    def tally(self, label: str, columns: Sequence[str], *, project_id: str) -> dict[tuple[Any, ...], int]:
        """How many nodes of a label a project has for each combination of values of these properties."""
        chosen = chosen_columns(label, columns)
        return self._read(lambda transaction: self._reader(transaction).tally(label, chosen, project_id))

    def run(self, statement: str, parameters: Mapping[str, Any]) -> Result:
        """Runs one read-only Cypher statement of a caller, in a transaction of its own."""
        self._usable()
        return readonly_run.run(self._connection, statement, parameters)

    def vector_candidates(
        self, label: str, vector: Any, k: int, project_id: str, wanted: Wanted = EVERY_MEMORY
    ) -> Candidates:
        """The wanted nodes of a label and project whose embeddings are near a vector, with their cosines."""
        chosen_columns(label, ("embedding",))
        dimension = self._known_dimension()
        if dimension is None or k < 1:
            return []
        given = clean_value(ColumnType.VECTOR, vector, "vector", dimension)
        return self._read(lambda inner: near(inner, self._dialect, label, given, k, project_id, dimension, wanted))

    def text_candidates(self, query: str, k: int, project_id: str, wanted: Wanted = EVERY_MEMORY) -> Candidates:
        """The wanted memories of a project whose texts have any word of the query."""
        if k < 1:
            return []
        return self._read(lambda inner: with_words(inner, self._dialect, query, k, project_id, wanted))

    def checkpoint(self) -> None:
        """Nothing to do: the server keeps its own log."""
        self._usable()

    def verify(self) -> list[str]:
        """Problems found in the graph; empty is well."""
        return graph_problems(self)

    def inspect(self) -> list[Inspection]:
        """Driver, plugins, and the state of the server's indexes."""
        return inspect_server(self._connection, self._known_dimension())

    def tidy(self) -> list[str]:
        """Makes indexes and constraints that are missing."""
        self._writable()
        dimension = self._known_dimension()
        return [] if dimension is None else make_missing(self._connection, dimension)

    def rebuild(self) -> list[str]:
        """Drops the server's indexes and makes them again."""
        self._writable()
        dimension = self._known_dimension()
        return [] if dimension is None else rebuild_indexes(self._connection, dimension)

    def size_bytes(self) -> int:
        """0: the server does not say."""
        self._usable()
        return 0

    @property
    def migrated(self) -> Migrated | None:
        """What opening it did to its schema; None for a store that is new."""
        return self._migrated

    def stage_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Writes the new vectors beside the old ones, which nobody notices."""
        self._writable()
        if self.meta() is None:
            raise self._not_initialised()
        Exchange(self._connection, self._owner).stage(space, source)

    def replace_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Stages other vectors beside the old ones, and exchanges them all; see `Exchange`."""
        self._writable()
        if self.meta() is None:
            raise self._not_initialised()
        Exchange(self._connection, self._owner).run(space, source)
        self.meta()

    def back_up(self, target: str) -> None:
        """Raises UnsupportedError: a server's files are its own."""
        self._usable()
        raise UnsupportedError(
            f"{target}: {self.name} keeps its own files; back the database up with the server's tools (neo4j-admin "
            "database dump or backup), or write an export of it with: alma-graph export STORE FILE"
        )

    def close(self) -> None:
        """Gives back one handle; the last one closes the connections. Idempotent after that."""
        if not self._closed and self._pid == os.getpid():
            self._on_close()

    def shutdown(self) -> None:
        """Closes the connections whatever handles there are; for the registry."""
        if not self._closed:
            self._closed = True
            self._connection.close()

    @property
    def closed(self) -> bool:
        """Whether the connections are closed."""
        return self._closed

    def _read(self, work: Callable[[Transaction], _T]) -> _T:
        self._usable()
        return self._connection.read(work)

    def _commit(self, unit: Callable[[Transaction], None], what: str) -> None:
        unknown = 0
        while True:
            try:
                self._connection.write(unit, what)
            except feed.AppliedBeforeError:
                return
            except _NotOurTurnError:
                time.sleep(random.uniform(0.005, 0.03))
            except CommitUnknownError:
                unknown += 1
                if unknown == COMMIT_TRIES:
                    raise
            else:
                return

    def _reader(self, transaction: Transaction) -> Reader:
        return Reader(transaction, self._dialect)

    def _known_dimension(self) -> int | None:
        if self._dimension is None:
            meta = self.meta()
            self._dimension = int(meta["dimension"]) if meta is not None else None
        return self._dimension

    def _usable(self) -> None:
        if self._closed:
            raise StoreClosedError(f"{self.path} was closed; open it again")
        if self._pid != os.getpid():
            raise StoreError(
                f"{self.path} was opened by process {self._pid} and is used in its forked child {os.getpid()}, which "
                "would share its connections; open stores after the fork, or use the 'spawn' start method"
            )

    def _writable(self) -> None:
        self._usable()
        if self.read_only:
            raise ReadOnlyError(f"{self.path} is open for reading only; open it without read_only=True to write")

    def _refuse_others(self) -> None:
        others = labels_of_others(self._connection)
        if not others:
            return
        if self.meta() is not None:  # another process made the store just now
            raise self._initialised_already()
        raise StoreError(
            f"{self.path}: the database holds nodes of another program labelled {', '.join(others)}, as a store's own "
            "are; nothing was written: give the store a database of its own (database=), or relabel those nodes first"
        )

    def _initialised_already(self) -> StoreError:
        return StoreError(f"{self.path} is initialised already; open another database")

    def _not_initialised(self) -> StoreError:
        return StoreError(f"{self.path} is not initialised; call initialise() before the first write")


class _NotOurTurnError(Exception):
    """Another writer, which was too slow before, has the next moments to itself."""
