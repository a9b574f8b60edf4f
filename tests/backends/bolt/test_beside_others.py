"""A database that other programs use too: theirs stays theirs, also where it lies under a label of the store's."""

from __future__ import annotations

from typing import Any

import pytest

from alma_graph import ALMA
from alma_graph.backends import NODES, open_backend
from alma_graph.backends.bolt.dialect import STAGED, UNIQUE
from alma_graph.errors import InvalidInputError, StoreError
from tests.backends.bolt.conftest import Connect
from tests.servers.shared import ask

pytestmark = pytest.mark.engine

LABELS = (*UNIQUE, *STAGED)
_THEIRS = "MATCH (n) WHERE n.theirs IS NOT NULL RETURN labels(n) AS labels, properties(n) AS held ORDER BY n.theirs"
_THEIR_EDGES = "MATCH ()-[e]->() WHERE e.theirs IS NOT NULL RETURN type(e) AS type, properties(e) AS held"


def put(location: str, label: str, **properties: Any) -> None:
    """A node of another program."""
    ask(location, f"CREATE (n:`{label}`) SET n = $held", held={"theirs": label, **properties})


def everything(location: str) -> list[Any]:
    """All nodes, indexes and constraints."""
    return [
        ask(location, "MATCH (n) RETURN labels(n) AS labels, properties(n) AS held"),
        ask(location, "SHOW INDEXES YIELD name RETURN name ORDER BY name"),
        ask(location, "SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name"),
    ]


def test_a_database_with_nodes_under_our_labels_gets_no_store(location: str) -> None:
    for row in ask(location, "SHOW CONSTRAINTS YIELD name RETURN name"):
        ask(location, f"DROP CONSTRAINT {row['name']}")
    for label in LABELS:
        put(location, label, sequence=7)
        before = everything(location)
        with pytest.raises(StoreError, match=f"another program labelled {label},.*nothing was written") as caught:
            ALMA.open(location, project_id="p", embedder="hashing", extractor="none")
        assert "\n" not in str(caught.value)
        assert everything(location) == before
        ask(location, "MATCH (n) DELETE n")


def test_a_meta_node_of_another_program_is_no_store(location: str) -> None:
    put(location, "Meta", key="meta", sequence=7)
    with pytest.raises(InvalidInputError, match="holds no store"):
        open_backend(location, read_only=True)
    with pytest.raises(StoreError, match="labelled Meta"):
        ALMA.open(location, project_id="p", embedder="hashing", extractor="none")


def test_other_labels_are_no_matter(connect: Connect, location: str) -> None:
    put(location, "Customer", key="meta", project_id="shop", sequence=7)
    alma = connect()
    alma.add_domain_knowledge(agent="dev", domain="d", fact="One fact.", id="one")
    assert alma.doctor().ok
    assert ask(location, _THEIRS)[0]["labels"] == ["Customer"]


def test_what_other_programs_put_under_our_labels_later_is_left_alone(connect: Connect, location: str) -> None:
    one, two = connect(extractor="rules"), connect(1)
    one.add_domain_knowledge(agent="dev", domain="d", fact="The Orders service listens on port 80.", id="one")
    assert len(two.retrieve("orders").hits) == 1
    for label in LABELS:
        put(location, label, sequence=0, total=-1, project_id="shop", text="orders orders", embedding=[1.0, 2.0])
    for type_ in ("SUPPORTS", "CONTRADICTS", "INHERITS_FROM", "NEXT"):
        ask(location, f"MATCH (a:Memory), (b:Memory {{theirs: 'Memory'}}) CREATE (a)-[:{type_} {{theirs: 1}}]->(b)")
    theirs, their_edges = ask(location, _THEIRS), ask(location, _THEIR_EDGES)
    assert (len(theirs), len(their_edges)) == (len(LABELS), 8)

    one.add_domain_knowledge(agent="dev", domain="d", fact="The Orders service listens on port 90.", id="two")
    two.learn(agent="dev", task="Deploy orders", outcome=True, strategy_used="Slowly", session_id="s", id="run")
    one.relate("one", "SUPPORTS", "two")
    one.revise("two", fact="The Orders service listens on port 81.", reason="moved")
    backend = one._store.backend
    for number in range(60):  # far enough that old entries of the feed go
        one.add_domain_knowledge(agent="dev", domain="d", fact=f"Fact {number}.", id=f"f{number}")
    one.forget("f0")
    one.reembed("hashing:32")
    assert {hit.memory.id for hit in two.retrieve("orders", top_k=4).hits} >= {"one", "run"}
    large = connect(2, embedder=None, read_only=True, max_rows_in_memory=1)  # asks the server's indexes
    assert {hit.memory.id for hit in large.retrieve("orders", top_k=4).hits} >= {"one", "run"}
    assert [memory.id for memory in two.memories()].count("one") == 1
    assert one.doctor().ok
    assert backend.verify() == []
    for label in NODES:
        assert backend.count(label) == len(backend.nodes(label)), label
    assert all(row["key"] for label in NODES for row in backend.nodes(label))
    assert ask(location, _THEIRS) == theirs
    assert sorted(map(str, ask(location, _THEIR_EDGES))) == sorted(map(str, their_edges))
