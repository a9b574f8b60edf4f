"""Other vectors for a whole store: all of them at once, whatever happens in between."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alma_graph import ALMA, EmbedderMismatchError, InvalidInputError, ReadOnlyError, StoreLockedError, reembed
from alma_graph.backends import Backend
from alma_graph.backends.embedded.opening import StoreRecoveredWarning
from alma_graph.embedding import Encoder, HashingEmbedder, create_embedder
from alma_graph.errors import EmbeddingError, StoreError, UnsupportedError
from alma_graph.store.spools import digest_of
from alma_graph.testing.graphs import dump
from tests.alma.conftest import Open
from tests.conftest import SERVER, durable_only, embedded_only

LONG = " ".join(f"The step {number} of the release is checked by hand." for number in range(200))


class Counting:
    """An embedder that counts what it is asked, and fails where it is told to."""

    def __init__(self, dimension: int = 12, *, fails_after: int | None = None) -> None:
        self.name = f"counting-{dimension}"
        self.dimension = dimension
        self.texts: list[str] = []
        self.fails_after = fails_after
        self._inner = HashingEmbedder(dimension)

    def embed(self, texts: Sequence[str]) -> Any:
        if self.fails_after is not None and len(self.texts) + len(texts) > self.fails_after:
            raise RuntimeError("the model was unplugged")
        self.texts += texts
        return self._inner.embed(texts)


def fill(alma: ALMA, count: int = 12) -> None:
    """Lessons, a long text, a repeated one, a session, related memories."""
    outcomes = [
        {"agent": "dev", "task": f"Deploy service {at}", "outcome": "success", "strategy_used": "Blue-green deployment"}
        for at in range(count)
    ]
    alma.learn_batch(outcomes)
    alma.add_domain_knowledge("dev", "release", LONG, id="long")
    for owner in ("dev", "ops"):
        alma.add_domain_knowledge(owner, "auth", "The auth service listens on port 8080.", id=f"port-{owner}")
    alma.observe("ops", "東京 naïve café", session_id="chat", id="odd")
    alma.relate("port-ops", "SUPPORTS", "port-dev", {"why": "same"})


def assert_vectors_are_of(backend: Backend, embedder: Any) -> None:
    """All vectors are what this embedder makes of the texts now."""
    encoder = Encoder(create_embedder(embedder))
    meta = backend.meta() or {}
    assert (meta["embedder"], meta["dimension"]) == (encoder.name, encoder.dimension)
    chunks = {row["key"]: row for row in backend.nodes("Chunk")}
    for row in backend.nodes("Memory"):
        [encoded] = encoder.encode([row["text"]])
        assert np.array_equal(row["embedding"], encoded.vector)
        assert row["token_embeddings"] == encoded.token_embeddings
        for position, chunk in enumerate(encoded.chunks):
            stored = chunks.pop(f"{row['key']}#{position}")
            assert (stored["start_char"], stored["end_char"]) == (chunk.start_char, chunk.end_char)
            assert np.array_equal(stored["embedding"], chunk.vector)
    assert chunks == {}
    assert backend.verify() == []


def but_vectors(backend: Backend) -> dict[str, Any]:
    """Everything but what an embedder makes."""
    found = dump(backend)
    for label in ("Chunk", "Meta"):
        found["nodes"].pop(label, None)
    found["edges"].pop("HAS_CHUNK", None)
    found.pop("sequence")
    for row in found["nodes"]["Memory"]:
        row["embedding"] = row["token_embeddings"] = None
    return found


@pytest.mark.parametrize("embedder", ["hashing:24", "hashing:16"], ids=["another dimension", "its own"])
def test_all_vectors_of_all_projects_are_made_anew(open_alma: Open, embedder: str) -> None:
    alma = open_alma(embedder="hashing:16", extractor="rules")
    fill(alma)
    if alma.stats().engine != "memory":
        open_alma(project_id="other", extractor="none").add_domain_knowledge("x", "d", "Another tenant's fact.")
    backend = alma._store.backend
    before, told = but_vectors(backend), []
    done = alma.reembed(embedder, lambda at, total: told.append((at, total)))
    assert (done.embedder, done.dimension) == (f"hashing-{embedder[-2:]}", int(embedder[-2:]))
    assert done.memories == backend.count("Memory")
    assert done.encoded == done.texts == done.memories - 1  # one text is there twice
    assert told[-1] == (done.memories, done.memories)
    assert told == sorted(told)
    assert but_vectors(backend) == before
    assert_vectors_are_of(backend, embedder)
    assert alma.retrieve("port of the auth service").hits[0].memory.text == "The auth service listens on port 8080."
    alma.learn("dev", "Deploy service x", "success", "Blue-green deployment")
    assert alma.doctor().ok
    assert_vectors_are_of(backend, embedder)


@durable_only
def test_a_reembedded_store_is_a_store_when_it_is_opened_again(open_alma: Open, location: str, tmp_path: Path) -> None:
    alma = open_alma(embedder="hashing:16", extractor="rules")
    fill(alma)
    expected = but_vectors(alma._store.backend)
    alma.close()
    done = reembed(location, "hashing:40")
    assert (done.embedder, done.dimension) == ("hashing-40", 40)
    again = open_alma()
    assert again.stats().embedder == "hashing-40"
    assert but_vectors(again._store.backend) == expected
    assert_vectors_are_of(again._store.backend, "hashing:40")
    with pytest.raises(EmbedderMismatchError, match="alma-graph reembed"):
        open_alma(embedder="hashing:16")
    again.close()
    left = {path.name.removeprefix("store.graph") for path in tmp_path.iterdir()}
    assert left <= {"", ".lock", ".readers"}


def test_equal_texts_are_encoded_once(plain: ALMA) -> None:
    for agent in ("a", "b", "c"):
        plain.add_domain_knowledge(agent, "d", "The same text.")
    embedder = Counting()
    assert plain.reembed(embedder).memories == 3
    assert embedder.texts == ["The same text."]


def test_every_handle_of_the_path_uses_the_new_embedder(open_alma: Open, location: str, engine: str) -> None:
    one = open_alma(embedder="hashing:16", extractor="none")
    two = open_alma(project_id="other", extractor="none") if engine != "memory" else one
    two.add_domain_knowledge("x", "d", "The queue is drained at night.")
    one.reembed("hashing:32")
    two.add_domain_knowledge("x", "d", "The cache is cold in the morning.")
    assert two.retrieve("queue at night").hits[0].memory.text == "The queue is drained at night."
    assert_vectors_are_of(two._store.backend, "hashing:32")
    if engine != "memory":  # the same by the store's place, while it is open here
        reembed(location, "hashing:40")
        one.add_domain_knowledge("x", "d", "The index is warm at noon.")
        assert two.retrieve("queue at night").hits[0].memory.text == "The queue is drained at night."
        assert_vectors_are_of(one._store.backend, "hashing:40")


def test_interrupted_it_goes_on_where_it_stopped(
    open_alma: Open, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALMA_GRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("alma_graph.maintenance.reembedding._BATCH", 10)
    alma = open_alma(embedder="hashing:16", extractor="none")
    texts = [f"Fact number {at} about the store." for at in range(50)]
    for text in texts:
        alma.add_domain_knowledge("a", "d", text)
    before = dump(alma._store.backend)
    first = Counting(fails_after=35)
    with pytest.raises(EmbeddingError, match="unplugged"):
        alma.reembed(first)
    assert dump(alma._store.backend) == before
    assert alma.retrieve(texts[7]).hits[0].memory.text == texts[7]
    alma.add_domain_knowledge("a", "d", "Written between the two calls.")
    forgotten = first.texts[0]
    alma.forget(alma.retrieve(forgotten).hits[0].memory.id)
    spools = [*tmp_path.glob("*.vectors"), *(tmp_path / "cache").glob("reembedding/*")]
    assert len(spools) == (engine != "memory")
    for spool in spools:
        with closing(sqlite3.connect(spool)) as database:
            kept = {row[0] for row in database.execute("SELECT digest FROM encoded")}
        assert kept == {digest_of(text) for text in first.texts[1:]}
    second = Counting()
    done = alma.reembed(second)
    assert_vectors_are_of(alma._store.backend, Counting())
    assert done.texts == 50
    if engine == "memory":  # keeps nothing of what it did not finish
        return
    assert len(first.texts) == 30
    assert "Written between the two calls." in second.texts
    assert not set(second.texts) & set(first.texts)
    assert done.encoded == len(second.texts)


@embedded_only
def test_what_another_embedder_left_is_not_used(open_alma: Open, location: str, tmp_path: Path) -> None:
    alma = open_alma(embedder="hashing:16", extractor="none")
    for at in range(20):
        alma.add_domain_knowledge("a", "d", f"Fact number {at}.")
    alma.close()
    spool = tmp_path / "store.graph.vectors"
    for broken in (b"no database at all" * 100, b""):
        spool.write_bytes(broken)
        assert reembed(location, "hashing:24").encoded == 20
        assert not spool.exists()
    with pytest.raises(EmbeddingError), pytest.MonkeyPatch.context() as patch:
        patch.setattr("alma_graph.maintenance.reembedding._BATCH", 5)
        reembed(location, Counting(24, fails_after=10))
    assert spool.exists()
    assert reembed(location, "hashing:24").encoded == 20
    again = open_alma()
    assert_vectors_are_of(again._store.backend, "hashing:24")


def test_a_failure_while_the_vectors_are_put_in_place_changes_nothing(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing:16", extractor="rules")
    fill(alma)
    backend: Any = alma._store.backend
    before = dump(backend)

    def broken(self: Any, rows: Any) -> Any:
        raise RuntimeError("no memory left")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("alma_graph.maintenance.reembedding._Work.vectors_of", broken)
        with pytest.raises((RuntimeError, StoreError), match="no memory left"):
            alma.reembed("hashing:24")
    assert dump(backend) == before
    alma.learn("dev", "Deploy after it", "success", "Blue-green deployment")
    alma.reembed("hashing:24")
    assert_vectors_are_of(backend, "hashing:24")


def test_writers_and_readers_of_other_threads_go_on(open_alma: Open) -> None:
    """No vector of the old model is left behind by a thread that was encoding when the store changed."""
    alma = open_alma(embedder="hashing:16", extractor="none")
    for at in range(60):
        alma.add_domain_knowledge("a", "d", f"Fact number {at}.")
    failures: list[BaseException] = []
    stop = threading.Event()

    def work(name: str) -> None:
        number = 0
        try:
            while not stop.is_set():
                alma.add_domain_knowledge(name, "d", f"Written by {name}, number {number}.")
                assert alma.retrieve(f"Fact number {number % 60}").hits
                number += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"t{at}",)) for at in range(3)]
    for thread in threads:
        thread.start()
    try:
        for embedder in ("hashing:24", "hashing:16", Counting(16)):
            alma.reembed(embedder)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert_vectors_are_of(alma._store.backend, Counting(16))


@durable_only
def test_a_store_whose_embedder_is_gone_can_be_reembedded(open_alma: Open, location: str) -> None:
    alma = open_alma(embedder=Counting(), extractor="none")
    alma.add_domain_knowledge("a", "d", "A fact.")
    alma.close()
    reembed(location, "hashing:16")
    assert_vectors_are_of(open_alma()._store.backend, "hashing:16")


@embedded_only
def test_what_cannot_be_reembedded_is_said_before_anything_is_done(
    open_alma: Open, location: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match="ALMA that is open"):
        reembed(":memory:", "hashing")
    with pytest.raises(InvalidInputError, match="no store"):
        reembed(location, "hashing")
    assert list(tmp_path.iterdir()) == []
    alma = open_alma(embedder="hashing:16", extractor="none")
    with pytest.raises(InvalidInputError, match="no embedder is called"):
        alma.reembed("word2vec")
    with pytest.raises(InvalidInputError, match="progress"):
        alma.reembed("hashing", 7)  # type: ignore[arg-type]
    alma.close()
    reader = open_alma(read_only=True)
    with pytest.raises(ReadOnlyError):
        reader.reembed("hashing")
    reader.close()


class Slim:
    """A backend of somebody else's, which can do only what every backend must."""

    capabilities = None
    read_only = False
    name = "slim"


def test_a_backend_that_cannot_is_named() -> None:
    from alma_graph.backends.maintenance import as_maintainable

    with pytest.raises(UnsupportedError, match="slim"):
        as_maintainable(Slim())  # type: ignore[arg-type]


HOLDER = """
import sys
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", extractor="none"):
    print("held", flush=True)
    sys.stdin.readline()
"""


@embedded_only
def test_a_store_that_another_process_holds_is_left_alone(open_alma: Open, location: str) -> None:
    open_alma(embedder="hashing:16", extractor="none").close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, location], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StoreLockedError, match=rf"process {holder.pid}"):
        reembed(location, "hashing:24", lock_timeout=0.1)
    holder.communicate("\n", timeout=60)


READER = """
import sys
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", extractor="none", read_only=True) as alma:
    for line in sys.stdin:
        hits = alma.retrieve("port of the auth service").hits
        print(alma.stats().embedder, hits[0].parts["dense"] > 0, alma._store.backend.verify(), flush=True)
"""


@durable_only
def test_a_reader_of_another_process_follows(open_alma: Open, location: str) -> None:
    alma = open_alma(embedder="hashing:16", extractor="none")
    if not alma._store.backend.capabilities.shared_readers:
        alma.close()  # nobody reads beside a writer here
        return
    fill(alma)
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, location], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdin is not None
    assert reader.stdout is not None
    for embedder in ("hashing-16", "hashing-32", "hashing-16"):
        if alma.stats().embedder != embedder:
            alma.reembed(embedder)
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == f"{embedder} True []\n"
    reader.communicate("", timeout=60)


KILLED = """
import os, signal, sys
from pathlib import Path
from alma_graph import reembed
from alma_graph.backends.embedded import building, replacing
from alma_graph.backends.embedded.replacing import Replacement
from alma_graph.maintenance import reembedding

def die(*arguments, **keywords):
    os.kill(os.getpid(), signal.SIGKILL)

location, point = sys.argv[1:]
reembedding._BATCH = 5
if point == "encoding":
    encode = reembedding._Work._encode
    calls = []
    def counted(self, digests, texts):
        calls.append(1)
        encode(self, digests, texts) if len(calls) < 3 else die()
    reembedding._Work._encode = counted
elif point == "building":
    building._copy_edges = die
elif point == "built":
    Replacement.announce = die
elif point == "announced":
    Replacement.finish = die
elif point == "log gone":
    replacing.sync_folder = lambda folder: die() if not Path(sys.argv[1].partition(":")[2] + ".wal").exists() and \\
        Path(sys.argv[1].partition(":")[2] + ".new.done").exists() else None
elif point == "replaced":
    Path.unlink = lambda self, missing_ok=False, unlink=Path.unlink: die() if self.name.endswith(".new.done") else \\
        unlink(self, missing_ok=missing_ok)
reembed(location, "hashing:24")
"""


@embedded_only
@pytest.mark.parametrize("point", ["encoding", "building", "built", "announced", "log gone", "replaced"])
def test_a_kill_leaves_the_old_vectors_or_the_new_ones(
    open_alma: Open, location: str, tmp_path: Path, point: str
) -> None:
    alma = open_alma(embedder="hashing:16", extractor="rules")
    fill(alma)
    expected = but_vectors(alma._store.backend)
    alma.close()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, location, point], check=False, capture_output=True, timeout=120
    )
    assert done.returncode == -9, done.stderr
    is_new = point in ("announced", "log gone", "replaced")
    if is_new:
        with pytest.warns(StoreRecoveredWarning, match="other vectors"):
            again = open_alma()
    else:
        again = open_alma()
    assert but_vectors(again._store.backend) == expected
    assert_vectors_are_of(again._store.backend, "hashing:24" if is_new else "hashing:16")
    assert not list(tmp_path.glob("*.new*"))
    again.close()
    resumed = reembed(location, "hashing:24")
    assert (resumed.encoded < resumed.texts) != is_new
    assert_vectors_are_of(open_alma()._store.backend, "hashing:24")
    assert not list(tmp_path.glob("*.vectors*"))


SLOW = """
import sys, time
from alma_graph import reembed
from alma_graph.embedding import HashingEmbedder
from alma_graph.maintenance import reembedding
reembedding._BATCH = 20
embed = HashingEmbedder.embed
HashingEmbedder.embed = lambda self, texts: (time.sleep(0.0005 * len(texts)), embed(self, texts))[1]
print("started", flush=True)
reembed(sys.argv[1], sys.argv[2])
"""


@pytest.mark.slow
@embedded_only
def test_killed_at_any_moment_and_resumed(open_alma: Open, location: str) -> None:
    alma = open_alma(embedder="hashing:16", extractor="rules")
    outcomes = [{"agent": "a", "task": f"Deploy {at}", "outcome": "success", "task_type": str(at)} for at in range(600)]
    alma.learn_batch(outcomes)
    alma.add_domain_knowledge("dev", "release", LONG)
    expected = but_vectors(alma._store.backend)
    alma.close()
    chance = random.Random(7)
    names, kills, now = ("hashing:24", "hashing:16"), 0, "hashing:16"
    while kills < 5:
        wanted = next(name for name in names if name != now)
        process = subprocess.Popen([sys.executable, "-c", SLOW, location, wanted], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(chance.uniform(0.2, 1.6))
        process.kill()
        process.communicate()
        kills += process.returncode != 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreRecoveredWarning)
            again = open_alma()
        now = again.stats().embedder.replace("-", ":")
        assert now in names
        assert but_vectors(again._store.backend) == expected
        assert_vectors_are_of(again._store.backend, now)
        again.close()
    reembed(location, "hashing:32")
    again = open_alma()
    assert but_vectors(again._store.backend) == expected
    assert_vectors_are_of(again._store.backend, "hashing:32")


KILLED_ON_A_SERVER = """
import os, signal, sys
from alma_graph import reembed
from alma_graph.backends.bolt import revectoring
from alma_graph.backends.bolt.revectoring import Exchange

def die(*arguments, **keywords):
    os.kill(os.getpid(), signal.SIGKILL)

location, point = sys.argv[1:]
revectoring._BATCH, revectoring._TURN_SECONDS = 5, 0.5
steps, step, stage = [], Exchange._step, Exchange._stage
def dying(work, at):
    def worked(*arguments, **keywords):
        steps.append(1)
        return work(*arguments, **keywords) if len(steps) < at else die()
    return worked
if point == "staging":
    Exchange._stage = dying(stage, 3)
elif point == "staged":
    Exchange._announce = die
elif point == "announced":
    Exchange.finish = lambda self: die() if steps.append(1) or len(steps) > 1 else False
elif point == "exchanging":
    Exchange._step = dying(step, 3)
elif point == "chunks":
    Exchange._step = dying(step, 9)
elif point == "exchanged":
    Exchange._end = die
reembed(location, "hashing:24")
"""


@pytest.mark.skipif(not SERVER, reason="an exchange in steps is what a server needs; files change places at once")
@pytest.mark.parametrize("point", ["staging", "staged", "announced", "exchanging", "chunks", "exchanged"])
def test_who_comes_next_finishes_what_was_announced_on_a_server(
    open_alma: Open, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setenv("ALMA_GRAPH_CACHE", str(tmp_path / "cache"))
    alma = open_alma(embedder="hashing:16", extractor="rules")
    fill(alma)
    expected = but_vectors(alma._store.backend)
    alma.close()
    command = [sys.executable, "-c", KILLED_ON_A_SERVER, location, point]
    done = subprocess.run(command, check=False, capture_output=True, timeout=120)
    assert done.returncode == -9, done.stderr
    again = open_alma(extractor="rules")
    is_new = point not in ("staging", "staged")
    assert_vectors_are_of(again._store.backend, "hashing:24" if is_new else "hashing:16")
    assert but_vectors(again._store.backend) == expected
    assert again.retrieve("port of the auth service").hits[0].memory.text == "The auth service listens on port 8080."
    again.learn("dev", "Deploy service y", "success", "Blue-green deployment")
    again.forget("odd")
    again.reembed("hashing:40")
    assert_vectors_are_of(again._store.backend, "hashing:40")
    left = again.cypher("MATCH (n) WHERE n:Staged OR n:StagedChunk OR n.exchange IS NOT NULL RETURN count(*)")
    assert left.rows == ((0,),)


WRITING = """
import sys
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", extractor="none") as alma:
    print("writing", flush=True)
    for number in range(15):
        alma.add_domain_knowledge("w", "d", f"Written meanwhile, number {number}.", id=f"w-{number}")
        assert alma.retrieve(f"meanwhile number {number}").hits
"""


@pytest.mark.slow
@pytest.mark.skipif(not SERVER, reason="only a server takes writes of several processes")
def test_writers_of_other_processes_go_on(open_alma: Open, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alma_graph.backends.bolt.revectoring._BATCH", 20)
    alma = open_alma(embedder="hashing:16", extractor="none")
    fill(alma)
    writer = subprocess.Popen([sys.executable, "-c", WRITING, location], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"writing\n"
    for embedder in ("hashing:24", "hashing:16") * 2:
        alma.reembed(embedder)
        time.sleep(0.5)
    _, error = writer.communicate(timeout=120)
    assert writer.returncode == 0, error
    assert_vectors_are_of(alma._store.backend, "hashing:16")
    assert len([memory for memory in alma.memories() if memory.id.startswith("w-")]) == 15


def test_the_default_model_and_back(open_alma: Open) -> None:
    """Token vectors come with a model that has them, and go with one that has none."""
    with open_alma(embedder="hashing", extractor="none") as alma:
        alma.add_domain_knowledge("dev", "auth", "The sign-in service listens on port 8080.")
        try:
            alma.reembed("all-MiniLM-L6-v2")
        except UnsupportedError:
            pytest.skip("the model is not installed, and tests fetch nothing")
        assert alma._store.backend.nodes("Memory")[0]["token_embeddings"]
        assert alma.retrieve("login port").hits
        alma.reembed("hashing")
        assert alma._store.backend.nodes("Memory")[0]["token_embeddings"] is None
