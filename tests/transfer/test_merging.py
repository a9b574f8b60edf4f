"""The union of two nodes: it can be read, a second union changes nothing, and no refutation, use or time is lost."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import NODES
from alma_graph.codec import row_to_memory
from alma_graph.testing.graphs import START, memory_row, supports
from alma_graph.transfer.merging import Likeness, likeness, merged_edge, merged_node

STATUSES = ["active", "archived", "superseded", "retracted"]
AUTHORITIES = ["inferred", "agent", "tool", "user"]
MOMENTS = st.integers(0, 5).map(lambda days: START + timedelta(days=days))
TIMES = st.none() | MOMENTS


def _row(changes: dict[str, Any]) -> Row:
    row = memory_row("m", kind="domain_knowledge", data='{"domain":"d"}', token_embeddings=None)
    every: Row = {column.name: None for column in NODES["Memory"].columns}
    changed = {**every, **row, **changes, "metadata": json.dumps(changes["metadata"])}
    start, end = changed.get("valid_from"), changed.get("valid_to")
    if start is not None and end is not None and end < start:
        changed["valid_to"] = start
    return changed


ROWS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(STATUSES),
        "authority": st.sampled_from(AUTHORITIES),
        "use_count": st.integers(0, 9),
        "valid_from": TIMES,
        "valid_to": TIMES,
        "retired_at": TIMES,
        "retired_reason": st.none() | st.text("ab", min_size=1, max_size=2),
        "retired_state": st.none(),
        "last_used_at": TIMES,
        "recorded_at": MOMENTS,
        "confidence": st.none() | st.floats(0, 1),
        "metadata": st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)),
    }
).map(_row)


@given(ours=ROWS, theirs=ROWS)
def test_a_union_holds_the_stronger_of_both_and_can_be_read(ours: Row, theirs: Row) -> None:
    united = {**ours, **merged_node(ours, theirs)}
    row_to_memory(united)
    assert united["status"] == max(ours["status"], theirs["status"], key=STATUSES.index)
    assert united["authority"] == max(ours["authority"], theirs["authority"], key=AUTHORITIES.index)
    assert united["use_count"] == max(ours["use_count"], theirs["use_count"])
    assert united["recorded_at"] == min(ours["recorded_at"], theirs["recorded_at"])
    assert json.loads(united["metadata"]) == {**json.loads(theirs["metadata"]), **json.loads(ours["metadata"])}
    assert united["text"] == ours["text"]
    if STATUSES.index(theirs["status"]) > STATUSES.index(ours["status"]):
        assert united["retired_reason"] == theirs["retired_reason"]
        assert united["retired_at"] == theirs["retired_at"]


@given(ours=ROWS, theirs=ROWS)
def test_a_second_union_changes_nothing_and_equal_nodes_have_none(ours: Row, theirs: Row) -> None:
    united = {**ours, **merged_node(ours, theirs)}
    assert merged_node(united, theirs) == {}
    assert merged_node(ours, ours) == {}
    assert likeness("Memory", ours, dict(ours)) is Likeness.SAME


def test_another_text_is_another_memory_unless_outcomes_made_it() -> None:
    one = memory_row("m", kind="domain_knowledge", data='{"domain":"d"}')
    assert likeness("Memory", one, {**one, "text": "other"}) is Likeness.OTHER
    assert likeness("Memory", one, {**one, "agent": "other"}) is Likeness.OTHER
    assert likeness("Memory", one, {**one, "confidence": 0.1}) is Likeness.STATE
    lesson = memory_row("m", kind="heuristic", data='{"strategy":"s","occurrence_count":3}')
    other = {**lesson, "text": "S", "data": '{"strategy":"S","occurrence_count":4}'}
    assert likeness("Memory", lesson, other) is Likeness.STATE


def test_a_settled_contradiction_goes_before_an_open_one() -> None:
    common = {"id": "c", "signal": "negation", "origin": "judge", "evidence": "[]", "reason": None, "resolved_at": None}
    opened = EdgeRow("CONTRADICTS", "a", "b", {**common, "disposition": "open", "score": 0.9, "recorded_at": START})
    settled = EdgeRow(
        "CONTRADICTS",
        "a",
        "b",
        {**opened.properties, "disposition": "update", "score": 0.6, "resolved_at": START, "reason": "newer"},
    )
    assert merged_edge(opened, settled) == {"disposition": "update", "resolved_at": START, "reason": "newer"}
    assert merged_edge(settled, opened) == {"score": 0.9}  # the surer finding, and still settled
    assert merged_edge(supports("a", "b"), supports("a", "b", weight=0.1)) == {}
