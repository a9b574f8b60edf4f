"""Taking a memory out of what holds, in such a way that it can come back exactly as it was."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from alma_graph.backends.protocol import Backend, NodeUpdate, Row
from alma_graph.backends.schema import node_key
from alma_graph.clock import to_utc
from alma_graph.codec import compact_json
from alma_graph.errors import MemoryNotFoundError
from alma_graph.model import Memory, Status

_CHANGED = ("status", "retired_at", "retired_reason", "retired_state")
_TIMES = frozenset({"retired_at", "valid_to"})


def retire(
    backend: Backend, memory: Memory, status: Status, now: datetime, reason: str | None, **also: Any
) -> NodeUpdate:
    """The update that retires a memory; `retired_state` keeps what it changes.

    Args:
        status: what it becomes.
        also: more properties to change, such as `valid_to`.
    """
    before = _stored(backend, memory, *_CHANGED, *also)
    values = {"status": str(status), "retired_at": now, "retired_reason": reason, **also}
    return _update(memory, {**values, "retired_state": compact_json(_plain(before))})


def unretire(backend: Backend, memory: Memory) -> NodeUpdate:
    """The update that undoes the last retirement of a memory.

    One that a store of schema version 1 retired left no such record: it becomes active and keeps its other properties.
    """
    kept: Row = json.loads(_stored(backend, memory, "retired_state")["retired_state"] or "{}")
    values: Row = {**dict.fromkeys(_CHANGED), "status": str(Status.ACTIVE), **kept}
    return _update(memory, {name: _value(name, value) for name, value in values.items()})


def amend(backend: Backend, memory: Memory, **values: Any) -> NodeUpdate:
    """The update of what a retired memory will be when it comes back; it stays retired."""
    kept: Row = json.loads(_stored(backend, memory, "retired_state")["retired_state"] or "{}")
    return _update(memory, {"retired_state": compact_json({**kept, **_plain(values)})})


def _update(memory: Memory, values: Row) -> NodeUpdate:
    return NodeUpdate("Memory", node_key(memory.project_id, memory.id), values)


def _stored(backend: Backend, memory: Memory, *columns: str) -> Row:
    rows = backend.nodes("Memory", keys=[node_key(memory.project_id, memory.id)], columns=columns)
    if not rows:
        raise MemoryNotFoundError(f"the memory {memory.id!r} was forgotten meanwhile")
    return rows[0]


def _plain(row: Row) -> Row:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


def _value(name: str, value: Any) -> Any:
    return to_utc(value) if name in _TIMES and value is not None else value
