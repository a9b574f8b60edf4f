"""What differs between the servers. Nothing else in the package asks which of them it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from alma_graph.backends.protocol import Capabilities
from alma_graph.backends.readonly import NEO4J_RULES, ReadRules

MEMORY_TEXT_INDEX = "alma_memory_text"

UNIQUE = ("Memory", "Entity", "Agent", "User", "Project", "Session", "Chunk", "Meta", "Change")
"""Labels whose keys are unique."""
STAGED = ("Staged", "StagedChunk")
"""Labels of what is written beside the vectors of a store that is being re-embedded."""
INDEXED_TEXTS = (("Memory", "project_id"), ("Memory", "id"), ("Entity", "project_id"), ("Chunk", "project_id"))
"""Label and property of the indexes for equality."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server.

    Attributes:
        name: the engine.
        install: the line that installs its driver.
        environment: beginning of the variables that credentials are taken from.
        default_user: the user where only a password is given.
        schemes: how the scheme of a location is told to the driver.
        max_vector: greatest dimension of its vector index.
        max_text_index: longest text, in UTF-8 bytes, that an index for equality takes.
        max_key: longest text, in UTF-8 bytes, under a unique constraint.
        set_vector: clause that sets `n.embedding` from `r.vector`.
        await_indexes: statement after which every index answers.
        list_indexes: statement that gives the names of indexes and constraints.
        version: statement whose one value is the server's version.
        rules: what a caller's statement may use.
        exercised: our own tests run on it.
        vector_dimensions: statement that gives name and dimension of vector indexes, where the server tells them.
        index_states: statement that gives name and state of indexes, where the server tells them.
        vector_candidates: statement that gives key, project and similarity of the `$k` nodes nearest to `$vector`.
        text_candidates: statement that gives key, project and score of nodes that have any of `$words`; `{also}` is
            where further conditions go, if the server looks at them before it counts to `$k`.
        vector_scan: statement that gives the same as `vector_candidates` without an index, of the nodes that `{also}`
            admits; None where none can.
        text_property: what stands before each word of a text query.
        halved_cosines: similarities come as (1 + cosine) / 2.
        bytes_as_text: the server has no bytes, so they go as base64.
        ticks: of the server's `timestamp()` in a second.
        drops_if_exists: `drop_index` does nothing where there is no such index; else the server refuses it.
        no_staged_owner: what deletes the StagedChunk `c`, behind a match of it and a condition, if its `owner` is no
            Memory that is staged.
        degrees: how many edges of `{type}`, or more, go out of the node `n`, and come in, at no cost.
    """

    name: str
    install: str
    environment: str
    default_user: str
    schemes: Mapping[str, str]
    max_vector: int
    max_text_index: int
    max_key: int
    set_vector: str
    await_indexes: str | None
    list_indexes: str
    version: str
    rules: ReadRules
    exercised: bool
    index_states: str | None = None
    vector_dimensions: str | None = None
    vector_candidates: str = ""
    text_candidates: str = ""
    vector_scan: str | None = None
    text_property: str = ""
    halved_cosines: bool = False
    bytes_as_text: bool = False
    ticks: int = 1_000
    drops_if_exists: bool = True
    no_staged_owner: str = "AND NOT EXISTS { MATCH (n:`Memory`:`Staged`) WHERE n.`key` = c.`owner` } DELETE c"
    degrees: tuple[str, str] = ("COUNT {{ (n)-[:`{type}`]->() }}", "COUNT {{ (n)<-[:`{type}`]-() }}")

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do, for callers."""
        return Capabilities(cypher=True, durable=True, shared_readers=True, shared_writers=True, server=True)

    def driver_scheme(self, scheme: str) -> str:
        """The scheme as the driver knows it: `memgraph+s` is `bolt+s`."""
        base, plus, security = scheme.partition("+")
        return f"{self.schemes.get(base, base)}{plus}{security}"

    def schema(self, dimension: int) -> dict[str, str]:
        """Statements that make what is missing, by the name of the index or constraint that each makes."""
        made = {
            f"alma_{label.lower()}_key": (
                f"CREATE CONSTRAINT alma_{label.lower()}_key IF NOT EXISTS FOR (n:`{label}`) REQUIRE n.`key` IS UNIQUE"
            )
            for label in UNIQUE
        }
        for label, name in INDEXED_TEXTS:
            index = f"alma_{label.lower()}_{name}"
            made[index] = f"CREATE TEXT INDEX {index} IF NOT EXISTS FOR (n:`{label}`) ON (n.`{name}`)"
        made["alma_change_sequence"] = (
            "CREATE INDEX alma_change_sequence IF NOT EXISTS FOR (n:`Change`) ON (n.`sequence`)"
        )
        made[MEMORY_TEXT_INDEX] = (
            f"CREATE FULLTEXT INDEX {MEMORY_TEXT_INDEX} IF NOT EXISTS FOR (n:`Memory`) ON EACH [n.`text`]"
        )
        if dimension <= self.max_vector:
            for label in ("Memory", "Chunk"):
                index = vector_index(label)
                made[index] = (
                    f"CREATE VECTOR INDEX {index} IF NOT EXISTS FOR (n:`{label}`) ON (n.`embedding`) OPTIONS "
                    f"{{indexConfig: {{`vector.dimensions`: {int(dimension)}, "
                    "`vector.similarity_function`: 'cosine'}}"
                )
        return made

    def index_names(self, ask: Callable[[str], list[list[Any]]]) -> set[str]:
        """Names, as in `schema`, of what is there; `ask` gives the rows of a statement."""
        return {str(row[0]) for row in ask(self.list_indexes)}

    def drop_index(self, name: str) -> str:
        """The statement that drops an index of `schema`."""
        return f"DROP INDEX {name} IF EXISTS"


def vector_index(label: str) -> str:
    """Name of the vector index of a label of the schema."""
    return f"alma_{label.lower()}_embedding"


NEO4J = Dialect(
    name="neo4j",
    install="pip install 'alma_graph[neo4j]'",
    environment="NEO4J",
    default_user="neo4j",
    schemes={},
    max_vector=4096,
    max_text_index=32_766,
    max_key=7_500,
    set_vector="CALL db.create.setNodeVectorProperty(n, 'embedding', r.vector)",
    await_indexes="CALL db.awaitIndexes(600)",
    list_indexes="SHOW INDEXES YIELD name RETURN name",
    version="CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' "
    "RETURN versions[0] + ' ' + edition",
    rules=NEO4J_RULES,
    exercised=True,
    vector_candidates="CALL db.index.vector.queryNodes('{index}', $k, $vector) YIELD node "
    "RETURN {key}, node.`project_id`, vector.similarity.cosine(node.`embedding`, $vector)",  # the index rounds
    text_candidates="CALL db.index.fulltext.queryNodes('{index}', $words) YIELD node, score "
    "WITH node, score WHERE node.`project_id` = $project{also} RETURN {key}, node.`project_id`, score "
    "ORDER BY score DESC LIMIT $k",
    vector_scan="MATCH {nodes} WHERE node.`project_id` = $project AND node.`embedding` IS NOT NULL{also} "
    "WITH node, vector.similarity.cosine(node.`embedding`, $vector) AS score "
    "RETURN {key}, node.`project_id`, score ORDER BY score DESC LIMIT $k",
    halved_cosines=True,
    vector_dimensions="SHOW INDEXES YIELD name, type, options WHERE type = 'VECTOR' "
    "RETURN name, options.indexConfig['vector.dimensions']",
    index_states="SHOW INDEXES YIELD name, state RETURN name, state",
)
