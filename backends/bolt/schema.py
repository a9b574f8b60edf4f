"""Constraints, indexes and the Meta node of a database."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Sequence

from alma_graph.backends.bolt.connection import Connection, Transaction, rows
from alma_graph.backends.bolt.dialect import STAGED, UNIQUE
from alma_graph.backends.maintenance import Migrated
from alma_graph.backends.migrations import Migration, pending
from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import META_KEY, NODES
from alma_graph.errors import BackendError, StoreError, StoreVersionError

_TRIES = 8

_VERSION = "MATCH (m:`Meta` {`key`: $key}) WHERE m.`schema_version` < $version SET m.`schema_version` = $version"


def make_indexes(connection: Connection, dimension: int) -> list[str]:
    """Makes the constraints and indexes that are missing and waits until all of them answer; their names."""
    dialect = connection.settings.dialect
    there = _there(connection)
    wanted = dialect.schema(dimension)
    if dialect.vector_dimensions is not None:
        for name, found in connection.command(dialect.vector_dimensions, "the indexes were not listed"):
            if name in wanted and found != dimension:  # left behind by a store of another dimension
                drop_index(connection, name)
                there.discard(name)
    made = {name: text for name, text in wanted.items() if name not in there}
    for name, statement in made.items():
        _make(connection, name, statement)
    if made and dialect.await_indexes is not None:
        connection.command(dialect.await_indexes, "the indexes are not ready")
    return list(made)


def drop_index(connection: Connection, name: str) -> None:
    """Drops an index, if it is there."""
    dialect = connection.settings.dialect
    if dialect.drops_if_exists or name in _there(connection):
        what = f"the index {name} was not dropped"
        _settle(connection, dialect.drop_index(name), what, lambda: name not in _there(connection))


def _make(connection: Connection, name: str, statement: str) -> None:
    """Makes one index."""
    _settle(connection, statement, f"the index {name} was not made", lambda: name in _there(connection))


def _settle(connection: Connection, statement: str, what: str, done: Callable[[], bool]) -> None:
    """Runs a change of the schema. Another process that opens the same new database may be at the same, which the
    server may call a conflict or a deadlock."""
    for attempt in range(1, _TRIES + 1):
        try:
            connection.command(statement, what)
        except BackendError:
            if attempt == _TRIES:
                raise
            time.sleep(random.uniform(0, 0.2 * attempt))
            if done():
                return
        else:
            return


def _there(connection: Connection) -> set[str]:
    """Names of the indexes and constraints that there are."""
    return connection.settings.dialect.index_names(
        lambda statement: connection.command(statement, "the indexes were not listed")
    )


def labels_of_others(connection: Connection) -> list[str]:
    """The store's labels under which there are nodes of other programs already; any node is, before there is a Meta."""
    labels = (*UNIQUE, *STAGED)

    def look(transaction: Transaction) -> list[str]:
        return [name for name in labels if rows(transaction, f"MATCH (n:`{name}`) RETURN 1 LIMIT 1")]

    return connection.read(look, "the database was not looked at")


def create_meta(connection: Connection, row: Row) -> None:
    """Makes the Meta node.

    Raises:
        StoreError: there is one; another process was faster.
    """
    given = {column.name: row[column.name] for column in NODES["Meta"].columns}
    given["feed_salt"] = secrets.token_hex(16)

    def make(transaction: Transaction) -> None:
        statement = "MERGE (m:`Meta` {`key`: $key}) ON CREATE SET m = $row RETURN m.`feed_salt`"
        if rows(transaction, statement, {"key": META_KEY, "row": given})[0][0] != given["feed_salt"]:
            raise StoreError(f"{connection.settings.shown} is initialised already; open another database")

    connection.repeat(make, "the store was not initialised")


def migrate(connection: Connection, meta: Row | None, migrations: Sequence[Migration]) -> Migrated | None:
    """Brings an older store to the present schema. Every property is there as soon as it is written, so only the
    version is raised.

    Raises:
        StoreVersionError: the store is newer than this package, or must be migrated and is open for reading only.
    """
    if meta is None:
        return None
    place, found = connection.settings.shown, int(meta["schema_version"])
    steps = pending(found, place, migrations)
    if not steps:
        return Migrated(found, found)
    now = steps[-1].version
    if connection.settings.read_only:
        raise StoreVersionError(
            f"{place} has schema version {found} and must be brought to {now}; open it once without read_only=True",
            found=found,
            supported=now,
        )
    given = {"key": META_KEY, "version": now}
    connection.repeat(lambda transaction: transaction.run(_VERSION, given).consume(), "the schema was not migrated")
    return Migrated(found, now, tuple(step.title for step in steps))
