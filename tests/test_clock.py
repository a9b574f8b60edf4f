"""Times as callers give them."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.clock import EPOCH, to_micros, to_utc
from alma_graph.errors import InvalidInputError
from alma_graph.ids import formed_id, uuid7


@pytest.mark.parametrize(
    "value", [datetime(2024, 1, 2, tzinfo=UTC), date(2024, 1, 2), "2024-01-02", "2024-01-02T00:00:00+00:00", 1704153600]
)
def test_one_moment_in_many_forms(value: Any) -> None:
    assert to_utc(value) == datetime(2024, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("value", ["soon", True, None, [], 1e300, "2024-13-01", float("nan")])
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="since"):
        to_utc(value, name="since")


def test_the_zone_of_the_process_does_not_matter() -> None:
    code = "from alma_graph.clock import to_utc; print(to_utc('2026-08-28T23:30:00').isoformat())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
        ).stdout
        for zone in ("UTC", "Asia/Shanghai", "America/New_York")
    }
    assert seen == {"2026-08-28T23:30:00+00:00\n"}


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_micros_are_exact(moment: datetime) -> None:
    from datetime import timedelta

    aware = to_utc(moment)
    assert EPOCH + timedelta(microseconds=to_micros(aware)) == aware


def test_ids_grow_even_when_the_clock_stands_still() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [uuid7(now) for _ in range(10_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert all(i[14] == "7" and i[19] in "89ab" for i in ids)


def test_formed_ids_depend_on_every_part_and_on_nothing_else() -> None:
    assert formed_id("p", "heuristic", "a", "b") == formed_id("p", "heuristic", "a", "b")
    assert (
        len(
            {
                formed_id("p", "k", "a", "b"),
                formed_id("p", "k", "ab"),
                formed_id("p", "k", "b", "a"),
                formed_id("q", "k", "a", "b"),
            }
        )
        == 4
    )
