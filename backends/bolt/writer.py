"""A checked unit of work as statements of one transaction, many rows to a statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, TypeVar

from alma_graph.backends.bolt import statements
from alma_graph.backends.bolt.connection import Transaction
from alma_graph.backends.bolt.dialect import Dialect
from alma_graph.backends.bolt.values import FULL_KEY, bound, properties, short_key
from alma_graph.backends.protocol import EdgeMatch, EdgeRow, Row, chunked
from alma_graph.backends.schema import EDGES, NODES, ColumnType
from alma_graph.backends.validation import CheckedWork, pairs_of
from alma_graph.errors import BackendError

_BATCH = 500

_K = TypeVar("_K")


class Writer:
    """Applies units of work through one transaction, in the order that `UnitOfWork` promises."""

    def __init__(self, transaction: Transaction, dialect: Dialect) -> None:
        self._transaction = transaction
        self._dialect = dialect

    def apply(self, work: CheckedWork) -> set[tuple[str, str]]:
        """Sends all of it; labels and keys of the ends of edges that were updated or deleted by a match."""
        touched: set[tuple[str, str]] = set()
        for matches in _grouped((statements.shape(match), match) for match in work.edge_deletes).values():
            rows = [statements.matched(match, self._short) for match in matches]
            touched |= self._at_edges(matches[0], "DELETE e", rows)
        for label, keys in _grouped(work.node_deletes).items():
            short = [self._short(key) for key in keys]
            self._many(statements.delete_nodes(label), "keys", short)
            if label == "Memory":
                self._many(statements.DELETE_STAGED, "keys", short)
        for label, rows in work.nodes.items():
            self._create(label, rows)
        self._update(work)
        touched |= self._update_edges(work.edge_updates)
        self._link(work.edges)
        return touched

    def _create(self, label: str, rows: Iterable[Row]) -> None:
        groups: list[tuple[tuple[str | None, bool], Row]] = []
        for row in rows:
            made = self._node(label, row)
            kind = row.get("kind") if label == "Memory" else None
            groups.append(((kind if kind in statements.KIND_LABELS else None, "vector" in made), made))
        for (kind, has_vector), members in _grouped(groups).items():
            statement = statements.create_nodes(label, kind, self._dialect.set_vector if has_vector else None)
            self._many(statement, "rows", members, made="nodes_created")

    def _node(self, label: str, row: Row) -> Row:
        given = self._given(label, row)
        if (short := self._short(row["key"])) != row["key"]:
            given["properties"].update({"key": short, FULL_KEY: row["key"]})
        return given

    def _given(self, label: str, row: Row) -> Row:
        """Properties and, where there is one, the vector."""
        found = properties(
            NODES[label].columns,
            row,
            indexed=statements.INDEXED.get(label, frozenset()),
            longest=self._dialect.max_text_index,
            bytes_as_text=self._dialect.bytes_as_text,
        )
        given: Row = {"properties": found}
        for column in NODES[label].columns:
            if column.type is not ColumnType.VECTOR or column.name not in row:
                continue
            if row[column.name] is None:
                found[column.name] = None
            else:
                given["vector"] = bound(column.type, row[column.name])
        return given

    def _update(self, work: CheckedWork) -> None:
        """One row a node: what a later update of it says goes before."""
        merged: dict[tuple[str, str], Row] = {}
        for update in work.node_updates:
            merged.setdefault((update.label, update.key), {}).update(update.values)
        groups: list[tuple[tuple[str, bool], Row]] = []
        kinds: list[tuple[str | None, str]] = []
        for (label, key), values in merged.items():
            given = self._given(label, values)
            given["key"] = self._short(key)
            groups.append(((label, "vector" in given), given))
            if label == "Memory" and "kind" in values:
                kinds.append((values["kind"], given["key"]))
        for (label, has_vector), members in _grouped(groups).items():
            statement = statements.update_nodes(label, self._dialect.set_vector if has_vector else None)
            self._many(statement, "rows", members)
        for kind, keys in _grouped(kinds).items():
            self._many(statements.relabel(kind), "keys", keys)

    def _link(self, edges: Iterable[EdgeRow]) -> None:
        groups = [
            (
                (edge.type, edge.source_label or "", edge.target_label or ""),
                {
                    "source": self._short(edge.source),
                    "target": self._short(edge.target),
                    "properties": {
                        column.name: bound(column.type, edge.properties.get(column.name))
                        for column in EDGES[edge.type].columns
                    },
                },
            )
            for edge in edges
        ]
        for kind, members in _grouped(groups).items():
            self._many(statements.create_edges(*kind), "rows", members, made="relationships_created")

    def _update_edges(self, updates: Iterable[tuple[EdgeMatch, Row]]) -> set[tuple[str, str]]:
        """Consecutive updates of one shape together, unless one sets what the next may compare; of two with the same
        match the later values hold."""
        touched: set[tuple[str, str]] = set()
        for _, run in groupby(enumerate(updates), key=_update_shape):
            merged: dict[tuple[Any, ...], tuple[EdgeMatch, Row]] = {}
            for _, (match, values) in run:
                identity = match.source, match.target, *sorted(match.where.items())
                merged.setdefault(identity, (match, {}))[1].update(values)
            first = next(iter(merged.values()))[0]
            columns = {column.name: column.type for column in EDGES[first.type].columns}
            rows = [
                statements.matched(match, self._short)
                | {"values": {name: bound(columns[name], value) for name, value in values.items()}}
                for match, values in merged.values()
            ]
            touched |= self._at_edges(first, "SET e += r.`values`", rows)
        return touched

    def _at_edges(self, match: EdgeMatch, action: str, rows: Sequence[Row]) -> set[tuple[str, str]]:
        """Does something with the edges of `rows`, which are those of matches of one shape; labels and keys at them."""
        found: set[tuple[str, str]] = set()
        ends = f"{statements.key_of('a')} AS source, {statements.key_of('b')} AS target"
        for pair in pairs_of(EDGES[match.type], match.source_label, match.target_label):
            statement = (
                f"{statements.match_edges(match, pair)} WITH e, r, {ends} {action} RETURN DISTINCT source, target"
            )
            for batch in chunked(rows, _BATCH):
                for source, target in self._transaction.run(statement, {"rows": list(batch)}).values():
                    found |= {(pair[0], source), (pair[1], target)}
        return found

    def _many(self, statement: str, name: str, items: list[Any], *, made: str | None = None) -> None:
        """Sends a statement for all items; `made` names the counter that must say as many."""
        for batch in chunked(items, _BATCH):
            counters = self._transaction.run(statement, {name: list(batch)}).consume().counters
            if made is not None and getattr(counters, made) != len(batch):
                raise BackendError(
                    f"{self._dialect.name} made {getattr(counters, made)} of {len(batch)} {made.partition('_')[0]}; "
                    "the unit of work was not applied"
                )

    def _short(self, key: str) -> str:
        return short_key(key, self._dialect.max_key)


def _update_shape(numbered: tuple[int, tuple[EdgeMatch, Row]]) -> tuple[Any, ...]:
    """Equal for updates that one statement may make; of an update that changes what it compares, its own."""
    number, (match, values) = numbered
    return *statements.shape(match), None if match.where.keys().isdisjoint(values) else number


def _grouped(items: Iterable[tuple[_K, Any]]) -> dict[_K, list[Any]]:
    """Items under their group, both in the order in which they came."""
    groups: dict[_K, list[Any]] = {}
    for group, item in items:
        groups.setdefault(group, []).append(item)
    return groups
