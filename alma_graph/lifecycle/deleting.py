"""Removing a whole project, in bounded transactions of which each leaves a sound graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from alma_graph.backends.protocol import Backend, Row, UnitOfWork, chunked
from alma_graph.backends.schema import NODES, node_key
from alma_graph.errors import InvalidInputError, shown
from alma_graph.ingest.writer import UNIT_SIZE
from alma_graph.model import EdgeType, MemoryKind
from alma_graph.store import Store
from alma_graph.text import checked_name

_LESSONS = (MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN)
_HOLDING = (("Agent", EdgeType.LEARNED, False), ("User", EdgeType.ABOUT, True), ("Session", EdgeType.PART_OF, True))
"""Owners, the edges between them and their memories, and whether those run from the memory."""
_LABELS = tuple(
    label
    for label, spec in NODES.items()
    if label != "Project" and any(column.name == "project_id" for column in spec.columns)
)


def delete_project(store: Store, project_id: str, confirm: str) -> int:
    """Removes every node of a project with its edges; how many memories there were.

    Where it is interrupted, what is left is a smaller project, without a fault, and a second call removes it. Memories
    that others write into the project meanwhile go, too.

    Raises:
        InvalidInputError: `confirm` is not the project's name, or there is no such project.
    """
    project_id = checked_name(project_id, "project_id")
    if confirm != project_id:
        raise InvalidInputError(
            f"confirm={shown(confirm)} is not {project_id!r}; to remove all of it, give its name as confirm, too"
        )
    store.check_writable()
    key = node_key(project_id, "")
    if not store.backend.nodes("Project", keys=[key]) and not any(_left(store.backend, project_id)):
        raise InvalidInputError(f"project_id={project_id!r} is no project of this store; projects() lists them")
    removed = 0
    while True:
        removed += _remove_pass(store, project_id)
        if store.transact(lambda: _remove_rest(store, project_id, key)):
            store.backend.checkpoint()  # so that the log holds nothing of it either
            return removed


def _remove_pass(store: Store, project_id: str) -> int:
    """Removes what there is now. Entities go first, so that none is ever left without a mention; lessons before their
    outcomes, so that none ever counts what is gone."""
    backend = store.backend
    entities = [row["key"] for row in backend.nodes("Entity", project_id=project_id, columns=("key",))]
    for part in chunked(entities, UNIT_SIZE):
        _erase(store, project_id, "Entity", part)
    rows = backend.nodes("Memory", project_id=project_id, columns=("key", "kind", "agent", "user_id"))
    rows.sort(key=lambda row: (row["kind"] not in _LESSONS, row["key"]))
    sessions = {edge.source: edge.target for edge in backend.edges(EdgeType.PART_OF, project_id=project_id)}
    held = Counter(owner for row in rows for owner in _owners(row, project_id, sessions))
    for part in chunked(rows, UNIT_SIZE):
        keys = [row["key"] for row in part]
        leaving = Counter(owner for row in part for owner in _owners(row, project_id, sessions))
        held.subtract(leaving)
        ending = sorted(owner for owner in leaving if not held[owner])
        store.transact(partial(_remove_memories, store, project_id, keys, ending))
    return len(rows)


def _remove_memories(store: Store, project_id: str, keys: Sequence[str], ending: Sequence[tuple[str, str]]) -> None:
    """Removes memories with their chunks, and those of the owners that no memory of another process holds by now."""
    backend = store.backend
    work = UnitOfWork(node_deletes=[("Memory", key) for key in keys])
    work.node_deletes += [("Chunk", edge.target) for edge in backend.edges(EdgeType.HAS_CHUNK, sources=keys)]
    leaving = set(keys)
    for label, edge_type, inward in _HOLDING:
        owners = [key for name, key in ending if name == label]
        if not owners:
            continue
        edges = backend.edges(edge_type, targets=owners) if inward else backend.edges(edge_type, sources=owners)
        held = {
            edge.target if inward else edge.source
            for edge in edges
            if (edge.source if inward else edge.target) not in leaving
        }
        work.node_deletes += [(label, key) for key in owners if key not in held]
    store.erase(project_id, work)


def _owners(row: Row, project_id: str, sessions: dict[str, str]) -> Iterable[tuple[str, str]]:
    """The nodes that are there for the sake of a memory and others: they go with the last of these."""
    if row["agent"] is not None:
        yield "Agent", node_key(project_id, row["agent"])
    if row["user_id"] is not None:
        yield "User", node_key(project_id, row["user_id"])
    if row["key"] in sessions:
        yield "Session", sessions[row["key"]]


def _remove_rest(store: Store, project_id: str, key: str) -> bool:
    """Removes the project's own node, once nothing else is left; False where something is."""
    for label, keys in _left(store.backend, project_id):
        if label in ("Memory", "Entity"):
            return False  # written meanwhile
        for part in chunked(keys, UNIT_SIZE):
            _erase(store, project_id, label, part)
    store.erase(project_id, UnitOfWork(node_deletes=[("Project", key)]))
    return True


def _left(backend: Backend, project_id: str) -> Iterable[tuple[str, list[str]]]:
    for label in _LABELS:
        keys = [row["key"] for row in backend.nodes(label, project_id=project_id, columns=("key",))]
        if keys:
            yield label, keys


def _erase(store: Store, project_id: str, label: str, keys: Sequence[str]) -> None:
    store.transact(partial(store.erase, project_id, UnitOfWork(node_deletes=[(label, key) for key in keys])))
