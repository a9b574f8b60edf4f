"""Explicit successors: the old memory is superseded and kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from alma_graph.backends.protocol import Backend, EdgeMatch, EdgeRow
from alma_graph.backends.schema import node_key
from alma_graph.codec import compact_json
from alma_graph.errors import InvalidInputError, StoreCorruptError, shown
from alma_graph.ids import uuid7
from alma_graph.ingest.identity import refuse_retracted
from alma_graph.ingest.lessons import is_formed
from alma_graph.ingest.retiring import retire
from alma_graph.ingest.unit import Reading, Unit
from alma_graph.ingest.writer import Writer
from alma_graph.model import Event, Memory, Outcome, Status
from alma_graph.text import checked, content_hash

_FIXED = frozenset(
    {
        *("id", "project_id", "kind", "created_at", "session_id", "occurred_at"),
        *("status", "retired_at", "retired_reason"),
    }
)


def revise(writer: Writer, memory_id: str, reason: str | None, changes: Mapping[str, Any]) -> Memory:
    """Stores a memory with these fields changed, which INHERITS_FROM the old one; the old one is superseded.

    A turn of an episode is replaced in its place, with its time; of other memories the new one holds from now on
    unless `valid_from` says otherwise.

    Raises:
        MemoryNotFoundError: the project has no such memory.
        InvalidInputError: nothing or an unknown field is changed, a field that the store keeps itself, a memory that is
            no longer active, an outcome (what happened does not change), or a lesson (it follows from its outcomes).
        RetractedError: the new text was retracted.
        EmbedderMismatchError: another process re-embedded the store meanwhile, with an embedder that cannot be made
            here.
    """
    store, project_id = writer.store, writer.project_id
    store.check_writable()
    why = None if reason is None else checked(reason, "reason", blank=True)
    noted = compact_json({"reason": why or ""})
    with store.lock:
        old = _revisable(store.memory(project_id, memory_id))
        new = _successor(old, changes, writer)
        refuse_retracted(new, content_hash(new.text), writer.known)
    writer.check_scope(new)

    def succeed(readings: Mapping[str, Reading]) -> Memory:
        old = _revisable(store.memory(project_id, memory_id))  # another may have been faster
        unit = Unit(store, project_id)
        now = _moment(new)
        end = end_of(old, new.valid_from or now)
        unit.work.node_updates.append(retire(store.backend, old, Status.SUPERSEDED, now, why, valid_to=end))
        unit.add(new, readings[new.id], follow=False)
        _join_session(unit, store.backend, old, new)
        take_turn(unit, store.backend, old, new)
        properties = {
            "mode": "derived",
            "origin": "revision",
            "evidence": noted,
            "trust": 1.0,
            "recorded_at": new.created_at,
        }
        ends = node_key(project_id, new.id), node_key(project_id, old.id)
        unit.work.edges.append(EdgeRow("INHERITS_FROM", *ends, properties, "Memory", "Memory"))
        store.commit(project_id, unit.finish())
        return new

    return writer.read_and_commit([new], succeed)


def _revisable(old: Memory) -> Memory:
    if isinstance(old, Outcome):
        raise InvalidInputError(f"{old.id!r} is an outcome, which happened as it did; learn another, or forget it")
    if is_formed(old):
        raise InvalidInputError(f"{old.id!r} follows from its outcomes; state your own with add_{old.kind}(...)")
    if old.status is not Status.ACTIVE:
        raise InvalidInputError(f"{old.id!r} is {old.status}; revise the memory that came after it")
    return old


def _successor(old: Memory, changes: Mapping[str, Any], writer: Writer) -> Memory:
    fields = type(old).model_fields
    free = {field.alias or name for name, field in fields.items() if name not in _FIXED}
    for name, value in changes.items():
        if name not in free:
            raise InvalidInputError(f"{name}={shown(value)} cannot be revised; fields are {', '.join(sorted(free))}")
    kept = {field.alias or name: getattr(old, name) for name, field in fields.items() if name not in _FIXED}
    now = writer.store.clock()
    fresh: dict[str, Any] = {
        "id": uuid7(now),
        "project_id": old.project_id,
        "created_at": now,
        "use_count": 0,
        "last_used_at": None,
    }
    if isinstance(old, Event):
        fresh["session_id"] = getattr(old, "session_id", None)
    else:
        fresh |= {"valid_from": now, "valid_to": None}
    new = type(old)(**{**kept, **fresh, **changes})
    if all(
        getattr(new, name) == getattr(old, name) for name in fields if name not in {*_FIXED, *fresh} or name in changes
    ):
        raise InvalidInputError(f"the revision of {old.id!r} changes nothing; give a field with another value")
    return new


def _moment(new: Memory) -> datetime:
    if new.created_at is None:
        raise StoreCorruptError(f"the memory {new.id!r} has no recorded_at; run: alma-graph doctor")
    return new.created_at


def end_of(old: Memory, begin: datetime) -> datetime:
    """When a memory ends that another takes the place of: where that one begins, and never before its own beginning."""
    end = begin if old.valid_to is None else min(begin, old.valid_to)
    return end if old.valid_from is None else max(end, old.valid_from)


def _join_session(unit: Unit, backend: Backend, old: Memory, new: Memory) -> None:
    """The new turn belongs to the old one's episode, at the same position."""
    before, after = node_key(old.project_id, old.id), node_key(new.project_id, new.id)
    for edge in backend.edges("PART_OF", sources=[before]):
        unit.work.edges.append(EdgeRow("PART_OF", after, edge.target, dict(edge.properties)))


def take_turn(unit: Unit, backend: Backend, old: Memory, new: Memory) -> None:
    """The turns around the old one are now around the new one."""
    before, after = node_key(old.project_id, old.id), node_key(new.project_id, new.id)
    for edge in backend.edges("NEXT", targets=[before]):
        unit.work.edge_deletes.append(EdgeMatch("NEXT", edge.source, before))
        unit.work.edges.append(EdgeRow("NEXT", edge.source, after))
    for edge in backend.edges("NEXT", sources=[before]):
        unit.work.edge_deletes.append(EdgeMatch("NEXT", before, edge.target))
        unit.work.edges.append(EdgeRow("NEXT", after, edge.target))
