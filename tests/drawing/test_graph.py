"""The stored graph as networkx: what is in it, what is left out, and in which words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from alma_graph.backends import Backend, EdgeRow, UnitOfWork, create_backend, node_key
from alma_graph.drawing import draw, explore, to_networkx
from alma_graph.errors import InvalidInputError, MemoryNotFoundError

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PROJECT = 'shop "1"'


def _memory(name: str, kind: str, project: str = PROJECT, **fields: Any) -> dict[str, Any]:
    row = {"key": node_key(project, name), "id": name, "project_id": project, "kind": kind, "text": name}
    return row | {"status": "active", "recorded_at": NOW, "use_count": 0} | fields


def _edge(type_name: str, source: str, target: str, **properties: Any) -> EdgeRow:
    return EdgeRow(type_name, node_key(PROJECT, source), node_key(PROJECT, target), properties)


@pytest.fixture
def backend() -> Iterator[Backend]:
    """A chain a - b - c of supports, a contradiction d - a, an entity and an agent that share names with memories."""
    store = create_backend("memory")
    store.initialise(dimension=4, embedder="hashing-4", embedder_revision=None, created_with="test")
    work = UnitOfWork()
    data = '{"strategy": "warm the cache", "success_count": 3, "occurrence_count": 4, "similar": null}'
    work.add_node("Memory", _memory("a", "heuristic", data=data, confidence=0.7))
    for name in ("b", "c"):
        work.add_node("Memory", _memory(name, "outcome"))
    work.add_node("Memory", _memory("d", "domain_knowledge", metadata='{"page": 3}'))
    work.add_node("Memory", _memory("lonely", "observation"))
    work.add_node("Memory", _memory("elsewhere", "outcome", project="other"))
    work.merge_node(
        "Entity",
        {
            "key": node_key(PROJECT, "b"),
            "project_id": PROJECT,
            "name": "cache",
            "canonical": "cache",
            "type": "SERVICE",
        },
    )
    work.merge_node("Agent", {"key": node_key(PROJECT, "a"), "id": "a", "project_id": PROJECT})
    work.edges += [
        _edge("SUPPORTS", "b", "a", weight=1.0, origin="learning", evidence='{"context": "deploy"}'),
        _edge("SUPPORTS", "c", "b", weight=1.0, origin="caller"),
        _edge("CONTRADICTS", "d", "a", id="x", signal="negation", score=0.8, disposition="open"),
        _edge("MENTIONS", "a", "b", start_char=0, end_char=5, surface="cache", type="SERVICE"),
        _edge("MENTIONS", "a", "b", start_char=9, end_char=14, surface="Cache", type="SERVICE"),
        _edge("LEARNED", "a", "b"),
        _edge("LEARNED", "a", "lonely"),
    ]
    store.write(work)
    yield store
    store.close()


def test_nodes_are_memory_ids_and_labelled_pairs(backend: Backend) -> None:
    graph = to_networkx(backend, PROJECT)
    assert set(graph) == {"a", "b", "c", "d", "lonely", ("Entity", "b"), ("Agent", "a")}
    assert graph.graph["project_id"] == PROJECT
    assert graph.graph["total_nodes"] == 7
    assert graph.nodes["a"]["label"] == "Memory"
    assert graph.nodes["a"]["strategy"] == "warm the cache"
    assert graph.nodes["a"]["success_count"] == 3
    assert graph.nodes["a"]["recorded_at"] == NOW
    assert graph.nodes["d"]["metadata"] == {"page": 3}
    assert "embedding" not in graph.nodes["a"]
    assert "similar" not in graph.nodes["a"], "what is None is left out"
    assert graph.nodes["Entity", "b"]["name"] == "cache"


def test_edges_are_keyed_by_type_and_none_is_lost(backend: Backend) -> None:
    graph = to_networkx(backend, PROJECT)
    assert graph.has_edge("b", "a", key="SUPPORTS")
    assert graph.edges["b", "a", "SUPPORTS"]["evidence"] == {"context": "deploy"}
    assert graph.edges["d", "a", "CONTRADICTS"]["signal"] == "negation"
    assert set(graph["a"]["Entity", "b"]) == {"MENTIONS", "MENTIONS:2"}
    assert graph.edges["a", ("Entity", "b"), "MENTIONS"]["type"] == "MENTIONS"
    assert graph.edges["a", ("Entity", "b"), "MENTIONS"]["entity_type"] == "SERVICE"
    assert graph.number_of_edges() == 7


def test_kinds_and_labels_can_be_left_out(backend: Backend) -> None:
    assert set(to_networkx(backend, PROJECT, kinds=["outcome"], include_entities=False, include_agents=False)) == {
        "b",
        "c",
    }
    assert set(to_networkx(backend, PROJECT, kinds="outcome", include_entities=False, include_agents=False)) == {
        "b",
        "c",
    }
    assert ("Agent", "a") not in to_networkx(backend, PROJECT, include_agents=False)
    assert ("Entity", "b") not in to_networkx(backend, PROJECT, include_entities=False)
    assert set(to_networkx(backend, PROJECT, kinds=[], include_entities=False, include_agents=False)) == set()


def test_around_keeps_the_neighbourhood(backend: Backend) -> None:
    assert set(to_networkx(backend, PROJECT, around="c", hops=0)) == {"c"}
    assert set(to_networkx(backend, PROJECT, around="c")) == {"c", "b"}
    # The agent is reached in the second step, but is no way on to what else it learned.
    assert set(to_networkx(backend, PROJECT, around="c", hops=2)) == {"c", "b", "a", ("Agent", "a")}
    everything_near = {"c", "b", "a", "d", ("Agent", "a"), ("Entity", "b")}
    assert set(to_networkx(backend, PROJECT, around="c", hops=9)) == everything_near
    assert set(to_networkx(backend, PROJECT, around=["c", "lonely"], hops=0)) == {"c", "lonely"}
    assert "a" in to_networkx(backend, PROJECT, around="a", kinds=["outcome"]), "the centre is always there"


def test_limit_keeps_the_nearest_or_the_most_telling(backend: Backend) -> None:
    graph = to_networkx(backend, PROJECT, limit=2)
    assert set(graph) == {"a", "b"}
    assert graph.graph["total_nodes"] == 7
    assert set(to_networkx(backend, PROJECT, around="c", hops=9, limit=2)) == {"c", "b"}
    assert len(to_networkx(backend, PROJECT, limit=100)) == 7


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kinds": ["opinion"]}, "opinion"),
        ({"limit": 0}, "limit=0"),
        ({"hops": -1}, "hops=-1"),
    ],
)
def test_bad_options_are_named(backend: Backend, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        to_networkx(backend, PROJECT, **options)


def test_an_unknown_centre_is_not_found(backend: Backend) -> None:
    with pytest.raises(MemoryNotFoundError, match="elsewhere"):
        to_networkx(backend, PROJECT, around="elsewhere")


def test_a_project_never_shows_another(backend: Backend) -> None:
    assert set(to_networkx(backend, "other")) == {"elsewhere"}
    assert len(to_networkx(backend, "nobody's")) == 0


def test_pictures_of_a_store(backend: Backend) -> None:
    picture = draw(backend, PROJECT, title="shop")
    assert picture.graph.number_of_nodes() == 6, "a still picture leaves the agents out"
    assert 'data-node-count="6"' in picture.svg
    assert repr(picture) == "GraphPicture(6 nodes, 5 edges)"
    assert 'data-node-count="7"' in explore(backend, PROJECT)
    assert "2 of 7 nodes" in explore(backend, PROJECT, limit=2)
