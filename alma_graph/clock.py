"""Time: every time in the package is UTC and aware. A naive time means UTC, whatever the zone of the process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

from alma_graph.errors import InvalidInputError, shown

Clock = Callable[[], datetime]
"""Anything that returns the current time; `system_clock` unless the caller gives another (tests, replays)."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def system_clock() -> datetime:
    """The current time, UTC and aware."""
    return datetime.now(UTC)


def to_utc(value: datetime | date | str | float, *, name: str = "time") -> datetime:
    """Reads a time: aware and naive datetimes (naive means UTC), dates (midnight), ISO 8601 text, epoch seconds.

    Raises:
        InvalidInputError: the value is no time; the message names the argument and the value.
    """
    if isinstance(value, datetime):
        try:
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        except (OverflowError, ValueError) as error:
            raise InvalidInputError(f"{name}={shown(value)} is outside the years 1 to 9999 in UTC") from error
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, bool):
        raise InvalidInputError(f"{name}={shown(value)} is no time; give a datetime, an ISO 8601 text or epoch seconds")
    if isinstance(value, (int, float)):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise InvalidInputError(f"{name}={shown(value)} is out of range for epoch seconds") from error
    if isinstance(value, str):
        try:
            return to_utc(datetime.fromisoformat(value.strip()), name=name)
        except InvalidInputError:
            raise
        except (ValueError, OverflowError) as error:
            raise InvalidInputError(
                f"{name}={shown(value)} is no ISO 8601 time; write e.g. 2026-05-01T12:00:00Z"
            ) from error
    raise InvalidInputError(f"{name}={shown(value)} is no time; give a datetime, an ISO 8601 text or epoch seconds")


def utc_clock(clock: Clock) -> Clock:
    """A caller's clock, whatever zone its times have or lack."""
    return clock if clock is system_clock else lambda: to_utc(clock(), name="clock()")


def to_micros(value: datetime) -> int:
    """Microseconds since 1970-01-01 UTC, exact."""
    delta = value - EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
