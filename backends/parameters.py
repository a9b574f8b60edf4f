"""Parameters of a caller's Cypher statement, in the form that an engine takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from alma_graph.arguments import MAX_DEPTH
from alma_graph.backends.readonly import ReadStatement
from alma_graph.clock import to_utc
from alma_graph.errors import CypherError, InvalidInputError, shown

Time = Callable[[datetime], Any]
"""An aware UTC time as the engine takes it."""


def bind(statement: ReadStatement, given: Mapping[str, Any], *, time: Time) -> dict[str, Any]:
    """The parameters that the statement uses; others are left out, because one engine refuses them.

    Raises:
        CypherError: one is missing.
        InvalidInputError: a value cannot be bound.
    """
    missing = sorted(statement.parameters - set(given))
    if missing:
        raise CypherError(f"the parameter ${missing[0][:80]} has no value; give {missing[0][:80]}=...")
    return {name: bound(given[name], f"${name}", time) for name in sorted(statement.parameters)}


def bound(value: Any, where: str, time: Time, depth: int = 0) -> Any:
    """One value as the engine takes it."""
    if depth > MAX_DEPTH:
        raise InvalidInputError(
            f"{where[:80]} is deeper than {MAX_DEPTH} levels, or contains itself; bind flatter values"
        )
    if value is None or isinstance(value, (bool, int, float, str)):
        return _encodable(value, where)
    if isinstance(value, datetime):
        return time(to_utc(value, name=where))
    if isinstance(value, Mapping):
        return {
            _encodable(_name(name, where), where): bound(item, f"{where}.{shown(name, 40)}", time, depth + 1)
            for name, item in value.items()
        }
    if hasattr(value, "tolist"):
        return bound(value.tolist(), where, time, depth + 1)
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [bound(item, f"{where}[{position}]", time, depth + 1) for position, item in enumerate(items)]
    if hasattr(value, "isoformat"):
        return value
    raise InvalidInputError(f"{where} is {type(value).__name__}; bind text, numbers, times, lists or mappings")


def _name(name: Any, where: str) -> str:
    if not isinstance(name, str):
        raise InvalidInputError(f"{where} has the key {shown(name)}; the keys of a mapping must be text")
    return name


def _encodable(value: Any, where: str) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInputError(
                f"{where}={shown(value)} has a lone surrogate, which is no Unicode character"
            ) from None
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        raise InvalidInputError(f"{where}={shown(value, 40)} does not fit in 64 bits")
    return value
