"""Edges that are looked for by both ends, or changed by many matches, cost what they are and not what the graph is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import neo4j
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.backends import Backend, EdgeMatch, EdgeRow, UnitOfWork, open_backend
from alma_graph.testing.graphs import PROJECT, START, add_memory, batch_of, entity_row, key, memory_row, supports
from alma_graph.testing.stores import initialised

pytestmark = pytest.mark.engine

MEMORIES = [f"m{number}" for number in range(24)]
SHARED = ["m0", "m1", "m2", "nobody"]
"""Some of them are names of agents, too."""


def random_graph(seed: int) -> UnitOfWork:
    """Memories, agents of the same names, and edges of every kind between them, some of them twice."""
    chance, work = random.Random(seed), UnitOfWork()
    for name in MEMORIES:
        add_memory(work, name, chance.sample(["redis", "api", "postgres", "kafka"], chance.randrange(4)))
    for name in SHARED:
        work.merge_node("Agent", {"key": key(name), "id": name, "project_id": PROJECT})
    for number in range(60):
        source, target = chance.sample(MEMORIES, 2)
        work.edges.append(supports(source, target, weight=number / 64, origin=chance.choice(["user", "test", None])))
    for label, names in (("Memory", MEMORIES), ("Agent", SHARED)):
        for _ in range(12):
            source, target = map(key, chance.sample(names, 2))
            work.edges.append(EdgeRow("INHERITS_FROM", source, target, {"trust": chance.random()}, label, label))
    return work


@pytest.fixture
def both(location: str) -> Iterator[tuple[Backend, Backend]]:
    """The same random graph on the server and in memory."""
    stores = initialised(open_backend(location)), initialised(open_backend(":memory:"))
    for store in stores:
        store.write(random_graph(7))
    yield stores
    for store in stores:
        store.close()


NAMES = st.none() | st.lists(st.sampled_from([*MEMORIES, "redis", "api", "builder", "nobody"]), max_size=30)


def test_both_ends_give_what_the_memory_backend_gives(both: tuple[Backend, Backend]) -> None:
    @settings(max_examples=60, deadline=None)
    @given(
        type_=st.sampled_from(["SUPPORTS", "MENTIONS", "LEARNED", "INHERITS_FROM"]),
        sources=NAMES,
        targets=NAMES,
        project=st.sampled_from([None, PROJECT, "other"]),
    )
    def same(type_: str, sources: list[str] | None, targets: list[str] | None, project: str | None) -> None:
        ends: dict[str, Any] = {
            name: None if names is None else [key(each) for each in names]
            for name, names in (("sources", sources), ("targets", targets))
        }
        server, memory = (store.edges(type_, project_id=project, **ends) for store in both)
        assert server == memory

    same()


VALUES = st.fixed_dictionaries(
    {}, optional={"weight": st.none() | st.floats(0, 1), "origin": st.sampled_from([None, "user", "else"])}
).filter(bool)
MATCHES = st.builds(
    EdgeMatch,
    st.just("SUPPORTS"),
    st.none() | st.sampled_from([key(name) for name in MEMORIES[:6]]),
    st.none() | st.sampled_from([key(name) for name in MEMORIES[:6]]),
    st.fixed_dictionaries({}, optional={"origin": st.sampled_from([None, "user", "test", "else"])}),
)


def test_many_matches_do_what_one_after_the_other_does(both: tuple[Backend, Backend]) -> None:
    @settings(max_examples=25, deadline=None)
    @given(updates=st.lists(st.tuples(MATCHES, VALUES), max_size=8), deletes=st.lists(MATCHES, max_size=1))
    def same(updates: list[tuple[EdgeMatch, dict[str, Any]]], deletes: list[EdgeMatch]) -> None:
        narrow = [match for match in deletes if match.source and match.target]
        for store in both:
            store.write(UnitOfWork(edge_updates=updates, edge_deletes=narrow, edges=[supports("m0", "m1")]))
        server, memory = (store.edges("SUPPORTS") for store in both)
        assert sorted(map(repr, server)) == sorted(map(repr, memory))

    same()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that goes to the server."""
    statements: list[str] = []
    run = neo4j.ManagedTransaction.run

    def noted(self: Any, query: Any, *args: Any, **given: Any) -> Any:
        statements.append(str(query))
        return run(self, query, *args, **given)

    monkeypatch.setattr(neo4j.ManagedTransaction, "run", noted)
    return statements


def test_a_thousand_matches_are_a_few_statements(backend: Backend, sent: list[str]) -> None:
    names = [f"n{number}" for number in range(500)]
    work = batch_of(names, ("redis",))
    work.edges += [supports(source, target) for source, target in pairwise(names)]
    backend.write(work)
    changes = UnitOfWork()
    for number, (source, target) in enumerate(pairwise(names)):
        ends = key(source), key(target)
        changes.edge_updates.append((EdgeMatch("SUPPORTS", *ends), {"weight": number / 512, "retired_at": START}))
        changes.edge_deletes.append(EdgeMatch("MENTIONS", key(source), key("redis"), {"start_char": 0}))
    del sent[:]
    backend.write(changes)
    assert len(sent) < 20
    assert [edge.source for edge in backend.edges("MENTIONS")] == [key(names[-1])]
    weights = {edge.source: edge.properties["weight"] for edge in backend.edges("SUPPORTS")}
    assert weights == {key(name): number / 512 for number, name in enumerate(names[:-1])}


@pytest.mark.parametrize("hub", ["source", "target"])
def test_a_node_with_most_of_the_edges_is_not_walked(backend: Backend, sent: list[str], hub: str) -> None:
    work = UnitOfWork(nodes={"Memory": [memory_row(f"n{number}") for number in range(600)]})
    work.merge_node("Agent", {"key": key("dev"), "id": "dev", "project_id": PROJECT})
    work.merge_node("Entity", entity_row("redis"))
    work.edges += [EdgeRow("LEARNED", key("dev"), row["key"]) for row in work.nodes["Memory"]]
    work.edges += [EdgeRow("MENTIONS", row["key"], key("redis")) for row in work.nodes["Memory"]]
    backend.write(work)
    few = [key(f"n{number}") for number in range(0, 600, 20)]
    if hub == "source":
        found = backend.edges("LEARNED", sources=[key("dev")], targets=few)
        assert "(b:`Memory` {`key`: k})<-" in sent[-1]
    else:
        found = backend.edges("MENTIONS", sources=few, targets=[key("redis")])
        assert "(a:`Memory` {`key`: k})-" in sent[-1]
    assert len(found) == len(few)
