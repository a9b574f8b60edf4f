"""Rows as Arrow tables and back: the bulk path into and out of the engines. A fresh table for each COPY, always."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from alma_graph.backends.embedded.statements import naive
from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import NODES, Column, ColumnType


def vector_columns(label: str) -> tuple[str, ...]:
    """The properties of a label that an embedder makes: vectors, and packed token vectors."""
    made = (ColumnType.VECTOR, ColumnType.BYTES)
    return tuple(column.name for column in NODES[label].columns if column.type in made)


def node_table(columns: Sequence[Column], rows: Sequence[Row], dimension: int) -> Any:
    """A pyarrow Table with one column per property, in the schema's order."""
    import pyarrow as pa

    arrays = [_array(column.type, [row[column.name] for row in rows], dimension) for column in columns]
    return pa.table(arrays, names=[column.name for column in columns])


def edge_table(columns: Sequence[Column], edges: Sequence[EdgeRow]) -> Any:
    """A pyarrow Table of source, target and the properties, in the schema's order."""
    import pyarrow as pa

    arrays = [
        pa.array([edge.source for edge in edges], pa.string()),
        pa.array([edge.target for edge in edges], pa.string()),
        *(_array(column.type, [edge.properties[column.name] for edge in edges], 0) for column in columns),
    ]
    return pa.table(arrays, names=["from", "to", *(f"p_{column.name}" for column in columns)])


def _array(kind: ColumnType, values: list[Any], dimension: int) -> Any:
    import pyarrow as pa

    if kind is ColumnType.VECTOR:
        return _vector_array(values, dimension)
    if kind is ColumnType.TIME:
        return pa.array([None if value is None else naive(value) for value in values], pa.timestamp("us"))
    types = {
        ColumnType.TEXT: pa.string(),
        ColumnType.INTEGER: pa.int64(),
        ColumnType.REAL: pa.float64(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.BYTES: pa.binary(),
        ColumnType.TEXTS: pa.list_(pa.string()),
    }
    return pa.array(values, types[kind])


def _vector_array(values: list[Any], dimension: int) -> Any:
    import numpy as np
    import pyarrow as pa

    matrix = np.zeros((len(values), dimension), dtype=np.float32)
    absent = np.zeros(len(values), dtype=bool)
    for position, value in enumerate(values):
        if value is None:
            absent[position] = True
        else:
            matrix[position] = value
    flat = pa.array(matrix.reshape(-1))
    if not absent.any():
        return pa.FixedSizeListArray.from_arrays(flat, dimension)
    return pa.FixedSizeListArray.from_arrays(flat, dimension, mask=pa.array(absent))


def rows_of(table: Any, columns: Sequence[Column], dimension: int) -> list[Row]:
    """The rows of a pyarrow Table whose columns are these, in normal form."""
    names = [column.name for column in columns]
    data = [_values(column.type, table.column(position), dimension) for position, column in enumerate(columns)]
    return [dict(zip(names, values, strict=True)) for values in zip(*data, strict=True)]


def _values(kind: ColumnType, column: Any, dimension: int) -> list[Any]:
    if kind is ColumnType.VECTOR:
        rows, matrix = vectors_of(column, dimension)
        values: list[Any] = [None] * len(column)
        for position, vector in zip(rows, matrix, strict=True):
            values[position] = vector
        return values
    plain: list[Any] = column.to_pylist()
    if kind is ColumnType.TIME:
        return [None if value is None else value.replace(tzinfo=UTC) for value in plain]
    return plain


def vectors_of(column: Any, dimension: int) -> tuple[list[int], Any]:
    """Positions and (n, dimension) float32 matrix of the vectors of an Arrow column that are there.

    Read through DLPack: pyarrow's `to_numpy` imports pandas where it is installed, which takes seconds. Leaving out
    what is absent loads pyarrow's compute functions, a tenth of a second, so only where something is.
    """
    import numpy as np

    everything = range(len(column))
    valid = column.is_valid().to_pylist() if column.null_count else ()
    present = [position for position in everything if valid[position]] if valid else list(everything)
    flats = [_flat(chunk, dimension) for chunk in column.chunks]
    parts = [np.from_dlpack(flat) for flat in flats if len(flat)]
    flat = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
    return present, np.ascontiguousarray(flat, dtype=np.float32).reshape(-1, dimension)


def _flat(lists: Any, dimension: int) -> Any:
    """The numbers of all lists that are there, one after the other."""
    whole = lists.null_count == 0 and lists.offset == 0 and len(lists.values) == len(lists) * dimension
    return lists.values if whole else lists.flatten()


def value_of(kind: ColumnType, value: Any) -> Any:
    """One value as the engine's row API gives it, in normal form."""
    if value is None:
        return None
    if kind is ColumnType.TIME:
        return value.replace(tzinfo=UTC)
    if kind is ColumnType.VECTOR:
        import numpy as np

        return np.array(value, dtype=np.float32)
    if kind is ColumnType.BYTES:
        return bytes(value)
    return value
