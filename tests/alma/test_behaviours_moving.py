"""Behaviours asked for by users of such stores, of the kinds corruption, export-import and export-injection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alma_graph import ALMA, InvalidInputError
from tests.alma.conftest import Ticking


@pytest.fixture(params=["from the engine", "to the engine"])
def two(plain: ALMA, request: pytest.FixtureRequest) -> Iterator[tuple[ALMA, ALMA]]:
    """A store and another, on another machine as it were: one of them is in memory."""
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none", clock=Ticking()) as other:
        yield (plain, other) if request.param == "from the engine" else (other, plain)


@pytest.fixture
def first(two: tuple[ALMA, ALMA]) -> ALMA:
    """The store that is exported."""
    return two[0]


@pytest.fixture
def second(two: tuple[ALMA, ALMA]) -> ALMA:
    """The store that the file comes into."""
    return two[1]


def fact(alma: ALMA, text: str, **fields: Any) -> str:
    return alma.add_domain_knowledge("a", "d", text, **fields).id


def test_p034_a_line_that_was_cut_off_is_named_and_the_others_can_be_had(
    first: ALMA, second: ALMA, tmp_path: Path
) -> None:
    file = tmp_path / "graph.jsonl"
    ids = [fact(first, f"The service {name} runs in Lisbon.") for name in "abc"]
    first.export(file)
    lines = file.read_bytes().splitlines(keepends=True)
    whole = [number for number, line in enumerate(lines, 1) if line.startswith(b'{"node":"Memory"')]
    broken = whole[-1]
    lines[broken - 1] = lines[broken - 1][:-40] + b"\n"
    file.write_bytes(b"".join(lines))
    with pytest.raises(InvalidInputError, match=rf"line {broken}: .*--salvage"):
        ALMA.import_(file, into=second)
    assert list(second.memories()) == []
    summary = ALMA.import_(file, into=second, salvage=True)
    assert summary.problems[0].line == broken
    assert len(list(second.memories())) == 2
    assert {memory.id for memory in second.memories()} < set(ids)
    assert second.doctor().ok


def test_p034_a_file_without_its_end_gives_what_is_left(first: ALMA, second: ALMA, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    fact(first, "The service a runs in Lisbon.")
    first.export(file)
    content = file.read_bytes()
    file.write_bytes(content[:-20])
    with pytest.raises(InvalidInputError, match=f"line {len(content.splitlines())}"):
        ALMA.import_(file, into=second)
    summary = ALMA.import_(file, into=second, salvage=True)
    assert summary.failed
    assert [memory.text for memory in second.memories()] == ["The service a runs in Lisbon."]
    assert second.doctor().ok


def test_p070_odd_texts_come_back_byte_for_byte(first: ALMA, second: ALMA, tmp_path: Path) -> None:
    odd = "'single' \"double\" \\backslash\\ `tick` \n newline \r\n {brace} $x; MATCH (n) DETACH DELETE n // \u2028 😀"
    memory_id = fact(first, odd, id="id with 'quote' \\ ` \n")
    first.add_user_preference("o'brien\\", "cat`egory", odd)
    first.export(tmp_path / "graph.jsonl")
    ALMA.import_(tmp_path / "graph.jsonl", into=second)
    assert second.get(memory_id).text.encode() == odd.encode()
    assert second.get(memory_id) == first.get(memory_id)
    assert list(second.memories()) == list(first.memories())
    second.export(tmp_path / "again.jsonl")
    bodies = [(tmp_path / name).read_bytes().partition(b"\n")[2] for name in ("graph.jsonl", "again.jsonl")]
    assert bodies[0] == bodies[1]


def test_p092_an_export_after_a_write_holds_it_and_is_one_graph(first: ALMA, second: ALMA, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    one = fact(first, "The service a runs in Lisbon.")
    assert first.export(file).nodes["Memory"] == 1
    other = fact(first, "The service b runs in Porto.")
    first.relate(other, "SUPPORTS", one)
    made = first.export(file)
    assert made.nodes["Memory"] == 2
    assert made.edges["SUPPORTS"] == 1
    ALMA.import_(file, into=second)
    assert {memory.id for memory in second.memories()} == {one, other}
    assert second.doctor().ok


def test_p110_what_was_refuted_elsewhere_is_refuted_here(first: ALMA, second: ALMA, tmp_path: Path) -> None:
    for alma in (first, second):
        fact(alma, "The cache is safe to drop.", id="f")
        fact(alma, "The queue is durable.", id="g")
    first.retract("f", reason="it lost orders")
    second.retract("g", reason="it was not")
    first.export(tmp_path / "graph.jsonl")
    summary = ALMA.import_(tmp_path / "graph.jsonl", into=second, on_conflict="merge")
    assert summary.merged["Memory"] >= 1
    assert second.get("f").status == "retracted"
    assert second.get("f").retired_at == first.get("f").retired_at
    assert second.get("f").retired_reason == "it lost orders"
    assert second.get("g").status == "retracted"  # and what is active there does not bring it back here
    assert [hit.memory.id for hit in second.retrieve("Is the cache safe to drop?").hits] == []
    assert second.doctor().ok
    second.restore("f")
    assert second.get("f").status == "active"


def test_p110_without_a_merge_the_store_keeps_its_own_state(first: ALMA, second: ALMA, tmp_path: Path) -> None:
    for alma in (first, second):
        fact(alma, "The cache is safe to drop.", id="f")
    first.retract("f", reason="it lost orders")
    first.export(tmp_path / "graph.jsonl")
    summary = ALMA.import_(tmp_path / "graph.jsonl", into=second)
    assert summary.kept["Memory"] == 1
    assert second.get("f").status == "active"
