"""One driver for each database, user and process, shared and counted."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from alma_graph.backends.bolt.backend import BoltBackend
from alma_graph.backends.bolt.connection import Connection
from alma_graph.backends.bolt.settings import server_settings
from alma_graph.backends.migrations import MIGRATIONS, Migration
from alma_graph.errors import AlmaGraphError, InvalidInputError


class _Handle:
    """An open database and how often it was opened."""

    def __init__(self, backend: BoltBackend) -> None:
        self.backend = backend
        self.count = 1
        self.pid = os.getpid()


_handles: dict[tuple[Any, ...], _Handle] = {}
_lock = threading.RLock()


def open_server(
    location: str, *, engine: str | None = None, read_only: bool, create: bool, options: dict[str, Any]
) -> BoltBackend:
    """Opens the store in a database of a server, or gives the handle that this process has with the same settings.

    Raises:
        InvalidInputError: the location or an option is wrong, or the database holds no store and none may be made.
        MissingDependencyError: the driver is not installed.
        ServerError: nobody answers, or the credentials or the database are refused.
        StoreVersionError: the store was written by a newer schema.
    """
    left = dict(options)
    migrations: Sequence[Migration] = left.pop("migrations", MIGRATIONS)
    settings = server_settings(location, engine=engine, read_only=read_only, options=left)
    identity = settings.identity
    with _lock:
        handle = _handles.get(identity)
        if handle is not None and handle.pid == os.getpid():
            handle.count += 1
            return handle.backend
        connection = Connection(settings)
        try:
            backend = BoltBackend(connection, lambda: _give_back(identity), migrations)
            if backend.meta() is None and (read_only or not create):
                raise InvalidInputError(
                    f"{settings.shown}: the database holds no store; check database=, or open it once without "
                    "read_only=True and with create=True to make one"
                )
        except BaseException:
            connection.close()
            raise
        _handles[identity] = _Handle(backend)
        return backend


def _give_back(identity: tuple[Any, ...]) -> None:
    """Counts one handle less; closes the driver with the last one."""
    with _lock:
        handle = _handles.get(identity)
        if handle is None or handle.pid != os.getpid():
            return
        handle.count -= 1
        if handle.count == 0:
            del _handles[identity]
            handle.backend.shutdown()


@atexit.register
def _close_all() -> None:
    for handle in list(_handles.values()):
        if handle.pid == os.getpid():
            with suppress(AlmaGraphError, RuntimeError, OSError):
                handle.backend.shutdown()
    _handles.clear()
