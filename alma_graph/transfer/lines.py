"""One line of an export: a node, an edge, the header or the trailer, to bytes and back. Pure, and the same everywhere.

A line is a JSON object in UTF-8. A node is `{"node": LABEL, PROPERTY: ...}`, an edge `{"edge": TYPE, "source": KEY,
"target": KEY, ...}` (with "from" and "to", labels, where the type joins several pairs); properties stand in the order
of the schema, and those that are absent are left out. Times are ISO 8601 in UTC with microseconds, vectors are base64
of float32 in little endian, bytes are base64. So equal graphs give equal bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import EDGES, NODES, SCHEMA_VERSION, Column, ColumnType
from alma_graph.backends.values import clean_key, clean_properties, edge_spec, node_spec
from alma_graph.clock import to_utc
from alma_graph.errors import InvalidInputError, StoreVersionError, shown

FORMAT_VERSION = 1
"""Raised by a change that an older reader would misread; a new property of the schema is none."""

HEADER_WORD = "alma_graph_export"
_LINE_BREAKS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}
"""What JSON lets stand and some readers take for the end of a line."""

Record = dict[str, Any]
Node = tuple[str, Row]
"""Label and row."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: what the file is and what its vectors come from.

    Attributes:
        project_id: the one project that was exported; None is the whole store.
        created_with: package and engine; the only part that may differ between equal graphs.
    """

    schema_version: int
    embedder: str
    embedder_revision: str | None
    dimension: int
    project_id: str | None
    created_with: str

    def line(self) -> bytes:
        """The header as a line."""
        return _line({**self._portable(), "created_with": self.created_with})

    def digested(self) -> bytes:
        """What the checksum covers of it: all but `created_with`."""
        return _line(self._portable())

    def _portable(self) -> Record:
        return {
            HEADER_WORD: FORMAT_VERSION,
            "schema_version": self.schema_version,
            "embedder": self.embedder,
            "embedder_revision": self.embedder_revision,
            "dimension": self.dimension,
            "project_id": self.project_id,
        }


@dataclass(frozen=True, slots=True)
class Trailer:
    """The last line: how many nodes and edges of each label and type come before it, and the SHA-256 of it all."""

    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    sha256: str

    def line(self) -> bytes:
        """The trailer as a line."""
        return _line({"end": True, "nodes": dict(self.nodes), "edges": dict(self.edges), "sha256": self.sha256})


def parse_line(raw: bytes) -> Record:
    """The JSON object of a line.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        record = json.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"no JSON in UTF-8: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInputError(f"a JSON {type(record).__name__}, not an object")
    return record


def read_header(record: Record) -> Header:
    """The header of a file.

    Raises:
        InvalidInputError: the line is no header.
        StoreVersionError: the format or the schema is newer than this package knows.
    """
    version, schema = record.get(HEADER_WORD), record.get("schema_version")
    for name, found, known in (("format", version, FORMAT_VERSION), ("schema", schema, SCHEMA_VERSION)):
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise InvalidInputError(f"no header of an export: {name} version {shown(found)}")
        if found > known:
            raise StoreVersionError(
                f"the export has {name} version {found}; this package knows versions up to {known}: install a newer "
                "alma_graph",
                found=found,
                supported=known,
            )
    dimension = record.get("dimension")
    if isinstance(dimension, bool) or not isinstance(dimension, int) or not 1 <= dimension <= 65_536:
        raise InvalidInputError(f"header: dimension={shown(dimension)} is no dimension")
    texts = {name: record.get(name) for name in ("embedder", "embedder_revision", "project_id", "created_with")}
    for name, text in texts.items():
        if not isinstance(text, str) and (text is not None or name == "embedder"):
            raise InvalidInputError(f"header: {name}={shown(text)} is no text")
    return Header(
        schema_version=int(schema or 0),
        embedder=str(texts["embedder"]),
        embedder_revision=texts["embedder_revision"],
        dimension=dimension,
        project_id=texts["project_id"],
        created_with=texts["created_with"] or "",
    )


def read_trailer(record: Record) -> Trailer:
    """The trailer of a file.

    Raises:
        InvalidInputError: it has no counts or no checksum.
    """
    nodes, edges, digest = record.get("nodes"), record.get("edges"), record.get("sha256")
    if not isinstance(nodes, dict) or not isinstance(edges, dict) or not isinstance(digest, str):
        raise InvalidInputError("the trailer lacks its counts or its checksum")
    return Trailer(nodes, edges, digest)


def node_line(label: str, row: Row) -> bytes:
    """A node as a line."""
    return _line({"node": label, **_encoded(NODES[label].columns, row)})


def edge_line(edge: EdgeRow) -> bytes:
    """An edge as a line."""
    spec = EDGES[edge.type]
    record: Record = {"edge": edge.type, "source": edge.source, "target": edge.target}
    if len(spec.pairs) > 1:
        record |= {"from": edge.source_label, "to": edge.target_label}
    return _line({**record, **_encoded(spec.columns, edge.properties)})


def read_node(record: Record, dimension: int) -> Node:
    """Label and row of a node's record, every property of the schema in it.

    Raises:
        InvalidInputError: no such label or property, a missing key, or a value of the wrong type.
    """
    given = dict(record)
    spec = node_spec(given.pop("node"))
    if spec.label == "Meta":
        raise InvalidInputError("a Meta node is no part of an export")
    clean_key(given.get("key"), f"{spec.label}.key")
    row = clean_properties(spec.columns, _decoded(spec.columns, given, spec.label), spec.label, dimension)
    return spec.label, {column.name: row.get(column.name) for column in spec.columns}


def read_edge(record: Record, dimension: int) -> EdgeRow:
    """The edge of an edge's record, every property of the schema in it.

    Raises:
        InvalidInputError: no such type, property or pair of labels, or a value of the wrong type.
    """
    given = dict(record)
    spec = edge_spec(given.pop("edge"))
    source = clean_key(given.pop("source", None), f"{spec.type}.source")
    target = clean_key(given.pop("target", None), f"{spec.type}.target")
    pair = spec.pairs[0] if len(spec.pairs) == 1 else (given.pop("from", None), given.pop("to", None))
    if pair not in spec.pairs:
        raise InvalidInputError(f"{spec.type} does not join {shown(pair[0])} to {shown(pair[1])}")
    found = clean_properties(spec.columns, _decoded(spec.columns, given, spec.type), spec.type, dimension)
    properties = {column.name: found.get(column.name) for column in spec.columns}
    return EdgeRow(spec.type, source, target, properties, *pair)


def _line(record: Record) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_LINE_BREAKS).encode() + b"\n"


def _encoded(columns: tuple[Column, ...], row: Mapping[str, Any]) -> Record:
    found: Record = {}
    for column in columns:
        value = row.get(column.name)
        if value is not None:
            encode = _ENCODERS.get(column.type)
            found[column.name] = value if encode is None else encode(value)
    return found


def _decoded(columns: tuple[Column, ...], record: Record, where: str) -> Row:
    types = {column.name: column.type for column in columns}
    row: Row = {}
    for name, value in record.items():
        decode = _DECODERS.get(types[name]) if name in types else None
        row[name] = value if decode is None or value is None else decode(value, f"{where}.{name}")
    return row


def time_text(value: datetime) -> str:
    """ISO 8601 in UTC with microseconds."""
    return to_utc(value).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _vector_text(value: Any) -> str:
    return base64.b64encode(np.asarray(value, dtype="<f4").tobytes()).decode("ascii")


def _bytes_text(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _to_bytes(value: Any, where: str) -> bytes:
    try:
        if isinstance(value, str):
            return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise InvalidInputError(f"{where}={shown(value, 60)} is no base64")


def _to_vector(value: Any, where: str) -> Any:
    raw = _to_bytes(value, where)
    if len(raw) % 4:
        raise InvalidInputError(f"{where} has {len(raw)} bytes, which are no float32 numbers")
    return np.frombuffer(raw, dtype="<f4").astype(np.float32)


def _to_time(value: Any, where: str) -> datetime:
    if not isinstance(value, str):
        raise InvalidInputError(f"{where}={shown(value)} is no ISO 8601 time")
    return to_utc(value, name=where)


_ENCODERS: dict[ColumnType, Callable[[Any], Any]] = {
    ColumnType.TIME: time_text,
    ColumnType.VECTOR: _vector_text,
    ColumnType.BYTES: _bytes_text,
}
_DECODERS: dict[ColumnType, Callable[[Any, str], Any]] = {
    ColumnType.TIME: _to_time,
    ColumnType.VECTOR: _to_vector,
    ColumnType.BYTES: _to_bytes,
}
