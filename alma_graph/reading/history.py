"""What a memory was before, and what became of it."""

from __future__ import annotations

import json

from alma_graph.backends.schema import node_key
from alma_graph.model import EdgeType, Memory
from alma_graph.reading.reader import Reader
from alma_graph.results import Version
from alma_graph.store.versions import REVISION, versions_of


def history(reader: Reader, memory_id: str) -> tuple[Version, ...]:
    """All versions of a memory that revisions made, the oldest first; one that was never revised has itself alone.

    Raises:
        MemoryNotFoundError: the project has no such memory.
    """
    with reader.store.one_state():
        versions = versions_of(reader.store, reader.get(memory_id))
        return tuple(
            Version(
                memory=memory,
                since=memory.created_at,
                until=memory.retired_at,
                status=memory.status,
                reason=memory.retired_reason or _told_by_successor(reader, memory),
                agent=memory.agent,
                authority=memory.authority,
            )
            for memory in versions
        )


def _told_by_successor(reader: Reader, memory: Memory) -> str | None:
    """The reason of a revision as its edge has it: the only place where schema version 1 kept it."""
    if memory.retired_at is None:
        return None
    edges = reader.store.backend.edges(EdgeType.INHERITS_FROM, targets=[node_key(memory.project_id, memory.id)])
    noted = [edge.properties["evidence"] or "{}" for edge in edges if edge.properties.get("origin") == REVISION]
    reasons = [json.loads(evidence).get("reason") for evidence in noted]
    return next((reason for reason in reasons if reason), None)
