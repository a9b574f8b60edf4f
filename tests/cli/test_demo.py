"""The demo: its data, its folder, its story."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from alma_graph.backends.locks import FileLock
from alma_graph.importers import load_map
from tests.cli.conftest import call


def notes() -> list[dict[str, str]]:
    text = (files("alma_graph.cli") / "demo_team.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_the_notes_are_valid_and_in_the_order_of_their_times() -> None:
    rows = notes()
    field_map = load_map("memories")
    memories = [draft.memory for line, row in enumerate(rows, 1) for draft in field_map.drafts(row, line)]
    assert len({memory.id for memory in memories}) == len(rows)
    times = [memory.valid_from for memory in memories if memory.valid_from is not None]
    assert len(times) == len(rows)
    assert {moment.year for moment in times} == {2026}
    canary = [row["outcome"] for row in rows if "canary" in row.get("strategy_used", "")]
    assert (canary.count("success"), canary.count("failure")) == (8, 2)


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "team.graph").write_text("precious")
    answer = call("demo", "--folder", str(theirs), "--embedder", "hashing")
    assert answer.code == 2
    assert "left alone" in answer.err
    assert [path.name for path in theirs.iterdir()] == ["team.graph"]
    assert (theirs / "team.graph").read_text() == "precious"


def test_two_demos_never_share_a_folder(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    place.mkdir()
    other = FileLock(str(place / ".alma-demo"))
    assert other.acquire()
    try:
        answer = call("demo", "--folder", str(place), "--embedder", "hashing")
    finally:
        other.release()
    assert answer.code == 1
    assert "another demo" in answer.err


@pytest.mark.slow
def test_the_story(tmp_path: Path, embedded_engine: str) -> None:
    place = tmp_path / "demo"
    chosen = ("--folder", str(place), "--engine", embedded_engine, "--embedder", "hashing")
    first = call("demo", *chosen)
    assert first.code == 0, first.err
    assert "8 of 10" in first.out
    assert "3 of 3 failed; established" in first.out
    for words in ("25 MB", "9090", "evidence: ", "score", "MATCH (m:Memory", "graph.html"):
        assert words in first.out
    page = (place / "graph.html").read_text(encoding="utf-8")
    assert "<svg" in page or "<canvas" in page
    (place / "mine.txt").write_text("kept")
    second = call("demo", *chosen, "--json")
    assert second.code == 0
    assert second.json["ingested"]["written"]["outcome"] == 37
    assert second.json["ingested"]["present"] == {}
    assert {(item["newer"]["id"], item["older"]["id"]) for item in second.json["contradictions"]} >= {
        ("limit-tester", "limit-builder"),
        ("port-new", "port-old"),
    }
    assert (place / "mine.txt").read_text() == "kept"
    where = ("--store", str(place / "team.graph"), "--project", "parcel-shop")
    assert call("stats", *where, "--json").json["memories"] == second.json["stats"]["memories"]
