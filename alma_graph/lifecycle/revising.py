"""Explicit successors: the old memory is superseded and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alma_graph.backends.protocol import EdgeRow, NodeUpdate
from alma_graph.backends.schema import node_key
from alma_graph.codec import compact_json
from alma_graph.errors import InvalidInputError
from alma_graph.ids import uuid7
from alma_graph.ingest.unit import Unit
from alma_graph.ingest.writer import Writer
from alma_graph.model import Memory, Outcome, Status

_FIXED = frozenset({"id", "project_id", "kind", "created_at", "status", "retired_at"})


def revise(writer: Writer, memory_id: str, reason: str | None, changes: Mapping[str, Any]) -> Memory:
    """Stores a memory with these fields changed, which INHERITS_FROM the old one; the old one is superseded.

    Raises:
        MemoryNotFoundError: the project has no such memory.
        InvalidInputError: nothing or an unknown field is changed, a field that the store keeps itself, an outcome
            (what happened does not change: forget it, or learn another), or a memory that is no longer active.
    """
    store, project_id = writer.store, writer.project_id
    store.check_writable()
    with store.lock:
        old = store.memory(project_id, memory_id)
    if isinstance(old, Outcome):
        raise InvalidInputError(f"{memory_id!r} is an outcome, which happened as it did; learn another, or forget it")
    if old.status is not Status.ACTIVE:
        raise InvalidInputError(f"{memory_id!r} is {old.status}; revise the memory that came after it")
    known = set(type(old).model_fields) | {
        field.alias for field in type(old).model_fields.values() if field.alias is not None
    }
    for name in changes:
        if name in _FIXED or name not in known:
            raise InvalidInputError(f"{name}={changes[name]!r} cannot be revised; fields are {sorted(known - _FIXED)}")
    now = store.clock()
    fields = {
        field.alias or name: getattr(old, name) for name, field in type(old).model_fields.items() if name not in _FIXED
    }
    if all(fields.get(name) == value for name, value in changes.items()):
        raise InvalidInputError(f"the revision of {memory_id!r} changes nothing; give a field with another value")
    fresh = {"id": uuid7(now), "project_id": project_id, "created_at": now, "valid_from": now, "valid_to": None}
    new = type(old)(**{**fields, **fresh, "use_count": 0, "last_used_at": None, **changes})
    writer.check_scope(new)
    readings = writer.read([new])
    with store.lock:
        unit = Unit(store, project_id)
        retired = {"status": str(Status.SUPERSEDED), "retired_at": now, "valid_to": new.valid_from or now}
        unit.work.node_updates.append(NodeUpdate("Memory", node_key(project_id, old.id), retired))
        unit.add(new, readings[new.id])
        properties = {
            "mode": "derived",
            "origin": "revision",
            "evidence": compact_json({"reason": reason or ""}),
            "trust": 1.0,
            "recorded_at": now,
        }
        ends = node_key(project_id, new.id), node_key(project_id, old.id)
        unit.work.edges.append(EdgeRow("INHERITS_FROM", *ends, properties, "Memory", "Memory"))
        store.commit(project_id, unit.finish())
        return new
