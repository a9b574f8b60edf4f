"""Open stores of this process, each with how often it was opened."""

from __future__ import annotations

import atexit
import os
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from alma_graph.errors import AlmaGraphError


class Shared(Protocol):
    """A backend that several handles share."""

    def shutdown(self) -> None:
        """Closes the engine."""
        ...


_B = TypeVar("_B", bound=Shared)
_I = TypeVar("_I", bound=Hashable)


@dataclass(slots=True)
class _Handle(Generic[_B]):
    backend: _B
    count: int
    pid: int


class Handles(Generic[_I, _B]):
    """Backends by what tells their stores apart. What is left open is closed when the process ends; what a fork
    inherited is its parent's, and as good as not there.

    Who calls holds a lock of that store.
    """

    def __init__(self) -> None:
        self._open: dict[_I, _Handle[_B]] = {}
        atexit.register(self._close_all)

    def find(self, identity: _I) -> _B | None:
        """The open backend; None where there is none."""
        handle = self._own(identity)
        return None if handle is None else handle.backend

    def keep(self, identity: _I, backend: _B) -> None:
        """Remembers a backend that was just opened, once."""
        self._open[identity] = _Handle(backend, 1, os.getpid())

    def open_again(self, identity: _I) -> None:
        """Counts one open more of a backend that is there."""
        self._open[identity].count += 1

    def give_back(self, identity: _I) -> None:
        """Counts one open less; closes the engine with the last one."""
        handle = self._own(identity)
        if handle is None:
            return
        handle.count -= 1
        if handle.count == 0:
            del self._open[identity]
            handle.backend.shutdown()

    def _own(self, identity: _I) -> _Handle[_B] | None:
        handle = self._open.get(identity)
        return None if handle is None or handle.pid != os.getpid() else handle

    def _close_all(self) -> None:
        for handle in list(self._open.values()):
            if handle.pid == os.getpid():
                with suppress(AlmaGraphError, RuntimeError, OSError):
                    handle.backend.shutdown()
        self._open.clear()
