"""All arrays of one project, read once from the graph and kept current by every committed unit of work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from alma_graph.backends.protocol import Backend, EdgeMatch, EdgeRow, NodeUpdate, Row, UnitOfWork
from alma_graph.backends.schema import NODES
from alma_graph.index.context import SessionContext
from alma_graph.index.dense import DenseIndex, top_rows
from alma_graph.index.edges import MEMORY_EDGES, MemoryEdge, MemoryEdges
from alma_graph.index.entities import EntityIndex
from alma_graph.index.lexical import LexicalIndex
from alma_graph.index.postings import Ints
from alma_graph.index.rows import KINDS, STATUSES, MemoryRows
from alma_graph.index.token_vectors import TokenVectorIndex
from alma_graph.model import Status

_HEAVY = frozenset({"embedding", "metadata", "claims", "retired_reason", "retired_state"})
_COLUMNS = tuple(column.name for column in NODES["Memory"].columns if column.name not in _HEAVY)
_ACTIVE = STATUSES.index(Status.ACTIVE)
_RETRACTED = STATUSES.index(Status.RETRACTED)


class ProjectIndex:
    """The derived index of one project: dropped and rebuilt from the graph at any time.

    `lock` is held by `apply` and must be held while the arrays are read, so that no reader sees half a write.

    Attributes:
        rows: plain properties of the memories.
        lexical, dense, tokens, entities, edges, context: the parts.
    """

    def __init__(self, project_id: str, dimension: int) -> None:
        self.project_id = project_id
        self.lock = threading.RLock()
        self.rows = MemoryRows()
        self.context = SessionContext()
        self.lexical = LexicalIndex(self.context)
        self.dense = DenseIndex(dimension, self.context)
        self.tokens = TokenVectorIndex(self.context)
        self.entities = EntityIndex()
        self.edges = MemoryEdges()

    @classmethod
    def load(cls, backend: Backend, project_id: str, *, dimension: int | None = None) -> Self:
        """Reads one project from the graph. `dimension` of the vectors: the store's own where it is left out."""
        if dimension is None:
            meta = backend.meta()
            dimension = int(meta["dimension"]) if meta else 1
        index = cls(project_id, dimension)
        memories = backend.nodes("Memory", project_id=project_id, columns=_COLUMNS)
        keys, vectors = backend.vectors("Memory", project_id=project_id)
        index._add_memories(memories, dict(zip(keys, vectors, strict=True)))
        chunk_keys, chunk_vectors = backend.vectors("Chunk", project_id=project_id)
        index._add_chunks(
            dict(zip(chunk_keys, chunk_vectors, strict=True)), backend.edges("HAS_CHUNK", project_id=project_id)
        )
        index.entities.add(backend.nodes("Entity", project_id=project_id))
        for type_ in ("MENTIONS", "PART_OF", "NEXT", *MEMORY_EDGES):
            index._add_edges(backend.edges(type_, project_id=project_id))
        return index

    def apply(self, work: UnitOfWork) -> None:
        """Takes over a unit of work that was committed: same data, nothing is read again. Other projects' parts are
        passed over."""
        with self.lock:
            for match in work.edge_deletes:
                self._delete_edges(match)
            for label, key in work.node_deletes:
                self._delete_node(label, key)
            new = [row for row in work.nodes.get("Memory", ()) if self._mine(row)]
            self._add_memories(new, {row["key"]: row.get("embedding") for row in new})
            known = [row for row in work.merge.get("Memory", ()) if self._mine(row)]
            fresh = [row for row in known if self.rows.row_of_key(row["key"]) is None]
            self._add_memories(fresh, {row["key"]: row.get("embedding") for row in fresh})
            self.entities.add(row for row in work.nodes.get("Entity", ()) if self._mine(row))
            merged = (row for row in work.merge.get("Entity", ()) if self._mine(row))
            self.entities.add(row for row in merged if self.entities.code(row["key"]) is None)
            for update in work.node_updates:
                self._update_node(update)
            for match, values in work.edge_updates:
                self._update_edges(match, values)
            chunks = {row["key"]: row.get("embedding") for row in work.nodes.get("Chunk", ()) if self._mine(row)}
            self._add_chunks(chunks, [edge for edge in work.edges if edge.type == "HAS_CHUNK"])
            self._add_edges(work.edges)

    # What ingest asks

    def __len__(self) -> int:
        return self.rows.count

    @property
    def keys(self) -> list[str]:
        """Node key of each row; removed rows included."""
        return self.rows.keys

    @property
    def ids(self) -> list[str]:
        """Memory id of each row; removed rows included."""
        return self.rows.ids

    def row(self, memory_id: str) -> int | None:
        """The row of a memory; None where the project has none of this id."""
        return self.rows.row(memory_id)

    def active(self) -> npt.NDArray[np.bool_]:
        """Which rows are there and active."""
        mask: npt.NDArray[np.bool_] = self.rows.alive & (self.rows.column("status") == _ACTIVE)
        return mask

    def kind_mask(self, kinds: Collection[str]) -> npt.NDArray[np.bool_]:
        """Which rows are of these kinds (removed rows included)."""
        column = self.rows.column("kind")
        mask = np.zeros(len(column), dtype=np.bool_)
        for code, kind in enumerate(KINDS):
            if kind in kinds:
                mask |= column == code
        return mask

    def nearest(
        self,
        vector: npt.NDArray[Any],
        k: int,
        *,
        mask: npt.NDArray[np.bool_] | None = None,
        exclude: Iterable[int] = (),
    ) -> tuple[Ints, npt.NDArray[np.float64]]:
        """The k memories nearest to a vector, exactly: filtered first, then cut. Only memories with a vector.

        Args:
            mask: which rows may come; the active ones where it is left out.
            exclude: rows that may not.

        Returns:
            rows and their cosines, best first, equal ones in an order that follows from their ids.
        """
        with self.lock:
            allowed = (self.active() if mask is None else mask & self.rows.alive) & self.dense.present
            for row in exclude:
                allowed[row] = False
            own = self.dense.cosines(vector)
            rows = top_rows(own, allowed, k, self.rows.ties)
            return rows, own[rows]

    def cosines(self, vector: npt.NDArray[Any], rows: Ints) -> npt.NDArray[np.float64]:
        """Cosines of these rows' own vectors with a vector; 0 for rows without one."""
        with self.lock:
            own: npt.NDArray[np.float64] = self.dense.vectors[rows].astype(np.float64) @ np.asarray(vector, np.float64)
            return own

    def sharing(self, entity_keys: Iterable[str]) -> tuple[Ints, Ints]:
        """Rows that mention any of these entities and how many of them each mentions; rows ascending."""
        with self.lock:
            return self.entities.sharing(entity_keys)

    def by_hash(
        self,
        kind: str,
        owner: tuple[str | None, str | None, str | None],
        content_hash: str,
        *,
        status: Status | None = Status.ACTIVE,
    ) -> int | None:
        """The first row of this kind, owner (agent, user, category), content hash and status (None: any)."""
        with self.lock:
            for row in self.rows.by_hash(content_hash):
                if KINDS[int(self.rows.column("kind")[row])] != kind or self.owner(row) != owner:
                    continue
                if status is None or int(self.rows.column("status")[row]) == STATUSES.index(status):
                    return row
        return None

    def owner(self, row: int) -> tuple[str | None, str | None, str | None]:
        """Agent, user and category of a row."""
        rows = self.rows
        return (
            rows.agents.name(int(rows.column("agent")[row])),
            rows.users.name(int(rows.column("user")[row])),
            rows.categories.name(int(rows.column("category")[row])),
        )

    def entity_key(self, name: str) -> str | None:
        """Key of the entity with this canonical name or alias."""
        return self.entities.entity_key(name)

    def entity_aliases(self, key: str) -> Sequence[str]:
        """The spellings seen so far of an entity."""
        return self.entities.entity_aliases(key)

    def last_of_session(self, session_id: str) -> int | None:
        """The row of an episode that nothing follows; None for an unknown or empty episode."""
        code = self.rows.sessions.get(session_id)
        if code is None:
            return None
        members = np.flatnonzero((self.rows.column("session") == code) & self.rows.alive)
        return max(members.tolist(), key=lambda row: (int(self.rows.column("position")[row]), row), default=None)

    # How it is kept

    def _mine(self, row: Row) -> bool:
        return row.get("project_id") == self.project_id

    def _add_memories(self, nodes: Sequence[Row], vectors: dict[str, npt.NDArray[Any] | None]) -> None:
        if not nodes:
            return
        numbers = self.rows.extend(nodes)
        speakers = [self.rows.speakers.name(int(self.rows.column("speaker")[row])) for row in numbers]
        self.lexical.extend([node["text"] for node in nodes], speakers)
        lengths = self.lexical.lengths[numbers[0] :]
        retracted = self.rows.column("status")[numbers[0] :] == _RETRACTED
        self.context.extend(np.where(retracted, np.inf, lengths) if retracted.any() else lengths)
        self.dense.extend([vectors.get(node["key"]) for node in nodes])
        self.tokens.extend([node.get("token_embeddings") for node in nodes])

    def _lent_length(self, row: int) -> float:
        """Content words of a turn, by which the gate measures what it lends; a retracted one lends nothing."""
        retracted = int(self.rows.column("status")[row]) == _RETRACTED
        return float("inf") if retracted else float(self.lexical.lengths[row])

    def _add_chunks(self, vectors: dict[str, Any], edges: Sequence[EdgeRow]) -> None:
        owners: list[int] = []
        found: list[npt.NDArray[Any]] = []
        for edge in edges:
            row, vector = self.rows.row_of_key(edge.source), vectors.get(edge.target)
            if row is not None and vector is not None:
                owners.append(row)
                found.append(vector)
        if found:
            self.dense.extend_chunks(np.array(owners, dtype=np.int64), np.array(found, dtype=np.float32))

    def _add_edges(self, edges: Sequence[EdgeRow]) -> None:
        mentions: list[tuple[int, str, int]] = []
        following: list[tuple[int, int]] = []
        for edge in edges:
            source = self.rows.row_of_key(edge.source)
            if source is None:
                continue
            if edge.type == "MENTIONS":
                mentions.append((source, edge.target, int(edge.properties.get("start_char") or 0)))
            elif edge.type == "PART_OF":
                position = edge.properties.get("position")
                self.rows.set(source, "position", -1 if position is None else position)
            elif edge.type == "NEXT" or edge.type in MEMORY_EDGES:
                target = self.rows.row_of_key(edge.target)
                if target is None:
                    continue
                if edge.type == "NEXT":
                    following.append((source, target))
                else:
                    self.edges.add(edge, source, target)
        if mentions:
            owners, keys, starts = zip(*mentions, strict=True)
            self.entities.mention(owners, keys, starts)
        if following:
            sources, targets = (np.array(ends, dtype=np.int64) for ends in zip(*following, strict=True))
            self.context.link(sources, targets)
            self._pool_around(np.concatenate([sources, targets]))

    def _pool_around(self, rows: npt.NDArray[np.int64]) -> None:
        near, _ = self.context.neighbours(rows)
        touched = np.unique(np.concatenate([rows, near.ravel()]))
        self.dense.pool(touched[touched >= 0])

    def _update_node(self, update: NodeUpdate) -> None:
        if update.label == "Entity":
            self.entities.update(update.key, update.values)
            return
        row = self.rows.row_of_key(update.key) if update.label == "Memory" else None
        if row is None:
            return
        values = update.values
        self.rows.update(row, values)
        if "text" in values:
            speaker = self.rows.speakers.name(int(self.rows.column("speaker")[row]))
            self.lexical.replace(row, values["text"], speaker)
        if "text" in values or "status" in values:
            self.context.set_length(row, self._lent_length(row))
            self._pool_around(np.array([row], dtype=np.int64))
        if "embedding" in values:
            self.dense.replace(row, values["embedding"])
            self.tokens.replace(row, values.get("token_embeddings"))
            self._pool_around(np.array([row], dtype=np.int64))

    def _delete_node(self, label: str, key: str) -> None:
        if label == "Entity":
            self.entities.remove(key)
        row = self.rows.row_of_key(key) if label == "Memory" else None
        if row is None:
            return
        around = np.array(self.context.window(row, 3), dtype=np.int64)
        self.context.unlink(row)
        self.lexical.remove(row)
        self.dense.remove(row)
        self.tokens.remove(row)
        self.entities.remove_memory(row)
        self.edges.remove_memory(row)
        self.rows.remove(row)
        self.dense.pool(around[around != row])

    def _delete_edges(self, match: EdgeMatch) -> None:
        source = None if match.source is None else self.rows.row_of_key(match.source)
        target = None if match.target is None else self.rows.row_of_key(match.target)
        if match.type == "MENTIONS":
            if source is not None and match.target is not None:
                self.entities.remove_mention(source, match.target)
            elif source is not None and not match.where:
                self.entities.remove_memory(source)
        elif match.type == "NEXT" and source is not None and target is not None:
            self.context.unlink_pair(source, target)
            self._pool_around(np.array([source, target], dtype=np.int64))
        elif match.type in MEMORY_EDGES and self._names_ends(match, source, target):
            self.edges.remove(_matcher(match), source, target)

    def _update_edges(self, match: EdgeMatch, values: Row) -> None:
        source = None if match.source is None else self.rows.row_of_key(match.source)
        target = None if match.target is None else self.rows.row_of_key(match.target)
        if match.type in MEMORY_EDGES and self._names_ends(match, source, target):
            self.edges.update(_matcher(match), source, target, values)

    @staticmethod
    def _names_ends(match: EdgeMatch, source: int | None, target: int | None) -> bool:
        """False where the match names an end that is no memory of this project: then nothing here can match."""
        return (match.source is None or source is not None) and (match.target is None or target is not None)


def _matcher(match: EdgeMatch) -> Callable[[MemoryEdge], bool]:
    """Whether an edge is of the match's type and, where the match asks for one, has that id."""
    wanted = match.where.get("id")
    return lambda edge: edge.type == match.type and (wanted is None or edge.id == wanted)
