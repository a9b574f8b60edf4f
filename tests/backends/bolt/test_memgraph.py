"""Memgraph's dialect, as far as it can be held without a server: what it sends, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from alma_graph.backends import BACKENDS
from alma_graph.backends.bolt.dialects import SCHEMES
from alma_graph.backends.bolt.memgraph import MEMGRAPH
from alma_graph.backends.bolt.settings import server_settings
from alma_graph.backends.bolt.values import bound, read_value
from alma_graph.backends.readonly import check_statement
from alma_graph.backends.schema import ColumnType
from alma_graph.errors import ReadOnlyError


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
        "SHOW VECTOR INDEX INFO": [["alma_memory_embedding", "Memory", "embedding"]],
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
