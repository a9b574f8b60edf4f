"""What goes with a memory that is removed: its chunks, its relations, and nodes that nothing else holds."""

from __future__ import annotations

import numpy as np

from alma_graph.backends.protocol import Backend, EdgeMatch, EdgeRow, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.index import ProjectIndex
from alma_graph.ingest.spellings import drop_spellings
from alma_graph.model import EdgeType
from alma_graph.store.versions import REVISION

_OWNERS = (("agent", "Agent"), ("user", "User"), ("session", "Session"))
"""Columns of the index that name a node which is there for the sake of its memories, and the node's label."""

_HELD_TARGETS: dict[str, str] = {
    EdgeType.ABOUT: "User",
    EdgeType.PART_OF: "Session",
    EdgeType.MENTIONS: "Entity",
}


def prune(work: UnitOfWork, backend: Backend, index: ProjectIndex) -> None:
    """Completes a unit of work that removes memories, so that it leaves nothing of them behind.

    Turns before and after a removed turn are joined, and versions around a removed version; an entity, session, user or
    agent goes with the last memory that held it, unless the unit of work itself adds one that does, and a spelling with
    the last memory that used it. Who else holds a node is read from the index, which is current: the graph may have
    thousands of edges at it.
    """
    removed = {key for label, key in work.node_deletes if label == "Memory"}
    if not removed:
        return
    gone = sorted(removed)
    memories = backend.nodes("Memory", keys=gone, columns=("id", "text"))
    _drop_relations(work, backend, gone, {row["id"] for row in memories})
    chunks = [edge.target for edge in backend.edges(EdgeType.HAS_CHUNK, sources=gone)]
    work.node_deletes.extend(("Chunk", key) for key in chunks)
    _close_gaps(work, backend, removed)
    _join_versions(work, backend, removed)
    rows = {row for key in gone if (row := index.rows.row_of_key(key)) is not None}
    added = _held_anew(work)
    _drop_owners(work, index, rows, added)
    left = _drop_entities(work, index, rows, added["Entity"])
    drop_spellings(work, backend, [row["text"] or "" for row in memories], left)


def _held_anew(work: UnitOfWork) -> dict[str, set[str]]:
    """By label, the nodes that an edge of the unit of work itself holds; nodes of two labels may have one key."""
    held: dict[str, set[str]] = {"Agent": set(), "User": set(), "Session": set(), "Entity": set()}
    for edge in work.edges:
        if edge.type == EdgeType.LEARNED:
            held["Agent"].add(edge.source)
        elif edge.type == EdgeType.RELATES_TO:
            held["Entity"].update((edge.source, edge.target))
        elif edge.type in _HELD_TARGETS:
            held[_HELD_TARGETS[edge.type]].add(edge.target)
    return held


def _drop_owners(work: UnitOfWork, index: ProjectIndex, gone: set[int], added: dict[str, set[str]]) -> None:
    columns = index.rows
    names = {"agent": columns.agents, "user": columns.users, "session": columns.sessions}
    for column, label in _OWNERS:
        values = columns.column(column)
        for code in sorted({int(values[row]) for row in gone} - {-1}):
            key = node_key(index.project_id, names[column].names[code])
            members = np.flatnonzero(columns.alive & (values == code)).tolist()
            if gone.issuperset(members) and key not in added[label]:
                work.node_deletes.append((label, key))


def _drop_entities(work: UnitOfWork, index: ProjectIndex, gone: set[int], added: set[str]) -> dict[str, list[str]]:
    """Entities that stay, each with the memories that still mention it."""
    left: dict[str, list[str]] = {}
    codes = {code for row in gone for code in index.entities.mentioned_by(row)[0].tolist()}
    for key, code in sorted((index.entities.key(code), code) for code in codes):
        rows = [row for row in index.entities.mentioning(code)[0].tolist() if row not in gone]
        if rows or key in added:
            left[key] = [index.keys[row] for row in rows]
        else:
            work.node_deletes.append(("Entity", key))
    return left


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
