"""Everything in a store's file as its engine has it, whatever schema made it: for a store that cannot be opened here.

Nothing is interpreted: tables and properties are those that the file's own catalogue names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from alma_graph.backends.embedded.engine import Link
from alma_graph.backends.embedded.failures import read_failure
from alma_graph.backends.embedded.files import choose_dialect
from alma_graph.backends.embedded.opening import DEFAULT_BUFFER_POOL, OpenedStore
from alma_graph.backends.protocol import Row

Unread = Callable[[str], None]
"""Takes one line about what could not be read."""

_INTERNAL = frozenset({"_id", "_label", "_ID", "_LABEL", "_src", "_dst", "_SRC", "_DST"})


def raw_rows(
    path: str, wanted: str | None = None, *, lock_timeout: float = 5.0, unread: Unread
) -> Generator[Row, None, None]:
    """Every node, then every edge: a mapping with `node` (its table) and `properties`, or with `edge`, `from`, `to`
    (the ends' tables and primary keys) and `properties`. Tables in alphabetical order, rows as the engine gives them.

    What damage hides is left out: a row has what can be read of it, and `unread` is told the rest, a line for each row
    and for each table of which nothing can be read.

    Args:
        path: the store's file.
        wanted: the engine, where the path names none.
        lock_timeout: seconds to wait for another process.
        unread: takes those lines.

    Raises:
        InvalidInputError, StoreLockedError, StoreCorruptError: as when the store is opened; the last also where the
            names of the tables cannot be read.
    """
    real = os.path.realpath(os.path.expanduser(path))
    dialect, _ = choose_dialect(real, wanted, create=False)
    store = OpenedStore(
        real, dialect, read_only=True, lock_timeout=lock_timeout, buffer_pool_bytes=DEFAULT_BUFFER_POOL, threads=0
    )
    store.open()
    try:
        with store.reading() as link:
            try:
                tables = sorted((str(row[0]), str(row[1])) for row in link.rows("CALL show_tables() RETURN name, type"))
                columns = {name: _columns(link, name) for name, _ in tables}
            except Exception as error:
                raise read_failure(real, "the tables' names", dialect.name, error) from error
            nodes = [name for name, kind in tables if kind == "NODE"]
            for name in nodes:
                part = _Part(name, f"(x:{_quoted(name)})", {}, tuple(columns[name]))
                for _, properties, lost in _rows(link, part, unread):
                    yield {"node": name, "properties": properties, **lost}
            keys = {name: next((column for column, key in columns[name].items() if key), "key") for name in nodes}
            for name, kind in tables:
                if kind != "NODE":
                    yield from _edges(link, name, nodes, keys, tuple(columns[name]), unread)
    finally:
        store.close()


@dataclass(frozen=True)
class _Part:
    """What is read at once: the pattern binds the rows as `x`; `ends` are expressions read beside them."""

    name: str
    pattern: str
    ends: dict[str, str]
    columns: tuple[str, ...]


def _edges(
    link: Link, name: str, nodes: Sequence[str], keys: dict[str, str], columns: tuple[str, ...], unread: Unread
) -> Iterator[Row]:
    try:
        pairs = link.rows(f"MATCH (a)-[x:{_quoted(name)}]->(b) RETURN DISTINCT label(a), label(b)")
    except Exception as error:
        unread(f"{name}: nothing of it can be read ({_told(error)})")
        return
    for source, target in sorted((str(row[0]), str(row[1])) for row in pairs):
        if source not in nodes or target not in nodes:
            continue
        ends = {"from": f"a.{_quoted(keys[source])}", "to": f"b.{_quoted(keys[target])}"}
        pattern = f"(a:{_quoted(source)})-[x:{_quoted(name)}]->(b:{_quoted(target)})"
        part = _Part(f"{name} ({source} to {target})", pattern, ends, columns)
        for (start, end), properties, lost in _rows(link, part, unread):
            yield {"edge": name, "from": [source, start], "to": [target, end], "properties": properties, **lost}


def _rows(link: Link, part: _Part, unread: Unread) -> Iterator[tuple[list[Any], Row, Row]]:
    """The ends and properties of each row, and what of it cannot be read; all at once, or in halves of halves where
    that fails."""
    asked = ", ".join((*part.ends.values(), "x"))
    try:
        whole = link.rows(f"MATCH {part.pattern} RETURN {asked}")
    except Exception as error:
        try:
            found = link.rows(f"MATCH {part.pattern} RETURN offset(id(x))")
        except Exception:
            unread(f"{part.name}: nothing of it can be read ({_told(error)})")
            return
        lots = [sorted({int(row[0]) for row in found})]
    else:
        lots = []
        for *ends, row in whole:
            yield ends, _properties(row), {}
    while lots:
        lot = lots.pop()
        if not lot:
            continue
        within = f"MATCH {part.pattern} WHERE offset(id(x)) >= {lot[0]} AND offset(id(x)) <= {lot[-1]} RETURN "
        try:
            read = link.rows(within + asked)
        except Exception as error:
            if len(lot) == 1:
                yield from _one_row(link, part, within, lot[0], error, unread)
            else:
                lots += [lot[len(lot) // 2 :], lot[: len(lot) // 2]]
            continue
        for *ends, row in read:
            yield ends, _properties(row), {}


def _one_row(
    link: Link, part: _Part, within: str, offset: int, error: Exception, unread: Unread
) -> Iterator[tuple[list[Any], Row, Row]]:
    """A damaged row, property by property."""
    asked = part.ends | {name: f"x.{_quoted(name)}" for name in part.columns}
    values: dict[str, Any] = {}
    lost = []
    for name, expression in asked.items():
        try:
            values[name] = link.rows(within + expression)[0][0]
        except Exception:
            lost.append(name)
    if len(lost) == len(asked):
        unread(f"{part.name}, row {offset}: nothing of it can be read ({_told(error)})")
        return
    unread(f"{part.name}, row {offset}: not all of it can be read, without {', '.join(lost)} ({_told(error)})")
    properties = {name: values[name] for name in part.columns if values.get(name) is not None}
    yield [values.get(name) for name in part.ends], properties, {"unread": lost}


def _columns(link: Link, table: str) -> dict[str, bool]:
    """The properties of a table, each with whether it is the primary key."""
    text = table.replace("\\", "\\\\").replace("'", "\\'")
    found = link.rows(f"CALL table_info('{text}') RETURN *")
    return {str(row[1]): row[-1] is True for row in found}


def _properties(value: dict[str, Any]) -> Row:
    return {name: found for name, found in value.items() if name not in _INTERNAL and found is not None}


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _told(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
