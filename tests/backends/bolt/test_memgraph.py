"""Memgraph's dialect, as far as it can be held without a server: what it sends, and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from alma_graph.backends import BACKENDS, EDGES, NODES, EdgeRow
from alma_graph.backends.bolt import candidates
from alma_graph.backends.bolt.backend import BoltBackend
from alma_graph.backends.bolt.dialect import NEO4J, UNIQUE
from alma_graph.backends.bolt.dialects import SCHEMES
from alma_graph.backends.bolt.memgraph import MEMGRAPH
from alma_graph.backends.bolt.schema import drop_index, make_indexes, migrate
from alma_graph.backends.bolt.settings import server_settings
from alma_graph.backends.bolt.values import bound, read_value
from alma_graph.backends.candidates import EVERY_MEMORY, Wanted
from alma_graph.backends.maintenance import MemoryVectors, VectorSpace
from alma_graph.backends.migrations import MIGRATIONS
from alma_graph.backends.protocol import EdgeMatch, NodeUpdate
from alma_graph.backends.readonly import check_statement
from alma_graph.backends.schema import ColumnType
from alma_graph.errors import ReadOnlyError, StoreChangedError
from alma_graph.queries.loader import load_catalogue
from alma_graph.testing.graphs import key, memory_row, supports, unit_of, vector
from tests.backends.bolt.memgraph_grammar import NotInGrammarError, check
from tests.backends.bolt.recording import DIMENSION, Recorder

TIME = datetime(2026, 5, 1, 12, tzinfo=UTC)
VECTORS = "CALL vector_search.show_index_info() YIELD index_name, dimension RETURN index_name, dimension"


def test_its_scheme_is_told_to_the_driver_as_bolt() -> None:
    assert "memgraph" in BACKENDS
    assert SCHEMES["memgraph"] is MEMGRAPH
    for security in ("", "+s", "+ssc"):
        found = server_settings(f"memgraph{security}://host:7687", read_only=False, options={})
        assert (found.uri, found.shown) == (f"bolt{security}://host:7687", f"memgraph{security}://host:7687")
    by_name = server_settings("bolt://host", engine="memgraph", read_only=False, options={})
    assert by_name.dialect is MEMGRAPH


def test_its_indexes_are_made_once() -> None:
    wanted = MEMGRAPH.schema(384)
    assert wanted["unique Memory(key)"] == "CREATE CONSTRAINT ON (n:`Memory`) ASSERT n.`key` IS UNIQUE"
    assert '"dimension": 384' in wanted["alma_memory_embedding"]
    there: dict[str, list[list[Any]]] = {
        "SHOW INDEX INFO": [
            ["label+property", "Memory", "key", 3],
            ["label+property", "Memory", ["project_id"], 3],
            ["label_text (name: alma_memory_text)", "Memory", ["text"], None],
        ],
        "SHOW CONSTRAINT INFO": [["unique", "Memory", ["key"], None]],
        VECTORS: [["alma_memory_embedding", 384]],
    }
    missing = wanted.keys() - MEMGRAPH.index_names(lambda statement: there[statement])
    known = {"unique Memory(key)", "Memory(key)", "Memory(project_id)", "alma_memory_text", "alma_memory_embedding"}
    assert missing == wanted.keys() - known
    assert MEMGRAPH.drop_index("Memory(key)") == "DROP INDEX ON :`Memory`(`key`)"
    assert MEMGRAPH.drop_index("alma_memory_embedding") == "DROP VECTOR INDEX alma_memory_embedding"
    assert MEMGRAPH.drop_index("alma_memory_text") == "DROP TEXT INDEX alma_memory_text"


def test_bytes_make_the_round_trip_as_text() -> None:
    for value in (b"", bytes(range(256))):
        sent = bound(ColumnType.BYTES, value, bytes_as_text=True)
        assert isinstance(sent, str)
        assert read_value(ColumnType.BYTES, sent) == value
        assert read_value(ColumnType.BYTES, bound(ColumnType.BYTES, value)) == value


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (n) SET n.x = 1 RETURN n",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) WITH n CREATE (m:Memory) RETURN m",
        "MATCH (n) REMOVE n.text RETURN n",
        "MATCH (n) FOREACH (x IN [1] | SET n.x = x)",
        "CALL { MATCH (n) DELETE n }",
        "CALL mg.load_all() YIELD * RETURN 1",
        "LOAD CSV FROM 'x' NO HEADER AS row RETURN row",
        "DROP GRAPH",
    ],
)
def test_writing_is_refused_by_words_since_the_server_does_not(statement: str) -> None:
    with pytest.raises(ReadOnlyError):
        check_statement(statement, MEMGRAPH.rules)


@pytest.mark.parametrize(
    "statement",
    ["MATCH (m:Memory) RETURN m.set, m.delete AS removed", "MATCH (n) WHERE n.text CONTAINS 'create (x)' RETURN n"],
)
def test_reading_is_not(statement: str) -> None:
    assert check_statement(statement, MEMGRAPH.rules).text == statement


@pytest.fixture
def recorder() -> Recorder:
    """A store with three memories, a, b and f, and no server."""
    return Recorder("memgraph://host", (key("a"), key("b"), key("f")))


@pytest.fixture
def store(recorder: Recorder) -> BoltBackend:
    """The backend on it."""
    made = BoltBackend(recorder, lambda: None)  # type: ignore[arg-type]
    made.initialise(dimension=DIMENSION, embedder="hashing", embedder_revision=None, created_with="test")
    return made


def write_all(store: BoltBackend) -> None:
    """A unit of work with everything that one can hold."""
    work = unit_of("c")
    work.add_node("Memory", memory_row("d", kind="something else", embedding=None, token_embeddings=None))
    work.add_node("Chunk", {"key": key("c#0"), "project_id": "shop", "position": 0, "embedding": vector(1)})
    work.edges += [supports("c", "a"), EdgeRow("HAS_CHUNK", key("c"), key("c#0"))]
    work.node_updates += [
        NodeUpdate("Memory", key("a"), {"kind": "outcome", "embedding": vector(2), "token_embeddings": b"\0\xff"}),
        NodeUpdate("Memory", key("b"), {"kind": "something else", "valid_to": None}),
    ]
    where = {"origin": "test", "retired_at": None}
    work.edge_updates.append((EdgeMatch("SUPPORTS", source=key("a"), where=where), {"retired_at": TIME}))
    work.edge_deletes += [EdgeMatch("MENTIONS", target=key("x")), EdgeMatch("SUPPORTS", key("a"), key("b"))]
    work.node_deletes += [("Memory", key("f")), ("Entity", key("x"))]
    store.write(work)
    with pytest.raises(StoreChangedError):
        store.write(unit_of("e"), expected=7)  # which takes a turn


def read_all(store: BoltBackend) -> None:
    """Every read of the protocol."""
    for label in NODES:
        store.nodes(label)
        store.nodes(label, project_id="shop")
        store.nodes(label, keys=[key("x")])
        store.count(label, project_id="shop")
    for name in EDGES:
        store.edges(name)
        store.edges(name, project_id="shop", sources=[key("a")])
        store.edges(name, targets=[key("a")])
        store.edges(name, sources=[key("a")], targets=[key("b")])
        store.count(name, project_id="shop")
    store.tally("Memory", ("kind", "status"), project_id="shop")
    store.changes(0)
    everything = {"begun_by": TIME, "over_after": TIME, "since": TIME, "until": TIME}
    for wanted in (
        EVERY_MEMORY,
        Wanted({"outcome"}, {"active"}, {"builder"}, "ana", **everything),
        Wanted(agents={"b"}),
    ):
        for label in ("Memory", "Chunk"):
            store.vector_candidates(label, vector(1), 3, "shop", wanted)
            candidates._wanted_of(store._connection, MEMGRAPH, label, [(key("a"), 1.0)], wanted)  # type: ignore[arg-type]
        store.text_candidates("which port", 3, "shop", wanted)
    store.vectors("Memory", project_id="shop")


def embed(rows: Any) -> list[MemoryVectors]:
    """Wider vectors of rows, with bytes and a chunk."""
    chunk = {"key": key("c#1"), "project_id": "shop", "position": 0, "embedding": np.ones(16, dtype=np.float32)}
    return [MemoryVectors(np.ones(16, dtype=np.float32), b"\0\xff", [chunk]) for _ in rows]


def test_every_statement_is_of_its_grammar(store: BoltBackend, recorder: Recorder) -> None:
    write_all(store)
    read_all(store)
    recorder.indexes[VECTORS] = [["alma_memory_embedding", DIMENSION], ["alma_chunk_embedding", DIMENSION]]
    store.replace_vectors(VectorSpace(16, "another", None), embed)
    there = [["label+property", label, "key", 3] for label in UNIQUE]
    recorder.indexes["SHOW INDEX INFO"] = [*there, ["label_text (name: alma_memory_text)", "Memory", ["text"], None]]
    store.inspect()
    store.tidy()
    store.rebuild()
    store.engine_version()
    migrate(recorder, {"schema_version": 0}, MIGRATIONS)  # type: ignore[arg-type]
    sent = {statement for statement, _ in recorder.sent}
    for statement in sent:
        check(statement)
    for begun in ("CREATE VECTOR", "DROP VECTOR", "DROP TEXT", "DROP INDEX", "CALL vector_search.search", "CALL text_"):
        assert [statement for statement in sent if statement.startswith(begun)], begun
    exercised = {
        "outDegree(n)",
        "inDegree(n)",
        "n.`staged_tokens`",
        "CASE",
        "DETACH DELETE",
        "$oldest",
        "$gone",
        "SET e +=",
    }
    assert not [part for part in exercised if not any(part in statement for statement in sent)]


def test_every_query_of_the_catalogue_is_of_its_grammar() -> None:
    for query in load_catalogue().values():
        check(check_statement(query.statement, MEMGRAPH.rules).text)


def kinds(value: Any) -> set[type]:
    """The types within a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {type(value)}.union(*map(kinds, inner))


def test_no_bytes_are_sent(store: BoltBackend, recorder: Recorder) -> None:
    write_all(store)
    store.replace_vectors(VectorSpace(16, "another", None), embed)
    assert "AP8=" in str(recorder.sent)
    assert not [given for _, given in recorder.sent if bytes in kinds(given)]


def test_turns_are_counted_in_its_microseconds(store: BoltBackend, recorder: Recorder) -> None:
    write_all(store)
    store.replace_vectors(VectorSpace(16, "another", None), embed)
    assert {given["span"] for _, given in recorder.sent if "span" in given} == {3_000_000, 10_000_000}


@pytest.mark.parametrize("there", [True, False])
def test_a_vector_index_is_dropped_only_where_it_is(store: BoltBackend, recorder: Recorder, there: bool) -> None:
    recorder.indexes[VECTORS] = [["alma_memory_embedding", DIMENSION]] if there else []
    recorder.sent.clear()
    drop_index(recorder, "alma_memory_embedding")  # type: ignore[arg-type]
    dropped = [statement for statement, _ in recorder.sent if statement.startswith("DROP")]
    assert dropped == (["DROP VECTOR INDEX alma_memory_embedding"] if there else [])


def test_an_index_of_another_dimension_is_made_anew(store: BoltBackend, recorder: Recorder) -> None:
    recorder.indexes[VECTORS] = [["alma_memory_embedding", 5], ["alma_chunk_embedding", DIMENSION], ["other", 7]]
    recorder.sent.clear()
    make_indexes(recorder, DIMENSION)  # type: ignore[arg-type]
    about = [statement for statement, _ in recorder.sent if " VECTOR INDEX " in statement]
    assert [statement.split(" ON ")[0] for statement in about] == [
        "DROP VECTOR INDEX alma_memory_embedding",
        "CREATE VECTOR INDEX alma_memory_embedding",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        # Memgraph's issues 4371, 4414 and 4809: refused where the WHERE inside compares with a variable outside.
        "MATCH (c:`A`) WHERE NOT EXISTS { MATCH (n:`B`) WHERE n.`key` = c.`owner` } DELETE c",
        # COUNT { } is newer than what is asked of the server; inDegree(n) is documented for every version.
        "MATCH (n:`A`) RETURN sum(COUNT { (n)-[:`T`]->() })",
        "DROP INDEX alma_memory_embedding IF EXISTS",
        "CREATE INDEX i IF NOT EXISTS FOR (n:`A`) ON (n.`key`)",
        "SHOW INDEXES YIELD name RETURN name",
        "CALL db.awaitIndexes(600)",
        "CALL dbms.components() YIELD name RETURN name",
        "UNWIND $rows AS r MATCH (n:`A`) CALL db.create.setNodeVectorProperty(n, 'embedding', r.vector)",
        # The limit is a key of a map since 3.11 (Memgraph's pull request 4191).
        "CALL text_search.search('i', $words, $k) YIELD node, score RETURN node",
        "CALL text_search.search('i', $words, {limit: $k}) YIELD node, distance RETURN node",
        "CREATE (n:`A`) MATCH (m:`B`) RETURN m",
        "MATCH (n:`A`) RETURN elementId(n)",
        "MATCH (n:`A`) WHERE n.`text` =~ 'x' RETURN n",
    ],
)
def test_what_it_does_not_know_is_not_of_the_grammar(statement: str) -> None:
    with pytest.raises(NotInGrammarError):
        check(statement)


def test_the_limit_of_a_text_search_is_in_a_map() -> None:
    sent = MEMGRAPH.text_candidates.format(index="i", key="node.`key`")
    assert sent.startswith("CALL text_search.search('i', $words, {limit: $k}) YIELD node, score ")


def test_neo4j_is_sent_what_it_was() -> None:
    assert NEO4J.drops_if_exists
    assert NEO4J.drop_index("alma_memory_embedding") == "DROP INDEX alma_memory_embedding IF EXISTS"
    condition = "AND NOT EXISTS { MATCH (n:`Memory`:`Staged`) WHERE n.`key` = c.`owner` } DELETE c"
    assert (NEO4J.no_staged_owner, NEO4J.ticks) == (condition, 1_000)
