"""Taking back what was said, and taking that back."""

from __future__ import annotations

import numpy as np

from alma_graph.errors import InvalidInputError
from alma_graph.ingest.identity import ALWAYS_NEW
from alma_graph.ingest.lessons import is_formed
from alma_graph.ingest.pruning import prune
from alma_graph.ingest.retiring import retire, unretire
from alma_graph.ingest.unit import Unit
from alma_graph.ingest.writer import Writer
from alma_graph.lifecycle.revising import end_of, take_turn
from alma_graph.model import Event, Memory, Outcome, Status
from alma_graph.store.versions import versions_of
from alma_graph.text import content_hash

RESTORED = "another version was restored"
"""Why the version is superseded that had been active until then; it names none, which may be forgotten one day."""


def retract(writer: Writer, memory_id: str, reason: str) -> Memory:
    """Marks a memory as never to be believed; it stays with all its edges, and can be restored.

    Lessons no longer count a retracted outcome. A retracted lesson goes on counting, and comes back with true counts.

    Raises:
        MemoryNotFoundError: the project has no such memory.
        InvalidInputError: it is retracted already.
    """
    store, project_id = writer.store, writer.project_id
    store.check_writable()

    def take_back() -> Memory:
        memory = store.memory(project_id, memory_id)
        if memory.status is Status.RETRACTED:
            because = f": {memory.retired_reason}" if memory.retired_reason else ""
            raise InvalidInputError(f"{memory.id!r} is retracted already{because}; restore it first")
        unit = Unit(store, project_id)
        unit.work.node_updates.append(retire(store.backend, memory, Status.RETRACTED, store.clock(), reason))
        counted = [memory.id] if isinstance(memory, Outcome) and memory.status is Status.ACTIVE else []
        with writer.lessons.retracting(counted, unit):
            _commit(writer, unit)
        return store.memory(project_id, memory.id)

    return store.transact(take_back)


def restore(writer: Writer, memory_id: str) -> Memory:
    """Undoes the last retirement of a memory: it is again what it was before, and lessons count it again.

    Of the versions that revisions made of one memory at most one is active: where this one becomes so, the one that was
    is superseded, and a turn takes its place in the episode back.

    Raises:
        MemoryNotFoundError: the project has no such memory.
        InvalidInputError: it is active, it is a lesson whose outcomes do not bear it out, or an equal memory of the
            same owner is active.
    """
    store, project_id = writer.store, writer.project_id
    store.check_writable()
    with store.lock:
        found = _restorable(store.memory(project_id, memory_id))
    if isinstance(found, Outcome):
        wordings = writer.lessons.texts_needed([found])
        if wordings:  # outside of the lock, as for any other outcome
            encoded = store.encoder.encode(wordings, tokens=False)
            writer.lessons.provide(wordings, [np.asarray(item.vector) for item in encoded])

    def bring_back() -> Memory:
        memory = _restorable(store.memory(project_id, memory_id))
        unit = Unit(store, project_id)
        update = unretire(store.backend, memory)
        unit.work.node_updates.append(update)
        active = update.values["status"] == Status.ACTIVE
        if active:
            _make_room(writer, unit, memory)
        counted = [memory] if active and isinstance(memory, Outcome) else []
        with writer.lessons.learning(counted, unit):
            _commit(writer, unit)
        return store.memory(project_id, memory.id)

    return store.transact(bring_back)


def _restorable(memory: Memory) -> Memory:
    if memory.status is Status.ACTIVE:
        raise InvalidInputError(f"{memory.id!r} is active; there is nothing to restore")
    if memory.status is Status.ARCHIVED and is_formed(memory):
        raise InvalidInputError(f"{memory.id!r} follows from its outcomes and comes back with them; learn more of them")
    return memory


def _make_room(writer: Writer, unit: Unit, memory: Memory) -> None:
    """Nothing else may stand where the memory will."""
    store = writer.store
    others = [item for item in versions_of(store, memory) if item.id != memory.id]
    now = store.clock()
    for other in others:
        if isinstance(memory, Event):
            take_turn(unit, store.backend, other, memory)
        if other.status is Status.ACTIVE:
            begins = memory.valid_from if isinstance(memory, Event) and memory.valid_from is not None else now
            unit.work.node_updates.append(
                retire(store.backend, other, Status.SUPERSEDED, now, RESTORED, valid_to=end_of(other, begins))
            )
    if memory.kind in ALWAYS_NEW:
        return
    equal = writer.known.same_content(memory, content_hash(memory.text))
    if equal is not None and equal.id not in {item.id for item in others}:
        raise InvalidInputError(
            f"{equal.id!r} says the same and is active; retract or forget it, and then restore {memory.id!r}"
        )


def _commit(writer: Writer, unit: Unit) -> None:
    work = unit.finish()
    prune(work, writer.store.backend, unit.index)  # a lesson may have taken another's place
    writer.store.commit(writer.project_id, work)
