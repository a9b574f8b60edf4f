"""The versions of one memory, as revisions made them."""

from __future__ import annotations

from alma_graph.backends.schema import node_key
from alma_graph.model import EdgeType, Memory
from alma_graph.store.store import Store

REVISION = "revision"
"""Origin of the INHERITS_FROM edges that join a version to the one it was made from."""


def versions_of(store: Store, memory: Memory) -> list[Memory]:
    """All versions that revisions join to a memory, itself among them, the oldest first (ties by id).

    Call it with the store's lock held. A restored version may have been revised again, so it is a tree.
    """
    start = node_key(memory.project_id, memory.id)
    known, fresh = {start}, [start]
    while fresh:
        edges = [
            *store.backend.edges(EdgeType.INHERITS_FROM, sources=fresh),
            *store.backend.edges(EdgeType.INHERITS_FROM, targets=fresh),
        ]
        ends = {
            end for edge in edges if edge.properties.get("origin") == REVISION for end in (edge.source, edge.target)
        }
        fresh = sorted(ends - known)
        known |= ends
    found = store.memories_by_key(sorted(known))
    return sorted(found, key=lambda item: (item.created_at is not None, item.created_at, item.id))
