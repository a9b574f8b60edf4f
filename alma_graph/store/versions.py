"""The versions of one memory, as revisions made them."""

from __future__ import annotations

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
    if len(memories) < 2:
        return memories
    by_key = {node_key(item.project_id, item.id): item for item in memories}
    return [by_key[key] for key in _in_order(list(by_key), made_from)]


def predecessors(edges: Iterable[EdgeRow]) -> dict[str, set[str]]:
    """Each version's key with the keys of those it was made from, where revisions made it."""
    found: dict[str, set[str]] = {}
    for edge in edges:
        if edge.properties.get("origin") == REVISION:
            found.setdefault(edge.source, set()).add(edge.target)
    return found


def one_name_each(made_from: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Every version's key with a name that all versions of one memory share, and no other."""
    if not made_from:
        return {}
    import networkx as nx

    joined = nx.Graph((key, before) for key, befores in made_from.items() for before in befores)
    return {key: min(versions) for versions in nx.connected_components(joined) for key in versions}


def _in_order(keys: list[str], made_from: Mapping[str, Collection[str]]) -> list[str]:
    """The keys, each behind those it was made from, else as they are; a circle, which only an import can hold, leaves
    all as they are."""
    import networkx as nx

    place = {key: at for at, key in enumerate(keys)}
    order = nx.DiGraph()
    order.add_nodes_from(keys)
    order.add_edges_from((before, key) for key in keys for before in made_from.get(key, ()) if before in place)
    try:
        return list(nx.lexicographical_topological_sort(order, key=place.__getitem__))
    except nx.NetworkXUnfeasible:
        return keys
