"""A caller's Cypher on an embedded engine: checked, prepared, run in a read-only transaction on its own connection."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from alma_graph.backends.embedded.engine import Link
from alma_graph.backends.embedded.opening import OpenedStore
from alma_graph.backends.embedded.statements import naive
from alma_graph.backends.parameters import bind
from alma_graph.backends.protocol import Result
from alma_graph.backends.readonly import check_statement
from alma_graph.backends.schema import EDGES, NODES
from alma_graph.errors import CypherError, ReadOnlyError

_WRITE_REFUSED = ("read-only transaction", "read only transaction", "write query inside", "read-only mode")
_PROPERTIES = {
    **{label: frozenset(column.name for column in spec.columns) for label, spec in NODES.items()},
    **{name: frozenset(column.name for column in spec.columns) for name, spec in EDGES.items()},
}


def run(store: OpenedStore, statement: str, parameters: Mapping[str, Any]) -> Result:
    """Runs one reading statement; parameters that it does not use are left out (one engine refuses them).

    Raises:
        ReadOnlyError: it is not one reading statement.
        CypherError: the engine refused it, or a parameter is missing.
        InvalidInputError: a parameter's value cannot be bound.
    """
    checked = check_statement(statement)
    bound = bind(checked, parameters, time=naive)
    with store.using():
        link = store.engine.connect()
        try:
            return _in_read_transaction(link, checked.text, bound, store)
        finally:
            with suppress(RuntimeError):
                link.close()


def _in_read_transaction(link: Link, text: str, bound: dict[str, Any], store: OpenedStore) -> Result:
    link.rows("BEGIN TRANSACTION READ ONLY")
    try:
        link.raw.set_query_timeout(max(1, int(store.query_timeout * 1000)))
        result = link.raw.execute(link.prepare(text, bound), bound)
        if isinstance(result, list):
            raise ReadOnlyError("only one statement at a time can run")
        try:
            columns = tuple(str(name) for name in result.get_column_names())
            rows = tuple(tuple(_plain(value) for value in row) for row in result.get_all())
        finally:
            result.close()
    except Exception as error:
        # The engine has rolled back by itself after its own error; nothing else is sent on this connection.
        if isinstance(error, ReadOnlyError):
            raise
        if any(words in str(error).lower() for words in _WRITE_REFUSED):
            raise ReadOnlyError(f"the statement writes, and may only read: {error}") from error
        if "interrupted" in str(error).lower():
            raise CypherError(
                f"the statement ran longer than query_timeout={store.query_timeout:g} seconds; narrow it, or open the "
                "store with a longer query_timeout"
            ) from error
        raise CypherError(f"{store.dialect.name} refused the statement: {error}") from error
    link.rows("COMMIT")
    return Result(columns, rows)


def _plain(value: Any) -> Any:
    """A value without the engine's own: aware times, nodes and edges with `_label`, paths as nodes and edges."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = {name.lower(): name for name in value if isinstance(name, str) and name.startswith("_")}
    if set(names) == {"_nodes", "_rels"} and len(value) == 2:
        return {"nodes": _plain(value[names["_nodes"]]), "edges": _plain(value[names["_rels"]])}
    if "_id" in names and "_label" in names:
        label = str(value[names["_label"]])
        own = _PROPERTIES.get(label)
        kept = {
            name: _plain(item)
            for name, item in value.items()
            if name.lower() not in ("_id", "_label", "_src", "_dst") and (own is None or name in own)
        }
        return {"_label": label, **kept}
    return {name: _plain(item) for name, item in value.items()}
