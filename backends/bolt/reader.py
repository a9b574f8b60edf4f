"""Reads of nodes, edges, vectors and counts within one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from alma_graph.backends.bolt.connection import Transaction, rows
from alma_graph.backends.bolt.dialect import Dialect
from alma_graph.backends.bolt.statements import (
    FEED_SALT,
    edge_columns,
    in_project,
    key_of,
    ours,
    wanted,
    wanted_with_key,
)
from alma_graph.backends.bolt.values import read_value, short_key
from alma_graph.backends.ordering import between
from alma_graph.backends.protocol import EdgeRow, Row, chunked
from alma_graph.backends.schema import META_KEY, NODES, Column, EdgeSpec

_KEY_BATCH = 5_000


class Reader:
    """Reads through one transaction.

    Args:
        transaction: of the driver.
        dialect: of the server.
    """

    def __init__(self, transaction: Transaction, dialect: Dialect) -> None:
        self._transaction = transaction
        self._dialect = dialect

    def meta(self) -> Row | None:
        """The one Meta row; None where there is none. Its salt, which no caller sets, says that it is a store's."""
        columns = NODES["Meta"].columns
        statement = f"MATCH (n:`Meta` {{`key`: $key}}) WHERE n.`{FEED_SALT}` IS NOT NULL RETURN {wanted('n', columns)}"
        found = self._rows(statement, {"key": META_KEY})
        return _row(columns, found[0]) if found else None

    def nodes(self, label: str, columns: Sequence[Column], *, project_id: str | None) -> list[Row]:
        """All rows of a label (of one project), by key."""
        where, parameters = in_project("n", label, project_id)
        found = self._rows(f"MATCH (n:`{label}`){where} RETURN {wanted_with_key('n', columns)}", parameters)
        found.sort(key=lambda row: row[0])
        return [_row(columns, row[1:]) for row in found]

    def existing(self, label: str, keys: Sequence[str]) -> set[str]:
        """Which of the keys there are."""
        return set(self.nodes_by_key(label, NODES[label].columns[:1], keys))

    def nodes_by_key(self, label: str, columns: Sequence[Column], keys: Iterable[str]) -> dict[str, Row]:
        """The rows found, by key."""
        statement = f"UNWIND $keys AS k MATCH (n:`{label}` {{`key`: k}}) RETURN {wanted_with_key('n', columns)}"
        found: dict[str, Row] = {}
        for batch in chunked(list(dict.fromkeys(keys)), _KEY_BATCH):
            for row in self._rows(statement, {"keys": self.short(batch)}):
                found[row[0]] = _row(columns, row[1:])
        return found

    def vectors(self, label: str, project_id: str, dimension: int) -> tuple[list[str], Any]:
        """Keys and vectors, (n, dimension) float32, of the nodes that have one, by key."""
        statement = (
            f"MATCH (n:`{label}`) WHERE n.`project_id` = $project AND n.`embedding` IS NOT NULL "
            f"AND {ours('n')} RETURN {key_of('n')}, n.`embedding`"
        )
        keys: list[str] = []
        blocks: list[Any] = []
        result = self._transaction.run(statement, {"project": project_id})
        while records := result.fetch(1_000):  # a block at a time: lists of Python floats are eight times the array
            keys += [record[0] for record in records]
            blocks.append(np.array([record[1] for record in records], dtype=np.float32))
        matrix = np.concatenate(blocks) if blocks else np.zeros((0, dimension), dtype=np.float32)
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
        where, parameters = in_project("a", pair[0], project_id)
        where += f" AND {ours('b')}"
        returned = f" RETURN {edge_columns(spec.columns)}"
        if sources is None and targets is None:
            statement = f"MATCH (a:`{pair[0]}`)-[e:`{spec.type}`]->(b:`{pair[1]}`){where}{returned}"
            return [_edge(spec, pair, row) for row in self._rows(statement, parameters)]
        outwards = sources is not None and (targets is None or self._outwards(spec, pair, sources, targets))
        keys, others = (sources, targets) if outwards else (targets, sources)
        if outwards:
            pattern = f"(a:`{pair[0]}` {{`key`: k}})-[e:`{spec.type}`]->(b:`{pair[1]}`)"
        else:
            pattern = f"(b:`{pair[1]}` {{`key`: k}})<-[e:`{spec.type}`]-(a:`{pair[0]}`)"
        if others is not None and len(others) <= _KEY_BATCH:
            where += f" AND {'b' if outwards else 'a'}.`key` IN $others"
            parameters["others"] = self.short(others)
        found: list[EdgeRow] = []
        for batch in chunked(list(dict.fromkeys(keys or ())), _KEY_BATCH):
            given = {**parameters, "keys": self.short(batch)}
            found += [
                _edge(spec, pair, row)
                for row in self._rows(f"UNWIND $keys AS k MATCH {pattern}{where}{returned}", given)
            ]
        return found

    def _outwards(self, spec: EdgeSpec, pair: tuple[str, str], sources: Sequence[str], targets: Sequence[str]) -> bool:
        """Whether fewer edges go out of the sources than come in at the targets: one of them may hold most of a
        store's."""
        out, into = (
            self._degree(label, keys, degree.format(type=spec.type))
            for label, keys, degree in zip(pair, (sources, targets), self._dialect.degrees, strict=True)
        )
        return out <= into

    def _degree(self, label: str, keys: Sequence[str], degree: str) -> int:
        statement = f"UNWIND $keys AS k MATCH (n:`{label}` {{`key`: k}}) RETURN sum({degree})"
        batches = chunked(list(dict.fromkeys(keys)), _KEY_BATCH)
        return sum(int(self._rows(statement, {"keys": self.short(batch)})[0][0]) for batch in batches)

    def count_nodes(self, label: str, project_id: str | None) -> int:
        """How many nodes of a label there are."""
        where, parameters = in_project("n", label, project_id)
        return int(self._rows(f"MATCH (n:`{label}`){where} RETURN count(*)", parameters)[0][0])

    def tally(self, label: str, columns: Sequence[Column], project_id: str) -> dict[tuple[Any, ...], int]:
        """How many nodes there are for each combination of values."""
        where, parameters = in_project("n", label, project_id)
        wanted = ", ".join(f"n.`{column.name}`" for column in columns)
        found = self._rows(f"MATCH (n:`{label}`){where} RETURN {wanted}, count(*)", parameters)
        return {
            tuple(read_value(column.type, value) for column, value in zip(columns, row, strict=False)): int(row[-1])
            for row in found
        }

    def count_edges(self, spec: EdgeSpec, project_id: str | None) -> int:
        """How many edges of a type there are; the project is that of the source."""
        total = 0
        for source, target in spec.pairs:
            where, parameters = in_project("a", source, project_id)
            matched = f"MATCH (a:`{source}`)-[e:`{spec.type}`]->(b:`{target}`){where} AND {ours('b')}"
            statement = f"{matched} RETURN count(*)"
            total += int(self._rows(statement, parameters)[0][0])
        return total

    def short(self, keys: Iterable[str]) -> list[str]:
        """Keys as they are stored."""
        return [short_key(key, self._dialect.max_key) for key in keys]

    def _rows(self, statement: str, parameters: dict[str, Any]) -> list[list[Any]]:
        return rows(self._transaction, statement, parameters)


def _row(columns: Sequence[Column], values: Sequence[Any]) -> Row:
    return {column.name: read_value(column.type, value) for column, value in zip(columns, values, strict=True)}


def _edge(spec: EdgeSpec, pair: tuple[str, str], row: Sequence[Any]) -> EdgeRow:
    return EdgeRow(spec.type, row[0], row[1], _row(spec.columns, row[2:]), *pair)
