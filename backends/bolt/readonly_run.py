"""A caller's Cypher on a server: checked, run in a session for reading, and rolled back at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from alma_graph.backends.bolt.connection import Connection
from alma_graph.backends.bolt.statements import KIND_LABELS
from alma_graph.backends.bolt.values import FULL_KEY, utc
from alma_graph.backends.parameters import bind
from alma_graph.backends.protocol import Result
from alma_graph.backends.readonly import check_statement
from alma_graph.backends.schema import EDGES, NODES
from alma_graph.errors import CypherError, ReadOnlyError

_SECOND_LABELS = frozenset(KIND_LABELS.values())
_PROPERTIES = {
    **{label: frozenset(column.name for column in spec.columns) for label, spec in NODES.items()},
    **{name: frozenset(column.name for column in spec.columns) for name, spec in EDGES.items()},
}


def run(connection: Connection, statement: str, parameters: Mapping[str, Any]) -> Result:
    """Runs one reading statement.

    Raises:
        ReadOnlyError: it is not one reading statement.
        CypherError: the server refused it, or a parameter is missing.
        InvalidInputError: a parameter's value cannot be bound.
    """
    import neo4j

    settings = connection.settings
    checked = check_statement(statement, settings.dialect.rules)
    given = bind(checked, parameters, time=_as_is)
    with connection.session(reading=True) as session, connection.translated("the statement failed"):
        transaction = session.begin_transaction(timeout=settings.query_timeout)
        try:
            result = transaction.run(checked.text, given)
            columns = tuple(str(name) for name in list(result.keys()))
            rows = tuple(tuple(_plain(value) for value in record) for record in result.values())
        except neo4j.exceptions.Neo4jError as error:
            raise _refusal(error, settings.dialect.name, settings.query_timeout) or error from error
        finally:
            transaction.close()
    return Result(columns, rows)


def _as_is(value: datetime) -> datetime:
    return value


def _refusal(error: Any, name: str, query_timeout: float) -> Exception | None:
    """The server's no as ours; None for what is not about the statement."""
    code = str(error.code or "")
    words = " ".join(str(error.message or error).split())[:500]
    if code.endswith("AccessMode"):
        return ReadOnlyError(f"the statement writes, and may only read: {words}")
    if "TransactionTimedOut" in code or ("Terminated" in code and "timeout" in words.lower()):
        return CypherError(
            f"the statement ran longer than query_timeout={query_timeout:g} seconds; narrow it, or open the store with "
            "a longer query_timeout"
        )
    if code.startswith(("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.", "Neo.DatabaseError.Statement.")):
        return CypherError(f"{name} refused the statement: {words}")
    if code.startswith(("Neo.ClientError.Transaction.", "Neo.TransientError.General.", "Memgraph.ClientError.")):
        return CypherError(f"{name} refused the statement: {words}")
    return None


def _plain(value: Any) -> Any:
    """A value without the driver's own: aware times, nodes and edges with `_label`, paths as nodes and edges."""
    import neo4j

    if isinstance(value, neo4j.time.Duration):
        return value.iso_format()
    if isinstance(value, neo4j.spatial.Point):  # a tuple too
        return {"srid": value.srid, "coordinates": list(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, neo4j.graph.Node):
        return _node(value)
    if isinstance(value, neo4j.graph.Relationship):
        return _with_label(value.type, value)
    if isinstance(value, neo4j.graph.Path):
        return {"nodes": [_node(node) for node in value.nodes], "edges": [_plain(edge) for edge in value.relationships]}
    if isinstance(value, neo4j.time.DateTime):
        return utc(value)
    if isinstance(value, (neo4j.time.Date, neo4j.time.Time)):
        return value.to_native()
    return value


def _node(node: Any) -> dict[str, Any]:
    label = ":".join(sorted(node.labels - _SECOND_LABELS)) or ":".join(sorted(node.labels))
    return _with_label(label, node)


def _with_label(label: str, entity: Any) -> dict[str, Any]:
    own = _PROPERTIES.get(label)
    kept = {name: _plain(value) for name, value in entity.items() if own is None or name in own}
    if FULL_KEY in entity:
        kept["key"] = entity[FULL_KEY]
    return {"_label": label, **kept}
