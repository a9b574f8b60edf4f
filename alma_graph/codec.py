"""Memories as rows of the graph and back."""

from __future__ import annotations

import json
from typing import Any

from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import node_key
from alma_graph.errors import InvalidInputError, StoreCorruptError, shown
from alma_graph.model import KINDS, Memory, MemoryKind
from alma_graph.text import content_hash

_SHARED = (
    *("id", "project_id", "agent", "user_id", "confidence", "status", "authority"),
    *("valid_from", "valid_to", "retired_at", "retired_reason", "use_count", "last_used_at", "strength"),
)


def compact_json(value: Any) -> str:
    """JSON with sorted keys and no white space, so that equal values give equal text.

    Raises:
        InvalidInputError: NaN, an infinity, or what JSON does not know; the message says which.
    """
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{shown(value, 80)} does not go through JSON: {error}") from None


def memory_to_row(memory: Memory) -> Row:
    """The Memory node of a memory, without vectors and claims (those keys are None)."""
    own = set(memory.own_fields) - {memory.text_field}
    data = memory.model_dump(mode="json", include=own, exclude_none=True)
    row: Row = {name: getattr(memory, name) for name in _SHARED}
    row.update(
        key=node_key(memory.project_id, memory.id),
        kind=str(memory.kind),
        status=str(memory.status),
        authority=str(memory.authority),
        text=memory.text,
        data=compact_json(data),
        metadata=compact_json(memory.metadata),
        category=memory.category_name,
        content_hash=content_hash(memory.text),
        recorded_at=memory.created_at,
        claims=None,
        embedding=None,
        token_embeddings=None,
    )
    return row


def row_to_memory(row: Row) -> Memory:
    """The model of a Memory node.

    Raises:
        StoreCorruptError: the row is no memory that this package wrote.
    """
    try:
        cls = KINDS[MemoryKind(row["kind"])]
        fields: dict[str, Any] = {name: row[name] for name in _SHARED}
        own = json.loads(row["data"])
        for name, value in own.items():
            if isinstance(value, list):
                own[name] = tuple(value)
        fields.update(own)
        if cls.text_field is not None:
            fields[cls.model_fields[cls.text_field].alias or cls.text_field] = row["text"]
        fields["metadata"] = json.loads(row["metadata"])
        fields["created_at"] = row["recorded_at"]
        return cls(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreCorruptError(f"the memory {row.get('key')!r} cannot be read: {error}") from error
