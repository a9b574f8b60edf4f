"""One unit of work in the making: whole memories with all that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass

from alma_graph.backends.protocol import EdgeRow, Row, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.beliefs import Claims
from alma_graph.codec import memory_to_row
from alma_graph.embedding import Encoded, Encoder
from alma_graph.errors import EmbedderMismatchError
from alma_graph.extraction import Extraction
from alma_graph.index import ProjectIndex
from alma_graph.ingest.entities import EntityLinker
from alma_graph.ingest.judging import Judge, Subject
from alma_graph.ingest.sessions import SessionLinker
from alma_graph.model import Memory
from alma_graph.store import Store


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read out of one text, before the store is looked at; `encoder` made the vectors, if it is known."""

    encoded: Encoded
    extraction: Extraction
    claims: Claims | None = None
    encoder: Encoder | None = None


class Unit:
    """Collects what one transaction writes in a project. Make and use it with the store's lock held."""

    def __init__(self, store: Store, project_id: str) -> None:
        self.work = UnitOfWork()
        self._store = store
        self.index: ProjectIndex = store.index(project_id)
        self._linker = EntityLinker(project_id, self.index, self.work)
        self._sessions = SessionLinker(project_id, self.index, self.work)
        self._judge = Judge(store, self.index, self.work)

    def add(self, memory: Memory, reading: Reading, *, follow: bool = True) -> None:
        """Adds a new memory: its node, chunks, owners, entities, supports and contradictions; with `follow` it goes to
        the end of its session."""
        if reading.encoder is not None and reading.encoder is not self._store.shared.encoder:
            raise EmbedderMismatchError(
                f"the store was re-embedded while {memory.id!r} was being read; nothing was written: call it again"
            )
        row = self._node(memory, reading)
        entities = self._linker.link(memory, reading.extraction)
        self._owners(memory, row["key"])
        if follow:
            self._sessions.follow(memory)
        self._judge.judge(Subject(memory, row["key"], reading.encoded.vector, reading.claims, entities))

    def finish(self) -> UnitOfWork:
        """The unit of work, complete."""
        self._linker.finish()
        return self.work

    def _node(self, memory: Memory, reading: Reading) -> Row:
        row = memory_to_row(memory)
        row["embedding"] = reading.encoded.vector
        row["token_embeddings"] = reading.encoded.token_embeddings
        row["claims"] = reading.claims.to_json() if reading.claims is not None else None
        self.work.add_node("Memory", row)
        for node in chunk_rows(row["key"], memory.project_id, reading.encoded):
            self.work.add_node("Chunk", node)
            self.work.edges.append(EdgeRow("HAS_CHUNK", row["key"], node["key"]))
        return row

    def _owners(self, memory: Memory, key: str) -> None:
        """The project, the agent that learned it and the user it is about."""
        project = {"key": node_key(memory.project_id, ""), "project_id": memory.project_id}
        self.work.merge_node("Project", {**project, "created_at": memory.created_at})
        for label, name, edge in (("Agent", memory.agent, "LEARNED"), ("User", memory.user_id, "ABOUT")):
            if name is None:
                continue
            owner = node_key(memory.project_id, name)
            self.work.merge_node(label, {"key": owner, "id": name, "project_id": memory.project_id})
            ends = (owner, key) if edge == "LEARNED" else (key, owner)
            self.work.edges.append(EdgeRow(edge, *ends))


def chunk_rows(key: str, project_id: str, encoded: Encoded) -> list[Row]:
    """The Chunk nodes of a memory whose text is longer than the embedder's window, in order."""
    return [
        {
            "key": f"{key}#{position}",
            "project_id": project_id,
            "position": position,
            "start_char": chunk.start_char,
            "end_char": chunk.end_char,
            "embedding": chunk.vector,
        }
        for position, chunk in enumerate(encoded.chunks)
    ]
