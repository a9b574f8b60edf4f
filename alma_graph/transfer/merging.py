"""A node or an edge of a file and the one the store has: are they the same, and if not, what does their union hold.

The rules of a merge, property by property; what no rule names stays as the store has it, or is taken where it has none:

- status: retracted before superseded before archived before active, so what was refuted anywhere is refuted; the time
  and the reason of it come from the same side. The end of valid time is the earlier one.
- use_count, last_used_at: the larger. recorded_at and the times at which a session or a project began: the earlier.
- authority: the stronger. metadata and data: united, the store's value where both have a name. aliases: united.
- CONTRADICTS: settled before open; score, signal, origin and evidence of the higher score.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.codec import compact_json
from alma_graph.enums import Authority, Disposition, MemoryKind, Status

_CONTENT = ("kind", "text", "agent", "user_id")
"""What makes two memories with one id two different ones."""

_FOLLOWS = frozenset({"data", "confidence", "text", "content_hash", "category", "claims", "embedding", "recorded_at"})
"""What follows from the outcomes of a lesson, and is counted anew."""

_IDENTITY: dict[str, tuple[str, ...]] = {
    "MENTIONS": ("start_char", "end_char", "surface"),
    "RELATES_TO": ("predicate", "memory_id", "negated"),
}
"""What tells edges of one type between the same two nodes apart; of the other types there is one."""

_STATUS = (Status.ACTIVE, Status.ARCHIVED, Status.SUPERSEDED, Status.RETRACTED)
_AUTHORITY = tuple(reversed(Authority))
_LIFECYCLE = ("status", "retired_at", "retired_reason", "retired_state")


class Likeness(Enum):
    """How a node or an edge of a file and the one of the same identity in the store are alike."""

    SAME = "same"
    STATE = "state"
    """The same thing with other properties."""
    OTHER = "other"
    """Another memory under the same id."""


def likeness(label: str, stored: Row, given: Row) -> Likeness:
    """How a node of a file is like the stored one with its key."""
    differing = [name for name in given if not _equal(stored.get(name), given[name])]
    if not differing:
        return Likeness.SAME
    if label != "Memory" or (is_lesson(stored) and is_lesson(given)):
        return Likeness.STATE
    return Likeness.OTHER if any(name in differing for name in _CONTENT) else Likeness.STATE


def is_conflict(label: str, stored: Row, given: Row) -> list[str]:
    """Names of the properties in which the two contradict each other: of memories only, since entities, owners and
    sessions are what memories make of them, and of lessons only what outcomes do not decide."""
    if label not in ("Memory", "Chunk"):
        return []
    ignored = _FOLLOWS if label == "Memory" and is_lesson(stored) and is_lesson(given) else frozenset()
    return [name for name in given if name not in ignored and not _equal(stored.get(name), given[name])]


def is_lesson(row: Row) -> bool:
    """Whether a memory's row is a lesson that outcomes formed."""
    if row["kind"] not in (MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN):
        return False
    return bool(_object(row["data"]).get("occurrence_count"))


def merged_node(stored: Row, given: Row) -> Row:
    """The properties of the stored node that its union with the file's changes."""
    values: Row = {}
    for name, theirs in given.items():
        ours = stored.get(name)
        if name in _LIFECYCLE or theirs is None:
            continue
        union = theirs if ours is None else _UNIONS.get(name, _ours)(ours, theirs)
        if not _equal(union, ours):
            values[name] = union
    if "status" in given:
        values |= _lifecycle(stored, given)
        _keep_in_order(stored, values)
    return values


def edge_identity(edge: EdgeRow) -> tuple[Any, ...]:
    """What tells an edge from the others of its type."""
    parts = (edge.properties.get(name) for name in _IDENTITY.get(edge.type, ()))
    return (edge.source, edge.target, edge.source_label, edge.target_label, *parts)


def edge_match(edge: EdgeRow) -> Row:
    """The properties of `edge_identity`, to find the edge by; None cannot be asked for and is left out."""
    found = {name: edge.properties.get(name) for name in _IDENTITY.get(edge.type, ())}
    return {name: value for name, value in found.items() if value is not None}


def merged_edge(stored: EdgeRow, given: EdgeRow) -> Row:
    """The properties of the stored edge that its union with the file's changes."""
    ours, theirs = stored.properties, given.properties
    values = {name: value for name, value in theirs.items() if value is not None and ours.get(name) is None}
    if stored.type != "CONTRADICTS":
        return values
    if (theirs["score"] or 0.0) > (ours["score"] or 0.0):
        values |= {name: theirs[name] for name in ("score", "signal", "origin", "evidence")}
    settled = ours["disposition"] in (None, Disposition.OPEN) and theirs["disposition"] not in (None, Disposition.OPEN)
    if settled:
        values |= {name: theirs[name] for name in ("disposition", "resolved_at", "reason")}
    return {name: value for name, value in values.items() if value != ours.get(name)}


def _lifecycle(stored: Row, given: Row) -> Row:
    """Status with its time and reason, from the side whose status goes before; equal ones give the earlier time."""
    ours, theirs = _rank(stored["status"]), _rank(given["status"])
    names = [name for name in _LIFECYCLE if name in given]
    if theirs > ours:
        return {name: given[name] for name in names if given[name] != stored.get(name)}
    if theirs < ours:
        return {}
    earlier = _filled(stored.get("retired_at"), given.get("retired_at"))
    missing = [name for name in names if stored.get(name) is None and given[name] is not None]
    values = {name: given[name] for name in missing}
    return values if earlier == stored.get("retired_at") else {**values, "retired_at": earlier}


def _keep_in_order(stored: Row, values: Row) -> None:
    """Takes no beginning of valid time that lies behind its end, and no end before its beginning."""
    end = values.get("valid_to", stored.get("valid_to"))
    if end is None:
        return
    if values.get("valid_from") is not None and end < values["valid_from"]:
        del values["valid_from"]
    start = values.get("valid_from", stored.get("valid_from"))
    if start is not None and end < start:
        values["valid_to"] = start
    if values.get("valid_to") == stored.get("valid_to"):
        values.pop("valid_to", None)


def _rank(status: Any) -> int:
    return _STATUS.index(Status(status)) if status is not None else 0


def _filled(ours: Any, theirs: Any) -> Any:
    return min((value for value in (ours, theirs) if value is not None), default=None)


def _ours(ours: Any, _: Any) -> Any:
    return ours


def _stronger(ours: Any, theirs: Any) -> Any:
    return max(ours, theirs, key=lambda name: _AUTHORITY.index(Authority(name)))


def _united_json(ours: str, theirs: str) -> str:
    united = {**_object(theirs), **_object(ours)}
    return ours if united == _object(ours) else compact_json(united)


def _united_texts(ours: list[str], theirs: list[str]) -> list[str]:
    return list(dict.fromkeys((*ours, *theirs)))


def _object(text: str | None) -> dict[str, Any]:
    value = json.loads(text) if text else {}
    return value if isinstance(value, dict) else {}


_UNIONS: dict[str, Callable[[Any, Any], Any]] = {
    "use_count": max,
    "last_used_at": max,
    "recorded_at": min,
    "created_at": min,
    "started_at": min,
    "valid_to": min,
    "authority": _stronger,
    "metadata": _united_json,
    "data": _united_json,
    "aliases": _united_texts,
}


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.tobytes() == other.tobytes()
    return bool(one == other)
