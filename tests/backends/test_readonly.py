"""Cypher of a caller only reads, whatever it says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alma_graph.backends import Backend, EdgeRow, UnitOfWork, open_backend
from alma_graph.backends.readonly import NEO4J_RULES, check_statement
from alma_graph.errors import CypherError, InvalidInputError, ReadOnlyError, UnsupportedError
from alma_graph.testing.graphs import START, batch_of, dump, key, supports
from tests.conftest import EMBEDDED, store_location


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder = tmp_path_factory.mktemp("cypher")
    opened = open_backend(store_location(folder, EMBEDDED))
    opened.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    opened.write(batch_of(["a", "b"]))
    work = UnitOfWork(edges=[supports("b", "a")])
    work.edges.append(EdgeRow("RELATES_TO", key("redis"), key("api"), {"predicate": "load", "negated": False}))
    opened.write(work)
    opened.checkpoint()
    yield opened
    opened.close()


REFUSED = [
    "CREATE (:Agent {key: 'x'})",
    "MATCH (m:Memory) SET m.status = 'x'",
    "MATCH (m:Memory) DETACH DELETE m",
    "MATCH (m:Memory) DELETE m",
    "MATCH ()-[r:MENTIONS]->() DELETE r",
    "MERGE (:Agent {key: 'x'})",
    "MATCH (m:Memory) MERGE (:Agent {key: m.key}) RETURN m",
    "MATCH (a:Memory), (b:Memory) CREATE (a)-[:SUPPORTS]->(b)",
    "UNWIND [1] AS x CREATE (:Agent {key: 'x'})",
    "WITH 'x' AS x CREATE (:Agent {key: x})",
    "CREATE NODE TABLE T(key STRING, PRIMARY KEY(key))",
    "CREATE REL TABLE T(FROM Memory TO Memory)",
    "CREATE SEQUENCE s",
    "CREATE MACRO f(x) AS x + 1",
    "DROP TABLE Memory",
    "ALTER TABLE Memory ADD x STRING",
    "COMMENT ON TABLE Memory IS 'x'",
    "COMMIT",
    "ROLLBACK",
    "BEGIN TRANSACTION",
    "CHECKPOINT",
    "COMMIT; CREATE (:Agent {key: 'x'})",
    "commit ;create (:Agent {key: 'x'});",
    "RETURN 1; COMMIT",
    "RETURN 1; CREATE (:Agent {key: 'x'})",
    "RETURN 1 /* ; */ ; /* */ COMMIT",
    "MATCH (m) RETURN m; // end\nCOMMIT; CREATE (:Agent {key: 'x'})",
    "/* c */ COMMIT",
    "// c\nCOMMIT",
    "CoMmIt/**/;CrEaTe (:Agent {key: 'x'})",
    "\u00a0COMMIT",
    "\u2003COMMIT;\u2003CREATE (:Agent {key: 'x'})",
    "COPY (MATCH (m:Memory) RETURN m.key) TO '{folder}/out.csv'",
    "/**/cOpY (MATCH (m:Memory) RETURN m.key) TO '{folder}/out.csv'",
    "COPY Agent FROM '{folder}/in.csv'",
    "EXPLAIN COPY (MATCH (m:Memory) RETURN m.key) TO '{folder}/out.csv'",
    "PROFILE COPY (MATCH (m:Memory) RETURN m.key) TO '{folder}/out.csv'",
    "PROFILE CREATE (:Agent {key: 'x'})",
    "LOAD FROM '{folder}/in.csv' RETURN *",
    "LOAD WITH HEADERS (a STRING) FROM '{folder}/in.csv' RETURN *",
    "MATCH (m:Memory) LOAD FROM '{folder}/in.csv' RETURN *",
    "MATCH (m:Memory) WITH m load/**/from '{folder}/in.csv' RETURN *",
    "UNWIND [1.5] AS x LOAD FROM '{folder}/in.csv' RETURN *",
    "RETURN 1. LOAD FROM '{folder}/in.csv' RETURN *",
    "EXPORT DATABASE '{folder}/export'",
    "IMPORT DATABASE '{folder}/export'",
    "ATTACH '{folder}/x.db' AS x (dbtype sqlite)",
    "DETACH x",
    "USE x",
    "INSTALL json",
    "LOAD EXTENSION json",
    "LOAD json",
    "UNINSTALL json",
    "CALL threads=1",
    "call /* */ THREADS = 1",
    "CALL `threads`=1",
    "CALL timeout=1 RETURN *",
    "CALL force_checkpoint_on_close=false",
    "RETURN 1. CALL threads=1",
    "MATCH (m) CALL project_graph('g', ['Memory'], ['SUPPORTS']) RETURN 1",
    "CALL PROJECT_GRAPH_CYPHER('g', 'MATCH (n:Memory) RETURN n')",
    "CALL CREATE_VECTOR_INDEX('Memory', 'i', 'embedding')",
    "CALL `CREATE_VECTOR_INDEX`('Memory', 'i', 'embedding')",
    "CALL DROP_FTS_INDEX('Memory', 'i') RETURN *",
    "CALL clear_warnings() RETURN *",
    "CALL { MATCH (m) RETURN m } RETURN 1",
    "CALL \uff54hreads=1",
    "WITH 1 AS as CALL threads=1",
    "RETURN nextval('s')",
    "RETURN `nextval`('s')",
    "FOREACH (x IN [1] | CREATE (:Agent))",
    "SHOW TABLES",
    "`MATCH` (n) RETURN n",
]


def _files(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
        if not file.name.endswith(".lock")
    }


@pytest.mark.parametrize("statement", REFUSED)
def test_what_is_not_reading_is_refused(store: Backend, statement: str) -> None:
    folder = Path(store.path or "").parent
    (folder / "in.csv").write_text("a\nb\n")
    before, graph = _files(folder), dump(store)
    with pytest.raises((ReadOnlyError, CypherError)) as caught:
        store.run(statement.replace("{folder}", str(folder)), {"project_id": "shop"})
    assert isinstance(caught.value, ReadOnlyError), caught.value
    assert dump(store) == graph
    assert _files(folder) == before


BROKEN = [
    "",
    "  ;; ",
    "// only a comment",
    "MATCH (m:Memory RETURN m",
    "MATCH (m:Memory) RETURN 'open",
    'RETURN "open',
    "RETURN `open",
    "RETURN 1 /* open",
    "MATCH (m:Nobody) RETURN m",
    "MATCH (m:Memory) RETURN m.colour",
    "RETURN $missing",
    "RETURN '\\'; COMMIT; CREATE (:Agent {key: \"x\"}) //",
    "RETURN 1 \0",
    "RETURN 'it''s'",
]


@pytest.mark.parametrize("statement", BROKEN)
def test_what_is_broken_is_a_cypher_error(store: Backend, statement: str) -> None:
    graph = dump(store)
    with pytest.raises(CypherError):
        store.run(statement, {})
    assert dump(store) == graph
    assert store.run("RETURN 1", {}).rows == ((1,),)


ALLOWED: list[tuple[str, dict[str, Any], Any]] = [
    ("RETURN 'CREATE; COMMIT; LOAD FROM x' AS text", {}, "CREATE; COMMIT; LOAD FROM x"),
    ('RETURN "it\'s; DETACH DELETE" AS text;', {}, "it's; DETACH DELETE"),
    ("RETURN 'http://x /* y */' AS url // COMMIT;", {}, "http://x /* y */"),
    ("/* COMMIT; */ RETURN 1 AS one ;  ", {}, 1),
    ("RETURN 'a\\'b; COMMIT' AS x", {}, "a'b; COMMIT"),
    ("MATCH (m:Memory {id: 'a'}) RETURN m.status AS `CREATE`", {}, "active"),
    ("MATCH (m:Memory {id: 'a'}) RETURN m.status AS `; COMMIT`", {}, "active"),
    ("MATCH (`load`:Memory {id: 'a'}) RETURN `load`.id", {}, "a"),
    ("MATCH (load:Memory) RETURN count(load)", {}, 2),
    ("MATCH (m:Memory) WITH count(*) AS call RETURN call", {}, 2),
    ("MATCH (m:Memory) WITH count(*) AS call WHERE call > 1 RETURN call ORDER BY call LIMIT 1", {}, 2),
    ("MATCH (e:Entity)-[r:RELATES_TO]->() WHERE r.predicate = 'load' RETURN e.name", {}, "redis"),
    ("MATCH (m:Memory) WHERE m.text CONTAINS $commit RETURN count(*)", {"commit": "text"}, 2),
    ("MATCH (m:Memory) WHERE m.project_id = $project_id RETURN count(*)", {"project_id": "shop", "unused": 1}, 2),
    ("OPTIONAL MATCH (m:Memory {id: 'nobody'}) RETURN m.id", {}, None),
    ("WITH 1 AS x RETURN x + 1", {}, 2),
    ("UNWIND $rows AS row RETURN sum(row.n)", {"rows": [{"n": 1}, {"n": 2}]}, 3),
    ("MATCH (m:Memory) RETURN count(*) UNION ALL MATCH (a:Agent) RETURN count(*)", {}, 2),
    ("MATCH (m:Memory) WHERE EXISTS { MATCH (m)-[:MENTIONS]->() } RETURN count(*)", {}, 2),
    ("CALL show_tables() WHERE name = 'Memory' RETURN type", {}, "NODE"),
    ("CALL table_info('Memory') WHERE name = 'key' RETURN name", {}, "key"),
    ("CALL `show_tables`() WHERE name = 'Memory' RETURN type", {}, "NODE"),
    ("EXPLAIN MATCH (m:Memory) RETURN m", {}, ...),
    ("PROFILE MATCH (m:Memory) RETURN m.id", {}, ...),
    ("RETURN $list", {"list": np.array([1.5, 2.5])}, [1.5, 2.5]),
    ("RETURN $nothing IS NULL", {"nothing": None}, True),
]


@pytest.mark.parametrize(("statement", "parameters", "expected"), ALLOWED)
def test_what_reads_runs(store: Backend, statement: str, parameters: dict[str, Any], expected: Any) -> None:
    result = store.run(statement, parameters)
    assert len(result.columns) == len(result.rows[0])
    if expected is not ...:
        assert result.rows[0][0] == expected


def test_nodes_edges_and_paths_come_without_internal_ids(store: Backend) -> None:
    result = store.run("MATCH (a:Memory)-[r:SUPPORTS]->(b:Memory) RETURN a, r, b.recorded_at, [a.id, b.id] AS ids", {})
    assert result.columns == ("a", "r", "b.recorded_at", "ids")
    node, edge, time, ids = result.rows[0]
    assert (node["_label"], node["id"], node["recorded_at"]) == ("Memory", "b", START)
    assert edge["_label"] == "SUPPORTS"
    assert edge["weight"] == 0.5
    assert not {name for name in (*node, *edge) if name.startswith("_")} - {"_label"}
    assert time == START
    assert time.tzinfo is not None
    assert ids == ["b", "a"]
    path = store.run("MATCH p = (:Memory {id: 'a'})-[:MENTIONS]->(:Entity {name: 'redis'}) RETURN p", {}).rows[0][0]
    assert [item["_label"] for item in path["nodes"]] == ["Memory", "Entity"]
    assert set(path["nodes"][1]) == {"_label", "key", "project_id", "name", "canonical", "type", "aliases"}
    assert [item["_label"] for item in path["edges"]] == ["MENTIONS"]


def test_times_are_bound_as_utc(store: Backend) -> None:
    east = START.astimezone(timezone(timedelta(hours=5, minutes=30)))
    statement = "MATCH (m:Memory) WHERE m.recorded_at = $moment RETURN count(*)"
    for when in (START, east, START.replace(tzinfo=None)):
        assert store.run(statement, {"moment": when}).rows == ((2,),)
    assert store.run("RETURN $moment", {"moment": east}).rows[0][0] == datetime(
        2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC
    )


@pytest.mark.parametrize("value", [object(), 2**63, "a\ud800"])
def test_a_parameter_that_cannot_be_bound_is_named(store: Backend, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"\$x"):
        store.run("RETURN $x", {"x": value})


def test_the_in_memory_store_names_ladybug() -> None:
    memory = open_backend(":memory:")
    with pytest.raises(UnsupportedError, match="Ladybug"):
        memory.run("RETURN 1", {})
    memory.close()


def test_the_check_itself_needs_no_engine() -> None:
    assert check_statement("MATCH (m {id: $a}) WHERE m.x = $b RETURN '$c' // $d").parameters == {"a", "b"}
    with pytest.raises(InvalidInputError, match="text"):
        check_statement(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        r"UNWIND [1] AS x \u004cOAD CSV FROM 'file:///x' AS l RETURN l",
        r"\u0055SE system MATCH (n) RETURN n",
        r"RETURN '\u0027 CALL db.createLabel(1) //'",
        r"RETURN '\\u0027'",
        r"RETURN \ 1",
    ],
)
def test_no_word_hides_in_an_escape_where_the_language_reads_it_anywhere(statement: str) -> None:
    with pytest.raises(ReadOnlyError):
        check_statement(statement, NEO4J_RULES)


def test_other_escapes_are_text() -> None:
    check_statement(r"RETURN 'it\'s \n \\'", NEO4J_RULES)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("RETURN " + "(" * 5000 + "1" + ")" * 5000, "nests"),
        ("RETURN " + "[" * 60 + "1" + "]" * 60, "nests"),
        ("RETURN " + "{a: " * 60 + "1" + "}" * 60, "nests"),
        ("RETURN " + "CASE WHEN true THEN " * 12 + "1" + " END" * 12, "CASE"),
        ("RETURN " + "CASE WHEN true THEN [" * 9 + "1" + "] END" * 9, "CASE"),
        ("RETURN " + "1 + " * 2000 + "1", "operators"),
        ("RETURN '" + "x" * 100_000 + "'", "100,000"),
    ],
)
def test_what_engines_would_parse_for_minutes_is_refused(statement: str, named: str) -> None:
    with pytest.raises(CypherError, match=named):
        check_statement(statement)


def test_what_people_write_is_not_too_deep() -> None:
    check_statement("RETURN " + "[" * 20 + "1" + "]" * 20)
    check_statement("RETURN " + "CASE WHEN true THEN " * 5 + "1" + " END" * 5)
    check_statement("MATCH (m) RETURN " + ", ".join("CASE WHEN m.case = 1 THEN (m.end) ELSE 0 END" for _ in range(50)))
    check_statement("RETURN [" + ", ".join(str(number) for number in range(10_000)) + "]")
