"""Everything in a store's file as its engine has it, whatever schema made it: for a store that cannot be opened here.

Nothing is interpreted: tables and properties are those that the file's own catalogue names.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from alma_graph.backends.embedded.engine import Link
from alma_graph.backends.embedded.files import choose_dialect
from alma_graph.backends.embedded.opening import DEFAULT_BUFFER_POOL, OpenedStore
from alma_graph.backends.protocol import Row

_INTERNAL = frozenset({"_id", "_label", "_ID", "_LABEL", "_src", "_dst", "_SRC", "_DST"})


def raw_rows(path: str, wanted: str | None = None, *, lock_timeout: float = 5.0) -> Generator[Row, None, None]:
    """Every node, then every edge: a mapping with `node` (its table) and `properties`, or with `edge`, `from`, `to`
    (the ends' tables and primary keys) and `properties`. Tables in alphabetical order, rows as the engine gives them.

    Args:
        path: the store's file.
        wanted: the engine, where the path names none.
        lock_timeout: seconds to wait for another process.

    Raises:
        InvalidInputError, StoreLockedError, StoreCorruptError: as when the store is opened.
    """
    real = os.path.realpath(os.path.expanduser(path))
    dialect, _ = choose_dialect(real, wanted, create=False)
    store = OpenedStore(
        real, dialect, read_only=True, lock_timeout=lock_timeout, buffer_pool_bytes=DEFAULT_BUFFER_POOL, threads=0
    )
    store.open()
    try:
        with store.reading() as link:
            tables = sorted((str(row[0]), str(row[1])) for row in link.rows("CALL show_tables() RETURN name, type"))
            nodes = [name for name, kind in tables if kind == "NODE"]
            for name in nodes:
                for (node,) in link.rows(f"MATCH (n:{_quoted(name)}) RETURN n"):
                    yield {"node": name, "properties": _properties(node)}
            keys = {name: _primary_key(link, name) for name in nodes}
            for name, kind in tables:
                if kind != "NODE":
                    yield from _edges(link, name, nodes, keys)
    finally:
        store.close()


def _edges(link: Link, name: str, nodes: Sequence[str], keys: dict[str, str]) -> Iterator[Row]:
    pairs = link.rows(f"MATCH (a)-[r:{_quoted(name)}]->(b) RETURN DISTINCT label(a), label(b)")
    for source, target in sorted((str(row[0]), str(row[1])) for row in pairs):
        if source not in nodes or target not in nodes:
            continue
        ends = f"a.{_quoted(keys[source])}, b.{_quoted(keys[target])}"
        pattern = f"(a:{_quoted(source)})-[r:{_quoted(name)}]->(b:{_quoted(target)})"
        for start, end, edge in link.rows(f"MATCH {pattern} RETURN {ends}, r"):
            yield {"edge": name, "from": [source, start], "to": [target, end], "properties": _properties(edge)}


def _primary_key(link: Link, table: str) -> str:
    text = table.replace("\\", "\\\\").replace("'", "\\'")
    for row in link.rows(f"CALL table_info('{text}') RETURN name, `primary key`"):
        if row[1]:
            return str(row[0])
    return "key"


def _properties(value: dict[str, Any]) -> Row:
    return {name: found for name, found in value.items() if name not in _INTERNAL and found is not None}


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
