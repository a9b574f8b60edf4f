"""The graph as data: node labels, edge types and their properties, from which every engine derives its own schema."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SCHEMA_VERSION = 2


class ColumnType(StrEnum):
    """What a property holds. Times are UTC; vectors are float32 of the store's dimension; `TEXTS` is a list of text."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TIME = "time"
    BYTES = "bytes"
    VECTOR = "vector"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True)
class Column:
    """One property of a node or an edge."""

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """One node label; `key` (text, the first column) is its primary key."""

    label: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class EdgeSpec:
    """One edge type and the pairs of labels it may join."""

    type: str
    pairs: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]


def _columns(kind: ColumnType, names: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name in names.split())


_T, _I, _R, _TIME = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.REAL, ColumnType.TIME

NODES: dict[str, NodeSpec] = {
    spec.label: spec
    for spec in (
        NodeSpec(
            "Memory",
            (
                *_columns(_T, "key id project_id agent user_id kind text data metadata category status authority"),
                *_columns(_T, "content_hash claims"),
                *_columns(_R, "confidence strength"),
                *_columns(_I, "use_count"),
                *_columns(_TIME, "valid_from valid_to recorded_at retired_at last_used_at"),
                Column("embedding", ColumnType.VECTOR),
                Column("token_embeddings", ColumnType.BYTES),
                *_columns(_T, "retired_reason retired_state"),  # added later, so last: COPY goes by position
            ),
        ),
        NodeSpec(
            "Entity",
            (*_columns(_T, "key project_id name canonical type"), Column("aliases", ColumnType.TEXTS)),
        ),
        NodeSpec("Agent", _columns(_T, "key id project_id")),
        NodeSpec("User", _columns(_T, "key id project_id")),
        NodeSpec("Project", (*_columns(_T, "key project_id"), *_columns(_TIME, "created_at"))),
        NodeSpec("Session", (*_columns(_T, "key id project_id"), *_columns(_TIME, "started_at"))),
        NodeSpec(
            "Chunk",
            (
                *_columns(_T, "key project_id"),
                *_columns(_I, "position start_char end_char"),
                Column("embedding", ColumnType.VECTOR),
            ),
        ),
        NodeSpec(
            "Meta",
            (
                *_columns(_T, "key embedder embedder_revision created_with"),
                *_columns(_I, "schema_version dimension sequence"),
                *_columns(_TIME, "created_at"),
            ),
        ),
    )
}
"""`Meta` has one node, with the key "meta"; `sequence` grows by one with every unit of work. `retired_state` of a
memory that is no longer active holds, as JSON, the properties that retiring it changed as they were, to come back."""

META_KEY = "meta"

EDGES: dict[str, EdgeSpec] = {
    spec.type: spec
    for spec in (
        EdgeSpec(
            "SUPPORTS",
            (("Memory", "Memory"),),
            (*_columns(_R, "weight"), *_columns(_T, "origin evidence"), *_columns(_TIME, "recorded_at retired_at")),
        ),
        EdgeSpec(
            "CONTRADICTS",
            (("Memory", "Memory"),),
            (
                *_columns(_T, "id signal origin evidence disposition reason"),
                *_columns(_R, "score"),
                *_columns(_TIME, "recorded_at resolved_at"),
            ),
        ),
        EdgeSpec(
            "INHERITS_FROM",
            (("Memory", "Memory"), ("Agent", "Agent")),
            (*_columns(_T, "mode origin evidence"), *_columns(_R, "trust"), *_columns(_TIME, "recorded_at")),
        ),
        EdgeSpec(
            "MENTIONS",
            (("Memory", "Entity"),),
            (*_columns(_I, "start_char end_char"), *_columns(_T, "surface type")),
        ),
        EdgeSpec(
            "RELATES_TO",
            (("Entity", "Entity"),),
            (*_columns(_T, "predicate memory_id"), Column("negated", ColumnType.BOOLEAN), *_columns(_R, "confidence")),
        ),
        EdgeSpec("LEARNED", (("Agent", "Memory"),), ()),
        EdgeSpec("ABOUT", (("Memory", "User"),), ()),
        EdgeSpec("PART_OF", (("Memory", "Session"),), _columns(_I, "position")),
        EdgeSpec("NEXT", (("Memory", "Memory"),), ()),
        EdgeSpec("HAS_CHUNK", (("Memory", "Chunk"),), ()),
    )
}


def project_of_key(key: str) -> str | None:
    """The project whose node has this primary key; None where it is none of `node_key`."""
    size, colon, rest = key.partition(":")
    if not (colon and size.isascii() and size.isdigit() and len(size) < 10):
        return None
    length = int(size)
    return rest[:length] if str(length) == size and rest[length : length + 1] == "/" else None


def node_key(project_id: str, identifier: str) -> str:
    """Primary key of a node: project and id joined so that no two pairs give one key, whatever the texts are."""
    return f"{len(project_id)}:{project_id}/{identifier}"
