"""Removing a memory so that no trace of it is left."""

from __future__ import annotations

from alma_graph.backends.schema import node_key
from alma_graph.ingest.pruning import prune
from alma_graph.ingest.unit import Unit
from alma_graph.ingest.writer import Writer
from alma_graph.model import MemoryKind


def forget(writer: Writer, memory_id: str) -> int:
    """Removes one memory with its edges, chunks, the entities that only it mentioned, and what lessons counted of it.

    A lesson may be forgotten too; its outcomes stay, and the next one like them forms it again.

    Raises:
        MemoryNotFoundError: the project has no such memory.
    """
    store, project_id = writer.store, writer.project_id
    store.check_writable()

    def remove() -> int:
        memory = store.memory(project_id, memory_id)
        unit = Unit(store, project_id)
        unit.work.node_deletes.append(("Memory", node_key(project_id, memory.id)))
        learned = [memory.id] if memory.kind is MemoryKind.OUTCOME else []
        with writer.lessons.forgetting(learned, unit):
            work = unit.finish()
            prune(work, store.backend)
            store.commit(project_id, work)
        store.forget_text(memory.text)
        return 1

    return store.transact(remove)
