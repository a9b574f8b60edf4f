"""Units of work out of the nodes and edges of a file: what the store lacks is added, what it has is left or merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alma_graph.backends.protocol import EdgeMatch, EdgeRow, NodeUpdate, Row, UnitOfWork, chunked
from alma_graph.backends.schema import EDGES
from alma_graph.errors import IdConflictError
from alma_graph.ingest.writer import Progress
from alma_graph.store import Store
from alma_graph.transfer.exporting import EXPORTED
from alma_graph.transfer.keys import hangs_on, owner_of_chunk, projects_of
from alma_graph.transfer.lines import Node
from alma_graph.transfer.merging import (
    Likeness,
    edge_identity,
    edge_match,
    is_conflict,
    likeness,
    merged_edge,
    merged_node,
)
from alma_graph.transfer.summary import Tally

NODE_UNIT = 1_000
EDGE_UNIT = 5_000
"""Nodes and edges to a transaction: enough for bulk writes, few enough for steady memory and progress."""

_HOLDERS = {
    "Entity": (("MENTIONS", False), ("RELATES_TO", True), ("RELATES_TO", False)),
    "User": (("ABOUT", False),),
    "Session": (("PART_OF", False),),
    "Agent": (("LEARNED", True),),
}
"""Edges that hold a node, and whether the node is their source."""


def batched(records: Iterator[Node | EdgeRow]) -> Iterator[list[Node] | list[EdgeRow]]:
    """Runs of nodes of one label or edges of one type, at most a unit long."""
    nodes: list[Node] = []
    edges: list[EdgeRow] = []
    for record in records:
        if isinstance(record, EdgeRow):
            if nodes:
                yield nodes
                nodes = []
            if edges and (len(edges) == EDGE_UNIT or edges[0].type != record.type):
                yield edges
                edges = []
            edges.append(record)
        else:
            if edges:
                yield edges
                edges = []
            if nodes and (len(nodes) == NODE_UNIT or nodes[0][0] != record[0]):
                yield nodes
                nodes = []
            nodes.append(record)
    if nodes or edges:
        yield nodes or edges


class GraphWriter:
    """Writes the nodes and edges of a file into a store, each run of them in one transaction.

    `tally` says what became of them. A memory of the store with the id of a memory of the file and other content stays
    as it is, and what hangs on the file's memory is left out, since it speaks of another text. `unsettled` are projects
    that have a memory which is not as the file has it; `projects` are those that something was written to.
    """

    def __init__(self, store: Store, *, merge: bool, total: int, progress: Progress | None = None) -> None:
        self.tally = Tally()
        self.unsettled: set[str] = set()
        self.projects: set[str] = set()
        self._store = store
        self._merge = merge
        self._total = total
        self._progress = progress
        self._done = 0
        self._foreign: set[str] = set()
        self._unheld: dict[str, dict[str, None]] = {label: {} for label in _HOLDERS}
        self._untouched_since: int | None = None
        if not any(store.backend.count(label) for label in EXPORTED):
            self._untouched_since = store.sequence

    def write(self, records: Iterator[Node | EdgeRow]) -> None:
        """Writes them all, nodes before the edges that join them."""
        for batch in batched(records):
            self.tally.add(self._store.transact(lambda batch=batch: self._unit(batch)))  # type: ignore[misc]
            self._done += len(batch)
            if self._progress is not None:
                self._progress(self._done, max(self._done, self._total))

    def clean(self, *, whole: bool) -> None:
        """Removes new entities, owners and sessions that nothing holds, because what held them was left out."""
        if whole and not self._foreign:
            return
        for label, keys in self._unheld.items():
            for part in chunked(list(keys), NODE_UNIT):
                self._store.transact(lambda label=label, part=part: self._drop_unheld(label, part))  # type: ignore[misc]

    def _unit(self, batch: Sequence[Node] | Sequence[EdgeRow]) -> Tally:
        work, tally = UnitOfWork(), Tally()
        nodes = [record for record in batch if not isinstance(record, EdgeRow)]
        edges = [record for record in batch if isinstance(record, EdgeRow)]
        if nodes:
            self._add_nodes(nodes[0][0], [row for _, row in nodes], work, tally)
        if edges:
            self._add_edges(edges, work, tally)
        if work:
            projects = projects_of(work)
            self._store.rewrite(work, projects=projects)
            self.projects |= projects
            if self._untouched_since is not None:
                self._untouched_since += 1  # by this unit alone; a write of others makes them differ
        return tally

    @property
    def _empty(self) -> bool:
        """Whether the store was empty and nobody else has written: then nothing needs looking up."""
        return self._untouched_since is not None and self._store.sequence == self._untouched_since

    def _add_nodes(self, label: str, rows: Sequence[Row], work: UnitOfWork, tally: Tally) -> None:
        if label == "Chunk":
            kept = [row for row in rows if owner_of_chunk(row["key"]) not in self._foreign]
            tally.left_out[label] += len(rows) - len(kept)
            rows = kept
        stored = {} if self._empty else {row["key"]: row for row in stored_nodes(self._store, label, rows)}
        for row in rows:
            there = stored.get(row["key"])
            if there is None:
                work.add_node(label, row)
                tally.written[label] += 1
                if label in self._unheld:
                    self._unheld[label][row["key"]] = None
                continue
            how = likeness(label, there, row)
            if how is Likeness.SAME:
                tally.present[label] += 1
                continue
            if label == "Memory":
                self.unsettled.add(row["project_id"])
            if how is Likeness.OTHER:
                self._foreign.add(row["key"])
            values = merged_node(there, row) if self._merge and how is Likeness.STATE else {}
            if values:
                work.node_updates.append(NodeUpdate(label, row["key"], values))
            (tally.merged if values else tally.kept)[label] += 1

    def _add_edges(self, edges: Sequence[EdgeRow], work: UnitOfWork, tally: Tally) -> None:
        type_ = edges[0].type
        if self._foreign:
            kept = [edge for edge in edges if not hangs_on(edge, self._foreign)]
            tally.left_out[type_] += len(edges) - len(kept)
            edges = kept
        stored = [] if self._empty else stored_edges(self._store, edges)
        there: dict[object, list[EdgeRow]] = {}
        for edge in stored:
            there.setdefault(edge_identity(edge), []).append(edge)
        for edge in edges:
            alike = there.get(edge_identity(edge), [])
            if not alike:
                work.edges.append(edge)
                tally.written[type_] += 1
                continue
            same = next((other for other in alike if other.properties == edge.properties), None)
            if same is not None:
                alike.remove(same)
                tally.present[type_] += 1
                continue
            values = merged_edge(alike[0], edge) if self._merge else {}
            if values:
                labels = edge.source_label, edge.target_label
                match = EdgeMatch(type_, edge.source, edge.target, edge_match(edge), *labels)
                work.edge_updates.append((match, values))
            (tally.merged if values else tally.kept)[type_] += 1

    def _drop_unheld(self, label: str, keys: Sequence[str]) -> None:
        held: set[str] = set()
        for type_, is_source in _HOLDERS[label]:
            if is_source:
                held.update(edge.source for edge in self._store.backend.edges(type_, sources=keys))
            else:
                held.update(edge.target for edge in self._store.backend.edges(type_, targets=keys))
        gone = [(label, key) for key in keys if key not in held]
        if gone:
            work = UnitOfWork(node_deletes=gone)
            self._store.rewrite(work, projects=projects_of(work))
            self.tally.written[label] -= len(gone)
            self.tally.left_out[label] += len(gone)


def refuse_conflicts(store: Store, records: Iterator[Node | EdgeRow]) -> None:
    """Raises IdConflictError where the store has a memory, or an edge between memories, with other properties."""
    found: list[str] = []
    for batch in batched(records):
        first = batch[0]
        with store.lock:
            if isinstance(first, EdgeRow):
                found += _edge_conflicts(store, [edge for edge in batch if isinstance(edge, EdgeRow)])
            else:
                found += _node_conflicts(store, first[0], [node[1] for node in batch if not isinstance(node, EdgeRow)])
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise IdConflictError(
            f"{found[0]}{more}; nothing was written: import with on_conflict='skip' to keep what the store has, or "
            "'merge' to unite both"
        )


def _node_conflicts(store: Store, label: str, rows: Sequence[Row]) -> Iterator[str]:
    stored = {row["key"]: row for row in stored_nodes(store, label, rows)}
    for row in rows:
        there = stored.get(row["key"])
        names = [] if there is None else is_conflict(label, there, row)
        if names:
            named = f"id {row['id']!r} of project {row['project_id']!r}" if "id" in row else repr(row["key"])
            yield f"{label} {named} is in the store with another {', '.join(names)}"


def _edge_conflicts(store: Store, edges: Sequence[EdgeRow]) -> Iterator[str]:
    if not {"Memory"} >= {label for pair in EDGES[edges[0].type].pairs for label in pair} - {"Agent"}:
        return
    there: dict[object, list[EdgeRow]] = {}
    for edge in stored_edges(store, edges):
        there.setdefault(edge_identity(edge), []).append(edge)
    for edge in edges:
        alike = there.get(edge_identity(edge), [])
        if alike and not any(other.properties == edge.properties for other in alike):
            yield f"{edge.type} {edge.source!r} -> {edge.target!r} is in the store with other properties"


def stored_nodes(store: Store, label: str, rows: Sequence[Row]) -> list[Row]:
    """The store's nodes with the keys of these rows."""
    return store.backend.nodes(label, keys=[row["key"] for row in rows]) if rows else []


def stored_edges(store: Store, edges: Sequence[EdgeRow]) -> list[EdgeRow]:
    """The store's edges of one type between the ends of these."""
    if not edges:
        return []
    sources = sorted({edge.source for edge in edges})
    targets = sorted({edge.target for edge in edges})
    return store.backend.edges(edges[0].type, sources=sources, targets=targets)
