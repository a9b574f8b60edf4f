"""Files into a store: formats, bad lines, repeats."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alma_graph.alma import ALMA
from alma_graph.errors import InvalidInputError
from alma_graph.importers import ImportReport, import_file, import_rows, load_map, read_rows


@pytest.fixture
def alma(location: str) -> Iterator[ALMA]:
    with ALMA.open(location, project_id="import", embedder="hashing", extractor="rules") as opened:
        yield opened


def rows_of(text: str | bytes, form: str = "jsonl") -> list[tuple[int, Any, bool]]:
    raw = text.encode() if isinstance(text, str) else text
    return [(row.line, row.value, row.problem is not None) for row in read_rows(io.BytesIO(raw), form)]


def outcome(task: str, **extra: Any) -> dict[str, Any]:
    return {"agent": "a", "task": task, "outcome": "success", **extra}


def jsonl(path: Path, *rows: Any) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def totals(report: ImportReport) -> tuple[int, int, int]:
    return sum(report.written.values()), sum(report.present.values()), report.failed


def test_json_lines() -> None:
    assert rows_of('{"a": 1}\n\n[2]\n') == [(1, {"a": 1}, False), (3, [2], False)]
    assert rows_of(b'\xef\xbb\xbf{"a": 1}\n') == [(1, {"a": 1}, False)]
    assert rows_of(b'{"a": 1}\n{"a": \n"\xff"\n3') == [
        (1, {"a": 1}, False),
        (2, None, True),
        (3, None, True),
        (4, 3, False),
    ]
    assert rows_of("") == []


def test_a_json_array() -> None:
    assert rows_of('[{"a": 1}, 2]', "json") == [(1, {"a": 1}, False), (2, 2, False)]
    for text in ('{"a": 1}', "[", b"\xff"):
        with pytest.raises(InvalidInputError):
            rows_of(text, "json")


def test_csv() -> None:
    assert rows_of('a,b\n1,"x, y"\n2\n3,4\n', "csv") == [
        (2, {"a": "1", "b": "x, y"}, False),
        (3, None, True),
        (4, {"a": "3", "b": "4"}, False),
    ]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="xlsx"):
        read_rows(io.BytesIO(), "xlsx")


def test_a_second_run_adds_nothing(alma: ALMA, tmp_path: Path) -> None:
    fact = {"kind": "domain_knowledge", "agent": "a", "domain": "d", "fact": "The port is 8080."}
    turn = {"kind": "observation", "session_id": "s", "text": "hello"}
    path = jsonl(tmp_path / "all.jsonl", fact, turn, turn, {"kind": "outcome", **outcome("t", id="one")})
    assert totals(import_file(alma, path, load_map("memories"))) == (4, 0, 0)
    before = alma.stats()
    report = import_file(alma, path, load_map("memories"))
    assert totals(report) == (0, 4, 0)
    assert dict(report.present) == {"domain_knowledge": 1, "observation": 2, "outcome": 1}
    assert alma.stats() == before


def test_bad_lines_are_named_and_the_rest_goes_in(alma: ALMA, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "bad.jsonl", outcome("one"), "{", outcome("two", outcome="perhaps"), outcome("three"))
    report = import_file(alma, path, load_map("outcomes"))
    assert totals(report) == (2, 0, 2)
    assert [error.line for error in report.errors] == [2, 3]
    assert "perhaps" in str(report.errors[1])


def test_a_conflict_is_the_lines_and_not_the_batchs(alma: ALMA, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "x.jsonl", outcome("one", id="a"), outcome("two", id="a"), outcome("three", id="b"))
    report = import_file(alma, path, load_map("outcomes"))
    assert totals(report) == (2, 0, 1)
    assert report.errors[0].line == 2
    assert alma.get("a").text == "one"


def test_stop_on_error_stores_what_came_before(alma: ALMA, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "x.jsonl", outcome("one"), "{", outcome("three"))
    assert totals(import_file(alma, path, load_map("outcomes"), stop_on_error=True)) == (1, 0, 1)


def test_filters_and_limit(alma: ALMA, tmp_path: Path) -> None:
    tagged = [outcome(f"task {n}", metadata={"part": n % 2, "ok": True}) for n in range(6)]
    path = jsonl(tmp_path / "x.jsonl", *tagged)
    where = {"metadata.part": "1", "metadata.ok": "true"}
    report = import_file(alma, path, load_map("outcomes"), where=where, limit=2)
    assert [memory.text for memory in alma.memories("outcome", order="recorded_at")] == ["task 3", "task 1"]
    assert report.rows == 2
    with pytest.raises(InvalidInputError, match="limit=0"):
        import_file(alma, path, load_map("outcomes"), limit=0)


def test_progress_is_told_batch_by_batch(alma: ALMA) -> None:
    text = "\n".join(json.dumps(outcome(f"task {n}")) for n in range(600))
    told: list[tuple[int, int]] = []
    rows = read_rows(io.BytesIO(text.encode()))
    import_rows(alma, rows, load_map("outcomes"), progress=lambda read, handed: told.append((read, handed)))
    assert told[-1] == (600, 600)
    assert len(told) >= 3


def test_a_missing_file_is_refused(alma: ALMA, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        import_file(alma, tmp_path / "none.jsonl", load_map("outcomes"))
