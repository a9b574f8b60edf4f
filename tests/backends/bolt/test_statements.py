"""A caller's Cypher on a server: it reads, and comes back without the driver's own types."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from alma_graph.backends import open_backend
from alma_graph.errors import CypherError, ReadOnlyError
from alma_graph.testing.graphs import dump, unit_of
from alma_graph.testing.stores import initialised
from tests.servers.shared import ask

pytestmark = pytest.mark.engine


@pytest.fixture
def store(backend: Any) -> Any:
    """One memory with its entities."""
    backend.write(unit_of("a"))
    return backend


REFUSED = [
    "MATCH (m:Memory) SET m.text = 'x' RETURN m",
    "MATCH (m:Memory) DETACH DELETE m",
    "CALL { MATCH (m:Memory) SET m.text = 'x' RETURN m } RETURN m.id",
    "MATCH (m:Memory) CALL (m) { SET m.text = 'x' } RETURN m",
    "UNWIND [1] AS x CREATE (:Memory {key: 'x'})",
    "MATCH (m) FOREACH (x IN [1] | SET m.text = 'x')",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "UNWIND [1] AS x LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "SHOW USERS",
    "SHOW INDEXES",
    "DROP INDEX alma_memory_text",
    "CREATE INDEX x FOR (n:Memory) ON (n.text)",
    "TERMINATE TRANSACTIONS 'x'",
    "USE system MATCH (n) RETURN n",
    "CALL { USE system MATCH (n) RETURN n } RETURN n",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    "CALL dbms.killConnections(['x'])",
    "CALL dbms.listConfig() YIELD name RETURN name",
    "CALL db.awaitIndexes(1)",
    "CALL `db`.`awaitIndexes`(1)",
    "CALL db . awaitIndexes (1)",
    "CALL apoc.load.json('file:///x') YIELD value RETURN value",
    "RETURN apoc.cypher.runFirstColumnSingle('MATCH (n) RETURN n', {})",
    "RETURN `apoc`.`util`.sleep(1)",
    "MATCH (n) RETURN n; MATCH (n) DELETE n",
    "EXPLAIN CREATE (n)",
    "CYPHER 5 CREATE (n)",
    "CYPHER runtime=slotted MATCH (n) RETURN n",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_what_does_more_than_read_is_refused(store: Any, location: str, statement: str) -> None:
    before = dump(store), ask(location, "SHOW INDEXES YIELD name RETURN name ORDER BY name")
    with pytest.raises(ReadOnlyError):
        store.run(statement, {})
    assert (dump(store), ask(location, "SHOW INDEXES YIELD name RETURN name ORDER BY name")) == before


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (m:Memory) CALL (m) { MATCH (m)-[:MENTIONS]->(e) RETURN count(e) AS n } RETURN n",
        "CYPHER 5 MATCH (m:Memory) RETURN COUNT { MATCH (m)-[:MENTIONS]->() }",
        "MATCH (m:Outcome) RETURN size([(m)-[:MENTIONS]->(e) | e.name])",
        "CALL db.labels() YIELD label WITH label WHERE label = 'Memory' RETURN 2",
        "MATCH (call:Memory) WITH call, call.use_count AS use RETURN 2 ORDER BY use",
        "WITH 2 AS load RETURN load AS load",
    ],
)
def test_what_the_language_can_read_is_taken(store: Any, statement: str) -> None:
    assert store.run(statement, {}).rows == ((2,),)


def test_values_come_back_plain(store: Any) -> None:
    moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
    (row,) = store.run(
        "RETURN $when, date('2026-01-02'), duration('P1DT2H'), [1, {a: $when}], null", {"when": moment}
    ).rows
    assert row == (moment, date(2026, 1, 2), "P1DT2H", [1, {"a": moment}], None)
    assert row[0].tzinfo is UTC
    statement = "MATCH p = (m:Memory)-[r:MENTIONS]->(e {name: 'redis'}) RETURN m, r, p"
    ((memory, edge, path),) = store.run(statement, {}).rows
    assert (memory["_label"], memory["id"]) == ("Memory", "a")
    assert edge["_label"] == "MENTIONS"
    assert path == {"nodes": [memory, path["nodes"][1]], "edges": [edge]}
    assert not [name for name in memory if "element" in name or name == "full_key"]


def test_what_takes_too_long_is_ended(location: str) -> None:
    store = initialised(open_backend(location, query_timeout=1.0))
    with pytest.raises(CypherError, match="longer than query_timeout=1"):
        store.run("UNWIND range(1, 100000000) AS x UNWIND range(1, 100000000) AS y RETURN count(*)", {})
    assert store.run("RETURN 1", {}).rows == ((1,),)
    store.close()


@pytest.mark.parametrize("statement", ["MATCH (m:Memory RETURN m", "RETURN nothing", "RETURN 1/0", "RETURN $absent"])
def test_what_the_server_refuses_is_the_caller_s_error(store: Any, statement: str) -> None:
    with pytest.raises(CypherError):
        store.run(statement, {})
