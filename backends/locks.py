"""Which process holds a store: an advisory lock on a file of our own beside it.

The engines' own locks do not keep one process from opening a file twice, and say nothing of who holds it. The lock file
`PATH.lock` holds the pid of the writer; it stays behind, empty of a pid, when the store is closed, because removing it
would race with the next opener.
"""

from __future__ import annotations

import os
import re
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from alma_graph.errors import InvalidInputError, StoreLockedError

_PAUSE_SECONDS = 0.02
_PID = re.compile(rb"pid (\d+)")
_WIDTH = 32
_READY = b"ready\n"
_OFFSET_OF_LOCK = 1 << 30

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int, shared: bool) -> bool:
        os.lseek(descriptor, _OFFSET_OF_LOCK, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _OFFSET_OF_LOCK, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int, shared: bool) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


class FileLock:
    """A lock on a file, between processes; shared or exclusive. Not for threads.

    A forked child lets go of its copy of the descriptor, so that the lock ends with the process that took it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self, *, shared: bool = False, timeout: float = 0.0) -> bool:
        """Takes the lock, waiting at most `timeout` seconds; True where it was taken."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o644)
        deadline = time.monotonic() + timeout
        while not _try_lock(descriptor, shared):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return False
            time.sleep(_PAUSE_SECONDS)
        self._descriptor = descriptor
        _held.add(self)
        return True

    def write(self, content: bytes) -> None:
        """Replaces what the file says; only for the holder."""
        if self._descriptor is not None:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, content)
            os.ftruncate(self._descriptor, len(content))

    def release(self) -> None:
        """Lets go; harmless where nothing is held."""
        descriptor, self._descriptor = self._descriptor, None
        _held.discard(self)
        if descriptor is not None:
            with suppress(OSError):
                _unlock(descriptor)
            os.close(descriptor)

    def forget(self) -> None:
        """Closes this process's copy of the descriptor without ending the lock of the parent process."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)


def _forget_in_child() -> None:
    for lock in list(_held):
        lock.forget()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


class StoreLock:
    """The lock of one store: exclusive for a writer, shared for readers of an engine that has no writer beside them."""

    def __init__(self, store_path: str) -> None:
        self.store_path = store_path
        self.path = f"{store_path}.lock"
        self._lock = FileLock(self.path)
        self._shared = False

    def acquire(self, *, shared: bool, timeout: float, cure: str) -> None:
        """Takes the lock or says who holds it.

        Raises:
            StoreLockedError: another process holds the store after `timeout` seconds.
            InvalidInputError: the lock file cannot be made there.
        """
        try:
            taken = self._lock.acquire(shared=shared, timeout=timeout)
        except OSError as error:
            cure = "choose a folder that can be written"
            if not shared and os.path.exists(self.store_path):
                cure += ", or open the store with read_only=True"
            raise InvalidInputError(f"the lock file {self.path} cannot be opened ({error.strerror}); {cure}") from error
        if not taken:
            pid = self._holder()
            who = f"process {pid}" if pid is not None else "another process"
            raise StoreLockedError(
                f"{self.store_path} is held by {who} (waited {timeout:g} s); {cure}", path=self.store_path, pid=pid
            )
        self._shared = shared
        if not shared:
            self._say(f"pid {os.getpid()}".encode())

    @property
    def held(self) -> bool:
        """Whether this process holds the store."""
        return self._lock.held

    @property
    def shared(self) -> bool:
        """Whether it holds it for reading only."""
        return self._shared

    def mark_ready(self) -> None:
        """Notes that the store's file has its header, so that an empty file is damage from now on."""
        if not self._shared and not self.was_ready():
            self._lock.write(self._line(f"pid {os.getpid()}".encode()) + _READY)

    def was_ready(self) -> bool:
        """Whether a store has been here."""
        return store_was_ready(self.store_path)

    def release(self) -> None:
        """Lets go of the store."""
        if self._lock.held and not self._shared:
            self._say(b"free")
        self._lock.release()

    def _say(self, text: bytes) -> None:
        self._lock.write(self._line(text) + (_READY if self.was_ready() else b""))

    @staticmethod
    def _line(text: bytes) -> bytes:
        return text.ljust(_WIDTH) + b"\n"

    def _holder(self) -> int | None:
        with suppress(OSError):
            found = _PID.search(Path(self.path).read_bytes())
            if found:
                return int(found.group(1))
        return None


def store_was_ready(store_path: str) -> bool:
    """Whether the lock file beside a path says that a store has been there."""
    with suppress(OSError):
        return Path(f"{store_path}.lock").read_bytes().endswith(_READY)
    return False


def retrying(action: Callable[[], bool], timeout: float) -> bool:
    """Repeats an action with growing pauses until it returns True or `timeout` seconds are over."""
    deadline = time.monotonic() + timeout
    pause = 0.002
    while not action():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.1)
    return True
