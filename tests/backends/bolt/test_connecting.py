"""What a fresh database looks like once a store is made in it, and who may open it how."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest

from alma_graph import ALMA
from alma_graph.backends import EdgeMatch, EdgeRow, NodeUpdate, UnitOfWork, create_backend, open_backend
from alma_graph.errors import InvalidInputError, ReadOnlyError, ServerError, StoreError
from alma_graph.testing.graphs import key, memory_row, unit_of
from tests.backends.bolt.conftest import Connect
from tests.servers.jars import LINES
from tests.servers.shared import ask

pytestmark = pytest.mark.engine


def test_p003_indexes_are_made_and_answer_before_the_first_write(connect: Connect, location: str) -> None:
    alma = connect()
    states = {row["name"]: row for row in ask(location, "SHOW INDEXES YIELD name, state, type")}
    made = {name: row["type"] for name, row in states.items() if name.startswith("alma_")}
    assert all(states[name]["state"] == "ONLINE" for name in made)
    assert made["alma_memory_text"] == "FULLTEXT"
    assert made["alma_memory_embedding"] == made["alma_chunk_embedding"] == "VECTOR"
    alma.add_domain_knowledge(agent="dev", domain="auth", fact="The auth service listens on port 8080.", id="one")
    assert [hit.memory.id for hit in alma.retrieve("which port has auth?").hits] == ["one"]
    found = ask(location, "CALL db.index.fulltext.queryNodes('alma_memory_text', 'auth') YIELD node RETURN node.id")
    assert [row["node.id"] for row in found] == ["one"]


def test_a_key_is_unique_by_constraint(connect: Connect, location: str) -> None:
    connect().add_domain_knowledge(agent="dev", domain="d", fact="One.", id="one")
    with pytest.raises(neo4j.exceptions.ConstraintError):
        ask(location, "MATCH (m:Memory) CREATE (:Memory {key: m.key})")


def test_values_have_the_server_s_own_types(connect: Connect, location: str) -> None:
    connect().learn(agent="dev", task="Deploy it", outcome=True, strategy_used="Slowly")
    (row,) = ask(
        location,
        "MATCH (m:Memory:Outcome) RETURN valueType(m.recorded_at) AS time, valueType(m.embedding) AS vector, "
        "m.recorded_at.timezone AS zone",
    )
    assert row["time"].startswith("ZONED DATETIME")
    assert row["vector"].startswith("LIST<FLOAT")
    assert row["zone"] in ("Z", "UTC")


def test_the_second_label_follows_the_kind(backend: Any, location: str) -> None:
    backend.write(unit_of("a"))
    assert ask(location, "MATCH (m:Memory) RETURN labels(m) AS names") == [{"names": ["Memory", "Outcome"]}]
    backend.write(UnitOfWork(node_updates=[NodeUpdate("Memory", key("a"), {"kind": "heuristic"})]))
    (row,) = ask(location, "MATCH (m:Memory) RETURN labels(m) AS names")
    assert sorted(row["names"]) == ["Heuristic", "Memory"]


@pytest.mark.parametrize("size", [7_500, 7_501, 60_000])
def test_keys_longer_than_an_index_takes(backend: Any, size: int) -> None:
    long = "k" * size
    work = unit_of("short")
    work.add_node("Memory", memory_row("long", key=long))
    work.edges.append(EdgeRow("MENTIONS", long, key("redis"), {"start_char": 0}))
    backend.write(work)
    (row,) = backend.nodes("Memory", keys=[long])
    assert row["key"] == long
    assert {edge.source for edge in backend.edges("MENTIONS", sources=[long])} == {long}
    assert {edge.source for edge in backend.edges("MENTIONS", targets=[key("redis")])} == {long, key("short")}
    assert backend.vectors("Memory", project_id="shop")[0] == sorted([long, key("short")])
    changes = UnitOfWork(node_updates=[NodeUpdate("Memory", long, {"text": "other"})], edges=[supports_of(long)])
    backend.write(changes)
    assert backend.nodes("Memory", keys=[long], columns=("text",)) == [{"text": "other"}]
    backend.write(UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", source=long)]))
    assert backend.count("SUPPORTS") == 0
    backend.write(UnitOfWork(node_deletes=[("Memory", long)]))
    assert [row["id"] for row in backend.nodes("Memory")] == ["short"]


def supports_of(source: str) -> EdgeRow:
    """An edge to the other memory."""
    return EdgeRow("SUPPORTS", source, key("short"), {"weight": 0.5})


def test_a_project_that_no_index_takes_is_refused_whole(backend: Any) -> None:
    work = unit_of("a")
    work.add_node("Memory", memory_row("b", project_id="p" * 40_000))
    with pytest.raises(InvalidInputError, match="40,000 bytes"):
        backend.write(work)
    assert backend.count("Memory") == 0
    assert backend.sequence() == 0


def test_p134_p136_tenants_share_one_database_and_nothing_else(connect: Connect) -> None:
    one, two = connect(project_id="one"), connect(project_id="two")
    for alma, port in ((one, 8080), (two, 9090)):
        alma.add_domain_knowledge(agent="dev", domain="auth", fact=f"Auth listens on port {port}.", id="same-id")
    assert [hit.memory.text for hit in one.retrieve("port of auth").hits] == ["Auth listens on port 8080."]
    assert [hit.memory.text for hit in two.retrieve("port of auth").hits] == ["Auth listens on port 9090."]
    assert one.contradictions() == two.contradictions() == []


def test_p137_every_session_is_on_the_database_that_was_named(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[Any] = []
    session = neo4j.Driver.session

    def noted(self: neo4j.Driver, **config: Any) -> Any:
        named.append(config.get("database"))
        return session(self, **config)

    monkeypatch.setattr(neo4j.Driver, "session", noted)
    monkeypatch.setenv("NEO4J_DATABASE", "neo4j")
    with ALMA.open(location, project_id="p", embedder="hashing", extractor="none") as alma:
        alma.learn(agent="dev", task="Deploy it", outcome=True, strategy_used="Slowly", id="one")
        alma.retrieve("deploy")
        alma.cypher("MATCH (m:Memory) RETURN count(*)")
        alma.doctor()
        alma.forget("one")
    assert set(named) == {"neo4j"}
    monkeypatch.setenv("NEO4J_DATABASE", "nowhere")
    with pytest.raises(ServerError, match="no database 'nowhere'"):
        ALMA.open(location, project_id="p", embedder="hashing")


def test_one_driver_for_one_way_in(location: str) -> None:
    first, second = open_backend(location), open_backend(location)
    assert first is second
    first.close()
    assert second.meta() is None
    third = open_backend(location, query_timeout=5)
    assert third is not second
    second.close()
    assert third.meta() is None
    third.close()


def test_a_database_without_a_store_is_not_opened_for_reading(location: str) -> None:
    for options in ({"read_only": True}, {"create": False}):
        with pytest.raises(InvalidInputError, match="holds no store"):
            open_backend(location, **options)


def test_a_reader_reads_what_another_writes_and_writes_nothing(connect: Connect) -> None:
    writer = connect()
    writer.add_domain_knowledge(agent="dev", domain="d", fact="First fact.", id="one")
    reader = connect(1, read_only=True)
    assert [memory.id for memory in reader.memories()] == ["one"]
    writer.add_domain_knowledge(agent="dev", domain="d", fact="Second fact.", id="two")
    assert {hit.memory.id for hit in reader.retrieve("fact").hits} == {"one", "two"}
    with pytest.raises(ReadOnlyError):
        reader.add_domain_knowledge(agent="dev", domain="d", fact="Third.")


def test_two_that_open_a_fresh_database_at_once_share_the_store(location: str) -> None:
    one, two = open_backend(location), open_backend(location, query_timeout=5)
    given: dict[str, Any] = {"dimension": 8, "embedder": "t", "embedder_revision": None, "created_with": "t"}
    one.initialise(**given)
    with pytest.raises(StoreError, match="initialised already"):
        two.initialise(**given)
    two.write(unit_of("a"))
    assert one.count("Memory") == 1
    one.close()
    two.close()


def test_the_version_is_the_server_s(location: str) -> None:
    with_name = create_backend("neo4j", location)
    assert any(with_name.engine_version().startswith(line.version) for line in LINES.values())
    with_name.close()
