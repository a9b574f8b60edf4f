"""Reads of nodes, edges, vectors and counts over one connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from alma_graph.backends.embedded.arrow import rows_of, value_of, vectors_of
from alma_graph.backends.embedded.dialect import Dialect
from alma_graph.backends.embedded.engine import Link
from alma_graph.backends.embedded.statements import read_columns
from alma_graph.backends.ordering import between
from alma_graph.backends.protocol import EdgeRow, Row, chunked
from alma_graph.backends.schema import NODES, Column, ColumnType, EdgeSpec

_KEY_BATCH = 1_000
_SCAN_KEYS = 5_000
"""Keys beyond which one scan of the table is faster than looking each of them up."""

_SCAN_ENDS = 1_000

_RANGE_KEYS = 200
"""Keys from which it pays to ask whether they are most of what lies between the smallest and the largest of them: then
one scan of that range finds them 2 (Ladybug) to 18 times (Kuzu) faster than looking each of them up."""

_DENSE = 4
"""Keys in a range for each one that is wanted, up to which it is scanned."""

_FEW_KEYS = 16
"""Keys up to which asking for the size of the table costs more than looking them up."""


class Reader:
    """Reads through one connection, whose lock the caller holds.

    Args:
        link: the connection.
        dimension: of the store's vectors.
        dialect: of the engine.
    """

    def __init__(self, link: Link, dimension: int, *, dialect: Dialect) -> None:
        self._link = link
        self._dimension = dimension
        self._dialect = dialect

    def nodes(self, label: str, columns: Sequence[Column], *, project_id: str | None) -> list[Row]:
        """All rows of a label (of one project), by key."""
        where, parameters = _project("n", label, project_id)
        statement = f"MATCH (n:`{label}`){where} RETURN n.`key` AS node_key, {read_columns('n', columns)}"
        table = self._link.table(statement, parameters)
        keys = table.column(0).to_pylist()
        rows = rows_of(_without_first(table), columns, self._dimension)
        return [rows[position] for position in sorted(range(len(keys)), key=keys.__getitem__)]

    def existing(self, label: str, keys: Sequence[str]) -> set[str]:
        """Which of the keys there are."""
        few = len(keys) <= _FEW_KEYS
        if not few and len(keys) * self._dialect.lookup_rows > self.count_nodes(label, None):
            wanted = set(keys)
            found = self._link.rows(f"MATCH (n:`{label}`) RETURN n.`key`")
            return {row[0] for row in found if row[0] in wanted}
        return set(self.nodes_by_key(label, NODES[label].columns[:1], keys))

    def nodes_by_key(self, label: str, columns: Sequence[Column], keys: Sequence[str]) -> dict[str, Row]:
        """The rows found, by key."""
        unique = list(dict.fromkeys(keys))
        dense = self._is_dense(label, unique)
        if dense or len(unique) > _SCAN_KEYS:
            wanted = set(unique)
            chosen = tuple(dict.fromkeys((NODES[label].columns[0], *columns)))
            rows = self._between(label, chosen, _ends(unique) if dense else None)
            return {
                row["key"]: {column.name: row[column.name] for column in columns}
                for row in rows
                if row["key"] in wanted
            }
        names = read_columns("n", columns)
        found: list[list[Any]] = []
        if self._dialect.bulk_lookup:
            statement = f"UNWIND $keys AS k MATCH (n:`{label}` {{`key`: k}}) RETURN n.`key` AS node_key, {names}"
            for batch in chunked(unique, _KEY_BATCH):
                found += self._link.rows(statement, {"keys": list(batch)})
        else:
            statement = f"MATCH (n:`{label}` {{`key`: $key}}) RETURN n.`key` AS node_key, {names}"
            for key in unique:
                found += self._link.rows(statement, {"key": key})
        return {
            row[0]: {column.name: value_of(column.type, value) for column, value in zip(columns, row[1:], strict=True)}
            for row in found
        }

    def _between(self, label: str, columns: Sequence[Column], ends: tuple[str, str] | None) -> list[Row]:
        """Rows of the keys from one to another, or all, in no order."""
        where, parameters = _range("n", ends)
        table = self._link.table(f"MATCH (n:`{label}`){where} RETURN {read_columns('n', columns)}", parameters)
        return rows_of(table, columns, self._dimension)

    def _is_dense(self, label: str, keys: Sequence[str]) -> bool:
        """Whether these distinct keys are many, and a good part of what lies between the smallest and the largest."""
        if len(keys) < _RANGE_KEYS:
            return False
        where, parameters = _range("n", _ends(keys))
        found = self._link.rows(f"MATCH (n:`{label}`){where} RETURN count(*)", parameters)
        return int(found[0][0]) <= _DENSE * len(keys)

    def vectors(self, label: str, project_id: str) -> tuple[list[str], Any]:
        """Keys and vectors of the nodes that have one, by key."""
        import numpy as np

        table = self._link.table(
            f"MATCH (n:`{label}`) WHERE n.`project_id` = $project AND n.`embedding` IS NOT NULL "
            "RETURN n.`key`, n.`embedding`",
            {"project": project_id},
        )
        keys = table.column(0).to_pylist()
        _, matrix = vectors_of(table.column(1), self._dimension)
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return [keys[position] for position in order], np.ascontiguousarray(matrix[order])

    def edges(
        self, spec: EdgeSpec, *, project_id: str | None, sources: Sequence[str] | None, targets: Sequence[str] | None
    ) -> list[EdgeRow]:
        """Edges of one type, in order."""
        found: list[EdgeRow] = []
        for pair in spec.pairs:
            found += self._edges_of_pair(spec, pair, project_id, sources, targets)
        return between(found, sources, targets)

    def _edges_of_pair(
        self,
        spec: EdgeSpec,
        pair: tuple[str, str],
        project_id: str | None,
        sources: Sequence[str] | None,
        targets: Sequence[str] | None,
    ) -> list[EdgeRow]:
        where, parameters = _project("a", pair[0], project_id)
        for variable, label, keys in (("a", pair[0], sources), ("b", pair[1], targets)):
            unique = list(dict.fromkeys(keys or ()))
            if self._is_dense(label, unique):
                bounds, limits = _range(variable, _ends(unique))
                where = f"{where} AND {bounds.removeprefix(' WHERE ')}" if where else bounds
                return self._scanned_edges(spec, pair, where, {**parameters, **limits})
        columns = "".join(f", r.`{column.name}`" for column in spec.columns)
        wanted = f"{where} RETURN a.`key`, b.`key`{columns}"
        small = [
            (end, list(dict.fromkeys(keys)))
            for end, keys in (("source", sources), ("target", targets))
            if keys is not None and len(keys) <= _SCAN_ENDS
        ]
        if small:
            end, keys = min(small, key=lambda item: len(item[1]))
            at_source, at_target = (" {`key`: $at_key}", "") if end == "source" else ("", " {`key`: $at_key}")
            statement = f"MATCH (a:`{pair[0]}`{at_source})-[r:`{spec.type}`]->(b:`{pair[1]}`{at_target}){wanted}"
            rows: list[list[Any]] = []
            for key in keys:
                rows += self._link.rows(statement, {**parameters, "at_key": key})
            return [
                _edge(
                    spec,
                    pair,
                    row[0],
                    row[1],
                    [value_of(c.type, v) for c, v in zip(spec.columns, row[2:], strict=True)],
                )
                for row in rows
            ]
        return self._scanned_edges(spec, pair, where, parameters)

    def _scanned_edges(
        self, spec: EdgeSpec, pair: tuple[str, str], where: str, parameters: dict[str, Any]
    ) -> list[EdgeRow]:
        """Edges of one pair of labels by one scan."""
        columns = "".join(f", r.`{column.name}`" for column in spec.columns)
        match = f"MATCH (a:`{pair[0]}`)-[r:`{spec.type}`]->(b:`{pair[1]}`)"
        table = self._link.table(f"{match}{where} RETURN a.`key`, b.`key`{columns}", parameters)
        ends = (Column("source", ColumnType.TEXT), Column("target", ColumnType.TEXT))
        renamed = [Column(f"p_{column.name}", column.type) for column in spec.columns]
        return [
            _edge(spec, pair, row["source"], row["target"], [row[column.name] for column in renamed])
            for row in rows_of(table, (*ends, *renamed), 0)
        ]

    def count_nodes(self, label: str, project_id: str | None) -> int:
        """How many nodes of a label there are."""
        where, parameters = _project("n", label, project_id)
        return int(self._link.rows(f"MATCH (n:`{label}`){where} RETURN count(*)", parameters)[0][0])

    def tally(self, label: str, columns: Sequence[Column], project_id: str) -> dict[tuple[Any, ...], int]:
        """How many nodes there are for each combination of values."""
        where, parameters = _project("n", label, project_id)
        rows = self._link.rows(f"MATCH (n:`{label}`){where} RETURN {read_columns('n', columns)}, count(*)", parameters)
        return {
            tuple(value_of(column.type, value) for column, value in zip(columns, row, strict=False)): int(row[-1])
            for row in rows
        }

    def count_edges(self, spec: EdgeSpec, project_id: str | None) -> int:
        """How many edges of a type there are; the project is that of the source."""
        total = 0
        for source, target in spec.pairs:
            where, parameters = _project("a", source, project_id)
            statement = f"MATCH (a:`{source}`)-[r:`{spec.type}`]->(b:`{target}`){where} RETURN count(*)"
            total += int(self._link.rows(statement, parameters)[0][0])
        return total


def _edge(spec: EdgeSpec, pair: tuple[str, str], source: str, target: str, values: Sequence[Any]) -> EdgeRow:
    properties = {column.name: value for column, value in zip(spec.columns, values, strict=True)}
    return EdgeRow(spec.type, source, target, properties, *pair)


def _project(variable: str, label: str, project_id: str | None) -> tuple[str, dict[str, Any]]:
    if project_id is None:
        return "", {}
    if not any(column.name == "project_id" for column in NODES[label].columns):
        return " WHERE false", {}
    return f" WHERE {variable}.`project_id` = $project", {"project": project_id}


def _ends(keys: Sequence[str]) -> tuple[str, str]:
    """The smallest and the largest key, in the order of code points, which is Python's and that of UTF-8 bytes."""
    return min(keys), max(keys)


def _range(variable: str, ends: tuple[str, str] | None) -> tuple[str, dict[str, Any]]:
    if ends is None:
        return "", {}
    low, high = f"{variable}_low", f"{variable}_high"
    return f" WHERE {variable}.`key` >= ${low} AND {variable}.`key` <= ${high}", {low: ends[0], high: ends[1]}


def _without_first(table: Any) -> Any:
    return table.select(list(range(1, table.num_columns)))
