"""Removing a memory so that no trace of it is left."""

from __future__ import annotations

from collections.abc import Sequence

from alma_graph.backends.protocol import EdgeMatch, EdgeRow
from alma_graph.backends.schema import node_key
from alma_graph.ingest.unit import Unit
from alma_graph.ingest.writer import Writer
from alma_graph.model import Memory, MemoryKind


def forget(writer: Writer, memory_id: str) -> int:
    """Removes one memory with its edges, chunks, the entities that only it mentioned, and what lessons counted of it.

    Raises:
        MemoryNotFoundError: the project has no such memory.
    """
    store, project_id = writer.store, writer.project_id
    store.check_writable()
    with store.lock:
        memory = store.memory(project_id, memory_id)
        unit = Unit(store, project_id)
        _remove(unit, writer, memory)
        gone = [memory.id] if memory.kind is MemoryKind.OUTCOME else []
        with writer.lessons.forgetting(gone, unit):
            store.commit(project_id, unit.finish())
        store.forget_text(memory.text)
        return 1


def _remove(unit: Unit, writer: Writer, memory: Memory) -> None:
    backend = writer.store.backend
    key = node_key(memory.project_id, memory.id)
    unit.work.node_deletes.append(("Memory", key))
    for edge in backend.edges("HAS_CHUNK", sources=[key]):
        unit.work.node_deletes.append(("Chunk", edge.target))
    before = backend.edges("NEXT", targets=[key])
    after = backend.edges("NEXT", sources=[key])
    unit.work.edges.extend(EdgeRow("NEXT", one.source, other.target) for one in before for other in after)
    unit.work.edge_deletes.append(EdgeMatch("RELATES_TO", where={"memory_id": memory.id}))
    mentioned = [edge.target for edge in backend.edges("MENTIONS", sources=[key])]
    for entity in _only_mentioned_by(backend.edges("MENTIONS", targets=mentioned) if mentioned else [], key):
        unit.work.node_deletes.append(("Entity", entity))
    for label, edges in (
        ("Session", backend.edges("PART_OF", sources=[key])),
        ("User", backend.edges("ABOUT", sources=[key])),
    ):
        type_ = "PART_OF" if label == "Session" else "ABOUT"
        for edge in edges:
            if len(backend.edges(type_, targets=[edge.target])) == 1:
                unit.work.node_deletes.append((label, edge.target))
    for edge in backend.edges("LEARNED", targets=[key]):
        if len(backend.edges("LEARNED", sources=[edge.source])) == 1:
            unit.work.node_deletes.append(("Agent", edge.source))


def _only_mentioned_by(mentions: Sequence[EdgeRow], key: str) -> list[str]:
    others = {edge.target for edge in mentions if edge.source != key}
    return sorted({edge.target for edge in mentions} - others)
