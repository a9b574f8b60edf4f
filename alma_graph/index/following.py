"""The arrays of a project brought up to date with what other processes wrote, at the cost of what they changed."""

from __future__ import annotations

from collections.abc import Collection

from alma_graph.backends.changes import Changes, changes_since
from alma_graph.backends.protocol import Backend, EdgeRow, NodeUpdate, UnitOfWork
from alma_graph.backends.schema import NODES, node_key
from alma_graph.index.edges import MEMORY_EDGES
from alma_graph.index.project import ProjectIndex

MEMORY_COLUMNS = tuple(column.name for column in NODES["Memory"].columns if column.name not in ("metadata", "claims"))
"""What the arrays hold of a Memory node."""
_SPARE_ROWS = 1_000
_LOADS = 3
_CATCH_UPS = 20
"""Looks for changes after a load; beyond them others write faster than one can read."""


def load_whole(backend: Backend, project_id: str) -> ProjectIndex:
    """A project's arrays, of one state of the store also where others write while they are read: what those changed is
    taken over before anybody looks at the arrays."""
    for _ in range(_LOADS if backend.capabilities.shared_writers else 0):
        seen = backend.sequence()
        index = ProjectIndex.load(backend, project_id)
        for _ in range(_CATCH_UPS):
            if backend.sequence() == seen:
                return index
            changes = changes_since(backend, seen)
            if changes is None or not follow(index, backend, changes):
                break
            seen = changes.sequence
    return ProjectIndex.load(backend, project_id)


def follow(index: ProjectIndex, backend: Backend, changes: Changes) -> bool:
    """Takes over what `changes` touched, as it stands in the graph now; False where loading the project again is due.

    A touched memory gets a new row with all its edges, as if it had been deleted and written again. That is the same
    whatever was done to it, and whether the graph has gone on since; only its row number is another.
    """
    memories = _own(index, changes.touched["Memory"])
    entities = _own(index, changes.touched["Entity"])
    gone = changes.deleted("Memory", [key for key in index.keys if index.rows.row_of_key(key) is not None])
    spare = len(index.keys) - len(index)
    if len(memories) > _SPARE_ROWS and len(memories) > len(index):
        return False  # most of it is new: one scan is cheaper
    if spare + len(memories) > max(_SPARE_ROWS, len(index)):
        return False  # rows that are no more would outnumber those that are
    work = UnitOfWork()
    _take_entities(index, backend, work, entities, changes)
    project = index.project_id
    found = backend.nodes("Memory", keys=memories, project_id=project, columns=MEMORY_COLUMNS) if memories else []
    known = [key for key in (*gone, *memories) if index.rows.row_of_key(key) is not None]
    work.node_deletes += [("Memory", key) for key in dict.fromkeys(known)]
    if found:
        work.nodes["Memory"] = found
        take_edges(backend, work, [row["key"] for row in found])
    index.apply(work)
    return True


def _own(index: ProjectIndex, keys: Collection[str]) -> list[str]:
    """Keys of the project's nodes, sorted."""
    beginning = node_key(index.project_id, "")
    return sorted(key for key in keys if key.startswith(beginning))


def _take_entities(index: ProjectIndex, backend: Backend, work: UnitOfWork, keys: list[str], changes: Changes) -> None:
    rows = backend.nodes("Entity", keys=keys, project_id=index.project_id) if keys else []
    there = {row["key"] for row in rows}
    gone = [*(key for key in keys if key not in there), *changes.deleted("Entity", index.entities.keys())]
    work.node_deletes += [("Entity", key) for key in gone if key not in there and key in index.entities]
    for row in rows:
        if row["key"] not in index.entities:
            work.add_node("Entity", row)
        else:
            values = {name: value for name, value in row.items() if name != "key"}
            work.node_updates.append(NodeUpdate("Entity", row["key"], values))


def take_edges(backend: Backend, work: UnitOfWork, keys: list[str]) -> None:
    """All edges at the memories, each once, and their chunks."""
    for type_ in ("HAS_CHUNK", "MENTIONS", "PART_OF"):
        work.edges += backend.edges(type_, sources=keys)
    own = set(keys)
    for type_ in ("NEXT", *MEMORY_EDGES):
        incoming = backend.edges(type_, targets=keys)
        edges: list[EdgeRow] = [*backend.edges(type_, sources=keys), *(e for e in incoming if e.source not in own)]
        work.edges += [edge for edge in edges if edge.source_label == edge.target_label == "Memory"]
    chunks = [edge.target for edge in work.edges if edge.type == "HAS_CHUNK"]
    if chunks:
        work.nodes["Chunk"] = backend.nodes("Chunk", keys=chunks)
