"""An older store brought to the present schema, with a copy of it kept from before."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from alma_graph.backends.embedded.copying import copy_store
from alma_graph.backends.embedded.opening import OpenedStore
from alma_graph.backends.maintenance import Migrated
from alma_graph.backends.migrations import Migration, pending
from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import META_KEY
from alma_graph.errors import AlmaGraphError, StoreError, StoreVersionError

_log = logging.getLogger(__name__)


def migrate(store: OpenedStore, meta: Row | None, migrations: Sequence[Migration]) -> Migrated | None:
    """Brings an older store to the present schema, in one transaction, after a backup. None for a store that is new.

    Raises:
        StoreVersionError: the store is newer, or older and open for reading only.
        StoreError: the backup or a migration failed; the store is as it was.
    """
    if meta is None:
        return None
    found = int(meta["schema_version"])
    steps = pending(found, store.path, migrations)
    if not steps:
        return Migrated(found, found)
    now = steps[-1].version
    if store.read_only:
        raise StoreVersionError(
            f"{store.path} has schema version {found} and must be brought to {now}; open it once without "
            f"read_only=True, or run: alma-graph migrate {store.path}",
            found=found,
            supported=now,
        )
    backup = _backup_path(store.path, found)
    try:
        copy_store(store, backup)
    except AlmaGraphError as error:
        raise StoreError(
            f"{store.path} has schema version {found} and is backed up before it is brought to {now}, which failed: "
            f"{error}"
        ) from error
    try:
        _apply(store, steps, int(meta["dimension"]))
    except BaseException:
        Path(backup).unlink(missing_ok=True)  # the store is as it was
        raise
    titles = tuple(step.title for step in steps)
    _log.warning(
        "%s was brought from schema version %d to %d (%s); the store as it was is kept in %s",
        *(store.path, found, now, "; ".join(titles), backup),
    )
    return Migrated(found, now, titles, backup)


def _apply(store: OpenedStore, steps: Sequence[Migration], dimension: int) -> None:
    step = steps[0]
    try:
        with store.engine.transaction() as transaction:
            for step in steps:
                for statement in step.statements:
                    transaction.run(statement.replace("{dimension}", str(dimension)))
            transaction.run(
                "MATCH (m:`Meta` {`key`: $key}) SET m.`schema_version` = CAST($version AS INT64)",
                {"key": META_KEY, "version": str(step.version)},
            )
    except AlmaGraphError:
        store.ensure_open()
        raise
    except Exception as error:
        store.ensure_open()
        raise StoreError(
            f"{store.path}: migration {step.version} ({step.title}) failed and was undone: {error}"
        ) from error


def _backup_path(path: str, version: int) -> str:
    """A name that no file has: an earlier backup may be the only copy of something."""
    first = f"{path}.schema-{version}.backup"
    names = (first if number == 1 else f"{first}-{number}" for number in count(1))
    return next(name for name in names if not os.path.lexists(name))
