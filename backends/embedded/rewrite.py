"""Updates of vectors on an engine that must not SET one: the node is deleted and made again, with its edges.

Kuzu, after a SET of a vector, gave neighbouring rows other vectors once the store had been reopened.
"""

from __future__ import annotations

from dataclasses import dataclass

from alma_graph.backends.embedded import statements
from alma_graph.backends.embedded.dialect import Dialect
from alma_graph.backends.embedded.engine import Transaction
from alma_graph.backends.embedded.reader import Reader
from alma_graph.backends.protocol import EdgeRow, NodeUpdate, Row
from alma_graph.backends.schema import EDGES, NODES, ColumnType
from alma_graph.backends.validation import CheckedWork


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A stored node with its new values, and every edge at it."""

    label: str
    row: Row
    edges: list[EdgeRow]


def sets_vector(update: NodeUpdate) -> bool:
    """Whether an update names a vector."""
    columns = NODES[update.label].columns
    return any(column.type is ColumnType.VECTOR and column.name in update.values for column in columns)


def take_vector_updates(work: CheckedWork, reader: Reader) -> list[Rewrite]:
    """Takes the updates of nodes whose vector changes out of the unit, in order, as rewrites of stored nodes.

    A node that the unit itself makes gets its new values at once.
    """
    chosen = {(update.label, update.key) for update in work.node_updates if sets_vector(update)}
    values: dict[tuple[str, str], Row] = {}
    for update in work.node_updates:
        if (update.label, update.key) in chosen:
            values.setdefault((update.label, update.key), {}).update(update.values)
    work.node_updates = [update for update in work.node_updates if (update.label, update.key) not in chosen]
    made = {(label, row["key"]): row for label, rows in work.nodes.items() for row in rows}
    rewrites = []
    for (label, key), new in values.items():
        if (label, key) in made:
            made[label, key].update(new)
        else:
            row = reader.nodes_by_key(label, NODES[label].columns, [key])[key]
            rewrites.append(Rewrite(label, {**row, **new}, _edges_at(reader, label, key)))
    return rewrites


def apply_rewrites(transaction: Transaction, rewrites: list[Rewrite], dialect: Dialect, *, dimension: int) -> None:
    """Deletes each node and makes it again with its edges, before anything else of the unit."""
    for rewrite in rewrites:
        spec = NODES[rewrite.label]
        for removal in statements.delete_node(spec, rewrite.row["key"], detach=dialect.replays_detach):
            transaction.run(*removal)
        transaction.run(*statements.create_node(spec, rewrite.row, dimension))
        for edge in rewrite.edges:
            pair = (edge.source_label or "", edge.target_label or "")
            made = statements.create_edge(EDGES[edge.type], pair, edge.source, edge.target, edge.properties)
            transaction.run(*made)


def _edges_at(reader: Reader, label: str, key: str) -> list[EdgeRow]:
    found: list[EdgeRow] = []
    for spec in EDGES.values():
        going = reader.edges(spec, project_id=None, sources=[key], targets=None)
        coming = reader.edges(spec, project_id=None, sources=None, targets=[key])
        found += [edge for edge in going if edge.source_label == label]
        found += [
            edge for edge in coming if edge.target_label == label and (edge.source, edge.source_label) != (key, label)
        ]
    return found
