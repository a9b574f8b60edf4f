"""Listings: true order, stable ties, and pages that cover every memory exactly once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alma_graph import ALMA, DomainKnowledge, InvalidInputError, Memory, MemoryNotFoundError
from tests.alma.conftest import Open

START = datetime(2026, 1, 1, tzinfo=UTC)


def ids(memories: Any) -> list[str]:
    return [memory.id for memory in memories]


def filled(alma: ALMA, count: int = 60) -> None:
    """Memories whose times and numbers repeat, and are absent here and there."""
    alma.add_batch(
        [
            DomainKnowledge(
                id=f"m{(n * 37) % count:03}",
                agent="ab"[n % 2],
                domain="d",
                fact=f"fact {n}",
                confidence=None if n % 5 == 0 else (n % 4) / 4,
                strength=(n % 3) / 2,
                use_count=n % 3,
                valid_from=None if n % 7 == 0 else START + timedelta(days=n % 6, microseconds=n % 2),
                created_at=START + timedelta(days=n // 4),
            )
            for n in range(count)
        ]
    )


def key_of(order: str) -> Any:
    """What Python sorts by for the same order."""
    name, _, way = order.partition(":")
    falling = way == "desc" if way else name != "id"

    def value(memory: Memory) -> float:
        if name == "id":
            return 0.0
        if name in ("recorded_at", "valid_from"):
            time = memory.valid_from if name == "valid_from" else None
            moment = time or memory.created_at
            assert moment is not None
            return (moment - START) / timedelta(microseconds=1)
        number = getattr(memory, name)
        return float("-inf") if number is None else float(number)

    return lambda memory: (-value(memory) if falling else value(memory), memory.id)


ORDERS = [
    name + way
    for name in ("recorded_at", "valid_from", "confidence", "strength", "use_count", "id")
    for way in ("", ":asc", ":desc")
    if name + way != "id:desc"
]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_is_true_and_its_pages_cover_all_once(plain: ALMA, order: str) -> None:
    filled(plain)
    expected = sorted(plain.memories(), key=key_of(order))
    assert ids(plain.memories(order=order)) == ids(expected)
    for size in (1, 7, 60, 100):
        by_id: list[str] = []
        by_memory: list[Memory] = []
        while page := ids(plain.memories(order=order, limit=size, after=by_id[-1] if by_id else None)):
            by_id += page
        while last := list(plain.memories(order=order, limit=size, after=by_memory[-1] if by_memory else None)):
            by_memory += last
        assert by_id == ids(by_memory) == ids(expected)
    assert ids(plain.memories(agent="a", order=order)) == [memory.id for memory in expected if memory.agent == "a"]


def test_ids_fall_too(plain: ALMA) -> None:
    filled(plain, 10)
    assert ids(plain.memories(order="id:desc")) == sorted(ids(plain.memories()), reverse=True)
    assert ids(plain.memories(order="id:desc", limit=3, after="m004")) == ["m003", "m002", "m001"]


def test_a_page_goes_on_behind_a_memory_that_is_gone(open_alma: Open, engine: str) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    filled(alma, 20)
    expected = ids(alma.memories())
    last = next(memory for memory in alma.memories() if memory.id == expected[4])
    alma.retract(last.id, reason="no")
    assert ids(alma.memories(after=last.id)) == expected[5:]
    alma.forget(last.id)
    assert ids(alma.memories(after=last.id)) == expected[5:]
    assert ids(alma.memories(after=last)) == expected[5:]
    if engine != "memory":
        alma.close()
        alma = open_alma(extractor="none")
        with pytest.raises(MemoryNotFoundError, match="memory itself"):
            alma.memories(after=last.id)
        assert ids(alma.memories(after=last)) == expected[5:]


def test_what_is_retired_while_it_is_listed_is_left_out(plain: ALMA) -> None:
    filled(plain, 1200)
    listed = plain.memories(order="id")
    first = next(listed)
    plain.retract("m998", reason="no")
    plain.forget("m999")
    found = [first.id, *ids(listed)]
    assert "m998" not in found
    assert "m999" not in found
    assert len(found) == 1198


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.sampled_from(["page", "add", "forget", "retract", "restore"]), max_size=25),
    size=st.integers(1, 6),
    order=st.sampled_from(["recorded_at", "valid_from", "id", "recorded_at:asc"]),
    seed=st.integers(0, 10**6),
)
def test_pages_cover_what_stays_exactly_once_while_others_write(
    open_alma: Open, steps: list[str], size: int, order: str, seed: int
) -> None:
    alma = open_alma(embedder="hashing", extractor="none", project_id=f"p{datetime.now(UTC).timestamp()}")
    filled(alma, 20)
    stays = set(ids(alma.memories()))
    seen: list[Memory] = []
    steps = [*steps, *["page"] * 30]
    for number, step in enumerate(steps):
        pick = f"m{(seed + number * 13) % 20:03}"
        status = next((memory.status for memory in alma.memories(status=None) if memory.id == pick), None)
        if step == "page":
            seen += alma.memories(order=order, limit=size, after=seen[-1] if seen else None)
        elif step == "add":
            fresh = DomainKnowledge(
                id=f"x{number}",
                domain="d",
                fact=f"new {number}",
                created_at=START + timedelta(days=(seed + number) % 6),
            )
            alma.add_batch([fresh])
        elif step == "forget" and status is not None:
            alma.forget(pick)
            stays.discard(pick)
        elif step == "retract" and status == "active":
            alma.retract(pick, reason="no")
            stays.discard(pick)
        elif step == "restore" and status == "retracted":
            alma.restore(pick)
    assert len(seen) == len(set(ids(seen)))
    assert stays <= set(ids(seen))


def test_what_is_no_order_limit_or_cursor_is_refused_at_the_call(plain: ALMA) -> None:
    bad: list[dict[str, Any]] = [
        {"order": "text"},
        {"order": "recorded_at:up"},
        {"order": None},
        {"order": ""},
        {"limit": -1},
        {"limit": True},
        {"limit": "3"},
        {"after": ""},
        {"after": 3},
        {"status": "old"},
        {"kind": "fact"},
        {"agent": " "},
    ]
    for options in bad:
        with pytest.raises(InvalidInputError):
            plain.memories(**options)
    with pytest.raises(MemoryNotFoundError):
        plain.memories(after="nobody")
    assert list(plain.memories(limit=0)) == []
