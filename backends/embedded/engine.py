"""One open engine: the only module that calls the engine's own API.

Two connections: one writes, one reads what is committed. Each is serialised by its lock, since a connection shows a
reader the uncommitted work of its own transaction. Prepared statements are kept per connection, a bounded number.
"""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from alma_graph.backends.embedded.dialect import Dialect
from alma_graph.errors import BackendError, StoreClosedError

ARROW_ROWS = 100_000
"""Rows per Arrow chunk; the engines' default chunk is ten times slower for vectors."""

_KEPT_STATEMENTS = 64
_MAX_ABANDONED = 16


class Link:
    """One connection of an engine."""

    def __init__(self, module: ModuleType, database: Any, threads: int) -> None:
        self._module = module
        self.raw = module.Connection(database, num_threads=threads)
        self._statements: OrderedDict[str, Any] = OrderedDict()
        self.used = 0

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """All rows of a statement as Python values."""
        result = self._execute(statement, parameters)
        try:
            found: list[list[Any]] = result.get_all()
            return found
        finally:
            result.close()

    def table(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """All rows of a statement as a pyarrow Table."""
        result = self._execute(statement, parameters)
        try:
            return result.get_as_arrow(ARROW_ROWS)
        finally:
            result.close()

    def copy(self, statement: str, table: Any) -> None:
        """Runs a COPY from an Arrow table that was made for it; the statement is not kept."""
        self.used += 1
        prepared = self._module.PreparedStatement(self.raw, statement, {"rows": table})
        self._check(prepared)
        self.raw.execute(prepared, {"rows": table}).close()

    def prepare(self, statement: str, parameters: Mapping[str, Any]) -> Any:
        """A prepared statement that is not kept."""
        prepared = self._module.PreparedStatement(self.raw, statement, dict(parameters))
        self._check(prepared)
        return prepared

    def close(self) -> None:
        """Closes the connection and what it prepared."""
        self._statements.clear()
        self.raw.close()

    def _execute(self, statement: str, parameters: Mapping[str, Any] | None) -> Any:
        self.used += 1
        if not parameters:
            return self.raw.execute(statement)
        bound = dict(parameters)
        prepared = self._statements.get(statement)
        if prepared is None:
            prepared = self.prepare(statement, bound)
            self._statements[statement] = prepared
            if len(self._statements) > _KEPT_STATEMENTS:
                self._statements.popitem(last=False)
        else:
            self._statements.move_to_end(statement)
        return self.raw.execute(prepared, bound)

    @staticmethod
    def _check(prepared: Any) -> None:
        if not prepared.is_success():
            raise RuntimeError(prepared.get_error_message())


class UseGate:
    """Many users of the open database, or one that closes, reopens or checkpoints it; the latter goes first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._users = 0
        self._waiting = 0
        self._owner: int | None = None
        self._depth = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Uses the database; waits while someone has or wants it alone. Free for the thread that has it alone."""
        mine = self._owner == threading.get_ident()
        if not mine:
            with self._changed:
                self._changed.wait_for(lambda: self._owner is None and not self._waiting)
                self._users += 1
        try:
            yield
        finally:
            if not mine:
                with self._changed:
                    self._users -= 1
                    self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Has the database alone; may be nested. Not for a thread that is inside `shared`."""
        me = threading.get_ident()
        with self._changed:
            if self._owner != me:
                self._waiting += 1
                self._changed.wait_for(lambda: self._owner is None and not self._users)
                self._waiting -= 1
                self._owner = me
            self._depth += 1
        try:
            yield
        finally:
            with self._changed:
                self._depth -= 1
                if not self._depth:
                    self._owner = None
                    self._changed.notify_all()


class Engine:
    """The engine's database on one file, with its two connections."""

    def __init__(self, path: str, dialect: Dialect, *, read_only: bool, buffer_pool_bytes: int, threads: int) -> None:
        self.path = path
        self.dialect = dialect
        self.read_only = read_only
        self.write_lock = threading.RLock()
        self.read_lock = threading.RLock()
        self.gate = UseGate()
        self._module = dialect.load()
        self._options = {
            "buffer_pool_size": buffer_pool_bytes,
            "max_num_threads": threads,
            "read_only": read_only,
            **dialect.database_options,
        }
        self._threads = threads
        self._database: Any = None
        self._writer: Link | None = None
        self._reader: Link | None = None
        self._abandoned = 0
        self._buffer_pool_bytes = buffer_pool_bytes
        self.in_transaction = False
        self.opened = 0

    def elsewhere(self, path: str) -> Engine:
        """The engine with the same options on another file, for writing; not opened."""
        return Engine(
            path,
            self.dialect,
            read_only=False,
            buffer_pool_bytes=self._buffer_pool_bytes,
            threads=self._threads,
        )

    def version(self) -> str:
        """Version of the engine's library."""
        return str(self._module.__version__)

    def open(self, extra: Mapping[str, Any] | None = None) -> None:
        """Opens the database and proves that it can be read."""
        self.opened += 1
        self._database = self._module.Database(self.path, **self._options, **(extra or {}))
        try:
            self.reader().rows("CALL show_tables() RETURN name")
            if not self.read_only:
                self.writer().rows("CALL force_checkpoint_on_close = false")
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        """Closes connections, then the database."""
        writer, reader, database = self._writer, self._reader, self._database
        self._writer = self._reader = self._database = None
        for link in (writer, reader):
            if link is not None:
                with suppress(RuntimeError):
                    link.close()
        if database is not None:
            with suppress(RuntimeError):
                database.close()

    def reopen(self) -> None:
        """Closes and opens again."""
        self.close()
        self.open()

    def abandon(self) -> None:
        """Leaves the database as it is, never to be used, rolled back or freed, and opens the committed state anew.

        After a failed transaction Kuzu's memory is damaged, and on both engines a rollback after the COPY of edges
        destroys committed edges. The file and its log hold only what was committed, or a copy of them stands by.

        Raises:
            BackendError: this happened too often in one process; each time keeps its memory.
        """
        for kept in (self._writer, self._reader, self._database):
            if kept is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        self._writer = self._reader = self._database = None
        self._abandoned += 1
        if self._abandoned > _MAX_ABANDONED:
            raise BackendError(
                f"{self.path}: {self._abandoned} writes failed in this process, and each keeps memory; restart "
                "the process"
            )

    def writer(self) -> Link:
        """The writing connection; call with `write_lock` held."""
        if self._writer is not None and self._writer.used >= self.dialect.recycle_after and not self.in_transaction:
            self._writer.close()
            self._writer = None
        if self._writer is None:
            self._writer = self.connect()
        return self._writer

    def reader(self) -> Link:
        """The reading connection; call with `read_lock` held."""
        if self._reader is not None and self._reader.used >= self.dialect.recycle_after:
            self._reader.close()
            self._reader = None
        if self._reader is None:
            self._reader = self.connect()
        return self._reader

    def connect(self) -> Link:
        """A new connection."""
        if self._database is None:
            raise StoreClosedError(f"{self.path} is closed; open it again")
        return Link(self._module, self._database, self._threads)

    @contextmanager
    def transaction(self, *, guarded: bool = False) -> Iterator[Transaction]:
        """One transaction on the writing connection: committed at the end, undone by any exception.

        With `guarded`, a copy of the files stands by: the body may use COPY, a checkpoint follows the commit (the
        log has nothing of what COPY wrote), and after a failure the copy must be restored before the next `open`.

        The engine rolls back by itself after its own error and would run what follows outside any transaction, so
        nothing is sent after a failure but, where the engine's transaction still lives, one ROLLBACK.
        """
        with self.write_lock:
            link = self.writer()
            link.rows("BEGIN TRANSACTION")
            self.in_transaction = True
            transaction = Transaction(link, guarded=guarded)
            try:
                yield transaction
                transaction.run("COMMIT")
                if guarded:
                    self.checkpoint()
            except BaseException:
                transaction.dead = True
                self._undo(transaction)
                raise
            finally:
                self.in_transaction = False

    def _undo(self, transaction: Transaction) -> None:
        if self.dialect.abandon_after_failure or transaction.guarded or transaction.committing:
            with self.gate.exclusive(), self.read_lock:
                self.abandon()
            return
        with suppress(RuntimeError):
            transaction.link.rows("ROLLBACK")

    @property
    def failed_here(self) -> bool:
        """Whether a transaction of this process was abandoned."""
        return self._abandoned > 0

    @property
    def needs_open(self) -> bool:
        """Whether the database was abandoned and must be opened again."""
        return self._database is None

    def checkpoint(self) -> None:
        """Runs the engine's checkpoint, and opens the database anew where it must; call with the store held alone."""
        self.writer().rows("CHECKPOINT")
        if self.dialect.reopens_after_checkpoint:
            with self.read_lock:
                self.reopen()

    def log_bytes(self) -> int:
        """Size of the write-ahead log."""
        with suppress(OSError):
            return Path(f"{self.path}.wal").stat().st_size
        return 0


class Transaction:
    """A transaction that takes no statement after its first failure."""

    def __init__(self, link: Link, *, guarded: bool) -> None:
        self.link = link
        self.guarded = guarded
        self.dead = False
        self.committing = False

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Runs one statement."""
        self._alive()
        self.committing = statement == "COMMIT"
        try:
            self.link.rows(statement, parameters)
        except BaseException:
            self.dead = True
            raise

    def copy(self, statement: str, table: Any) -> None:
        """Runs one COPY from an Arrow table; only in a guarded transaction."""
        self._alive()
        if not self.guarded:
            raise BackendError("COPY outside a guarded transaction would not survive a crash")
        try:
            self.link.copy(statement, table)
        except BaseException:
            self.dead = True
            raise

    def _alive(self) -> None:
        if self.dead:
            raise BackendError("the transaction failed earlier; nothing more can be done in it")
