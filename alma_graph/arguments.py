"""What callers hand in, read once: each reader gives the value in the one form the package uses, or refuses it.

Every refusal is an `InvalidInputError` that names the argument, the value and the cure; nothing else is raised,
whatever the value is.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from alma_graph.clock import to_utc
from alma_graph.enums import MemoryKind, read_enum
from alma_graph.errors import InvalidInputError, shown
from alma_graph.text import checked

When = datetime | str | float | None
"""A time as callers give it; see `alma_graph.clock.to_utc`."""

MAX_DEPTH = 100
"""Deepest nesting of JSON that a caller may store, and of lists and mappings bound to a query."""
_MAX_JSON_VALUES = 1_000_000
_MAX_INTEGER_BITS = 1024

_T = TypeVar("_T")


def flag(value: object, name: str) -> bool:
    """True or False; nothing that is only true in a condition."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{name}={shown(value)} is {type(value).__name__}; give True or False")
    return value


def whole(value: object, name: str, *, least: int = 0) -> int:
    """A whole number of at least `least` that fits in 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise InvalidInputError(f"{name}={shown(value)} is out of range; give a whole number from {least} on")
    return value


def number(value: object, name: str, *, above: float, or_equal: bool = False) -> float:
    """A finite number above `above`, or equal to it where that is allowed."""
    try:
        real = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        real = math.inf
    if not (math.isfinite(real) and (real > above or (or_equal and real == above))):
        bound = f"of {above:g} or more" if or_equal else f"above {above:g}"
        raise InvalidInputError(f"{name}={shown(value)} is out of range; give a finite number {bound}")
    return real


def optional(read: Callable[[object, str], _T], value: object, name: str) -> _T | None:
    """What `read` makes of the value; None stays None."""
    return None if value is None else read(value, name)


def moment(value: When, name: str) -> datetime | None:
    """A time, UTC and aware; None stays None."""
    return None if value is None else to_utc(value, name=name)


def listed(value: object, name: str, *, of: str) -> list[Any]:
    """The items of a list, a tuple, a set or any other iterable; a text or a mapping is no list of items.

    Args:
        of: what the items are, for the message.
    """
    if isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInputError(f"{name}={shown(value)} is {type(value).__name__}, no list; give a list of {of}")
    return list(value)


def kinds_of_memory(value: object, name: str = "kinds") -> list[MemoryKind] | None:
    """Kinds of memory; None, which is all of them, stays None."""
    if value is None:
        return None
    found = [read_enum(MemoryKind, item, name) for item in listed(value, name, of="kinds, or None for all")]
    if not found:
        raise InvalidInputError(f"{name}={shown(value)} leaves nothing to find; give some kinds, or None for all")
    return found


def instance(value: object, cls: type[_T], name: str) -> _T:
    """An object of a class."""
    if not isinstance(value, cls):
        raise InvalidInputError(f"{name}={shown(value)} is {type(value).__name__}; give {cls.__name__}(...)")
    return value


def callable_or_none(value: Any, name: str, *, signature: str) -> Any:
    """Something that can be called, or None.

    Args:
        signature: what it is called with, for the message.
    """
    if value is not None and not callable(value):
        raise InvalidInputError(f"{name}={shown(value)} cannot be called; give a function {signature}")
    return value


def path_text(value: object, name: str) -> str:
    """A path as text."""
    try:
        text: object = os.fspath(value)  # type: ignore[call-overload]
        os.fsencode(value)  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        text = None
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InvalidInputError(f"{name}={shown(value)} is no path; give the name of a file as text or a Path")
    return text


def json_object(value: object, name: str) -> dict[str, Any]:
    """A copy of a JSON object, made of plain dicts, lists, texts, numbers, booleans and None.

    Raises:
        InvalidInputError: it would change in JSON (keys that are no text, tuples, NaN), a text in it has a lone
            surrogate, or it is too deep, too large or contains itself; the message names the place.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} must be a JSON object (a dict), not {type(value).__name__}")
    left = [_MAX_JSON_VALUES]
    return {_key(key, name): _json(item, f"{name}.{shown(key, 40)}", 1, left) for key, item in value.items()}


def _json(value: object, where: str, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        limit = f"deeper than {MAX_DEPTH} levels" if depth > MAX_DEPTH else f"more than {_MAX_JSON_VALUES:,} values"
        raise InvalidInputError(f"{where[:200]} is {limit}, or contains itself; give flatter or less JSON")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(checked(value, where, blank=True))
    if isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise InvalidInputError(f"{where} is a number of {value.bit_length()} bits; write it as text")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInputError(f"{where}={value!r} is no number in JSON; leave it out or write it as text")
        return float(value)
    if isinstance(value, list):
        return [_json(item, f"{where}[{at}]", depth + 1, left) for at, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            _key(key, where): _json(item, f"{where}.{shown(key, 40)}", depth + 1, left) for key, item in value.items()
        }
    raise InvalidInputError(
        f"{where} is {type(value).__name__}, which does not go through JSON unchanged; give text, numbers, booleans, "
        "None, lists or dicts"
    )


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise InvalidInputError(f"{where} has the key {shown(key)}, which would change in JSON; keys must be text")
    return str.__str__(checked(key, f"a key of {where}", blank=True))


def plain_value(value: object, name: str) -> Any:
    """A field's value as a model can take it: None, text, a number, a time, or lists, tuples and dicts of such."""
    _walk(value, name, 0)
    return value


def _walk(value: object, name: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInputError(f"{name} is deeper than {MAX_DEPTH} levels, or contains itself; give something flatter")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _walk(key, name, depth + 1)
            _walk(item, name, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            _walk(item, name, depth + 1)
    elif isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
        raise InvalidInputError(f"{name} has a number of {value.bit_length()} bits, too long to store")
    elif value is not None and not isinstance(value, (str, int, float, datetime)) and not hasattr(value, "isoformat"):
        raise InvalidInputError(f"{name}={shown(value)} is {type(value).__name__}; give text, a number or a time")
