"""What a process keeps of a store, brought up to date with what other processes wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.backends.changes import Changes, changes_since
from alma_graph.backends.schema import node_key
from alma_graph.index.following import follow

if TYPE_CHECKING:
    from alma_graph.store.store import Shared


def follow_others(shared: Shared) -> bool:
    """Takes over what others wrote since `shared.sequence`, as the backend's feed names it; False where there is no
    feed, or it does not reach back that far, and everything must be dropped."""
    changes = changes_since(shared.backend, shared.sequence)
    if changes is None:
        return False
    for project_id, index in list(shared.indexes.items()):
        if not follow(index, shared.backend, changes):
            del shared.indexes[project_id]
    memories = changes.touched["Memory"]
    for kept in (shared.memories, shared.sides):
        for key in [*memories.intersection(kept), *changes.deleted("Memory", kept)]:
            kept.pop(key, None)
    _drop_books(shared, changes)
    shared.sequence = changes.sequence
    return True


def _drop_books(shared: Shared, changes: Changes) -> None:
    """Books of projects in which memories changed: they are read from the graph again."""
    for project_id in list(shared.books):
        beginning = node_key(project_id, "")
        if changes.gone["Memory"] or any(key.startswith(beginning) for key in changes.touched["Memory"]):
            del shared.books[project_id]
