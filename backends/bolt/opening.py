"""One driver for each database, user and process, shared and counted."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from alma_graph.backends.bolt.backend import BoltBackend
from alma_graph.backends.bolt.connection import Connection
from alma_graph.backends.bolt.settings import server_settings
from alma_graph.backends.handles import Handles
from alma_graph.backends.migrations import MIGRATIONS, Migration
from alma_graph.errors import InvalidInputError

_handles: Handles[tuple[Any, ...], BoltBackend] = Handles()
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
        known = _handles.find(identity)
        if known is not None:
            _handles.open_again(identity)
            return known
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
        _handles.keep(identity, backend)
        return backend


def _give_back(identity: tuple[Any, ...]) -> None:
    with _lock:
        _handles.give_back(identity)
