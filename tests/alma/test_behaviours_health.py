"""Behaviours that users asked for, about stores that stay well: readers, indexes that lag or are empty, engines that
are missing, machines without a network, large graphs. Numbers are those of the list of behaviours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alma_graph.backends.protocol import EdgeRow, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.embedding import Encoder, HashingEmbedder
from alma_graph.index import ProjectIndex
from alma_graph.model import DomainKnowledge
from alma_graph.retrieval import retrieve
from tests.alma.conftest import Open
from tests.conftest import EMBEDDED, embedded_only

ROOT = Path(__file__).resolve().parents[2]
OTHER = "kuzu" if EMBEDDED == "ladybug" else "ladybug"


def child(code: str, *arguments: object, **environment: str) -> Any:
    """What a process of its own prints as JSON."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@embedded_only
def test_p079_a_reader_searches_without_a_write_or_a_warning(open_alma: Open, location: str) -> None:
    alma = open_alma(embedder="hashing", extractor="rules")
    alma.add_domain_knowledge("dev", "auth", "The AuthService runs on Kubernetes.", id="fact")
    alma.close()
    file = Path(location.partition(":")[2])
    before = file.read_bytes(), file.stat().st_mtime_ns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reader = open_alma(read_only=True, extractor="none")
        for question in ("AuthService", "Where does the service run?", "kubernetes") * 3:
            answer = reader.retrieve(question)
            assert [hit.memory.id for hit in answer.hits] == ["fact"]
            assert answer.warnings == ()
        assert reader.cypher("MATCH (m:Memory) RETURN count(*)").rows == ((1,),)
        reader.close()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert not file.with_name(f"{file.name}.wal").exists()


@pytest.mark.parametrize("together", [False, True], ids=["one by one", "as a batch"])
def test_p111_an_entity_just_written_is_found_by_the_next(open_alma: Open, together: bool) -> None:
    alma = open_alma(embedder="hashing", extractor="rules")
    facts = [f"The AuthService of shop {number % 50} runs on Kubernetes." for number in range(100)]
    if together:
        alma.add_batch([DomainKnowledge(domain="auth", fact=fact, agent="dev") for fact in facts])
    else:
        for fact in facts[:60]:
            alma.add_domain_knowledge("dev", "auth", fact)
    assert alma.stats().memories == 50
    rows = alma._store.backend.nodes("Entity")
    names = [row["canonical"] for row in rows]
    assert len(names) == len(set(names))
    assert sum("kubernetes" in name for name in names) == 1
    assert sum(name == "AuthService" for name in names) == 1
    assert alma.doctor().ok


def test_p116_an_empty_index_is_noticed_and_the_others_answer(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing", extractor="rules")
    alma.add_domain_knowledge("dev", "auth", "The AuthService runs on Kubernetes.", id="fact")
    alma.add_domain_knowledge("dev", "db", "PostgreSQL listens on port 5432.", id="other")
    full = alma.retrieve("AuthService on Kubernetes", explain=True)
    assert full.hits[0].memory.id == "fact"
    alma._store.drop_index("shop")  # dropped: it is read again, and says the same
    alma._store.shared.cleared += 1
    again = alma.retrieve("AuthService on Kubernetes", explain=True)
    assert [(hit.memory.id, hit.parts) for hit in again.hits] == [(hit.memory.id, hit.parts) for hit in full.hits]
    index = alma._store.kept_index("shop")
    assert index is not None
    for row in range(len(index.rows)):  # emptied: the words answer, and the trace says which arm did
        index.dense.remove(row)
    alma._store.shared.cleared += 1
    words = alma.retrieve("AuthService on Kubernetes", explain=True)
    assert words.hits[0].memory.id == "fact"
    used = {name for name, value in words.hits[0].parts.items() if value > 0}
    assert any("lexical" in name for name in used), words.hits[0].parts
    assert not any("dense" in name for name in used), words.hits[0].parts
    assert [check.name for check in alma.doctor().problems] == ["index"]
    assert alma.doctor(rebuild=True).ok
    mended = alma.retrieve("AuthService on Kubernetes", explain=True)
    assert [(hit.memory.id, hit.parts) for hit in mended.hits] == [(hit.memory.id, hit.parts) for hit in full.hits]


@pytest.mark.parametrize("count", [1_200, pytest.param(5_000, marks=pytest.mark.slow)])
def test_p043_thousands_in_bulk_are_searched_at_once(open_alma: Open, engine: str, count: int) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    facts = [
        DomainKnowledge(domain="d", fact=f"Service number {n} listens on port {10_000 + n}.") for n in range(count)
    ]
    alma.add_batch(facts)
    found = alma.retrieve("Which service listens on port 10777?")
    assert found.warnings == ()
    assert found.hits[0].memory.text == "Service number 777 listens on port 10777."
    if engine == "memory":
        return
    alma.close()
    again = open_alma(extractor="none")  # what was written on disk, in a process that did not write it
    assert again.retrieve("Which service listens on port 10777?").hits[0].memory.text.startswith("Service number 777")


OFFLINE = """
import json, socket, sys
def refuse(*_, **__): raise OSError("there is no network here")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from datetime import UTC, datetime
from alma_graph import ALMA
now = datetime(2026, 3, 1, tzinfo=UTC)
settings = dict(project_id="shop", embedder="hashing", extractor="rules", clock=lambda: now)
with ALMA.open(sys.argv[1], **settings) as alma:
    for n in range(30):
        fact = f"Service {n} runs on Kubernetes and listens on port {8000 + n}."
        alma.add_domain_knowledge("dev", "auth", fact, id=f"f{n}")
    asked = ("port 8017", "Kubernetes", "service 3", "which port?")
    answers = [[(hit.memory.id, round(hit.score, 9)) for hit in alma.retrieve(q, top_k=10).hits] for q in asked]
    report = alma.doctor()
    told = [check.detail for check in report.checks if check.name == "extensions"]
print(json.dumps({"answers": answers, "ok": report.ok, "extensions": told}))
"""


@pytest.mark.never("neo4j", reason="a server is reached through the network")
def test_p124_p125_no_extension_and_no_network_change_nothing(location: str, engine: str, tmp_path: Path) -> None:
    """No extension is looked for, so a folder without any, or one that cannot be read, costs nothing."""
    empty = tmp_path / "home"
    empty.mkdir()
    found = child(OFFLINE, location, HOME=str(empty), OMP_NUM_THREADS="1")
    assert found["ok"]
    assert all(answer for answer in found["answers"])
    assert found["answers"] == child(OFFLINE, ":memory:", HOME=str(empty), OMP_NUM_THREADS="1")["answers"]
    if engine != "memory":
        assert found["extensions"] == ["none is loaded and none is needed"]
    assert list(empty.rglob("*.lbug_extension")) == list(empty.rglob("*.kuzu_extension")) == []


ONLY = """
import importlib.abc, importlib.util, json, sys
missing = sys.argv[2]
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name.partition(".")[0] == missing else find(name, *rest)
from alma_graph import ALMA
from alma_graph.errors import MissingDependencyError
try:
    ALMA.open(f"{missing}:{sys.argv[3]}", project_id="shop", embedder="hashing", extractor="none")
    said = ""
except MissingDependencyError as error:
    said = str(error)
with ALMA.open(sys.argv[1], project_id="shop", embedder="hashing", extractor="none") as alma:
    alma.add_domain_knowledge("dev", "auth", "The vault is in Bern.", id="fact")
    hits = [hit.memory.id for hit in alma.retrieve("vault").hits]
    told = [check.detail for check in alma.doctor().checks if check.name in ("engine", "driver")]
print(json.dumps({"hits": hits, "told": told, "said": said}))
"""


@embedded_only
def test_p112_one_engine_alone_is_enough(location: str, tmp_path: Path) -> None:
    found = child(ONLY, location, OTHER, tmp_path / "other.graph")
    assert found["hits"] == ["fact"]
    version = child(f"import json, {EMBEDDED} as engine; print(json.dumps(engine.__version__))")
    assert all(f"{EMBEDDED} {version}" in line for line in found["told"])
    assert found["said"].startswith(f"the engine {OTHER} is not installed")
    assert "pip install" in found["said"]
    assert not (tmp_path / "other.graph").exists()


def test_p083_a_graph_of_fifty_thousand_is_spread_over_in_a_second() -> None:
    """50,000 memories, 5,000 entities and 200,000 edges: a question takes no second and no gigabyte."""
    import resource

    encoder = Encoder(HashingEmbedder(64))
    dice = np.random.default_rng(7)
    count, entities = 50_000, 5_000
    vectors = dice.normal(size=(count, 64)).astype(np.float32)
    work = UnitOfWork()
    for n in range(count):
        row = {"key": node_key("shop", f"m{n}"), "id": f"m{n}", "project_id": "shop", "kind": "domain_knowledge"}
        text = f"The service {n} of region {n % 97} is slow on mondays"
        row |= {"text": text, "content_hash": f"{n:064x}", "status": "active", "data": "{}"}
        work.add_node("Memory", {**row, "embedding": vectors[n]})
    for n in range(entities):
        name = f"region {n}"
        entity = {
            "key": node_key("shop", f"e{n}"),
            "project_id": "shop",
            "name": name,
            "canonical": name,
            "aliases": [],
        }
        work.add_node("Entity", entity)
    for source, target in zip(dice.integers(count, size=150_000), dice.integers(entities, size=150_000), strict=True):
        ends = node_key("shop", f"m{source}"), node_key("shop", f"e{target}")
        work.edges.append(EdgeRow("MENTIONS", *ends, {"start_char": int(source) % 60}))
    for source, target in dice.integers(count, size=(50_000, 2)):
        ends = node_key("shop", f"m{source}"), node_key("shop", f"m{target}")
        work.edges.append(EdgeRow("SUPPORTS", *ends, {"weight": 1.0}))
    index = ProjectIndex("shop", 64)
    index.apply(work)
    del work
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for question in ("the slow service of region 17", "region 4242", "mondays"):
        began = time.perf_counter()
        found = retrieve(index, lambda keys: [], encoder, question, top_k=10, explain=True)
        seconds.append(time.perf_counter() - began)
        assert "graph" in str(found.trace)
    extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert min(seconds) < 1.0, seconds
    assert extra < 1_000_000, f"{extra} KB"
