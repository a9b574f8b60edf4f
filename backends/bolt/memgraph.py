"""Memgraph as a dialect: other statements for indexes, no bytes, microseconds, and nothing that refuses writes for us.

Written from its documentation (indexes, constraints, vector and text search, data types, differences of its Cypher)
and its grammar (MemgraphCypher.g4); no server of it was at hand, so it is not exercised in our CI.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alma_graph.backends.bolt.dialect import INDEXED_TEXTS, MEMORY_TEXT_INDEX, UNIQUE, Dialect, vector_index
from alma_graph.backends.readonly import ReadRules

_CAPACITY = 1_000_000
"""Vectors that an index makes room for at first; it grows beyond that."""

_VECTOR_INDEXES = "CALL vector_search.show_index_info() YIELD index_name, dimension RETURN index_name, dimension"

RULES = ReadRules(
    procedures=frozenset({"VECTOR_SEARCH.SEARCH", "TEXT_SEARCH.SEARCH", "TEXT_SEARCH.SEARCH_ALL", "MG.PROCEDURES"}),
    subqueries=True,
    load_words=frozenset({"CSV", "JSONL", "PARQUET"}),
    function_roots=frozenset({"VECTOR_SEARCH"}),
    use_clause=True,
    escapes=True,
    writing_words=frozenset("CREATE MERGE SET DELETE DETACH REMOVE FOREACH DROP ALTER IMPORT EXPORT".split()),
)


@dataclass(frozen=True, slots=True)
class MemgraphDialect(Dialect):
    """The statements that are Memgraph's own."""

    def schema(self, dimension: int) -> dict[str, str]:
        """Statements that make what is missing, by a name for each; constraints bring no index here."""
        made: dict[str, str] = {}
        for label in UNIQUE:
            made[f"unique {label}(key)"] = f"CREATE CONSTRAINT ON (n:`{label}`) ASSERT n.`key` IS UNIQUE"
            made[f"{label}(key)"] = f"CREATE INDEX ON :`{label}`(`key`)"
        for label, name in (*INDEXED_TEXTS, ("Change", "sequence")):
            made[f"{label}({name})"] = f"CREATE INDEX ON :`{label}`(`{name}`)"
        made[MEMORY_TEXT_INDEX] = f"CREATE TEXT INDEX {MEMORY_TEXT_INDEX} ON :`Memory`(`text`)"
        for label in ("Memory", "Chunk"):
            made[vector_index(label)] = (
                f"CREATE VECTOR INDEX {vector_index(label)} ON :`{label}`(`embedding`) WITH CONFIG "
                f'{{"dimension": {int(dimension)}, "capacity": {_CAPACITY}, "metric": "cos"}}'
            )
        return made

    def index_names(self, ask: Callable[[str], list[list[Any]]]) -> set[str]:
        """Names, as in `schema`, of what is there."""
        found: set[str] = set()
        for kind, label, given, *_ in ask("SHOW INDEX INFO"):
            for name in given if isinstance(given, list) else [given]:
                found.add(f"{label}({name})")
            if MEMORY_TEXT_INDEX in str(kind):
                found.add(MEMORY_TEXT_INDEX)
        for kind, label, given, *_ in ask("SHOW CONSTRAINT INFO"):
            names = given if isinstance(given, list) else [given]
            if str(kind) == "unique":
                found |= {f"unique {label}({name})" for name in names}
        return found | {str(row[0]) for row in ask(_VECTOR_INDEXES)}

    def drop_index(self, name: str) -> str:
        """The statement that drops an index of `schema`."""
        if name == MEMORY_TEXT_INDEX:
            return f"DROP TEXT INDEX {name}"
        if name.startswith("alma_"):
            return f"DROP VECTOR INDEX {name}"
        label, _, rest = name.partition("(")
        return f"DROP INDEX ON :`{label}`(`{rest.rstrip(')')}`)"


MEMGRAPH = MemgraphDialect(
    name="memgraph",
    install="pip install 'alma_graph[neo4j]'",
    environment="MEMGRAPH",
    default_user="memgraph",
    schemes={"memgraph": "bolt"},
    max_vector=65_536,
    max_text_index=1 << 20,
    max_key=1 << 20,
    set_vector="SET n.`embedding` = r.vector",
    await_indexes=None,
    list_indexes="",
    version="SHOW VERSION",
    rules=RULES,
    exercised=False,
    bytes_as_text=True,
    ticks=1_000_000,
    degrees=("outDegree(n)", "inDegree(n)"),
    drops_if_exists=False,
    # EXISTS that compares with a variable outside in its WHERE is refused: "Expected to generate all filters".
    no_staged_owner="OPTIONAL MATCH (n:`Memory`:`Staged` {`key`: c.`owner`}) WITH c, n WHERE n IS NULL DELETE c",
    vector_dimensions=_VECTOR_INDEXES,
    vector_candidates="CALL vector_search.search('{index}', $k, $vector) YIELD node, similarity "
    "RETURN {key}, node.`project_id`, similarity",
    text_candidates="CALL text_search.search('{index}', $words, {{limit: $k}}) YIELD node, score "
    "RETURN {key}, node.`project_id`, score",
    text_property="data.text:",
)
