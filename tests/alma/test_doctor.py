"""The doctor on every engine: what is damaged is named with its cure, mended, and nothing else is changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from alma_graph import ALMA, Heuristic, MemoryScope
from alma_graph.backends import Backend, EdgeMatch, EdgeRow, NodeUpdate, Row, UnitOfWork, node_key
from alma_graph.backends import values as backend_values
from alma_graph.backends.memory import MemoryBackend
from alma_graph.backends.schema import ColumnType
from alma_graph.errors import AlmaGraphError, BackendError, ReadOnlyError
from alma_graph.testing.graphs import dump, entity_row, memory_row
from tests.alma.conftest import Open
from tests.conftest import embedded_only

LONG = "The quarterly report lists the revenue of the Lisbon office and its costs in detail. " * 150


@pytest.fixture
def alma(open_alma: Open) -> ALMA:
    """A store with every kind of node and edge, made without models."""
    alma = open_alma(embedder="hashing", extractor="rules")
    runs = [("Blue-green", "success")] * 3 + [("Rebuild it all", "failure")] * 2
    alma.learn_batch(
        {"agent": "dev", "task": "Deploy auth", "outcome": outcome, "strategy_used": how, "task_type": "deploy"}
        for how, outcome in runs
    )
    alma.add_domain_knowledge("dev", "auth", "The AuthService runs on Kubernetes in Lisbon.", id="fact")
    alma.add_domain_knowledge("ops", "auth", "The AuthService needs PostgreSQL 16.", id="other")
    alma.add_domain_knowledge("dev", "report", LONG, id="long")
    alma.add_user_preference("ann", "style", "Ann wants short answers.", id="wish")
    for turn in range(3):
        alma.observe("dev", f"Turn {turn} of the talk about Kubernetes.", session_id="talk", id=f"turn-{turn}")
    alma.relate("fact", "SUPPORTS", "other")
    return alma


def backend_of(alma: ALMA) -> Backend:
    return alma._store.backend


def damage(alma: ALMA, work: UnitOfWork) -> None:
    """Writes past everything that would have refused it, as another program or a fault would."""
    with alma._store.lock:
        alma._store.rewrite(work)


def key(memory_id: str) -> str:
    return node_key("shop", memory_id)


def state(alma: ALMA) -> dict[str, Any]:
    """Everything in the store; not how often it was written, nor when a lesson was last counted."""
    found = dump(backend_of(alma))
    del found["sequence"]
    for row in found["nodes"]["Memory"]:
        data = json.loads(row["data"])
        data.pop("updated_at", None)
        row["data"] = data
    return found


def entities(alma: ALMA) -> list[Row]:
    return backend_of(alma).nodes("Entity")


def heuristic(alma: ALMA) -> Row:
    return next(row for row in backend_of(alma).nodes("Memory") if row["kind"] == "heuristic")


def no_vector(alma: ALMA) -> UnitOfWork:
    return UnitOfWork(node_updates=[NodeUpdate("Memory", key(name), {"embedding": None}) for name in ("fact", "long")])


def no_chunk_vector(alma: ALMA) -> UnitOfWork:
    chunks = backend_of(alma).nodes("Chunk")
    assert len(chunks) > 2
    return UnitOfWork(node_updates=[NodeUpdate("Chunk", row["key"], {"embedding": None}) for row in chunks[1:]])


def not_a_number(alma: ALMA) -> UnitOfWork:
    vector = np.full((backend_of(alma).meta() or {})["dimension"], np.nan, dtype=np.float32)
    return UnitOfWork(node_updates=[NodeUpdate("Memory", key("fact"), {"embedding": vector})])


def orphan_entity(alma: ALMA) -> UnitOfWork:
    return UnitOfWork(nodes={"Entity": [entity_row("lonely")]})


def orphan_owners(alma: ALMA) -> UnitOfWork:
    work = UnitOfWork()
    for label in ("Agent", "User", "Session"):
        work.add_node(label, {"key": key(f"nobody's {label}"), "id": f"nobody's {label}", "project_id": "shop"})
    work.add_node(
        "Chunk", {"key": "c", "project_id": "shop", "position": 0, "embedding": np.ones(4096)[: dimension(alma)]}
    )
    return work


def dimension(alma: ALMA) -> int:
    return int((backend_of(alma).meta() or {})["dimension"])


def lost_owners(alma: ALMA) -> UnitOfWork:
    lost = [EdgeMatch("LEARNED", target=key("fact")), EdgeMatch("ABOUT", source=key("wish"))]
    return UnitOfWork(edge_deletes=lost)


def lost_agent(alma: ALMA) -> UnitOfWork:
    return UnitOfWork(node_deletes=[("Agent", key("ops")), ("Project", node_key("shop", ""))])


def another_s_agent(alma: ALMA) -> UnitOfWork:
    agent = {"key": key("ops"), "id": "ops", "project_id": "shop"}
    return UnitOfWork(merge={"Agent": [agent]}, edges=[EdgeRow("LEARNED", key("ops"), key("fact"))])


def stale_relation(alma: ALMA) -> UnitOfWork:
    first, second = [row["key"] for row in entities(alma)][:2]
    stated = {"predicate": "runs_on", "memory_id": "gone", "negated": False, "confidence": 0.5}
    return UnitOfWork(edges=[EdgeRow("RELATES_TO", first, second, stated)])


def through_the_wall(alma: ALMA) -> UnitOfWork:
    work = UnitOfWork(edges=[EdgeRow("SUPPORTS", key("fact"), node_key("elsewhere", "x"), {"weight": 1.0})])
    row = {
        **memory_row("x", "elsewhere", token_embeddings=None),
        "embedding": np.ones(dimension(alma)),
        "data": '{"domain":"d"}',
        "agent": None,
    }
    work.add_node("Memory", {**row, "kind": "domain_knowledge"})
    work.add_node("Project", {"key": node_key("elsewhere", ""), "project_id": "elsewhere"})
    return work


def scratch_project(alma: ALMA) -> UnitOfWork:
    name = f"doctor-{uuid4()}"
    row = {**memory_row("probe", name), "embedding": np.ones(dimension(alma))}
    return UnitOfWork(nodes={"Memory": [row]})


def wrong_count(alma: ALMA) -> UnitOfWork:
    row = heuristic(alma)
    data = {**json.loads(row["data"]), "success_count": 7, "occurrence_count": 9}
    return UnitOfWork(node_updates=[NodeUpdate("Memory", row["key"], {"data": json.dumps(data)})])


def lost_support(alma: ALMA) -> UnitOfWork:
    edge = backend_of(alma).edges("SUPPORTS", targets=[heuristic(alma)["key"]])[0]
    return UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", edge.source, edge.target)])


DAMAGES: list[tuple[Callable[[ALMA], UnitOfWork], str]] = [
    (no_vector, "Memory without a vector"),
    (no_chunk_vector, "Chunk without a vector"),
    (orphan_entity, "Entity that nothing mentions"),
    (orphan_owners, "User that no memory holds"),
    (lost_owners, "memories without the edge to their agent or user"),
    (lost_agent, "projects without their node"),
    (another_s_agent, "LEARNED from an agent that is not the memory's"),
    (stale_relation, "stated by memories that are gone"),
    (scratch_project, "scratch projects"),
    (wrong_count, "counts 7 successes of 9"),
    (lost_support, "has 2 supporting and 0 contradicting outcomes"),
]


def times_aside(found: dict[str, Any]) -> dict[str, Any]:
    """Without the times at which nodes and edges were made: what is made anew has another."""
    for row in found["nodes"]["Project"]:
        row.pop("created_at")
    for edge in found["edges"]["SUPPORTS"]:
        edge.properties.pop("recorded_at")
    return found


@pytest.mark.parametrize(("make", "words"), DAMAGES, ids=[make.__name__ for make, _ in DAMAGES])
def test_damage_is_named_mended_and_gone(alma: ALMA, make: Callable[[ALMA], UnitOfWork], words: str) -> None:
    before = times_aside(state(alma))
    answers = [hit.memory.id for hit in alma.retrieve("AuthService Kubernetes").hits]
    assert alma.doctor().ok
    damage(alma, make(alma))
    report = alma.doctor()
    assert not report.ok
    assert any(words in check.detail for check in report.problems), str(report)
    assert all(check.cure and check.fixable for check in report.problems), str(report)
    mended = alma.doctor(fix=True)
    assert mended.ok, str(mended)
    assert mended.repairs
    assert times_aside(state(alma)) == before
    assert [hit.memory.id for hit in alma.retrieve("AuthService Kubernetes").hits] == answers
    again = alma.doctor(fix=True)
    assert again.ok
    assert again.repairs == ()


@embedded_only
def test_a_lesson_of_a_lower_threshold_has_its_outcomes_back(open_alma: Open, alma: ALMA) -> None:
    """Who mends need not know the agent's scope."""
    scope = MemoryScope(agent_name="qa", min_occurrences_for_heuristic=2)
    other = open_alma(embedder="hashing", extractor="none", scopes=[scope])
    for number in range(2):
        other.learn("qa", "Test auth", True, "Replay the traffic", task_type="test", id=f"run-{number}")
    (lesson,) = other.memories(kind="heuristic", agent="qa")
    assert isinstance(lesson, Heuristic)
    damage(alma, UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", key("run-0"), key(lesson.id))]))
    assert not alma.doctor().ok
    report = alma.doctor(fix=True)
    assert report.ok, str(report)
    assert {link.memory.id for link in alma.why(lesson.id).supported_by} == {"run-0", "run-1"}
    found = alma.get(lesson.id)
    assert isinstance(found, Heuristic)
    assert found.model_copy(update={"updated_at": lesson.updated_at}) == lesson


def test_all_damage_at_once(alma: ALMA) -> None:
    before = times_aside(state(alma))
    for make, _ in DAMAGES:
        damage(alma, make(alma))
    report = alma.doctor(fix=True)
    assert report.ok, str(report)
    assert times_aside(state(alma)) == before


@pytest.mark.never("neo4j", reason="the server itself refuses a vector with NaN", raises=BackendError)
def test_a_vector_that_is_no_number(alma: ALMA, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(alma)
    with monkeypatch.context() as patch:
        cleaners = {**backend_values._CLEANERS, ColumnType.VECTOR: lambda value, where, dimension: value}
        patch.setattr(backend_values, "_CLEANERS", cleaners)
        damage(alma, not_a_number(alma))
    found = alma.retrieve("AuthService Kubernetes")  # it does not spoil the answers meanwhile
    assert found.hits
    assert all(np.isfinite(hit.score) for hit in found.hits)
    assert any("unusable vector" in check.detail for check in alma.doctor().problems)
    assert alma.doctor(fix=True).ok
    assert state(alma) == before


def test_an_edge_through_the_wall_is_cut(alma: ALMA) -> None:
    damage(alma, through_the_wall(alma))
    assert any("cross from one project" in check.detail for check in alma.doctor().problems)
    assert alma.doctor(fix=True).ok
    assert [edge.target for edge in backend_of(alma).edges("SUPPORTS", sources=[key("fact")])] == [key("other")]
    assert alma.projects() == ["elsewhere", "shop"]


def test_a_dangling_edge_is_removed(open_alma: Open, engine: str) -> None:
    if engine != "memory":
        return  # the engines delete a node with its edges, and make none without both ends
    alma = open_alma(embedder="hashing", extractor="rules")
    alma.add_domain_knowledge("dev", "auth", "The AuthService runs on Kubernetes in Lisbon.", id="fact")
    backend = backend_of(alma)
    assert isinstance(backend, MemoryBackend)
    lost = backend.edges("MENTIONS")[0].target
    del backend._nodes["Entity"][lost]
    assert any("an end that does not exist" in check.detail for check in alma.doctor().problems)
    assert alma.doctor(fix=True).ok
    assert lost not in [edge.target for edge in backend.edges("MENTIONS")]


def test_what_cannot_be_mended_is_left_and_said(alma: ALMA) -> None:
    circle = [
        EdgeRow("INHERITS_FROM", key(a), key(b), {"mode": "derived"}) for a, b in (("fact", "other"), ("other", "fact"))
    ]
    damage(alma, UnitOfWork(edges=circle, node_updates=[NodeUpdate("Memory", key("turn-1"), {"data": "{"})]))
    answer = alma.retrieve("talk Kubernetes")  # one damaged memory does not keep the others from being found
    assert {hit.memory.id for hit in answer.hits} >= {"turn-0", "turn-2"}
    assert any("turn-1" in warning and "doctor" in warning for warning in answer.warnings)
    report = alma.doctor(fix=True)
    assert {check.name for check in report.problems} >= {"memories", "inheritance"}
    assert all(check.cure and not check.fixable for check in report.problems), str(report)
    assert len(backend_of(alma).edges("INHERITS_FROM")) == 2


def test_arrays_that_differ_from_the_graph_are_rebuilt(alma: ALMA) -> None:
    answers = [hit.memory.id for hit in alma.retrieve("AuthService Kubernetes").hits]
    index = alma._store.kept_index("shop")
    assert index is not None
    row = index.row("fact")
    assert row is not None
    index.rows.set(row, "status", 1)
    index.dense.remove(row)
    alma._store.shared.cleared += 1  # so that no earlier answer is given
    assert [hit.memory.id for hit in alma.retrieve("AuthService Kubernetes").hits] != answers
    problems = alma.doctor().problems
    assert [check.name for check in problems] == ["index"]
    assert "--rebuild" in problems[0].cure
    report = alma.doctor(rebuild=True)
    assert report.ok, str(report)
    assert any("read the arrays of 1 projects anew" in line for line in report.repairs)
    assert [hit.memory.id for hit in alma.retrieve("AuthService Kubernetes").hits] == answers
    index = alma._store.kept_index("shop")
    assert index is not None
    index.rows.set(index.row("fact") or 0, "status", 1)
    assert alma.doctor(fix=True).ok


def test_a_write_past_the_lock_is_seen(alma: ALMA) -> None:
    assert alma.retrieve("AuthService").hits
    backend_of(alma).write(UnitOfWork(node_updates=[NodeUpdate("Memory", key("fact"), {"use_count": 3})]))
    followed = backend_of(alma).capabilities.shared_writers  # then it is what any other writer does
    assert {check.name for check in alma.doctor().problems} == (set() if followed else {"sequence", "index"})
    assert alma.doctor(fix=True).ok
    assert alma.get("fact").use_count == 3


def test_another_model_of_the_same_name_is_noticed(open_alma: Open) -> None:
    class Model:
        """Embeds by the letters of a text, shifted by a seed."""

        name = "letters"
        dimension = 64
        shift = 0

        def embed(self, texts: Any) -> Any:
            matrix = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
            for row, text in enumerate(texts):
                for letter in text:
                    matrix[row, (ord(letter) + self.shift) % self.dimension] += 1
            return matrix

    model = Model()
    alma = open_alma(embedder=model, extractor="none")
    alma.add_domain_knowledge("a", "d", "The vault is in Bern.")
    assert alma.doctor().ok
    model.shift = 7
    problems = alma.doctor().problems
    assert [check.name for check in problems] == ["embedder"]
    assert "reembed" in problems[0].cure


def test_the_round_trip_leaves_nothing(alma: ALMA) -> None:
    before = state(alma)
    projects = alma.projects()
    assert any(check.name == "round trip" and check.ok for check in alma.doctor().checks)
    assert state(alma) == before
    assert alma.projects() == projects


def test_a_failing_round_trip_is_a_finding_and_leaves_nothing(alma: ALMA, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(alma)

    def broken(*_: Any) -> Any:
        raise AlmaGraphError("the index broke")

    monkeypatch.setattr(alma._store, "index", broken)
    with monkeypatch.context() as patch:
        patch.setattr(alma._store, "commit", lambda _, work: alma._store.rewrite(work))
        report = alma.doctor()
    assert [check.name for check in report.problems] == ["round trip"]
    assert "the index broke" in report.problems[0].detail
    assert state(alma) == before


def test_a_report_is_plain_json(alma: ALMA) -> None:
    report = alma.doctor()
    told = json.loads(json.dumps(report.to_dict()))
    assert told["ok"] is True
    assert told["repairs"] == []
    assert {"engine", "schema", "graph", "lessons", "embedder", "index", "round trip"} <= {
        c["name"] for c in told["checks"]
    }
    assert alma._store.backend.engine_version() in str(report)


@embedded_only
def test_a_reader_looks_and_does_not_touch(open_alma: Open, alma: ALMA) -> None:
    alma.close()
    reader = open_alma(read_only=True, extractor="none")
    sequence = backend_of(reader).sequence()
    report = reader.doctor()
    assert report.ok, str(report)
    assert "round trip" not in {check.name for check in report.checks}
    for options in ({"fix": True}, {"rebuild": True}):
        with pytest.raises(ReadOnlyError):
            reader.doctor(**options)
    assert backend_of(reader).sequence() == sequence


@embedded_only
def test_leftovers_of_a_crash_are_named_and_removed(alma: ALMA, location: str) -> None:
    path = Path(location.partition(":")[2])
    half = path.with_name(f"{path.name}.guard.part")
    torn = path.with_name(f"{path.name}.wal.torn-1")
    half.write_bytes(b"half a copy")
    torn.write_bytes(b"a log")
    report = alma.doctor()
    assert report.ok  # they cost space only
    told = {check.name: check for check in report.checks if check.severity == "warning"}
    assert set(told) == {"leftovers", "torn logs"}
    assert half.name in told["leftovers"].detail
    report = alma.doctor(fix=True)
    assert any(half.name in line for line in report.repairs)
    assert not half.exists()
    assert torn.exists()  # what may hold somebody's data is kept until they remove it


def test_a_vector_of_another_text_is_made_anew(alma: ALMA) -> None:
    before = state(alma)
    strange = backend_of(alma).nodes("Memory", keys=[key("turn-0")], columns=("embedding",))[0]
    first = backend_of(alma).nodes("Memory")[0]["key"]
    damage(alma, UnitOfWork(node_updates=[NodeUpdate("Memory", first, strange)]))
    assert any("not its text's" in check.detail for check in alma.doctor().problems)
    assert alma.doctor(fix=True).ok
    assert state(alma) == before


def test_missing_indexes_of_a_server_are_named_and_made(alma: ALMA) -> None:
    backend = backend_of(alma)
    if not backend.capabilities.server:
        return  # an embedded store keeps no index of the engine's
    dialect, connection = backend._dialect, backend._connection  # type: ignore[attr-defined]
    for name in dialect.schema(dimension(alma)):
        if not name.endswith("_key"):
            connection.command(f"DROP INDEX {name} IF EXISTS", "not dropped")
    problems = alma.doctor().problems
    assert [check.name for check in problems] == ["server indexes"]
    assert "alma_memory_embedding" in problems[0].detail
    report = alma.doctor(fix=True)
    assert report.ok, str(report)
    assert any("alma_memory_embedding" in line for line in report.repairs)
    report = alma.doctor(rebuild=True)
    assert report.ok, str(report)
    assert any("indexes of the server anew" in line for line in report.repairs)
