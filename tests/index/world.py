"""A small project for tests: memories written as units of work, the index kept beside the backend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from alma_graph.backends.memory import MemoryBackend
from alma_graph.backends.protocol import EdgeMatch, EdgeRow, NodeUpdate, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.codec import memory_to_row, row_to_memory
from alma_graph.embedding import Encoder, HashingEmbedder
from alma_graph.index import ProjectIndex
from alma_graph.model import DomainKnowledge, Memory, Observation
from alma_graph.retrieval import MemorySlice, retrieve

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DIMENSION = 128
NOTHING: Mapping[str, Sequence[str]] = {}


class World:
    """One backend, the indexes of its projects, and the hashing embedder."""

    def __init__(self) -> None:
        self.encoder = Encoder(HashingEmbedder(DIMENSION))
        self.backend = MemoryBackend()
        self.backend.initialise(
            dimension=DIMENSION, embedder="hashing", embedder_revision=None, created_with="alma_graph tests"
        )
        self.indexes: dict[str, ProjectIndex] = {}

    def index(self, project: str = "shop") -> ProjectIndex:
        """The index of a project, loaded on first use and kept current after that."""
        if project not in self.indexes:
            self.indexes[project] = ProjectIndex.load(self.backend, project)
        return self.indexes[project]

    def write(self, work: UnitOfWork) -> None:
        """Commits a unit of work and takes it over."""
        self.backend.write(work)
        for index in self.indexes.values():
            index.apply(work)

    def add(
        self,
        *memories: Memory,
        project: str = "shop",
        mentions: Mapping[str, Sequence[str]] = NOTHING,
        vectors: bool = True,
    ) -> None:
        """Adds memories in one unit of work; `mentions` are names, by memory id, that its text contains."""
        self.index(project)
        work = UnitOfWork()
        last: dict[str, str] = {}
        for memory in memories:
            filled = memory.model_copy(update={"project_id": project, "created_at": memory.created_at or NOW})
            row = memory_to_row(filled)
            row["confidence"] = 0.5 if row["confidence"] is None else row["confidence"]
            if vectors:
                row["embedding"] = self.encoder.encode([filled.text])[0].vector
            work.add_node("Memory", row)
            if isinstance(filled, Observation):
                if filled.session_id in last:
                    work.edges.append(EdgeRow("NEXT", last[filled.session_id], row["key"]))
                last[filled.session_id] = row["key"]
            for name in mentions.get(memory.id, ()):
                work.edges.append(self._mention(work, project, row["key"], name, filled.text))
        self.write(work)

    def relate(self, source: str, type_: str, target: str, project: str = "shop", **properties: Any) -> None:
        """Adds a typed edge between two memories."""
        work = UnitOfWork()
        work.edges.append(EdgeRow(type_, node_key(project, source), node_key(project, target), properties))
        self.write(work)

    def update(self, memory_id: str, project: str = "shop", **values: Any) -> None:
        """Sets properties of a memory's node; a new text gets its vector."""
        if "text" in values:
            values["embedding"] = self.encoder.encode([values["text"]])[0].vector
        work = UnitOfWork()
        work.node_updates.append(NodeUpdate("Memory", node_key(project, memory_id), values))
        self.write(work)

    def delete(self, *memory_ids: str, project: str = "shop") -> None:
        """Deletes memories."""
        work = UnitOfWork()
        work.node_deletes += [("Memory", node_key(project, memory_id)) for memory_id in memory_ids]
        self.write(work)

    def delete_edges(self, type_: str, source: str, target: str, project: str = "shop") -> None:
        """Deletes the edges of a type between two memories."""
        work = UnitOfWork()
        work.edge_deletes.append(EdgeMatch(type_, node_key(project, source), node_key(project, target)))
        self.write(work)

    def fetch(self, keys: Sequence[str]) -> Iterable[Memory]:
        """Reads memories by key."""
        return [row_to_memory(row) for row in self.backend.nodes("Memory", keys=keys)]

    def ask(self, query: str, project: str = "shop", **options: Any) -> MemorySlice:
        """Retrieves at a fixed time."""
        return retrieve(self.index(project), self.fetch, self.encoder, query, **{"now": NOW, **options})

    def found(self, query: str, project: str = "shop", **options: Any) -> list[str]:
        """Ids of the hits."""
        return [hit.memory.id for hit in self.ask(query, project, **options)]

    def _mention(self, work: UnitOfWork, project: str, key: str, name: str, text: str) -> EdgeRow:
        entity = node_key(project, f"entity {name.casefold()}")
        work.merge_node(
            "Entity",
            {
                "key": entity,
                "project_id": project,
                "name": name,
                "canonical": name.casefold(),
                "type": "THING",
                "aliases": [name],
            },
        )
        start = text.index(name)
        where = {"start_char": start, "end_char": start + len(name), "surface": name, "type": "THING"}
        return EdgeRow("MENTIONS", key, entity, where)


def fact(memory_id: str, text: str, **fields: Any) -> DomainKnowledge:
    """A fact of the domain "test"."""
    return DomainKnowledge(id=memory_id, domain="test", fact=text, **fields)


def turn(memory_id: str, text: str, session: str = "s", speaker: str | None = None, **fields: Any) -> Observation:
    """A turn of an episode."""
    return Observation(id=memory_id, text=text, session_id=session, speaker=speaker, **fields)
