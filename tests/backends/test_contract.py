"""What every backend does, written once and run on each."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from alma_graph.backends import (
    EDGES,
    NODES,
    Backend,
    EdgeMatch,
    EdgeRow,
    NodeUpdate,
    UnitOfWork,
    node_key,
    open_backend,
)
from alma_graph.backends.embedded.backend import EmbeddedBackend
from alma_graph.backends.memory import MemoryBackend
from alma_graph.errors import EmbeddingError, InvalidInputError, StoreChangedError, StoreClosedError, StoreError
from tests.backends.graphs import (
    PROJECT,
    START,
    add_memory,
    batch_of,
    dump,
    entity_row,
    key,
    memory_row,
    plain,
    supports,
    unit_of,
    vector,
)
from tests.conftest import EMBEDDED, store_location

Reopen = Callable[[Backend], Backend]


@pytest.mark.parametrize("implementation", [MemoryBackend, EmbeddedBackend])
def test_signatures_are_those_of_the_protocol(implementation: type) -> None:
    methods = [name for name, value in vars(Backend).items() if inspect.isfunction(value) and name[0] != "_"]
    assert len(methods) > 10
    for name in methods:
        expected = inspect.signature(getattr(Backend, name))
        assert inspect.signature(getattr(implementation, name)) == expected, name


def test_every_backend_has_the_protocol_s_attributes(backend: Backend, engine: str) -> None:
    assert isinstance(backend, Backend)
    assert backend.name == engine
    assert (backend.path is None) == (engine == "memory")
    assert backend.read_only is False
    assert backend.engine_version()


def test_importing_the_package_loads_no_engine() -> None:
    code = (
        "import sys, alma_graph.backends; "
        "print([m for m in ('kuzu', 'ladybug', 'pyarrow', 'pandas', 'scipy', 'networkx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_new_store_is_empty(location: str) -> None:
    store = open_backend(location)
    assert store.meta() is None
    assert store.sequence() == 0
    for label in NODES:
        assert store.nodes(label) == []
        assert store.count(label) == 0
    for name in EDGES:
        assert store.edges(name) == []
        assert store.count(name) == 0
    keys, matrix = store.vectors("Memory", project_id=PROJECT)
    assert keys == []
    assert len(matrix) == 0
    assert store.verify() == []
    with pytest.raises(StoreError, match="initialise"):
        store.write(unit_of("a"))
    store.close()


def test_initialise_makes_meta_once(backend: Backend) -> None:
    meta = backend.meta()
    assert meta is not None
    assert (meta["schema_version"], meta["dimension"], meta["embedder"], meta["sequence"]) == (1, 8, "test", 0)
    assert meta["embedder_revision"] is None
    assert meta["created_at"].tzinfo is UTC
    with pytest.raises(StoreError, match="already"):
        backend.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")


@pytest.mark.parametrize("dimension", [0, -1, 1.5, True, 100_000])
def test_initialise_refuses_a_wrong_dimension(location: str, dimension: Any) -> None:
    store = open_backend(location)
    with pytest.raises(InvalidInputError, match="dimension"):
        store.initialise(dimension=dimension, embedder="test", embedder_revision=None, created_with="tests")
    assert store.meta() is None
    store.close()


def test_everything_written_comes_back_bit_for_bit(backend: Backend, reopen: Reopen) -> None:
    backend.write(unit_of("a"))
    backend.write(unit_of("b", ("redis", "postgres")))
    expected = {**{name.name: None for name in NODES["Memory"].columns}, **memory_row("a")}
    store = backend
    for again in (False, True):
        store = reopen(store) if again else store
        assert plain(store.nodes("Memory", keys=[key("a")])[0]) == plain(expected)
        assert store.nodes("Entity", keys=[key("redis")]) == [entity_row("redis")]
        assert [edge.target for edge in store.edges("MENTIONS")] == [
            key(n) for n in ("api", "redis", "postgres", "redis")
        ]
        assert store.edges("LEARNED", targets=[key("b")]) == [
            EdgeRow("LEARNED", key("builder"), key("b"), {}, "Agent", "Memory")
        ]
        assert store.sequence() == 2
        assert store.verify() == []
    store.close()


def test_empty_and_full_values_survive(backend: Backend, reopen: Reopen) -> None:
    bare = {"key": key("bare"), "project_id": PROJECT, "text": ""}
    full = memory_row(
        "full",
        token_embeddings=b"",
        use_count=2**63 - 1,
        strength=-1e300,
        confidence=5e-324,
        text="x" * 200_000,
        valid_from=datetime(1, 1, 1, tzinfo=UTC),
        valid_to=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    )
    work = UnitOfWork()
    work.add_node("Memory", bare)
    work.add_node("Memory", full)
    work.add_node("Entity", {**entity_row("none"), "aliases": []})
    work.add_node("Entity", {**entity_row("many"), "aliases": ["", "a,b", "[x]", "'q'", "\\x41"]})
    backend.write(work)
    store = reopen(backend)
    found = store.nodes("Memory", keys=[key("bare"), key("full")])
    assert {name for name, value in found[0].items() if value is not None} == {"key", "project_id", "text"}
    assert {name: plain(found[1])[name] for name in full} == plain(full)
    assert [row["aliases"] for row in store.nodes("Entity", keys=[key("none"), key("many")])] == [
        [],
        ["", "a,b", "[x]", "'q'", "\\x41"],
    ]
    store.close()


def test_bulk_gives_the_same_as_one_by_one(backend: Backend, location: str, reopen: Reopen) -> None:
    identifiers = [f"m{number}" for number in range(450)]
    work = batch_of(identifiers, ("redis", "api", "postgres"))
    rows = work.nodes["Memory"]
    rows[3] = {**rows[3], "embedding": None, "token_embeddings": None, "valid_to": None, "agent": None}
    rows[4] = {
        **rows[4],
        "text": "quote ' \" ` \\ \n {} $p NUL \0 emoji 😀 漢字",
        "confidence": None,
        "use_count": None,
    }
    work.edges.append(supports("m1", "m0"))
    backend.write(work)
    small = open_backend(":memory:")
    small.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    small.write(work)
    assert dump(backend) == dump(small)
    again = reopen(backend)
    assert dump(again) == dump(small)
    again.close()


def test_rows_of_keys_come_in_the_order_of_the_keys(backend: Backend) -> None:
    backend.write(batch_of(["c", "a", "b"]))
    keys = [key("b"), key("nobody"), key("c"), key("b")]
    assert [row["key"] for row in backend.nodes("Memory", keys=keys)] == [key("b"), key("c")]
    assert [row["key"] for row in backend.nodes("Memory")] == [key("a"), key("b"), key("c")]
    assert backend.nodes("Memory", keys=[]) == []


def test_columns_and_projects_narrow_what_is_read(backend: Backend) -> None:
    backend.write(unit_of("a"))
    backend.write(unit_of("a", project="other"))
    assert backend.nodes("Memory", columns=("id", "project_id"), project_id="other") == [
        {"id": "a", "project_id": "other"}
    ]
    assert backend.nodes("Memory", keys=[key("a"), key("a", "other")], project_id="shop", columns=("key",)) == [
        {"key": key("a")}
    ]
    assert backend.count("Memory") == 2
    assert backend.count("Memory", project_id="other") == 1
    assert backend.count("MENTIONS", project_id="other") == 2
    assert {edge.source for edge in backend.edges("MENTIONS", project_id="other")} == {key("a", "other")}
    assert backend.count("Meta", project_id="other") == 0
    with pytest.raises(InvalidInputError, match="colour"):
        backend.nodes("Memory", columns=("colour",))
    with pytest.raises(InvalidInputError, match="Person"):
        backend.nodes("Person")
    with pytest.raises(InvalidInputError, match="LIKES"):
        backend.edges("LIKES")
    with pytest.raises(InvalidInputError, match="LIKES"):
        backend.count("LIKES")


def test_vectors_are_a_float32_matrix_by_key(backend: Backend) -> None:
    work = batch_of(["b", "a"])
    work.add_node("Memory", memory_row("none", embedding=None))
    backend.write(work)
    backend.write(unit_of("x", project="other"))
    keys, matrix = backend.vectors("Memory", project_id=PROJECT)
    assert keys == [key("a"), key("b")]
    assert matrix.dtype == np.float32
    assert matrix.flags.c_contiguous
    assert matrix.shape == (2, 8)
    assert matrix[1].tobytes() == memory_row("b")["embedding"].tobytes()


def test_edges_by_their_ends(backend: Backend) -> None:
    backend.write(batch_of(["a", "b", "c"], ()))
    work = UnitOfWork(
        edges=[supports("c", "a"), supports("b", "a"), supports("c", "b"), supports("c", "a", weight=0.1)]
    )
    backend.write(work)
    ends = [(edge.source, edge.target) for edge in backend.edges("SUPPORTS")]
    assert ends == [(key("b"), key("a")), (key("c"), key("a")), (key("c"), key("a")), (key("c"), key("b"))]
    assert [e.properties["weight"] for e in backend.edges("SUPPORTS", sources=[key("c")], targets=[key("a")])] == [
        0.1,
        0.5,
    ]
    assert len(backend.edges("SUPPORTS", targets=[key("a"), key("b"), key("a")])) == 4
    assert backend.edges("SUPPORTS", sources=[]) == []
    assert backend.edges("SUPPORTS", sources=["nobody"]) == []


def test_a_type_that_joins_two_pairs_of_labels(backend: Backend, reopen: Reopen) -> None:
    work = batch_of(["a", "b"], ())
    for name in ("reader", "builder"):
        work.merge_node("Agent", {"key": key(name), "id": name, "project_id": PROJECT})
    work.edges.append(EdgeRow("INHERITS_FROM", key("b"), key("a"), {"mode": "derived", "trust": 0.5}))
    work.edges.append(EdgeRow("INHERITS_FROM", key("reader"), key("builder"), {"mode": "adopted"}))
    backend.write(work)
    store = reopen(backend)
    labels = [(edge.source_label, edge.target_label) for edge in store.edges("INHERITS_FROM")]
    assert labels == [("Memory", "Memory"), ("Agent", "Agent")]
    assert store.count("INHERITS_FROM") == 2
    store.write(UnitOfWork(edge_deletes=[EdgeMatch("INHERITS_FROM", source=key("reader"))]))
    assert [edge.source for edge in store.edges("INHERITS_FROM")] == [key("b")]
    store.close()


def test_updates_change_what_they_name_and_nothing_else(backend: Backend, reopen: Reopen) -> None:
    backend.write(batch_of(["a", "b"]))
    before = plain(backend.nodes("Memory", keys=[key("a")])[0])
    later = START + timedelta(days=1)
    values = {"status": "superseded", "valid_to": later, "confidence": None, "use_count": 7, "embedding": vector(99)}
    backend.write(UnitOfWork(node_updates=[NodeUpdate("Memory", key("a"), values)]))
    store = reopen(backend)
    after = plain(store.nodes("Memory", keys=[key("a")])[0])
    assert after == plain({**before, **values})
    assert len(store.edges("MENTIONS", sources=[key("a")])) == 2
    assert store.nodes("Memory", keys=[key("b")])[0]["status"] == "active"
    store.close()


def test_edges_are_updated_and_deleted_by_match(backend: Backend, reopen: Reopen) -> None:
    backend.write(batch_of(["a", "b", "c"], ()))
    edges = [supports("b", "a"), supports("c", "a", origin="user"), supports("c", "b", retired_at=START)]
    backend.write(UnitOfWork(edges=edges))
    change = (EdgeMatch("SUPPORTS", target=key("a"), where={"origin": "user"}), {"weight": 0.9, "evidence": None})
    backend.write(UnitOfWork(edge_updates=[change]))
    found = {(e.source, e.target): e.properties for e in backend.edges("SUPPORTS")}
    assert found[key("c"), key("a")]["weight"] == 0.9
    assert found[key("c"), key("a")]["evidence"] is None
    assert found[key("b"), key("a")]["weight"] == 0.5
    backend.write(UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", where={"retired_at": None, "weight": 0.9})]))
    backend.write(UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", where={"retired_at": START})]))
    store = reopen(backend)
    assert [(e.source, e.target) for e in store.edges("SUPPORTS")] == [(key("b"), key("a"))]
    store.close()


def test_deleting_a_node_takes_every_edge_at_it(backend: Backend, reopen: Reopen) -> None:
    backend.write(batch_of(["a", "b"]))
    backend.write(UnitOfWork(edges=[supports("b", "a"), supports("a", "b")]))
    backend.write(UnitOfWork(node_deletes=[("Memory", key("a")), ("Memory", "not there"), ("Memory", key("a"))]))
    store = reopen(backend)
    assert store.count("SUPPORTS") == 0
    assert store.count("MENTIONS") == 2
    assert store.count("LEARNED") == 1
    assert [row["id"] for row in store.nodes("Memory")] == ["b"]
    assert store.verify() == []
    store.close()


def test_one_unit_can_delete_and_make_again(backend: Backend, reopen: Reopen) -> None:
    backend.write(unit_of("a"))
    work = unit_of("a", ("postgres",))
    work.node_deletes.append(("Memory", key("a")))
    work.nodes["Memory"][0]["text"] = "another"
    backend.write(work)
    store = reopen(backend)
    assert [row["text"] for row in store.nodes("Memory")] == ["another"]
    assert [edge.target for edge in store.edges("MENTIONS")] == [key("postgres")]
    store.close()


def test_delete_all_then_add(backend: Backend, reopen: Reopen) -> None:
    for _ in range(2):
        backend.write(batch_of(["a", "b", "c"]))
        assert len(backend.vectors("Memory", project_id=PROJECT)[0]) == 3
        deletes = [(label, row["key"]) for label in ("Memory", "Entity", "Agent") for row in backend.nodes(label)]
        backend.write(UnitOfWork(node_deletes=deletes))
        assert backend.vectors("Memory", project_id=PROJECT)[0] == []
        backend = reopen(backend)
    backend.write(batch_of(["a", "b", "c"]))
    store = reopen(backend)
    assert len(store.vectors("Memory", project_id=PROJECT)[0]) == 3
    assert store.verify() == []
    store.close()


def test_merged_nodes_are_kept_as_they_are(backend: Backend) -> None:
    backend.write(unit_of("a"))
    work = UnitOfWork()
    work.merge_node("Entity", {**entity_row("redis"), "name": "changed"})
    work.merge_node("Entity", {**entity_row("new"), "name": "first"})
    work.merge_node("Entity", {**entity_row("new"), "name": "second"})
    backend.write(work)
    names = {row["key"]: row["name"] for row in backend.nodes("Entity")}
    assert names == {key("api"): "api", key("redis"): "redis", key("new"): "first"}


def test_an_empty_unit_changes_nothing(backend: Backend) -> None:
    backend.write(UnitOfWork())
    assert backend.sequence() == 0
    backend.write(unit_of("a"))
    assert backend.sequence() == 1


def test_times_are_utc_whatever_their_zone(backend: Backend, reopen: Reopen) -> None:
    india = datetime(2026, 5, 1, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    naive = datetime(2026, 5, 1, 12, 0)
    work = UnitOfWork()
    work.add_node("Memory", memory_row("a", valid_from=india, valid_to=naive))
    work.edges.append(supports("a", "a", recorded_at=india))
    backend.write(work)
    backend.write(
        UnitOfWork(edge_updates=[(EdgeMatch("SUPPORTS", where={"recorded_at": india}), {"retired_at": india})])
    )
    store = reopen(backend)
    row = store.nodes("Memory")[0]
    assert row["valid_from"] == datetime(2026, 5, 1, 6, 30, tzinfo=UTC)
    assert row["valid_from"].utcoffset() == timedelta(0)
    assert row["valid_to"] == datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
    assert store.edges("SUPPORTS")[0].properties["retired_at"] == datetime(2026, 5, 1, 6, 30, tzinfo=UTC)
    store.close()


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
def test_the_process_s_zone_does_not_matter(tmp_path: Any, embedded_engine: str, zone: str) -> None:
    code = """
import sys, json
from datetime import datetime, UTC
from alma_graph.backends import open_backend, UnitOfWork
store = open_backend(sys.argv[1])
if store.meta() is None:
    store.initialise(dimension=2, embedder="t", embedder_revision=None, created_with="t")
    work = UnitOfWork()
    work.add_node("Session", {"key": "s", "started_at": datetime(2026, 8, 28, 23, 30, tzinfo=UTC)})
    work.add_node("Session", {"key": "t", "started_at": datetime(2026, 8, 28, 23, 30)})
    store.write(work)
day = {"low": datetime(2026, 8, 28, tzinfo=UTC), "high": datetime(2026, 8, 29, tzinfo=UTC)}
inside = "s.started_at >= $low AND s.started_at < $high"
found = store.run(f"MATCH (s:Session) WHERE {inside} RETURN s.key, s.started_at", day)
print(json.dumps([[str(v) for v in row] for row in sorted(found.rows)]
                 + [[r["key"], str(r["started_at"])] for r in store.nodes("Session")]))
store.close()
"""
    location = f"{embedded_engine}:{tmp_path / 'zone.graph'}"
    answers = []
    for name in (zone, "UTC"):
        done = subprocess.run(
            [sys.executable, "-c", code, location],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TZ": name},
        )
        answers.append(json.loads(done.stdout))
    expected = [[name, "2026-08-28 23:30:00+00:00"] for name in ("s", "t")]
    assert answers == [expected * 2] * 2


def vars_of(work: UnitOfWork, **parts: Any) -> None:
    """Sets parts of a unit of work."""
    for name, value in parts.items():
        setattr(work, name, value)


BAD_UNITS: list[tuple[str, Callable[[UnitOfWork], Any], type[Exception], str]] = [
    ("unknown label", lambda work: work.add_node("Person", {"key": "p"}), InvalidInputError, "Person"),
    ("unknown property", lambda work: work.add_node("Memory", {"key": "p", "colour": 1}), InvalidInputError, "colour"),
    ("no key", lambda work: work.add_node("Memory", {"text": "x"}), InvalidInputError, "no key"),
    ("empty key", lambda work: work.add_node("Memory", {"key": ""}), InvalidInputError, "empty"),
    ("long key", lambda work: work.add_node("Memory", {"key": "k" * 70_000}), InvalidInputError, "70000"),
    ("key of another type", lambda work: work.add_node("Memory", {"key": 7}), InvalidInputError, "7"),
    ("text of another type", lambda work: work.add_node("Memory", {"key": "p", "text": 7}), InvalidInputError, "7"),
    (
        "surrogate",
        lambda work: work.add_node("Memory", {"key": "p", "text": "a\ud800"}),
        InvalidInputError,
        "surrogate",
    ),
    ("a bool for a number", lambda w: w.add_node("Memory", {"key": "p", "use_count": True}), InvalidInputError, "True"),
    ("a big number", lambda w: w.add_node("Memory", {"key": "p", "use_count": 2**63}), InvalidInputError, "64 bits"),
    ("NaN", lambda w: w.add_node("Memory", {"key": "p", "confidence": float("nan")}), InvalidInputError, "finite"),
    ("a time as text", lambda w: w.add_node("Memory", {"key": "p", "valid_from": "2026"}), InvalidInputError, "2026"),
    (
        "bytes as text",
        lambda w: w.add_node("Memory", {"key": "p", "token_embeddings": "x"}),
        InvalidInputError,
        "bytes",
    ),
    ("aliases as text", lambda w: w.add_node("Entity", {"key": "p", "aliases": "x"}), InvalidInputError, "list"),
    ("dimension", lambda w: w.add_node("Memory", {"key": "p", "embedding": [1.0] * 7}), EmbeddingError, r"\(7,\)"),
    (
        "NaN vector",
        lambda w: w.add_node("Memory", {"key": "p", "embedding": [float("nan")] * 8}),
        EmbeddingError,
        "NaN",
    ),
    ("zero vector", lambda w: w.add_node("Memory", {"key": "p", "embedding": [0.0] * 8}), EmbeddingError, "zero"),
    ("overflow", lambda w: w.add_node("Memory", {"key": "p", "embedding": [1e300] * 8}), EmbeddingError, "infinity"),
    ("words", lambda w: w.add_node("Memory", {"key": "p", "embedding": ["x"] * 8}), EmbeddingError, "numbers"),
    ("existing key", lambda work: add_memory(work, "a"), InvalidInputError, "exists"),
    ("twice in one unit", lambda w: w.nodes.update(Memory=[{"key": "x"}, {"key": "x"}]), InvalidInputError, "exists"),
    ("Meta", lambda work: work.add_node("Meta", {"key": "meta2"}), InvalidInputError, "Meta"),
    ("Meta deleted", lambda work: work.node_deletes.append(("Meta", "meta")), InvalidInputError, "Meta"),
    (
        "the sequence",
        lambda work: work.node_updates.append(NodeUpdate("Meta", "meta", {"sequence": 9})),
        InvalidInputError,
        "sequence",
    ),
    ("no source", lambda work: work.edges.append(supports("nobody", "a")), InvalidInputError, "nobody"),
    ("no target", lambda work: work.edges.append(supports("a", "nobody")), InvalidInputError, "nobody"),
    ("edge type", lambda work: work.edges.append(EdgeRow("LIKES", key("a"), key("a"))), InvalidInputError, "LIKES"),
    ("edge property", lambda w: w.edges.append(supports("a", "a", colour=1)), InvalidInputError, "colour"),
    ("edge value", lambda w: w.edges.append(supports("a", "a", weight="x")), InvalidInputError, "weight"),
    (
        "edge labels",
        lambda work: work.edges.append(EdgeRow("SUPPORTS", key("a"), key("redis"), {}, "Memory", "Entity")),
        InvalidInputError,
        "Entity",
    ),
    (
        "the end that is deleted",
        lambda w: vars_of(w, node_deletes=[("Memory", key("a"))], edges=[supports("a", "a")]),
        InvalidInputError,
        "there is no Memory",
    ),
    (
        "an update of nothing",
        lambda work: work.node_updates.append(NodeUpdate("Memory", "nobody", {"status": "active"})),
        InvalidInputError,
        "nobody",
    ),
    (
        "an update of the key",
        lambda work: work.node_updates.append(NodeUpdate("Memory", key("a"), {"key": "b"})),
        InvalidInputError,
        "key",
    ),
    ("where", lambda w: w.edge_deletes.append(EdgeMatch("SUPPORTS", where={"x": 1})), InvalidInputError, "x"),
]


@pytest.fixture(scope="module", params=["memory", EMBEDDED])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """A store that outlives one test: what is refused must leave it as it is."""
    store = open_backend(store_location(tmp_path_factory.mktemp("kept"), request.param))
    store.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    store.write(unit_of("a"))
    yield store
    store.close()


@pytest.mark.parametrize(("make", "error", "words"), [bad[1:] for bad in BAD_UNITS], ids=[bad[0] for bad in BAD_UNITS])
def test_bad_input_is_refused_before_anything_is_written(
    kept: Backend, make: Callable[[UnitOfWork], Any], error: type[Exception], words: str
) -> None:
    before = dump(kept)
    work = unit_of("good")
    make(work)
    with pytest.raises(error, match=words):
        kept.write(work)
    assert dump(kept) == before


def test_a_store_goes_on_after_bad_input(kept: Backend) -> None:
    kept.write(unit_of("next"))
    assert kept.count("Memory", project_id=PROJECT) == 2
    assert kept.verify() == []
    kept.write(UnitOfWork(node_deletes=[("Memory", key("next"))]))


NASTY = [
    "I've a Rubik's cube; children's party",
    'say "hi"',
    "`backticks` and ``two``",
    "'}) DETACH DELETE n //",
    "x' OR 1=1",
    "$key $p_text {key: 1}",
    "line\nbreak\r\n\ttab",
    "NUL \0 inside",
    "back\\slash \\x41 \\u0041",
    "definiert_icp-kriterien_für",
    "漢字 かな 한국어 العربية",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "e\u0301 vs \u00e9",
    "/* comment */ // end",
    " leading and trailing ",
    "\u202eright to left",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("copies", [1, 250], ids=["small", "bulk"])
def test_any_text_is_data(kept: Backend, text: str, copies: int) -> None:
    backend = kept
    work = batch_of([f"{text}{number}" for number in range(copies)], (text,))
    for row in work.nodes["Memory"]:
        row.update(text=text, agent=text, project_id=text)
    work.merge["Entity"][0]["aliases"] = [text]
    work.edges.append(EdgeRow("RELATES_TO", key(text), key(text), {"predicate": text, "negated": True}))
    backend.write(work)
    found = backend.nodes("Memory", project_id=text)
    assert len(found) == copies
    assert found[0]["text"] == text
    assert backend.nodes("Memory", keys=[key(f"{text}0")])[0]["agent"] == text
    assert backend.nodes("Entity", keys=[key(text)])[0]["aliases"] == [text]
    assert backend.edges("RELATES_TO", sources=[key(text)])[0].properties["predicate"] == text
    assert len(backend.edges("MENTIONS", project_id=text)) == copies
    change = EdgeMatch("RELATES_TO", source=key(text), where={"predicate": text})
    backend.write(UnitOfWork(edge_deletes=[change], node_deletes=[("Memory", key(f"{text}0"))]))
    assert backend.count("RELATES_TO") == 0
    assert backend.count("Memory", project_id=text) == copies - 1
    rest = [("Memory", row["key"]) for row in backend.nodes("Memory", project_id=text)]
    backend.write(UnitOfWork(node_deletes=[*rest, ("Entity", key(text))]))


def test_keys_join_project_and_id_without_ambiguity() -> None:
    pairs = [("a", "b:c"), ("a:b", "c"), ("1:a", "b"), ("a/b", "c"), ("a", "b/c"), ("", "x"), ("0:", "x")]
    assert len({node_key(project, identifier) for project, identifier in pairs}) == len(pairs)


def test_a_closed_store_says_so(location: str) -> None:
    store = open_backend(location)
    store.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    store.close()
    store.close()
    calls: list[Callable[[], Any]] = [
        store.engine_version,
        store.meta,
        store.sequence,
        lambda: store.nodes("Memory"),
        lambda: store.edges("SUPPORTS"),
        lambda: store.vectors("Memory", project_id=PROJECT),
        lambda: store.count("Memory"),
        lambda: store.run("RETURN 1", {}),
        lambda: store.write(unit_of("a")),
        store.checkpoint,
        store.verify,
        store.size_bytes,
    ]
    for call in calls:
        with pytest.raises(StoreClosedError):
            call()


def test_checkpoint_and_size(backend: Backend, reopen: Reopen) -> None:
    backend.write(unit_of("a"))
    backend.checkpoint()
    backend.checkpoint()
    assert (backend.size_bytes() > 0) == backend.capabilities.durable
    store = reopen(backend)
    assert store.count("Memory") == 1
    store.close()


def test_verify_names_what_is_wrong(backend: Backend) -> None:
    work = UnitOfWork()
    work.add_node("Memory", memory_row("a", embedding=None))
    work.add_node("Chunk", {"key": "c", "project_id": PROJECT})
    work.add_node("Entity", entity_row("lonely"))
    work.add_node("Agent", {"key": key("other"), "id": "other", "project_id": PROJECT})
    work.edges.append(EdgeRow("LEARNED", key("other"), key("a")))
    backend.write(work)
    problems = "\n".join(backend.verify())
    for words in ("Memory without a vector", "Chunk without a vector", "lonely", "LEARNED from an agent"):
        assert words in problems


def test_a_new_vector_keeps_every_edge(backend: Backend, reopen: Reopen) -> None:
    backend.write(batch_of(["a", "b", "c"]))
    ends = [("a", "b"), ("b", "a"), ("a", "a"), ("b", "c"), ("a", "b")]
    backend.write(UnitOfWork(edges=[supports(*pair, weight=0.25) for pair in ends]))
    before = dump(backend)["edges"]
    changes = [NodeUpdate("Memory", key(name), {"embedding": vector(number)}) for number, name in enumerate("ab", 50)]
    changes.append(NodeUpdate("Memory", key("a"), {"status": "archived"}))
    work = unit_of("d")
    del work.edges[:]
    backend.write(UnitOfWork(nodes=work.nodes, node_updates=changes))
    store = reopen(backend)
    assert dump(store)["edges"] == before
    rows = {row["id"]: row for row in store.nodes("Memory")}
    assert rows["a"]["status"] == "archived"
    found = {name: row["embedding"].tobytes() for name, row in rows.items()}
    expected = {"a": vector(50), "b": vector(51), "c": memory_row("c")["embedding"], "d": memory_row("d")["embedding"]}
    assert found == {name: value.tobytes() for name, value in expected.items()}
    store.close()


def test_a_unit_made_from_an_older_state_is_refused_whole(backend: Backend) -> None:
    backend.write(unit_of("a"), expected=0)
    with pytest.raises(StoreChangedError, match="sequence is 1 and not 0"):
        backend.write(unit_of("b"), expected=0)
    assert backend.nodes("Memory", keys=[key("b")]) == []
    assert backend.sequence() == 1
    backend.write(unit_of("b"), expected=1)
    assert backend.sequence() == 2
