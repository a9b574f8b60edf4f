"""The versions of one memory, as revisions made them."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping

from alma_graph.backends.protocol import EdgeRow
from alma_graph.backends.schema import node_key
from alma_graph.model import EdgeType, Memory
from alma_graph.store.store import Store

REVISION = "revision"
"""Origin of the INHERITS_FROM edges that join a version to the one it was made from."""


def versions_of(store: Store, memory: Memory) -> list[Memory]:
    """All versions that revisions join to a memory, itself among them: each behind the one it was made from, however
    the clock went meanwhile; where that leaves it open, the oldest first (ties by id).

    Call it with the store's lock held. A restored version may have been revised again, so it is a tree.
    """
    start = node_key(memory.project_id, memory.id)
    known, fresh = {start}, [start]
    made_from: dict[str, set[str]] = {}
    while fresh:
        edges = [
            *store.backend.edges(EdgeType.INHERITS_FROM, sources=fresh),
            *store.backend.edges(EdgeType.INHERITS_FROM, targets=fresh),
        ]
        found = predecessors(edges)
        for key, before in found.items():
            made_from.setdefault(key, set()).update(before)
        fresh = sorted({*found, *(key for before in found.values() for key in before)} - known)
        known |= set(fresh)
    memories = sorted(
        store.memories_by_key(sorted(known)), key=lambda item: (item.created_at is not None, item.created_at, item.id)
    )
    keys = [node_key(item.project_id, item.id) for item in memories]
    return [memories[at] for at in _in_order(keys, made_from)]


def predecessors(edges: Iterable[EdgeRow]) -> dict[str, set[str]]:
    """Each version's key with the keys of those it was made from, where revisions made it."""
    found: dict[str, set[str]] = {}
    for edge in edges:
        if edge.properties.get("origin") == REVISION:
            found.setdefault(edge.source, set()).add(edge.target)
    return found


def one_name_each(made_from: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Every version's key with a name that all versions of one memory share, and no other."""
    beside: dict[str, set[str]] = {}
    for key, befores in made_from.items():
        for before in befores:
            beside.setdefault(key, set()).add(before)
            beside.setdefault(before, set()).add(key)
    names: dict[str, str] = {}
    for start in sorted(beside):
        fresh = [] if start in names else [start]
        while fresh:
            key = fresh.pop()
            if key not in names:
                names[key] = start
                fresh += beside[key]
    return names


def _in_order(keys: list[str], made_from: Mapping[str, Collection[str]]) -> list[int]:
    """Places of the keys, each behind those it was made from, else in their order; a circle, which only an import can
    hold, is broken at its first."""
    place = {key: at for at, key in enumerate(keys)}
    waits = {key: {before for before in made_from.get(key, ()) if before in place and before != key} for key in keys}
    behind: dict[str, list[str]] = {}
    for key, befores in waits.items():
        for before in befores:
            behind.setdefault(before, []).append(key)
    ready = [place[key] for key in keys if not waits[key]]
    heapq.heapify(ready)
    order: list[int] = []
    left = dict.fromkeys(range(len(keys)))
    while left:
        at = heapq.heappop(ready) if ready else next(iter(left))
        if at not in left:
            continue
        del left[at]
        order.append(at)
        for key in behind.get(keys[at], ()):
            waits[key].discard(keys[at])
            if not waits[key] and place[key] in left:
                heapq.heappush(ready, place[key])
    return order
