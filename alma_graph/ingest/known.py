"""What the store knows of a project, as far as identity goes."""

from __future__ import annotations

from alma_graph.ingest.identity import owner
from alma_graph.model import Memory, Status
from alma_graph.store import Store


class StoredMemories:
    """Looks memories up by id and by content; call it with the store's lock held."""

    def __init__(self, store: Store, project_id: str) -> None:
        self._store = store
        self._project_id = project_id

    def get(self, memory_id: str) -> Memory | None:
        """The stored memory with this id."""
        if self._store.index(self._project_id).row(memory_id) is None:
            return None
        return self._store.memory(self._project_id, memory_id)

    def same_content(self, memory: Memory, digest: str) -> Memory | None:
        """The active stored memory of the same kind and owner with this content hash."""
        return self._by_content(memory, digest, Status.ACTIVE)

    def retracted(self, memory: Memory, digest: str) -> Memory | None:
        """As `same_content`, of those that were retracted."""
        return self._by_content(memory, digest, Status.RETRACTED)

    def _by_content(self, memory: Memory, digest: str, status: Status) -> Memory | None:
        index = self._store.index(self._project_id)
        row = index.by_hash(memory.kind, owner(memory), digest, status=status)
        return None if row is None else self._store.memory(self._project_id, index.ids[row])
