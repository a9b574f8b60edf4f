"""A copy of a store, and a store of an older schema brought to the present one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from alma_graph.arguments import path_text
from alma_graph.backends import open_backend
from alma_graph.backends.maintenance import Migrated, as_maintainable
from alma_graph.errors import InvalidInputError
from alma_graph.store import Store


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A copy that was made.

    Attributes:
        path: its file.
        bytes: its size.
    """

    path: str
    bytes: int


def back_up(store: Store, path: str | os.PathLike[str]) -> str:
    """Copies an open store into one new file while it is used, and opens the copy once to see that it holds the same.

    Raises:
        InvalidInputError: the file exists, or cannot be written.
        UnsupportedError: the store is no file; the message names what there is instead.
    """
    target = os.path.abspath(os.path.expanduser(path_text(path, "path")))
    store.check_open()
    as_maintainable(store.backend).back_up(target)
    return target


def backup(location: str | os.PathLike[str], path: str | os.PathLike[str], **options: Any) -> BackedUp:
    """As `back_up`, of a store that is not open here; on Ladybug also while another process writes it.

    Args:
        location: where the store is, as in `ALMA.open`.
        path: the new file.
        options: `lock_timeout`, and the connection's options, as in `ALMA.open`.

    Raises:
        StoreLockedError: another process holds the store, and the engine lets nobody read beside it.
    """
    target = os.path.abspath(os.path.expanduser(path_text(path, "path")))
    place = path_text(location, "location")
    if place == ":memory:":
        raise InvalidInputError("location=':memory:' is a new, empty store; name a store's file")
    backend = open_backend(place, read_only=True, create=False, **options)
    try:
        as_maintainable(backend).back_up(target)
    finally:
        backend.close()
    return BackedUp(target, os.stat(target).st_size)


def migrate(location: str | os.PathLike[str], **options: Any) -> Migrated:
    """Brings a store of an older schema to the present one, after a backup, and says what was done.

    Opening a store for writing does the same; this one says so. A store that is up to date is left as it is.

    Args:
        location: where the store is, as in `ALMA.open`.
        options: `lock_timeout`, and the connection's options, as in `ALMA.open`.

    Raises:
        StoreLockedError: another process holds the store.
        StoreVersionError: the store is newer than this package.
        StoreError: the backup or a migration failed; the store is as it was.
    """
    place = path_text(location, "location")
    backend = open_backend(place, create=False, **options)
    try:
        done = as_maintainable(backend).migrated
    finally:
        backend.close()
    if done is None:
        raise InvalidInputError(f"{place} holds no store yet; there is nothing to migrate")
    return done
