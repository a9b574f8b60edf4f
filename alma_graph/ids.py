"""Identifiers: time-ordered ones for what callers bring, deterministic ones for what the store forms itself."""

from __future__ import annotations

import json
import secrets
import threading
import uuid
from datetime import datetime

NAMESPACE = uuid.UUID("6f1d6a52-6d2c-5d0e-9a55-1d4a3c0c8f51")
"""Namespace of the store's own UUIDv5 ids; changing it would change every formed id."""

_lock = threading.Lock()
_last = 0
_random_bits = secrets.randbits


def uuid7(now: datetime) -> str:
    """A UUIDv7 (RFC 9562, 5.7): milliseconds since 1970, then random bits; ids of one process grow strictly.

    The sub-millisecond field is used as a counter (RFC 9562, 6.2, method 1), so that ids made within one millisecond,
    or while the clock stands still, keep the order in which they were made.
    """
    global _last  # noqa: PLW0603 - one counter a process is the point
    with _lock:
        _last = max(int(now.timestamp() * 1000) << 12, _last + 1)
        stamp = _last
    value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | _random_bits(62)
    return str(uuid.UUID(int=value))


def formed_id(project_id: str, kind: str, *content: str) -> str:
    """The UUIDv5 of project, kind and canonical content: the same input gives the same id on every engine."""
    name = json.dumps([project_id, kind, *content], ensure_ascii=False, separators=(",", ":"))
    return str(uuid.uuid5(NAMESPACE, name))
