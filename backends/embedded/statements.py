"""Cypher and Arrow made from the schema: the only place where statements of the store's own are built.

Labels, types and property names come from `backends.schema` alone; what a caller gave is always a bound parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from alma_graph.backends.protocol import EdgeMatch, Row
from alma_graph.backends.schema import EDGES, NODES, Column, ColumnType, EdgeSpec, NodeSpec

_ENGINE_TYPES = {
    ColumnType.TEXT: "STRING",
    ColumnType.INTEGER: "INT64",
    ColumnType.REAL: "DOUBLE",
    ColumnType.BOOLEAN: "BOOL",
    ColumnType.TIME: "TIMESTAMP",
    ColumnType.BYTES: "BLOB",
    ColumnType.TEXTS: "STRING[]",
}
_CAST = (ColumnType.INTEGER, ColumnType.BYTES, ColumnType.VECTOR, ColumnType.TEXTS)
"""Types whose parameter is cast in the statement: the engines would otherwise guess another type from the value."""

_HEX = [f"\\x{value:02x}" for value in range(256)]


def engine_type(kind: ColumnType, dimension: int) -> str:
    """The engine's name of a column type."""
    return f"FLOAT[{dimension}]" if kind is ColumnType.VECTOR else _ENGINE_TYPES[kind]


def create_tables(dimension: int) -> list[str]:
    """The statements that make the schema."""
    made = []
    for spec in NODES.values():
        columns = ", ".join(_definition(column, dimension) for column in spec.columns)
        made.append(f"CREATE NODE TABLE `{spec.label}` ({columns}, PRIMARY KEY (`key`))")
    for edge in EDGES.values():
        pairs = ", ".join(f"FROM `{source}` TO `{target}`" for source, target in edge.pairs)
        columns = "".join(f", {_definition(column, dimension)}" for column in edge.columns)
        made.append(f"CREATE REL TABLE `{edge.type}` ({pairs}{columns})")
    return made


def _definition(column: Column, dimension: int) -> str:
    return f"`{column.name}` {engine_type(column.type, dimension)}"


def _placeholder(column: Column, dimension: int, prefix: str = "p_") -> str:
    name = f"${prefix}{column.name}"
    return f"CAST({name} AS {engine_type(column.type, dimension)})" if column.type in _CAST else name


def parameter(kind: ColumnType, value: Any) -> Any:
    """The form in which a value is bound.

    Whole numbers go as text, because a prepared statement would keep the width of the first one; bytes as escapes,
    because Kuzu binds none; times naive, because the zone would be dropped.
    """
    if value is None:
        return None
    if kind is ColumnType.INTEGER:
        return str(value)
    if kind is ColumnType.BYTES:
        return "".join([_HEX[byte] for byte in value])
    if kind is ColumnType.VECTOR:
        return value.tolist()
    if kind is ColumnType.TIME:
        return naive(value)
    return value


def naive(value: datetime) -> datetime:
    """An aware time as naive UTC, which is what the engines keep."""
    return value.astimezone(UTC).replace(tzinfo=None)


def _given(columns: Iterable[Column], row: Row) -> list[Column]:
    return [column for column in columns if row.get(column.name) is not None]


def _bound(columns: Iterable[Column], row: Row, prefix: str = "p_") -> dict[str, Any]:
    return {f"{prefix}{column.name}": parameter(column.type, row[column.name]) for column in columns}


def create_node(spec: NodeSpec, row: Row, dimension: int) -> tuple[str, dict[str, Any]]:
    """Statement and parameters that make one node."""
    columns = _given(spec.columns, row)
    values = ", ".join(f"`{column.name}`: {_placeholder(column, dimension)}" for column in columns)
    return f"CREATE (:`{spec.label}` {{{values}}})", _bound(columns, row)


def create_edge(
    spec: EdgeSpec, pair: tuple[str, str], source: str, target: str, row: Row
) -> tuple[str, dict[str, Any]]:
    """Statement and parameters that make one edge between existing nodes."""
    columns = _given(spec.columns, row)
    values = ", ".join(f"`{column.name}`: {_placeholder(column, 0)}" for column in columns)
    properties = f" {{{values}}}" if values else ""
    statement = (
        f"MATCH (a:`{pair[0]}` {{`key`: $source}}), (b:`{pair[1]}` {{`key`: $target}}) "
        f"CREATE (a)-[:`{spec.type}`{properties}]->(b)"
    )
    return statement, {"source": source, "target": target, **_bound(columns, row)}


def update_node(spec: NodeSpec, key: str, values: Row, dimension: int) -> tuple[str, dict[str, Any]]:
    """Statement and parameters that set some properties of one node."""
    assignments, parameters = _assignments("n", spec.columns, values, dimension)
    return f"MATCH (n:`{spec.label}` {{`key`: $key}}) SET {assignments}", {"key": key, **parameters}


def delete_node(spec: NodeSpec, key: str, *, detach: bool) -> list[tuple[str, dict[str, Any]]]:
    """Statements and parameters that remove one node with its edges; without `detach`, those by statements first."""
    node = f"MATCH (n:`{spec.label}` {{`key`: $key}})"
    if detach:
        return [(f"{node} DETACH DELETE n", {"key": key})]
    pairs = [pair for edge in EDGES.values() for pair in edge.pairs]
    removals = []
    if any(source == spec.label for source, _ in pairs):
        removals.append(f"{node}-[r]->() DELETE r")
    if any(target == spec.label for _, target in pairs):
        removals.append(f"{node}<-[r]-() DELETE r")
    return [(statement, {"key": key}) for statement in (*removals, f"{node} DELETE n")]


def delete_edges(spec: EdgeSpec, pair: tuple[str, str], match: EdgeMatch) -> tuple[str, dict[str, Any]]:
    """Statement and parameters that remove the matching edges."""
    pattern, parameters = _edge_pattern(spec, pair, match)
    return f"{pattern} DELETE r", parameters


def update_edges(spec: EdgeSpec, pair: tuple[str, str], match: EdgeMatch, values: Row) -> tuple[str, dict[str, Any]]:
    """Statement and parameters that set some properties of the matching edges."""
    pattern, parameters = _edge_pattern(spec, pair, match)
    assignments, new = _assignments("r", spec.columns, values, 0)
    return f"{pattern} SET {assignments}", {**parameters, **new}


def _assignments(variable: str, columns: Sequence[Column], values: Row, dimension: int) -> tuple[str, dict[str, Any]]:
    chosen = [column for column in columns if column.name in values]
    given = [column for column in chosen if values[column.name] is not None]
    text = ", ".join(
        f"{variable}.`{column.name}` = {_placeholder(column, dimension) if column in given else 'NULL'}"
        for column in chosen
    )
    return text, _bound(given, values)


def _edge_pattern(spec: EdgeSpec, pair: tuple[str, str], match: EdgeMatch) -> tuple[str, dict[str, Any]]:
    parameters: dict[str, Any] = {}
    ends = []
    for name, label, key in (("source", pair[0], match.source), ("target", pair[1], match.target)):
        ends.append(f"(:`{label}`)" if key is None else f"(:`{label}` {{`key`: ${name}}})")
        if key is not None:
            parameters[name] = key
    chosen = [column for column in spec.columns if column.name in match.where]
    given = [column for column in chosen if match.where[column.name] is not None]
    tests = [
        f"r.`{column.name}` = {_placeholder(column, 0, 'w_')}" if column in given else f"r.`{column.name}` IS NULL"
        for column in chosen
    ]
    parameters.update(_bound(given, match.where, "w_"))
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    return f"MATCH {ends[0]}-[r:`{spec.type}`]->{ends[1]}{where}", parameters


def read_columns(variable: str, columns: Sequence[Column]) -> str:
    """The RETURN list of some columns."""
    return ", ".join(f"{variable}.`{column.name}`" for column in columns)
