"""One value on its way to a server and back.

Text, numbers, booleans, bytes and lists of text go as they are. A time goes as an aware datetime and comes back in UTC;
a vector goes as a list of floats, which holds every float32 exactly.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import Column, ColumnType
from alma_graph.errors import InvalidInputError, shown

FULL_KEY = "full_key"
"""Property that holds a key which is too long for a unique constraint; `key` is then a digest of it."""

_DIGEST = "sha256:"


def short_key(key: str, limit: int) -> str:
    """The key as it is stored: itself, or a digest where it is longer than `limit` bytes (or looks like a digest)."""
    if len(key) * 4 <= limit and not key.startswith(_DIGEST):
        return key
    data = key.encode()
    if len(data) <= limit and not key.startswith(_DIGEST):
        return key
    return _DIGEST + hashlib.sha256(data).hexdigest()


def bound(kind: ColumnType, value: Any, *, bytes_as_text: bool = False) -> Any:
    """A cleaned value as the driver takes it, or the server, where it has no bytes."""
    if kind is ColumnType.VECTOR and value is not None:
        return value.tolist()
    if kind is ColumnType.BYTES and bytes_as_text and value is not None:
        return base64.b64encode(value).decode("ascii")
    return value


def properties(
    columns: Sequence[Column], row: Row, *, indexed: frozenset[str], longest: int, bytes_as_text: bool = False
) -> dict[str, Any]:
    """The properties of a row that are given, without vectors.

    Raises:
        InvalidInputError: a text that an index must hold is longer than `longest` bytes.
    """
    found: dict[str, Any] = {}
    for column in columns:
        if column.name not in row or column.type is ColumnType.VECTOR:
            continue
        value = row[column.name]
        if column.name in indexed and value is not None and len(value) * 4 > longest and len(value.encode()) > longest:
            raise InvalidInputError(
                f"{column.name}={shown(value, 60)} has {len(value.encode()):,} bytes, and the server's index takes "
                f"{longest:,}; give a shorter one"
            )
        found[column.name] = bound(column.type, value, bytes_as_text=bytes_as_text)
    return found


def read_value(kind: ColumnType, value: Any) -> Any:
    """A property as it came back, in the form of the protocol."""
    if value is None:
        return None
    if kind is ColumnType.TIME:
        return utc(value)
    if kind is ColumnType.VECTOR:
        vector = np.array(value, dtype=np.float32)
        vector.flags.writeable = False
        return vector
    if kind is ColumnType.BYTES:
        return base64.b64decode(value) if isinstance(value, str) else bytes(value)
    return value


def utc(value: Any) -> datetime:
    """The driver's time as an aware datetime in UTC; one without a zone is taken as UTC."""
    native: datetime = value.to_native()
    return native.replace(tzinfo=UTC) if native.tzinfo is None else native.astimezone(UTC)
