"""One value of one column: what a store takes, in the one form that every engine is given.

Everything is checked here, before a transaction begins, because an engine that fails in the middle of one is costly.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import EDGES, NODES, Column, ColumnType, EdgeSpec, NodeSpec
from alma_graph.clock import to_utc
from alma_graph.errors import EmbeddingError, InvalidInputError, shown
from alma_graph.text import checked

MAX_KEY_BYTES = 65_536
"""Longest primary key in UTF-8 bytes; the embedded engines took 100,000 in a test."""

_INT64 = 2**63


def node_spec(label: str) -> NodeSpec:
    """The spec of a label.

    Raises:
        InvalidInputError: the schema has no such label.
    """
    spec = NODES.get(label)
    if spec is None:
        raise InvalidInputError(f"label={label!r} is not in the schema; the labels are {', '.join(NODES)}")
    return spec


def edge_spec(edge_type: str) -> EdgeSpec:
    """The spec of an edge type.

    Raises:
        InvalidInputError: the schema has no such type.
    """
    spec = EDGES.get(edge_type)
    if spec is None:
        raise InvalidInputError(f"edge type={edge_type!r} is not in the schema; the types are {', '.join(EDGES)}")
    return spec


def chosen_columns(label: str, names: Any) -> tuple[Column, ...]:
    """The columns of a label with these names, in the order given; all of them for None."""
    spec = node_spec(label)
    if names is None:
        return spec.columns
    known = {column.name: column for column in spec.columns}
    if isinstance(names, str) or not names:
        raise InvalidInputError(f"columns={names!r}: give a list of at least one property of {label}")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInputError(f"{label} has no property {unknown[0]!r}; it has {', '.join(known)}")
    return tuple(known[name] for name in names)


def clean_key(value: Any, where: str) -> str:
    """A primary key: non-empty text that an engine can index."""
    key = checked(value, where, blank=True)
    if not key:
        raise InvalidInputError(f"{where} is empty; give a text")
    if len(key.encode()) > MAX_KEY_BYTES:
        raise InvalidInputError(f"{where} has {len(key.encode())} bytes; a key may have {MAX_KEY_BYTES}")
    return key


def clean_properties(columns: tuple[Column, ...], row: Mapping[str, Any], where: str, dimension: int) -> Row:
    """The given properties, each in its normal form; properties that are not given stay away.

    Raises:
        InvalidInputError: an unknown property or a value of the wrong type.
        EmbeddingError: an unusable vector.
    """
    known = {column.name: column for column in columns}
    clean: Row = {}
    for name, value in row.items():
        column = known.get(name)
        if column is None:
            raise InvalidInputError(f"{where} has no property {name!r}; it has {', '.join(known) or 'none'}")
        clean[name] = clean_value(column.type, value, f"{where}.{name}", dimension)
    return clean


def clean_value(kind: ColumnType, value: Any, where: str, dimension: int) -> Any:
    """One value in its normal form: str, int, float, bool, aware UTC time, bytes, float32 vector, texts, None."""
    if value is None:
        return None
    return _CLEANERS[kind](value, where, dimension)


def _text(value: Any, where: str, _: int) -> str:
    return checked(value, where, blank=True)


def _integer(value: Any, where: str, _: int) -> int:
    import numpy as np

    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InvalidInputError(f"{where}={shown(value)} is {type(value).__name__}, not a whole number; give an int")
    number = int(value)
    if not -_INT64 <= number < _INT64:
        raise InvalidInputError(f"{where}={shown(number, 40)} does not fit in 64 bits")
    return number


def _real(value: Any, where: str, _: int) -> float:
    import numpy as np

    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InvalidInputError(f"{where}={shown(value)} is {type(value).__name__}, not a number; give a float")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not np.isfinite(number):
        raise InvalidInputError(f"{where}={shown(value)} is not finite; give a finite number or None")
    return number


def _boolean(value: Any, where: str, _: int) -> bool:
    import numpy as np

    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInputError(f"{where}={shown(value)} is {type(value).__name__}; give True or False")
    return bool(value)


def _time(value: Any, where: str, _: int) -> datetime:
    if not isinstance(value, (datetime, date)):
        raise InvalidInputError(f"{where}={shown(value)} is {type(value).__name__}; give a datetime (naive means UTC)")
    try:
        return to_utc(value, name=where)
    except OverflowError as error:
        raise InvalidInputError(f"{where}={shown(value)} is outside the years 1 to 9999 in UTC") from error


def _bytes(value: Any, where: str, _: int) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise InvalidInputError(f"{where} is {type(value).__name__}; give bytes")
    return bytes(value)


def _vector(value: Any, where: str, dimension: int) -> Any:
    import numpy as np

    try:
        with np.errstate(over="ignore"):  # what does not fit becomes infinity, which is refused below
            vector = np.array(value, dtype=np.float32, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingError(f"{where} is {type(value).__name__}, no vector of numbers: {error}") from error
    if vector.shape != (dimension,):
        raise EmbeddingError(f"{where} has shape {vector.shape}; the store's vectors have shape ({dimension},)")
    if not np.isfinite(vector).all():
        raise EmbeddingError(f"{where} has NaN or infinity at position {int(np.argmin(np.isfinite(vector)))}")
    if not vector.any():
        raise EmbeddingError(f"{where} is the zero vector, which has no direction; leave it None instead")
    vector.flags.writeable = False
    return vector


def _texts(value: Any, where: str, _: int) -> list[str]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise InvalidInputError(f"{where}={shown(value)} is {type(value).__name__}; give a list of texts")
    return [checked(item, f"{where}[{position}]", blank=True) for position, item in enumerate(value)]


_CLEANERS = {
    ColumnType.TEXT: _text,
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.TIME: _time,
    ColumnType.BYTES: _bytes,
    ColumnType.VECTOR: _vector,
    ColumnType.TEXTS: _texts,
}
