"""What a process keeps of a store, brought up to date with what other processes wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.backends.changes import Changes, changes_since
from alma_graph.backends.schema import node_key
from alma_graph.index.following import follow

_FEW_KEYS = 500

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
    _note_for_books(shared, changes)
    shared.sequence = changes.sequence
    return True


def _note_for_books(shared: Shared, changes: Changes) -> None:
    """Says which memories each book must look at again; a book that would read most of its project is dropped."""
    for project_id, (_, book) in list(shared.books.items()):
        beginning = node_key(project_id, "")
        keys = {key for key in changes.touched["Memory"] if key.startswith(beginning)}
        if changes.gone["Memory"]:
            keys.update(changes.deleted("Memory", (node_key(project_id, outcome_id) for outcome_id in book)))
        noted = shared.unread.setdefault(project_id, set())
        noted |= keys
        if len(noted) > max(_FEW_KEYS, len(book)):
            del shared.books[project_id], shared.unread[project_id]


def take_unread(shared: Shared, project_id: str) -> set[str]:
    """Keys of memories that others changed since the last call, for the project's book to follow."""
    return shared.unread.pop(project_id, set())
