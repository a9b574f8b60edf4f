"""Ten thousand memories from one embedded engine to the other and back: nothing is lost, nothing is added."""

from __future__ import annotations

import ssl
import sys
from pathlib import Path
from typing import Any

import pytest

from alma_graph import ALMA, DomainKnowledge, InvalidInputError, Observation, Outcome
from alma_graph.errors import BackendError, ServerError
from alma_graph.model import Result
from alma_graph.transfer import engines
from alma_graph.transfer.engines import migrate_engine
from tests.conftest import EMBEDDED, SERVER, store_location

MEMORIES = 10_000


def fill(location: str, count: int) -> None:
    with ALMA.open(location, project_id="shop", embedder="hashing:64", extractor="none") as alma:
        alma.add_batch(
            [
                (
                    DomainKnowledge(agent="a", domain="d", fact=f"Fact {n}: 東京 “{n * 7}” 😀", metadata={"n": n})
                    if n % 3
                    else Observation(agent="a", text=f"Turn {n}\n\u2028 end", session_id=f"s{n % 50}")
                )
                for n in range(count - 20)
            ]
        )
        alma.learn_batch(
            [
                Outcome(
                    agent="dev",
                    task=f"Deploy {n}",
                    outcome=Result.SUCCESS,
                    strategy_used="Blue-green",
                    task_type="deploy",
                )
                for n in range(20)
            ]
        )


def check_both_ways(tmp_path: Path, engine: str, count: int) -> None:
    other = "kuzu" if engine == "ladybug" else "ladybug"
    source = f"{engine}:{tmp_path / 'store.graph'}"
    fill(source, count)
    steps: dict[str, list[int]] = {}

    def tell(step: str, done: int, total: int) -> None:
        assert done <= total
        steps.setdefault(step, []).append(done)

    there = migrate_engine(source, other, progress=tell)
    assert there.nodes["Memory"] == count + 1  # the heuristic
    assert list(steps) == ["export", "import", "verify"]
    assert all(seen == sorted(seen) for seen in steps.values())
    back = migrate_engine(there.target, engine, target=tmp_path / "back.graph")
    assert (back.nodes, back.edges, back.sha256) == (there.nodes, there.edges, there.sha256)
    with (
        ALMA.open(source, project_id="shop", extractor="none") as one,
        ALMA.open(back.target, project_id="shop", extractor="none") as two,
    ):
        assert list(one.memories(status=None)) == list(two.memories(status=None))
        found = [alma.retrieve("Fact 77 about 東京").hits for alma in (one, two)]
        assert [(hit.memory.id, hit.parts) for hit in found[0]] == [(hit.memory.id, hit.parts) for hit in found[1]]
        assert found[0]
        assert two.doctor().ok


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_memories_go_to_the_other_engine_and_back(tmp_path: Path, embedded_engine: str) -> None:
    check_both_ways(tmp_path, embedded_engine, MEMORIES)


@pytest.mark.engine
def test_a_copy_that_differs_is_removed(tmp_path: Path, embedded_engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"{embedded_engine}:{tmp_path / 'store.graph'}"
    with ALMA.open(source, project_id="shop", embedder="hashing:64", extractor="none") as alma:
        alma.add_domain_knowledge("a", "d", "A fact.")
    real = engines._step

    def lossy(step: str, *rest: object, **options: object) -> object:
        found = real(step, *rest, **options)  # type: ignore[arg-type]
        return {**found, "nodes": {**found["nodes"], "Memory": 0}} if step == "verify" else found

    monkeypatch.setattr(engines, "_step", lossy)
    with pytest.raises(BackendError, match="1 Memory became 0"):
        migrate_engine(source, embedded_engine, target=tmp_path / "copy.graph")
    assert [file.name for file in tmp_path.iterdir() if not file.name.startswith("store.graph")] == []


@pytest.mark.engine
def test_a_child_that_dies_is_told_of(tmp_path: Path, embedded_engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"{embedded_engine}:{tmp_path / 'store.graph'}"
    with ALMA.open(source, project_id="shop", embedder="hashing:64", extractor="none") as alma:
        alma.add_domain_knowledge("a", "d", "A fact.")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BackendError, match="ended with code 1"):
        migrate_engine(source, embedded_engine, target=tmp_path / "copy.graph")
    assert not (tmp_path / "copy.graph").exists()


@pytest.mark.engine
def test_options_reach_the_store_that_is_written(tmp_path: Path, cypher_engine: str) -> None:
    source = f"{EMBEDDED}:{tmp_path / 'source.graph'}"
    fill(source, 30)
    to = store_location(tmp_path, cypher_engine) if SERVER else cypher_engine
    asked: list[object] = []

    def resolver(address: object) -> list[object]:
        asked.append(address)
        return [address]

    options: dict[str, object] = {"resolver": resolver} if SERVER else {"buffer_pool_bytes": 64 << 20}
    steps: set[str] = set()
    made = migrate_engine(source, to, connection=options, progress=lambda step, done, total: steps.add(step))
    assert made.nodes["Memory"] == 31
    assert steps == {"export", "import", "verify"}
    assert bool(asked) is SERVER


def test_options_that_are_objects_go_to_a_server_and_no_further(tmp_path: Path) -> None:
    source = f"{EMBEDDED}:{tmp_path / 'source.graph'}"
    with ALMA.open(source, project_id="shop", embedder="hashing:64", extractor="none") as alma:
        alma.add_domain_knowledge("a", "d", "A fact.")
    context = ssl.create_default_context()
    with pytest.raises(ServerError, match="localhost:1"):
        migrate_engine(source, "bolt://localhost:1", connection={"ssl_context": context, "connection_timeout": 1.0})
    with pytest.raises(ServerError, match="localhost:1"):
        migrate_engine(
            "bolt://localhost:1", EMBEDDED, target=tmp_path / "x", source_connection={"ssl_context": context}
        )
    objects: list[tuple[dict[str, Any], dict[str, Any]]] = [({"ssl_context": context}, {}), ({}, {"threads": object()})]
    for one, other in objects:
        with pytest.raises(InvalidInputError, match="cannot be given to the process"):
            migrate_engine(source, EMBEDDED, target=tmp_path / "x", source_connection=one, connection=other)
    assert [file.name for file in tmp_path.iterdir() if not file.name.startswith("source.graph")] == []


@pytest.mark.engine
def test_the_copy_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"{EMBEDDED}:{tmp_path / 'source.graph'}"
    fill(source, 30)
    target = tmp_path / "copy.graph"
    seen: list[tuple[str, bool]] = []
    monkeypatch.setattr(engines, "sync_file", lambda path: seen.append((path.suffix, target.exists())))
    monkeypatch.setattr(engines, "sync_folder", lambda path: seen.append((path.name, target.exists())))
    migrate_engine(source, EMBEDDED, target=target)
    assert seen == [(".part", False), (tmp_path.name, True)]


def test_what_is_no_engine_is_refused(tmp_path: Path) -> None:
    for to, target in (("oracle", None), ("kuzu", tmp_path), (3, None), ("bolt://x", "y")):
        with pytest.raises(InvalidInputError):
            migrate_engine(tmp_path / "store.graph", to, target=target)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="beside"):
        migrate_engine("bolt://localhost", "kuzu")
