"""What goes with a memory that is removed: its chunks, its relations, and nodes that nothing else holds."""

from __future__ import annotations

from collections.abc import Iterable

from alma_graph.backends.protocol import Backend, EdgeMatch, EdgeRow, UnitOfWork
from alma_graph.ingest.spellings import drop_spellings
from alma_graph.model import EdgeType
from alma_graph.store.versions import REVISION

_HOLDING = (
    (EdgeType.MENTIONS, "Entity", True),
    (EdgeType.PART_OF, "Session", True),
    (EdgeType.ABOUT, "User", True),
    (EdgeType.LEARNED, "Agent", False),
)
"""Edges that hold a node: the node's label, and whether the memory is the source."""


def prune(work: UnitOfWork, backend: Backend) -> None:
    """Completes a unit of work that removes memories, so that it leaves nothing of them behind.

    Turns before and after a removed turn are joined, and versions around a removed version; an entity, session, user or
    agent goes with the last memory that held it, unless the unit of work itself adds one that does, and a spelling with
    the last memory that used it.
    """
    removed = {key for label, key in work.node_deletes if label == "Memory"}
    if not removed:
        return
    gone = sorted(removed)
    rows = backend.nodes("Memory", keys=gone, columns=("id", "text"))
    _drop_relations(work, backend, gone, {row["id"] for row in rows})
    chunks = [edge.target for edge in backend.edges(EdgeType.HAS_CHUNK, sources=gone)]
    work.node_deletes.extend(("Chunk", key) for key in chunks)
    _close_gaps(work, backend, removed)
    _join_versions(work, backend, removed)
    for type_, label, outgoing in _HOLDING:
        held = backend.edges(type_, sources=gone) if outgoing else backend.edges(type_, targets=gone)
        nodes = {edge.target if outgoing else edge.source for edge in held}
        if not nodes:
            continue
        ends = sorted(nodes)
        all_edges = backend.edges(type_, targets=ends) if outgoing else backend.edges(type_, sources=ends)
        adding = [edge for edge in work.edges if edge.type == type_]
        still = _held(all_edges, outgoing, removed) | _held(adding, outgoing, removed)
        if type_ is EdgeType.MENTIONS:
            left = [edge for edge in (*all_edges, *adding) if edge.source not in removed]
            drop_spellings(work, backend, (row["text"] or "" for row in rows), nodes & still, left)
        work.node_deletes.extend((label, key) for key in sorted(nodes - still))


def _drop_relations(work: UnitOfWork, backend: Backend, gone: list[str], ids: set[str]) -> None:
    """Relations that the removed memories stated; each has one of their own entities at an end."""
    own = sorted({edge.target for edge in backend.edges(EdgeType.MENTIONS, sources=gone)})
    if not own:
        return
    stated = [*backend.edges(EdgeType.RELATES_TO, sources=own), *backend.edges(EdgeType.RELATES_TO, targets=own)]
    matches = {(edge.source, edge.target, edge.properties["memory_id"]) for edge in stated}
    for source, target, memory_id in sorted(matches):
        if memory_id in ids:
            work.edge_deletes.append(EdgeMatch(EdgeType.RELATES_TO, source, target, {"memory_id": memory_id}))


def _held(edges: Iterable[EdgeRow], outgoing: bool, removed: set[str]) -> set[str]:
    """The nodes that a memory which stays holds."""
    pairs = ((edge.source, edge.target) if outgoing else (edge.target, edge.source) for edge in edges)
    return {node for memory, node in pairs if memory not in removed}


def _close_gaps(work: UnitOfWork, backend: Backend, removed: set[str]) -> None:
    """Joins the turns around removed ones, however many in a row go."""
    gone = sorted(removed)
    following = {edge.source: edge.target for edge in backend.edges(EdgeType.NEXT, sources=gone)}
    for edge in backend.edges(EdgeType.NEXT, targets=gone):
        if edge.source in removed:
            continue
        after: str | None = edge.target
        while after is not None and after in removed:
            after = following.get(after)
        if after is not None:
            work.edges.append(EdgeRow(EdgeType.NEXT, edge.source, after))


def _join_versions(work: UnitOfWork, backend: Backend, removed: set[str]) -> None:
    """What was revised out of a removed version now comes from the version that this one was revised out of."""
    gone = sorted(removed)
    sources: dict[str, list[str]] = {}
    for edge in backend.edges(EdgeType.INHERITS_FROM, sources=gone):
        if edge.properties.get("origin") == REVISION:
            sources.setdefault(edge.source, []).append(edge.target)
    if not sources:
        return
    for edge in backend.edges(EdgeType.INHERITS_FROM, targets=gone):
        if edge.source in removed or edge.properties.get("origin") != REVISION:
            continue
        todo, ends = [edge.target], set[str]()
        while todo:
            at = todo.pop()
            if at in removed:
                todo += sources.get(at, [])
            else:
                ends.add(at)
        properties = dict(edge.properties)
        work.edges.extend(EdgeRow(edge.type, edge.source, end, properties, "Memory", "Memory") for end in sorted(ends))
