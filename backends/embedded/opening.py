"""A store's files, lock and engine together: opening, reopening after trouble, checkpoints, closing."""

from __future__ import annotations

import filecmp
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from alma_graph.backends.embedded.dialect import MEGABYTE, Dialect
from alma_graph.backends.embedded.durable import copy_whole
from alma_graph.backends.embedded.engine import Engine, Link
from alma_graph.backends.embedded.failures import FREE_SPACE, cure_of_a_full_disk
from alma_graph.backends.embedded.guard import CheckpointGuard
from alma_graph.backends.embedded.replacing import Replacement
from alma_graph.backends.locks import FileLock, StoreLock, retrying
from alma_graph.errors import (
    AlmaGraphError,
    BackendError,
    InvalidInputError,
    StoreCorruptError,
    StoreError,
    shown,
)

DEFAULT_BUFFER_POOL = 512 * MEGABYTE
DEFAULT_QUERY_TIMEOUT = 60.0
"""Seconds that a caller's Cypher statement may run."""
_SMALLEST_BUFFER_POOL = 64 * MEGABYTE
_LARGEST_BUFFER_POOL = 2**47
_GUARD_SECONDS = 0.05
_GUARD_BYTES_PER_SECOND = 200 * MEGABYTE
_TRANSIENT = ("checkpoint", "reading past", "invalid local node offset", "wal", "corrupted", "lock", "could not")
_NO_ROOM = ("mmap", "bad_alloc", "out of memory")
_READER_CURE = "close it there, or wait longer with lock_timeout=; to read beside a writer, open with read_only=True"
_EXCLUSIVE_CURE = (
    "{name} lets nobody read beside a writer: close it there, wait longer with lock_timeout=, read through that "
    "process, or read a copy that it makes with alma.backup(path)"
)


class StoreRecoveredWarning(UserWarning):
    """A store was brought back after a crash: what was not yet acknowledged may be gone."""


class OpenedStore:
    """The files of one store, held by this process, with its engine."""

    def __init__(
        self,
        path: str,
        dialect: Dialect,
        *,
        read_only: bool,
        lock_timeout: float,
        buffer_pool_bytes: int,
        threads: int,
        query_timeout: float = DEFAULT_QUERY_TIMEOUT,
    ) -> None:
        if isinstance(buffer_pool_bytes, bool) or not isinstance(buffer_pool_bytes, int):
            raise InvalidInputError(f"buffer_pool_bytes={shown(buffer_pool_bytes)} must be a whole number of bytes")
        if not _SMALLEST_BUFFER_POOL <= buffer_pool_bytes < _LARGEST_BUFFER_POOL:
            raise InvalidInputError(
                f"buffer_pool_bytes={shown(buffer_pool_bytes)} is out of range; give {_SMALLEST_BUFFER_POOL} or more, "
                "and no more than the machine has"
            )
        self.path = path
        self.dialect = dialect
        self.read_only = read_only
        self._timeout = lock_timeout
        self.query_timeout = query_timeout
        self.lock = StoreLock(path)
        self._readers = FileLock(f"{path}.readers")
        self._guard = CheckpointGuard(path)
        self._replacement = Replacement(path)
        self._seen: tuple[tuple[int, int, int], ...] = ()
        self._fixed = 0
        self._closed = False
        self.engine = Engine(path, dialect, read_only=read_only, buffer_pool_bytes=buffer_pool_bytes, threads=threads)

    @property
    def beside_a_writer(self) -> bool:
        """Whether this is a reader that another process may write under."""
        return self.read_only and self.dialect.shared_readers

    def open(self) -> None:
        """Takes the lock and opens the engine.

        Raises:
            StoreLockedError: another process holds the store.
            StoreCorruptError: the engine cannot read the file.
        """
        if self.beside_a_writer:
            self._open_beside_a_writer()
            return
        cure = _READER_CURE if self.dialect.shared_readers else _EXCLUSIVE_CURE.format(name=self.dialect.name)
        self.lock.acquire(shared=self.read_only, timeout=self._timeout, cure=cure)
        try:
            self._open_engine()
        except BaseException:
            self.lock.release()
            raise

    def ensure_open(self) -> None:
        """Opens the engine again where it had to be abandoned after a failed transaction."""
        if self.engine.needs_open and not self._closed:
            with self.engine.gate.exclusive(), self.engine.read_lock:
                if self.engine.needs_open and not self._closed:
                    self._open_engine()

    @contextmanager
    def reading(self) -> Iterator[Link]:
        """The reading connection, for one operation."""
        with self.using(), self.engine.read_lock:
            yield self.engine.reader()

    @contextmanager
    def using(self) -> Iterator[None]:
        """The open database, for one operation; beside a writer: its latest state, with checkpoints held off."""
        if not self.beside_a_writer:
            self.ensure_open()
            with self.engine.gate.shared():
                yield
            return
        with self.engine.gate.exclusive():
            if self._fixed:
                yield
                return
            with self._checkpoints_held_off():
                if self._signature() != self._seen:
                    self._open_beside_a_writer(held=True)
                yield

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """One committed state for all operations of this thread inside; only beside a writer can it change at all."""
        if not self.beside_a_writer:
            yield
            return
        with self.using():
            self._fixed += 1
            try:
                yield
            finally:
                self._fixed -= 1

    def enter_bulk(self, around: ExitStack) -> bool:
        """Has the store alone, with a copy of its files standing by, until `around` ends.

        False where a reader of another process is in the way.
        """
        if not self._enter_alone(around, wait=0.5):
            return False
        around.enter_context(self._guard.standing_by())
        return True

    def guard_seconds(self) -> float:
        """About how long a copy of the files takes."""
        return _GUARD_SECONDS + (self.engine.log_bytes() + os.stat(self.path).st_size) / _GUARD_BYTES_PER_SECOND

    def _enter_alone(self, around: ExitStack, *, wait: float) -> bool:
        if self.dialect.shared_readers:
            if not self._readers.acquire(timeout=wait):
                return False
            around.callback(self._readers.release)
        if self.dialect.guarded_checkpoints:
            around.enter_context(self.engine.gate.exclusive())
        return True

    def checkpoint(self, wait: float = 0.0) -> bool:
        """Folds the log into the file; False where readers of other processes hold it off. Call with the write lock."""
        with ExitStack() as around:
            urgent = self.engine.log_bytes() > 4 * self.dialect.checkpoint_bytes
            if not self._enter_alone(around, wait=5.0 if urgent else wait):
                return False
            if self.dialect.guarded_checkpoints:
                around.enter_context(self._guard.standing_by())
            self.engine.checkpoint()
        return True

    def replace_file(self, build: Callable[[Engine], None]) -> None:
        """Has `build` fill a new file, which then takes the store's place; call with the write lock.

        Raises:
            StoreError: readers of other processes are in the way; nothing was changed.
        """
        self._replacement.discard()
        try:
            build(self.engine.elsewhere(str(self._replacement.new)))
            with ExitStack() as around:
                if not self._enter_alone(around, wait=max(self._timeout, 5.0)):
                    raise StoreError(f"{self.path} is being read by other processes without a pause; close them first")
                around.enter_context(self.engine.gate.exclusive())
                around.enter_context(self.engine.read_lock)
                self.engine.close()
                try:
                    self._replacement.announce()
                    self._replacement.finish()
                finally:
                    self._open_engine()
        except BaseException:
            if not self._replacement.marked:
                self._replacement.discard()
            raise

    def close(self) -> None:
        """Closes the engine and lets go of the lock."""
        self._closed = True
        try:
            with self.engine.gate.exclusive(), self.engine.read_lock:
                self.engine.close()
        finally:
            self._readers.release()
            self.lock.release()

    def _open_engine(self) -> None:
        if not self.read_only or self._interrupted:
            self._restore()
        try:
            self.engine.open()
        except AlmaGraphError:
            raise
        except Exception as error:
            if cure := cure_of_a_full_disk(error):
                raise BackendError(f"{self.path}: {error}{cure}") from error
            if any(word in str(error).lower() for word in _NO_ROOM):
                raise BackendError(
                    f"{self.path}: {self.dialect.name} got no memory: {error}; close other stores or give a smaller "
                    "buffer_pool_bytes"
                ) from error
            if not self._open_with_torn_log(error):
                raise StoreCorruptError(
                    f"{self.path} cannot be opened by {self.dialect.name}: {error}. It was left as it is; restore "
                    "it from a "
                    "backup"
                ) from error

    @property
    def _interrupted(self) -> bool:
        return self._guard.marked or self._replacement.marked

    def _restore(self) -> None:
        """Brings back the files from before a checkpoint or a bulk write that did not end, and ends a replacement.

        Raises:
            StoreError: it must be done, and another process reads or writes the store now.
        """
        if not self._interrupted:
            self._guard.discard()
            self._replacement.discard()
            return
        replaced = self._replacement.marked
        if self.lock.held and not self.lock.shared:
            self._bring_back()
        elif not self._restore_as_reader():
            return
        if not self.engine.failed_here:
            what = (
                "other vectors had been put in place of all, and that was interrupted at its end; it is done now"
                if replaced
                else "a checkpoint or a bulk write had been interrupted; the state before it is back"
            )
            warnings.warn(f"{self.path}: {what}", StoreRecoveredWarning, stacklevel=2)

    def _bring_back(self) -> None:
        if self._guard.marked:
            self._guard.restore()
        if self._replacement.marked:
            self._replacement.finish()

    def _restore_as_reader(self) -> bool:
        """Restores with the store held alone for that long; False where another process has done it meanwhile."""
        shared = self.lock.held
        self.lock.release()
        alone = FileLock(self.lock.path)
        if not alone.acquire(timeout=max(self._timeout, 1.0)):
            raise StoreError(f"{self.path}: a write was interrupted and must be undone; open it once for writing")
        try:
            marked = self._interrupted
            self._bring_back()
        finally:
            alone.release()
        if shared:
            self.lock.acquire(shared=True, timeout=max(self._timeout, 1.0), cure=_READER_CURE)
        return marked

    def _open_with_torn_log(self, error: Exception) -> bool:
        """Opens a store whose log ends inside a record, keeping a copy of the log; False where that is not it."""
        options = self.dialect.torn_log_options
        if options is None or self.read_only or not self.engine.log_bytes():
            return False
        # torn by a failed write of this process, it ends in what was never acknowledged: nothing to keep
        kept = None if self.engine.failed_here else self._keep_log(Path(f"{self.path}.wal"))
        try:
            self.engine.open(options)
        except Exception as again:
            if kept is not None:
                kept.unlink(missing_ok=True)
            if cure := cure_of_a_full_disk(again):
                raise BackendError(f"{self.path}: {again}{cure}") from again
            return False
        if kept is None:
            return True
        warnings.warn(
            f"{self.path}: the end of its log could not be read ({error}); everything before it is there, and the "
            "log as it "
            f"was is kept in {kept.name}",
            StoreRecoveredWarning,
            stacklevel=2,
        )
        return True

    def _keep_log(self, log: Path) -> Path:
        copies = [Path(f"{log}.torn-{number}") for number in range(1, 10_000)]
        kept = next(copy for copy in copies if not copy.exists() or filecmp.cmp(copy, log, shallow=False))
        try:
            copy_whole(log, kept)
        except OSError as error:
            Path(f"{kept}.part").unlink(missing_ok=True)
            raise BackendError(
                f"{self.path}: the end of its log cannot be read, and before the rest is opened the log could not be "
                f"copied to {kept.name}: {error}; {FREE_SPACE}"
            ) from error
        return kept

    def _signature(self) -> tuple[tuple[int, int, int], ...]:
        found = []
        for name in (self.path, f"{self.path}.wal"):
            try:
                status = os.stat(name)
                found.append((status.st_ino, status.st_size, status.st_mtime_ns))
            except OSError:
                found.append((0, 0, 0))
        return tuple(found)

    @contextmanager
    def _checkpoints_held_off(self) -> Iterator[None]:
        """Keeps the writer of another process from changing the main file under a reader."""
        try:
            taken = self._readers.acquire(shared=True, timeout=max(self._timeout, 1.0))
        except OSError:
            yield  # a folder that cannot be written has no writer
            return
        if not taken:
            raise StoreError(
                f"{self.path} is being checkpointed by its writer for longer than {self._timeout:g} s; try again"
            )
        try:
            yield
        finally:
            self._readers.release()

    def _open_beside_a_writer(self, *, held: bool = False) -> None:
        """Opens the latest committed state; a reader that meets the writer in the middle of a record tries again."""
        failure: list[Exception] = []

        def attempt() -> bool:
            self.engine.close()
            if self._interrupted:
                self._restore()
            signature = self._signature()
            try:
                self.engine.open()
            except AlmaGraphError:
                raise
            except Exception as error:
                failure[:] = [error]
                if not any(word in str(error).lower() for word in _TRANSIENT):
                    raise StoreCorruptError(f"{self.path} cannot be opened by {self.dialect.name}: {error}") from error
                return False
            self._seen = signature
            return True

        with ExitStack() as around:
            if not held:
                around.enter_context(self._checkpoints_held_off())
            if not retrying(attempt, max(self._timeout, 1.0)):
                raise StoreCorruptError(
                    f"{self.path} cannot be opened by {self.dialect.name}: {failure[0]}. If its writer was "
                    "killed, open it "
                    "once for writing"
                ) from failure[0]
