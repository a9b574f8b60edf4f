"""A checked unit of work, applied inside one transaction: edges last, in bulk by COPY where that is faster."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from alma_graph.backends.embedded import statements
from alma_graph.backends.embedded.arrow import edge_table, node_table
from alma_graph.backends.embedded.dialect import Dialect
from alma_graph.backends.embedded.engine import Transaction
from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import EDGES, META_KEY, NODES
from alma_graph.backends.validation import CheckedWork, pairs_of

_RAISE_SEQUENCE = "MATCH (m:`Meta` {`key`: $key}) SET m.`sequence` = m.`sequence` + 1"

EdgeGroup = tuple[str, tuple[str, str]]


def grouped_edges(edges: Sequence[EdgeRow]) -> dict[EdgeGroup, list[EdgeRow]]:
    """The edges by type and labels, in the schema's order."""
    groups: dict[EdgeGroup, list[EdgeRow]] = {}
    for edge in edges:
        groups.setdefault((edge.type, (edge.source_label or "", edge.target_label or "")), []).append(edge)
    return {
        (spec.type, pair): groups[spec.type, pair]
        for spec in EDGES.values()
        for pair in spec.pairs
        if (spec.type, pair) in groups
    }


def rows_to_copy(work: CheckedWork, copy_rows: int) -> int:
    """Rows of the unit in tables that are large enough for COPY."""
    nodes = sum(len(rows) for rows in work.nodes.values() if len(rows) >= copy_rows)
    return nodes + sum(len(edges) for edges in grouped_edges(work.edges).values() if len(edges) >= copy_rows)


def apply_work(transaction: Transaction, work: CheckedWork, dialect: Dialect, *, dimension: int, bulk: bool) -> None:
    """Applies the unit in the order that `UnitOfWork` states; edges by COPY are the last statements before COMMIT.

    With `bulk`, tables of the dialect's `copy_rows` rows or more go by COPY.
    """
    least = dialect.copy_rows if bulk else sys.maxsize
    for match in work.edge_deletes:
        spec = EDGES[match.type]
        for pair in pairs_of(spec, match.source_label, match.target_label):
            transaction.run(*statements.delete_edges(spec, pair, match))
    for label, key in work.node_deletes:
        for removal in statements.delete_node(NODES[label], key, detach=dialect.replays_detach):
            transaction.run(*removal)
    for label, rows in work.nodes.items():
        _write_nodes(transaction, label, rows, dimension, least)
    for update in work.node_updates:
        transaction.run(*statements.update_node(NODES[update.label], update.key, update.values, dimension))
    for match, values in work.edge_updates:
        spec = EDGES[match.type]
        for pair in pairs_of(spec, match.source_label, match.target_label):
            transaction.run(*statements.update_edges(spec, pair, match, values))
    transaction.run(_RAISE_SEQUENCE, {"key": META_KEY})
    _write_edges(transaction, work.edges, least)


def _write_nodes(transaction: Transaction, label: str, rows: list[Row], dimension: int, copy_rows: int) -> None:
    spec = NODES[label]
    if len(rows) >= copy_rows:
        transaction.copy(f"COPY `{label}` FROM $rows", node_table(spec.columns, rows, dimension))
        return
    for row in rows:
        transaction.run(*statements.create_node(spec, row, dimension))


def _write_edges(transaction: Transaction, edges: Sequence[EdgeRow], copy_rows: int) -> None:
    groups = grouped_edges(edges)
    bulk = {group: rows for group, rows in groups.items() if len(rows) >= copy_rows}
    for (edge_type, pair), rows in groups.items():
        if (edge_type, pair) not in bulk:
            for edge in rows:
                transaction.run(
                    *statements.create_edge(EDGES[edge_type], pair, edge.source, edge.target, edge.properties)
                )
    for (edge_type, pair), rows in bulk.items():
        spec = EDGES[edge_type]
        ends = f" (from='{pair[0]}', to='{pair[1]}')" if len(spec.pairs) > 1 else ""
        transaction.copy(f"COPY `{edge_type}` FROM $rows{ends}", edge_table(spec.columns, rows))
