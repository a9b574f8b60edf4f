"""The in-memory store: plain dictionaries, the oracle that every other backend is compared with."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from alma_graph.backends.maintenance import SOURCE_COLUMNS, Migrated, VectorSource, VectorSpace
from alma_graph.backends.meta import new_meta
from alma_graph.backends.ordering import edge_order
from alma_graph.backends.protocol import Capabilities, EdgeMatch, EdgeRow, NodeUpdate, Result, Row, UnitOfWork
from alma_graph.backends.schema import EDGES, META_KEY, NODES, SCHEMA_VERSION
from alma_graph.backends.validation import CheckedWork, check_sequence, check_work
from alma_graph.backends.values import chosen_columns, edge_spec, node_spec
from alma_graph.backends.verify import graph_problems
from alma_graph.clock import system_clock
from alma_graph.errors import StoreClosedError, StoreError, UnsupportedError

_Edge = tuple[str, int]


class MemoryBackend:
    """A graph store in this process's memory; it is gone when it is closed."""

    name: str = "memory"
    path: str | None = None
    capabilities: Capabilities = Capabilities(cypher=False, durable=False, shared_readers=False)
    read_only: bool = False

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False
        self._nodes: dict[str, dict[str, Row]] = {label: {} for label in NODES}
        self._edges: dict[str, dict[int, EdgeRow]] = {edge_type: {} for edge_type in EDGES}
        self._ends: dict[tuple[str, str], set[_Edge]] = {}
        self._next_edge = 0

    def engine_version(self) -> str:
        """Version of this package's schema, since the engine is the package itself."""
        self._open()
        return f"schema {SCHEMA_VERSION}"

    def meta(self) -> Row | None:
        """The one Meta row; None where nothing was written."""
        with self._open():
            row = self._nodes["Meta"].get(META_KEY)
            return dict(row) if row is not None else None

    def initialise(self, *, dimension: int, embedder: str, embedder_revision: str | None, created_with: str) -> None:
        """Makes the Meta node; vectors have `dimension` from then on."""
        with self._open():
            if META_KEY in self._nodes["Meta"]:
                raise StoreError("the store is initialised already; open another one")
            row = new_meta(dimension, embedder, embedder_revision, created_with, system_clock())
            self._nodes["Meta"][META_KEY] = row

    def write(self, work: UnitOfWork, *, expected: int | None = None) -> None:
        """Applies the unit of work: all of it, or nothing."""
        with self._open():
            meta = self._nodes["Meta"].get(META_KEY)
            if meta is None:
                raise StoreError("the store is not initialised; call initialise() before the first write")
            if not work:
                return
            check_sequence(int(meta["sequence"]), expected)
            checked = check_work(work, dimension=meta["dimension"], existing=self._existing)
            self._apply(checked)
            meta["sequence"] += 1

    def sequence(self) -> int:
        """Meta.sequence; 0 for a new store."""
        with self._open():
            meta = self._nodes["Meta"].get(META_KEY)
            return int(meta["sequence"]) if meta is not None else 0

    def nodes(
        self,
        label: str,
        *,
        keys: Sequence[str] | None = None,
        project_id: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> list[Row]:
        """Rows of one label: of the keys, in their order; or all (of one project), by key."""
        names = [column.name for column in chosen_columns(label, columns)]
        with self._open():
            table = self._nodes[label]
            found = (table[key] for key in (sorted(table) if keys is None else dict.fromkeys(keys)) if key in table)
            return [
                {name: _copied(row[name]) for name in names}
                for row in found
                if project_id is None or row.get("project_id") == project_id
            ]

    def vectors(self, label: str, *, project_id: str) -> tuple[list[str], Any]:
        """Keys and vectors, (n, dimension) float32, of the nodes that have one, by key."""
        chosen_columns(label, ("embedding",))
        with self._open():
            meta = self._nodes["Meta"].get(META_KEY)
            table = self._nodes[label]
            keys = [
                key
                for key in sorted(table)
                if table[key]["embedding"] is not None and table[key]["project_id"] == project_id
            ]
            matrix = np.zeros((len(keys), meta["dimension"] if meta else 0), dtype=np.float32)
            for position, key in enumerate(keys):
                matrix[position] = table[key]["embedding"]
            return keys, matrix

    def edges(
        self,
        type: str,
        *,
        project_id: str | None = None,
        sources: Sequence[str] | None = None,
        targets: Sequence[str] | None = None,
    ) -> list[EdgeRow]:
        """Edges of one type, in the order (source, target)."""
        edge_spec(type)
        with self._open():
            from_set = None if sources is None else set(sources)
            to_set = None if targets is None else set(targets)
            found = [
                EdgeRow(
                    edge.type, edge.source, edge.target, dict(edge.properties), edge.source_label, edge.target_label
                )
                for edge in self._edges[type].values()
                if (from_set is None or edge.source in from_set)
                and (to_set is None or edge.target in to_set)
                and (project_id is None or self._project_of(edge) == project_id)
            ]
            return sorted(found, key=edge_order)

    def count(self, label_or_type: str, *, project_id: str | None = None) -> int:
        """How many nodes of a label or edges of a type there are."""
        with self._open():
            if label_or_type in EDGES:
                edges = self._edges[label_or_type].values()
                return sum(1 for edge in edges if project_id is None or self._project_of(edge) == project_id)
            node_spec(label_or_type)
            rows = self._nodes[label_or_type].values()
            return sum(1 for row in rows if project_id is None or row.get("project_id") == project_id)

    def tally(self, label: str, columns: Sequence[str], *, project_id: str) -> dict[tuple[Any, ...], int]:
        """How many nodes of a label a project has for each combination of values of these properties."""
        names = [column.name for column in chosen_columns(label, columns)]
        with self._open():
            rows = self._nodes[label].values()
            return dict(
                Counter(tuple(row[name] for name in names) for row in rows if row.get("project_id") == project_id)
            )

    def run(self, statement: str, parameters: Mapping[str, Any]) -> Result:
        """Raises UnsupportedError: there is no Cypher here."""
        with self._open():
            raise UnsupportedError(
                "the in-memory store has no Cypher; open a Ladybug store (ladybug:PATH) to run Cypher statements"
            )

    def checkpoint(self) -> None:
        """Nothing to fold."""
        self._open()

    def verify(self) -> list[str]:
        """Problems found in the graph; empty is well."""
        return graph_problems(self)

    def size_bytes(self) -> int:
        """0: nothing is on disk."""
        self._open()
        return 0

    @property
    def migrated(self) -> Migrated | None:
        """None: every in-memory store is new."""
        return None

    def stage_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Nothing: the exchange takes no time."""
        self._open()

    def replace_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Puts other vectors, and Chunk nodes, in place of all, and says so in Meta."""
        with self._open():
            meta = self._nodes["Meta"].get(META_KEY)
            if meta is None:
                raise StoreError("the store is not initialised; there are no vectors to replace")
            work = UnitOfWork(node_deletes=[("Chunk", key) for key in self._nodes["Chunk"]])
            given = [{name: row[name] for name in SOURCE_COLUMNS} for row in self._nodes["Memory"].values()]
            for row, made in zip(given, source(given), strict=True):
                values = {"embedding": made.embedding, "token_embeddings": made.token_embeddings}
                work.node_updates.append(NodeUpdate("Memory", row["key"], values))
                for chunk in made.chunks:
                    work.add_node("Chunk", dict(chunk))
                    work.edges.append(EdgeRow("HAS_CHUNK", row["key"], chunk["key"]))
            self._apply(check_work(work, dimension=space.dimension, existing=self._existing))
            meta.update(
                dimension=space.dimension,
                embedder=space.embedder,
                embedder_revision=space.embedder_revision,
                sequence=meta["sequence"] + 1,
            )

    def back_up(self, target: str) -> None:
        """Raises UnsupportedError: there is no file to copy."""
        with self._open():
            raise UnsupportedError(f"{target}: the in-memory store has no file to copy; alma.export(path) writes one")

    def close(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._closed = True
            for table in self._nodes.values():
                table.clear()

    def _open(self) -> threading.RLock:
        if self._closed:
            raise StoreClosedError("the in-memory store was closed; open a new one")
        return self._lock

    def _existing(self, label: str, keys: Sequence[str]) -> set[str]:
        table = self._nodes[label]
        return {key for key in keys if key in table}

    def _project_of(self, edge: EdgeRow) -> str | None:
        project: str | None = self._nodes[edge.source_label or ""][edge.source]["project_id"]
        return project

    def _apply(self, work: CheckedWork) -> None:
        for match in work.edge_deletes:
            for number in list(self._matching(match)):
                self._remove_edge((match.type, number))
        for label, key in work.node_deletes:
            for edge_id in list(self._ends.get((label, key), ())):
                self._remove_edge(edge_id)
            self._ends.pop((label, key), None)
            del self._nodes[label][key]
        for label, rows in work.nodes.items():
            self._nodes[label].update((row["key"], row) for row in rows)
        for update in work.node_updates:
            self._nodes[update.label][update.key].update(update.values)
        for match, values in work.edge_updates:
            for number in self._matching(match):
                self._edges[match.type][number].properties.update(values)
        for edge in work.edges:
            self._edges[edge.type][self._next_edge] = edge
            for end in _ends_of(edge):
                self._ends.setdefault(end, set()).add((edge.type, self._next_edge))
            self._next_edge += 1

    def _matching(self, match: EdgeMatch) -> Iterator[int]:
        for edge_id, edge in self._edges[match.type].items():
            if match.source is not None and edge.source != match.source:
                continue
            if match.target is not None and edge.target != match.target:
                continue
            if match.source_label not in (None, edge.source_label):
                continue
            if match.target_label not in (None, edge.target_label):
                continue
            if all(edge.properties.get(name) == value for name, value in match.where.items()):
                yield edge_id

    def _remove_edge(self, edge_id: _Edge) -> None:
        row = self._edges[edge_id[0]].pop(edge_id[1], None)
        if row is not None:
            for end in _ends_of(row):
                self._ends.get(end, set()).discard(edge_id)


def _ends_of(edge: EdgeRow) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge.source_label or "", edge.source), (edge.target_label or "", edge.target)


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value
