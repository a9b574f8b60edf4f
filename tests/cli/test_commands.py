"""Every command as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alma_graph.cli.app import COMMANDS, cli
from alma_graph.embedding.weights import find_weights
from alma_graph.queries import load_catalogue
from tests.cli.conftest import Answer, call

pytestmark = pytest.mark.engine

PROMISED = {
    *("init", "demo", "learn", "observe", "ingest", "retrieve", "contradictions"),
    *("why", "cypher", "query", "stats", "doctor", "models"),
}
DEPLOY = (
    "--agent",
    "dev",
    "--task",
    "Deploy the auth service",
    "--strategy",
    "Blue-green deployment",
    "--task-type",
    "deploy",
)


def shop(store: str) -> tuple[str, ...]:
    return ("--store", store, "--project", "shop")


def learn(store: str, *more: str) -> Answer:
    return call("learn", "--store", store, "--embedder", "hashing", *DEPLOY, *more)


def test_help_lists_every_command() -> None:
    answer = call("--help")
    assert answer.code == 0
    assert set(COMMANDS) >= PROMISED
    assert all(name in answer.out for name in PROMISED)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str) -> None:
    answer = call(name, "--help")
    assert answer.code == 0
    assert len(answer.out) > 100
    leaf = answer if name != "models" else call("models", "fetch", "--help")
    assert "--json" in leaf.out


def test_options_are_documented() -> None:
    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", None), f"{name} {parameter.name}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("fly",),
        ("stats", "--colour"),
        ("learn", "--agent", "dev"),
        ("retrieve", "--store", "x.graph", "-k", "many", "task"),
        ("stats",),
        ("ingest",),
        ("query", "no-such-query", "--store", "x.graph"),
        ("query", "evidence-of", "--store", "x.graph"),
        ("query", "sessions", "limit=-1", "--store", "x.graph"),
        ("query", "sessions", "limit", "--store", "x.graph"),
        ("demo", "--folder", "/dev/null"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    assert list(tmp_path.iterdir()) == []


def test_learn_says_what_was_formed(store: str) -> None:
    for at in range(2):
        answer = learn(store, "--outcome", "success", "--id", f"run-{at}")
        assert answer.code == 0
        assert "stored Deploy the auth service" in answer.out
        assert "supports" not in answer.out
    answer = learn(store, "--outcome", "Success", "--metadata", '{"ticket": 7}', "--json")
    assert answer.json["stored"]["outcome"] == "success"
    assert answer.json["stored"]["metadata"] == {"ticket": 7}
    (lesson,) = answer.json["formed"]
    assert lesson["relation"] == "supports"
    assert lesson["memory"]["kind"] == "heuristic"
    assert lesson["memory"]["success_count"] == 3
    assert "confidence 0." in learn(store, "--outcome", "success").out


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (("--outcome", "perhaps"), "perhaps"),
        (("--outcome", "success", "--metadata", "[1]"), "JSON object"),
        (("--outcome", "success", "--metadata", "{"), "no JSON"),
        (("--outcome", "success", "--occurred-at", "yesterday"), "yesterday"),
        (("--outcome", "success", "--duration-ms", "-1"), "duration_ms"),
    ],
)
def test_learn_refuses_what_it_cannot_take(store: str, more: tuple[str, ...], complaint: str) -> None:
    answer = learn(store, *more)
    assert (answer.code, answer.out) == (2, "")
    assert complaint in answer.err


def test_the_same_id_with_other_fields_is_a_conflict(store: str) -> None:
    assert learn(store, "--outcome", "success", "--id", "x").code == 0
    assert learn(store, "--outcome", "success", "--id", "x").code == 0
    assert learn(store, "--outcome", "failure", "--id", "x").code == 2
    assert call("stats", "--store", store, "--json").json["memories"] == 1


def test_observe_takes_words_or_stdin(store: str) -> None:
    said = ("observe", "--store", store, "--embedder", "hashing", "--session", "s", "--speaker", "Ann", "--json")
    assert call(*said, "Hello", "there").json["stored"]["text"] == "Hello there"
    assert call(*said, "-", stdin="from a pipe\n").json["stored"]["text"] == "from a pipe"
    assert call(*said, "-", stdin="").code == 2


def test_init_is_remembered_by_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedded_engine: str
) -> None:
    monkeypatch.chdir(tmp_path)
    store = f"{embedded_engine}:.alma/notes/agent.graph"
    answer = call("init", "--project", "shop 'q'", "--embedder", "hashing", "--store", store)
    assert answer.code == 0
    assert (tmp_path / ".alma" / "config.yaml").is_file()
    assert call("learn", *DEPLOY, "--outcome", "success").code == 0
    stats = call("stats", "--json").json
    assert (stats["memories"], stats["project_id"]) == (1, "shop 'q'")
    assert call("stats", "--project", "other", "--json").json["memories"] == 0
    again = call("init", "--json")
    assert again.code == 0
    assert again.json["created"] is False
    assert call("init", "--project", "another").code == 2
    assert call("stats", "--json").json["memories"] == 1


def test_store_and_project_come_from_options_group_and_environment(filled: str) -> None:
    assert call("stats", *shop(filled), "--json").json["memories"] == 10
    assert call("stats", "--json", ALMA_GRAPH_STORE=filled, ALMA_GRAPH_PROJECT="shop").json["memories"] == 10
    assert call("--store", filled, "--project", "shop", "stats", "--json").json["memories"] == 10
    overruled = call("--project", "shop", "stats", "--project", "none", "--json", ALMA_GRAPH_STORE=filled)
    assert overruled.json["memories"] == 0


def test_reading_makes_no_store(tmp_path: Path) -> None:
    missing = tmp_path / "none.graph"
    for command in (
        ("stats",),
        ("retrieve", "x"),
        ("contradictions",),
        ("why", "x"),
        ("cypher", "RETURN 1"),
        ("doctor",),
    ):
        answer = call(*command, "--store", str(missing))
        assert answer.code in (1, 2)
        assert answer.err.startswith("error: ")
    assert list(tmp_path.glob("none.graph")) == []


def test_a_file_that_is_no_store_is_a_store_problem(tmp_path: Path) -> None:
    broken = tmp_path / "broken.graph"
    broken.write_bytes(b"not a store at all" * 100)
    for command in ("stats", "doctor"):
        answer = call(command, "--store", str(broken))
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("error: ")
    assert broken.read_bytes() == b"not a store at all" * 100


def test_retrieve(filled: str) -> None:
    task = ("deploy", "the", "auth", "service")
    answer = call("retrieve", *shop(filled), "--explain", "-k", "3", *task)
    assert answer.code == 0
    assert answer.out.startswith("1. ")
    assert "score = " in answer.out
    hits = call("retrieve", *shop(filled), "--json", "-k", "3", *task).json["hits"]
    assert 0 < len(hits) <= 3
    for hit in hits:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"])
    kinds = call("retrieve", *shop(filled), "--json", "--kind", "heuristic", *task).json["hits"]
    assert {hit["memory"]["kind"] for hit in kinds} == {"heuristic"}
    assert "Blue-green" in call("retrieve", *shop(filled), "--prompt", *task).out
    assert "nothing relevant" in call("retrieve", *shop(filled), "zebra").out
    for bad in (("-k", "0"), ("--kind", "thought"), ("--as-of", "soon"), ("--token-budget", "0")):
        assert call("retrieve", *shop(filled), *bad, *task).code == 2


def test_contradictions(filled: str) -> None:
    found = call("contradictions", *shop(filled), "--json").json
    assert [(item["newer"]["id"], item["older"]["id"]) for item in found] == [("new", "old")]
    told = call("contradictions", *shop(filled)).out
    assert "port 9090" in told
    assert told.endswith("1 contradiction\n")
    assert call("contradictions", *shop(filled), "--agent", "nobody", "--json").json == []
    assert call("contradictions", *shop(filled), "--disposition", "settled").code == 2


def test_why(filled: str) -> None:
    lesson = call("query", *shop(filled), "strategies-that-work", "--json").json[0]["memory_id"]
    explained = call("why", *shop(filled), lesson, "--json").json
    assert [link["memory"]["id"] for link in explained["supported_by"]] == ["run-0", "run-1", "run-2"]
    assert "supported by outcome run-0" in call("why", *shop(filled), lesson).out
    missing = call("why", *shop(filled), "nothing")
    assert missing.code == 2
    assert "nothing" in missing.err


def test_cypher(filled: str) -> None:
    counted = "MATCH (m:Memory {project_id: $project_id}) WHERE m.kind = $kind RETURN count(m) AS n"
    assert call("cypher", *shop(filled), counted, "-p", "kind=outcome", "--json").json == [{"n": 5}]
    assert "1 row" in call("cypher", *shop(filled), counted, "-p", "kind=outcome").out
    assert call("cypher", *shop(filled), "-", "--json", stdin="RETURN 1 AS one").json == [{"one": 1}]
    typed = call("cypher", *shop(filled), "RETURN $a AS a, $b AS b", "-p", "a=3", "-p", "b=[1, 2]", "--json")
    assert typed.json == [{"a": 3, "b": [1, 2]}]
    before = call("stats", *shop(filled), "--json").json
    for refused in (
        "MATCH (m:Memory) DETACH DELETE m",
        "COMMIT; CREATE (:Agent {key: 'x'})",
        "MATCH (",
        "RETURN $missing",
    ):
        assert call("cypher", *shop(filled), refused).code == 2
    assert call("stats", *shop(filled), "--json").json == before


def test_query(filled: str) -> None:
    listed = call("query", "--json").json
    assert [query["name"] for query in listed] == list(load_catalogue())
    assert "contradiction-map" in call("query").out
    (row,) = call("query", *shop(filled), "contradiction-map", "limit=5", "-p", "min_score=0.1", "--json").json
    assert (row["newer_id"], row["older_id"]) == ("new", "old")
    suggestion = call("query", *shop(filled), "contradiction-maps")
    assert suggestion.code == 2
    assert "did you mean 'contradiction-map'" in suggestion.err


def test_stats_and_doctor(filled: str) -> None:
    told = call("stats", *shop(filled)).out
    assert "memories: 10" in told
    assert "outcome 5" in told
    examined = call("doctor", filled)
    assert examined.code == 0
    assert "round trip" in examined.out
    assert examined.out.endswith("all is well\n")
    assert all(check["ok"] for check in call("doctor", "--store", filled, "--json").json["checks"])
    assert call("stats", *shop(filled), "--json").json["memories"] == 10


@pytest.mark.skipif(find_weights() is None, reason="the model's weights are not installed, and tests fetch nothing")
def test_models_fetch_finds_what_is_there() -> None:
    answer = call("models", "fetch", "--json")
    assert answer.code == 0
    assert Path(answer.json["folder"]).is_dir()


def test_a_stored_text_cannot_steer_the_terminal(filled: str) -> None:
    for command in (("retrieve", "naïve café"), ("why", "odd"), ("query", "recent-memories")):
        answer = call(command[0], *shop(filled), *command[1:])
        assert "café" in answer.out
        assert "\x1b" not in answer.out


class TestIngest:
    """Files in, by maps."""

    def rows(self, path: Path, *rows: Any) -> str:
        path.write_text(
            "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
        )
        return str(path)

    def test_twice_adds_nothing(self, store: str, tmp_path: Path) -> None:
        file = self.rows(tmp_path / "x.jsonl", *({"task": f"t{n}", "outcome": n > 1, "n": n % 2} for n in range(4)))
        mapping = tmp_path / "mine.yaml"
        mapping.write_text(
            "memories: [{kind: outcome, fields: {agent: a, task: $.task, "
            "outcome: {path: $.outcome, values: {true: success, false: failure}}}}]"
        )
        ingest = ("ingest", file, "--map", str(mapping), "--store", store, "--embedder", "hashing")
        first = call(*ingest)
        assert first.code == 0
        assert "written: 4 (4 outcome)" in first.out
        assert "ingest: 4 rows" in first.err
        second = call(*ingest, "--json")
        assert second.json["written"] == {}
        assert second.json["present"] == {"outcome": 4}
        assert call(*ingest, "--where", "n=1", "--json").json["rows"] == 2
        assert call(*ingest, "--limit", "3", "--json").json["rows"] == 3
        assert call("stats", "--store", store, "--json").json["by_kind"] == {"outcome": 4}

    def test_bad_lines_are_reported_by_number(self, store: str, tmp_path: Path) -> None:
        good = {"task": "t", "outcome": "success"}
        file = self.rows(tmp_path / "x.jsonl", good, "{", {"task": "u", "outcome": "?"}, dict(good, task="v"))
        ingest = ("ingest", file, "--map", "outcomes", "--set", "agent=ci", "--store", store, "--embedder", "hashing")
        answer = call(*ingest)
        assert answer.code == 2
        assert "line 2: " in answer.err
        assert "line 3: " in answer.err
        assert "written: 2" in answer.out
        assert "bad lines: 2" in answer.out
        stopped = call(*ingest, "--on-error", "stop", "--json")
        assert (stopped.json["failed"], stopped.json["present"]) == (1, {"outcome": 1})

    def test_stdin_and_formats(self, store: str, tmp_path: Path) -> None:
        ingest = ("--map", "observations", "--store", store, "--embedder", "hashing", "--json")
        turn = {"session_id": "s", "text": "東京"}
        assert call("ingest", "-", *ingest, stdin=json.dumps(turn)).json["written"] == {"observation": 1}
        array = tmp_path / "x.json"
        array.write_text(json.dumps([turn]), encoding="utf-8")
        assert call("ingest", str(array), *ingest).json["present"] == {"observation": 1}
        table = tmp_path / "x.csv"
        table.write_text('session_id,text\ns,"a, b"\n', encoding="utf-8")
        assert call("ingest", str(table), *ingest).json["written"] == {"observation": 1}

    def test_what_cannot_be_read_is_refused_before_a_store_is_made(self, tmp_path: Path) -> None:
        file = self.rows(tmp_path / "x.jsonl", {})
        store = tmp_path / "s.graph"
        for arguments in ((str(tmp_path / "no.jsonl"), "--map", "outcomes"), (file, "--map", "nope"), (file,)):
            answer = call("ingest", *arguments, "--store", str(store))
            assert answer.code == 2
            assert answer.err.startswith("error: ")
        assert not store.exists()

    def test_maps_are_listed(self) -> None:
        names = {item["name"] for item in call("ingest", "--list-maps", "--json").json}
        assert {"tau", "reflexion", "locomo-turns", "outcomes", "observations", "memories"} <= names
        assert "tau-bench" in call("ingest", "--list-maps").out


def test_a_mistyped_project_is_told_with_those_that_there_are(filled: str, store: str) -> None:
    for asked in (("stats", "--json"), ("retrieve", "Deploy the auth service", "--json")):
        done = call(*asked, "--store", filled, "--project", "shpo")
        assert done.code == 0
        assert done.json
        assert "warning: the store has no project 'shpo'; its projects are shop\n" in done.err
        assert "no project" not in call(*asked, "--store", filled, "--project", "shop").err
    call(
        "observe", "--store", store, "--embedder", "hashing", "--agent", "a", "--session", "s", "--project", "p", "Hi."
    )
    assert "its projects are p\n" in call("stats", "--store", store).err
