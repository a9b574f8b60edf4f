"""`export`, `import`, `migrate-engine` and `import-alma`, as a user calls them."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from alma_graph import ALMA
from tests.cli.conftest import Answer, call

pytestmark = pytest.mark.engine

SQL = Path(__file__).parents[1] / "importers" / "alma_0_11.sql"


def learn(store: str, task: str = "Deploy the auth service") -> Answer:
    options = ("--agent", "dev", "--outcome", "success", "--strategy", "Blue-green", "--task-type", "deploy")
    return call("learn", "--store", store, "--embedder", "hashing", "--task", task, *options)


@pytest.fixture
def target(tmp_path: Path, embedded_engine: str) -> str:
    return f"{embedded_engine}:{tmp_path / 'target.graph'}"


def test_a_store_goes_to_a_file_and_comes_back(store: str, target: str, tmp_path: Path) -> None:
    assert learn(store).code == 0
    file = str(tmp_path / "graph.jsonl.gz")
    out = call("export", store, file, "--json")
    assert out.code == 0
    assert out.json["nodes"]["Memory"] == 1
    first = call("import", file, target, "--json")
    assert first.code == 0
    assert first.json["written"]["Memory"] == 1
    second = call("import", file, target)
    assert "written: none" in second.out
    assert "already there: " in second.out
    assert call("export", target, str(tmp_path / "again.jsonl"), "--json").json["sha256"] == out.json["sha256"]
    assert call("doctor", target).code == 0
    assert call("import", file, target, "--on-conflict", "error").code == 0


def test_streams_carry_an_export(store: str, target: str, tmp_path: Path) -> None:
    learn(store)
    out = call("export", store, "-", "--json")
    assert out.code == 0
    lines = [json.loads(line) for line in out.out.splitlines()]
    assert lines[0]["alma_graph_export"] == 1
    assert lines[-1]["end"] is True
    assert json.loads(out.err.splitlines()[-1])["sha256"] == lines[-1]["sha256"]
    assert call("import", "-", target, stdin=out.out).code == 0
    zipped = gzip.compress(out.out.encode())
    assert call("import", "-", target, "--json", stdin=zipped).json["present"]["Memory"] == 1


def test_one_project_is_exported(store: str, tmp_path: Path) -> None:
    learn(store)
    call("observe", "--store", store, "--project", "other", "--session", "s", "hello")
    file = str(tmp_path / "graph.jsonl")
    assert call("export", store, file, "--json").json["nodes"]["Memory"] == 2
    assert call("export", store, file, "--project", "other", "--json").json["nodes"]["Memory"] == 1
    missing = call("export", store, file, "--project", "nobody")
    assert missing.code == 2
    assert "'nobody'" in missing.err


def test_a_damaged_file_is_named_by_its_line_and_can_be_salvaged(store: str, target: str, tmp_path: Path) -> None:
    learn(store)
    learn(store, "Deploy the mail service")
    file = tmp_path / "graph.jsonl"
    call("export", store, str(file))
    file.write_bytes(file.read_bytes()[:-30])
    refused = call("import", str(file), target)
    assert refused.code == 2
    assert "line " in refused.err
    assert "--salvage" in refused.err
    assert not (tmp_path / "target.graph").exists()
    salvaged = call("import", str(file), target, "--salvage", "--json")
    assert salvaged.code == 2
    assert salvaged.json["written"]["Memory"] == 2
    assert salvaged.json["failed"] >= 1
    assert "graph.jsonl: line " in salvaged.err
    assert salvaged.json["mended"] == []


def test_what_a_salvage_made_again_is_told(store: str, target: str, tmp_path: Path) -> None:
    learn(store)
    file = tmp_path / "graph.jsonl"
    call("export", store, str(file))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in lines if not line.startswith(b'{"node":"Agent"')))
    salvaged = call("import", str(file), target, "--salvage")
    assert salvaged.code == 2
    assert "made again of what the file had lost: joined 1 memories to their agent or user" in salvaged.out
    assert call("doctor", target).code == 0


def test_a_store_moves_to_the_other_engine_and_back(store: str, embedded_engine: str, tmp_path: Path) -> None:
    learn(store)
    other = "kuzu" if embedded_engine == "ladybug" else "ladybug"
    moved = call("migrate-engine", store, "--to", other, "--json")
    assert moved.code == 0, moved.err
    assert moved.json["target"] == f"{other}:{tmp_path / 'fresh.graph'}.{other}"
    assert moved.json["nodes"]["Memory"] == 1
    back = str(tmp_path / "back.graph")
    again = call("migrate-engine", moved.json["target"], "--to", embedded_engine, "--target", back)
    assert again.code == 0, again.err
    assert moved.json["sha256"] in again.out
    assert call("export", back, str(tmp_path / "x.jsonl"), "--json").json["sha256"] == moved.json["sha256"]
    assert sorted(file.name for file in tmp_path.iterdir() if "part" in file.name or "migrate" in file.name) == []
    taken = call("migrate-engine", store, "--to", other)
    assert taken.code == 2
    assert "is there already" in taken.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "oracle"), "'oracle' is no engine"),
        (("--to", "bolt://localhost:1", "--target", "x"), "a server needs none"),
        (("--to", "kuzu", "--target", "/nowhere/at/all.kuzu"), "there is no folder"),
    ],
)
def test_a_move_that_cannot_be_made_is_refused(store: str, arguments: tuple[str, ...], words: str) -> None:
    learn(store)
    refused = call("migrate-engine", store, *arguments)
    assert refused.code == 2
    assert words in refused.err


def test_an_absent_store_is_the_childs_error_in_one_line(tmp_path: Path, embedded_engine: str) -> None:
    refused = call("migrate-engine", str(tmp_path / "absent.graph"), "--to", embedded_engine)
    assert refused.code == 2
    assert "there is no store" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_another_process_holds_is_read_beside_it_or_named(
    store: str, embedded_engine: str, tmp_path: Path
) -> None:
    with ALMA.open(store, project_id="default", embedder="hashing", extractor="none") as alma:
        alma.add_domain_knowledge("a", "d", "A fact.")
        moved = call("migrate-engine", store, "--to", embedded_engine, "--target", str(tmp_path / "copy.graph"))
        if embedded_engine == "ladybug":
            assert moved.code == 0, moved.err
            return
        assert moved.code == 1
        assert str(os.getpid()) in moved.err
        assert moved.err.count("error: ") == 1
        assert not (tmp_path / "copy.graph").exists()
    assert call("migrate-engine", store, "--to", embedded_engine, "--target", str(tmp_path / "copy.graph")).code == 0


def test_a_server_s_credentials_are_taken_and_a_file_has_none(store: str, target: str, tmp_path: Path) -> None:
    learn(store)
    file = str(tmp_path / "graph.jsonl")
    user = ("--username", "neo4j", "--password", "secret-word")
    assert call("export", store, file).code == 0
    for arguments in (
        ("export", store, file),
        ("import", file, target),
        ("migrate-engine", store, "--to", "kuzu", "--target", str(tmp_path / "x")),
        ("export", store, file, "--raw"),
    ):
        refused = call(*arguments, *user)
        assert refused.code == 2
        assert "username" in refused.err
        assert "secret-word" not in refused.err
    nobody = "bolt://127.0.0.1:1"
    for arguments in (
        ("export", nobody, file),
        ("import", file, nobody),
        ("migrate-engine", store, "--to", nobody),
        ("migrate-engine", nobody, "--to", "kuzu", "--target", str(tmp_path / "x")),
    ):
        away = call(*arguments, *user, "--database", "graph")
        assert away.code == 1
        assert "cannot be reached" in away.err
        assert "secret-word" not in away.err


def test_almas_file_comes_in(store: str, tmp_path: Path) -> None:
    file = tmp_path / "alma.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(SQL.read_text(encoding="utf-8"))
    first = call("import-alma", str(file), store, "--embedder", "hashing", "--json")
    assert first.code == 0, first.err
    assert first.json["projects"]["shop"]["written"]["outcome"] == 5
    assert first.json["not_taken"] == {"memory_strength": 1}
    second = call("import-alma", str(file), store)
    assert "project shop: written none" in second.out
    assert call("import-alma", str(tmp_path / "absent.db"), store).code == 2
