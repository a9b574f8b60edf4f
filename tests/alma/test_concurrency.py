"""Threads, coroutines and real processes on one store: nothing is lost, nothing is seen in half, and no error comes out
but the one that says who holds the file."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from alma_graph import ALMA, AsyncALMA
from alma_graph.backends.embedded.dialect import DIALECTS
from tests.alma.conftest import Open
from tests.conftest import EMBEDDED, embedded_only

SHARED_READERS = DIALECTS[EMBEDDED].shared_readers
ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import json, sys, threading, time
from alma_graph import ALMA
location, most = sys.argv[1], int(sys.argv[2])
stopped = threading.Event()
def wait_for_the_end():
    sys.stdin.readline()
    stopped.set()
with ALMA.open(location, project_id="shop", embedder="hashing", extractor="rules") as alma:
    alma.add_domain_knowledge("dev", "auth", "The AuthService runs on Kubernetes.", id="w0")
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()
    threading.Thread(target=wait_for_the_end, daemon=True).start()
    written, last = 1, False
    while not last:
        last = stopped.wait(0.02 if written < most else None)
        fact = f"The AuthService of shop {written} runs on Kubernetes and needs PostgreSQL 16."
        alma.add_domain_knowledge("dev", f"shop {written}", fact, id=f"w{written}")
        written += 1
        if written % 7 == 0:
            alma.revise(f"w{written - 2}", fact=f"{fact} It moved to Redis.")
        if written % 11 == 0:
            alma.forget(f"w{written - 5}")
        if written % 25 == 0:
            run = dict(agent="dev", task="Deploy auth", outcome=True, task_type="deploy")
            runs = [dict(run, strategy_used=f"plan {n % 3}", id=f"run-{written}-{n}") for n in range(250)]
            alma.learn_batch(runs)
        if written % 40 == 0:
            alma._store.backend.checkpoint()
        print(json.dumps({"written": written - 1, "at": time.time()}), flush=True)
"""
"""Writes so many single memories, bulk units, revisions and removals, or fewer where it is told to end, and one more;
tells each when it is acknowledged."""

READER = """
import json, sys, time
from alma_graph import ALMA
location, wanted, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
COUNTS = "MATCH (m:Memory) WHERE m.id STARTS WITH 'w' RETURN m.id"
WHOLE = '''MATCH (m:Memory) WHERE m.kind = 'domain_knowledge' AND m.status = 'active'
OPTIONAL MATCH (m)-[r:MENTIONS]->(e:Entity) WITH m, count(e) AS mentions
OPTIONAL MATCH (a:Agent)-[:LEARNED]->(m) WITH m, mentions, count(a) AS agents
WHERE mentions = 0 OR agents <> 1 OR m.embedding IS NULL RETURN m.id, mentions, agents'''
newest, unsteady = -1, 0
with ALMA.open(location, project_id="shop", read_only=True, extractor="none") as alma:
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()
    for look in range(wanted + 1):
        if look == wanted:
            sys.stdin.readline()  # the writer has ended
        began = time.time()
        half = alma.cypher(WHOLE).rows
        assert half == (), half
        seen = max(int(row[0][1:]) for row in alma.cypher(COUNTS).rows)
        assert seen >= newest, (seen, newest)
        newest = seen
        found = alma.retrieve("AuthService Kubernetes", top_k=5)
        assert found.hits and not found.warnings, found.warnings
        for hit in found.hits:
            assert set(alma.why(hit.memory.id).entities) or hit.memory.kind != "domain_knowledge"
        alma.contradictions(); alma.stats(); list(alma.memories(limit=20))
        if look % 5 == number:
            report = alma.doctor()
            assert report.ok, str(report)
            unsteady += any(check.name == "state" for check in report.checks)
        listed = alma.get(f"w{seen}").id if look == wanted else None
        print(json.dumps({"seen": seen, "began": began, "got": listed}), flush=True)
print(json.dumps({"unsteady": unsteady}), flush=True)
"""
"""Asks everything that a notebook asks, again and again, and fails at the first thing that is half or an error."""


class Child:
    """A process that runs a script on a store and prints JSON lines."""

    def __init__(self, script: str, *arguments: object) -> None:
        command = [sys.executable, "-W", "error", "-c", script, *map(str, arguments)]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, text=True, cwd=ROOT, **pipes)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first, self.process.communicate()[1]

    def go(self) -> None:
        """Lets it begin."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def line(self) -> dict[str, Any]:
        """The next thing it says."""
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, self.process.communicate()[1]
        found: dict[str, Any] = json.loads(said)
        return found

    def lines(self) -> list[dict[str, Any]]:
        """All that it said and nobody has read, once it has ended well."""
        out, err = self.process.communicate(timeout=240)
        assert self.process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()]


@contextmanager
def children(*made: Child) -> Iterator[None]:
    """Ends them, whatever happens."""
    try:
        yield
    finally:
        for child in made:
            if child.process.poll() is None:
                child.process.kill()
            with child.process:  # closes its pipes
                pass


def test_threads_add_at_once(plain: ALMA) -> None:
    def add(thread: int) -> list[str]:
        return [
            plain.add_domain_knowledge(
                f"agent {thread}", "d", f"Thread {thread} says {number}.", id=f"{thread}-{number}"
            ).id
            for number in range(50)
        ]

    with ThreadPoolExecutor(8) as pool:
        added = [name for names in pool.map(add, range(8)) for name in names]
    assert len(set(added)) == 400
    assert {memory.id for memory in plain.memories()} == set(added)
    assert plain.retrieve("Thread 3 says 17.").hits[0].memory.id == "3-17"
    assert plain.doctor().ok


def test_threads_that_read_and_write_and_change(plain: ALMA) -> None:
    plain.add_domain_knowledge("a", "d", "The first fact stays.", id="stays")

    def work(thread: int) -> None:
        for number in range(12):
            name = f"{thread}-{number}"
            plain.learn("a", "Deploy", number % 2 == 0, f"plan {thread % 2}", task_type="deploy", id=f"run-{name}")
            plain.add_domain_knowledge("a", "d", f"Fact {name}.", id=name)
            assert plain.retrieve("fact", top_k=3).hits
            plain.relate(name, "SUPPORTS", "stays")
            if number % 3 == 0:
                plain.forget(name)
            plain.stats()
            list(plain.memories(limit=5))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert len(list(plain.memories(kind="domain_knowledge"))) == 1 + 6 * 8
    assert len(plain.why("stays").supported_by) == 6 * 8
    lessons = [m for m in plain.memories() if m.kind in ("heuristic", "anti_pattern")]
    assert sum(getattr(m, "occurrence_count", 0) for m in lessons) == 72
    report = plain.doctor()
    assert report.ok, str(report)


def test_coroutines_add_at_once(location: str) -> None:
    async def add() -> list[str]:
        async with await AsyncALMA.open(location, project_id="shop", embedder="hashing", extractor="none") as alma:
            adding = [alma.add_domain_knowledge("a", "d", f"Fact {number}.", id=f"f{number}") for number in range(50)]
            made = await asyncio.gather(*adding)
            asked = await asyncio.gather(*(alma.retrieve(f"Fact {number}.") for number in range(20)))
            assert all(answer.hits for answer in asked)
            assert {memory.id for memory in await alma.memories()} == {memory.id for memory in made}
            assert (await alma.doctor()).ok
            assert await alma.refresh() is False
            return [memory.id for memory in made]

    assert len(set(asyncio.run(add()))) == 50


@embedded_only
@pytest.mark.parametrize("looks", [3, pytest.param(15, marks=pytest.mark.slow)])
def test_a_writer_and_three_readers(location: str, looks: int) -> None:
    """As docs/concurrency.md promises: each look sees all that was acknowledged before it, nothing in half, and nothing
    goes back; the last look sees everything, without being opened again. All wait for each other: no clock decides."""
    if not SHARED_READERS:
        return  # who holds the file is said below, and a copy is read instead
    writer = Child(WRITER, location, 30 * looks)
    readers = [Child(READER, location, looks, number) for number in range(3)]
    with children(writer, *readers):
        for child in (writer, *readers):
            child.go()
        seen = [[reader.line() for _ in range(looks)] for reader in readers]
        writer.go()
        written = writer.lines()
        for reader in readers:
            reader.go()
        ends = [reader.lines() for reader in readers]
    for lines, (final, told) in zip(seen, ends, strict=True):
        for look in lines:
            before = [line["written"] for line in written if line["at"] <= look["began"]]
            assert look["seen"] >= max(before, default=0)
        assert lines[0]["seen"] < final["seen"] == written[-1]["written"]
        assert final["got"] == f"w{final['seen']}"
        assert told["unsteady"] == 0
    with ALMA.open(location, project_id="shop", extractor="none") as alma:
        report = alma.doctor()
        assert report.ok, str(report)


@embedded_only
def test_a_reader_takes_over_what_was_written_and_says_so(open_alma: Open, location: str) -> None:
    if not SHARED_READERS:
        return
    alma = open_alma(embedder="hashing", extractor="none")
    alma.add_domain_knowledge("a", "d", "The vault is in Bern.", id="one")
    script = """
import sys
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", read_only=True, extractor="none") as alma:
    print("{}", flush=True)
    for line in sys.stdin:
        print(f'[{str(alma.refresh()).lower()}, {len(list(alma.memories()))}]', flush=True)
"""
    child = Child(script, location)
    with children(child):
        assert child.process.stdin is not None
        assert child.process.stdout is not None
        told = []
        for step in range(4):
            child.go()
            told.append(json.loads(child.process.stdout.readline()))
            if step != 2:
                alma.add_domain_knowledge("a", "d", f"Fact {step}.")
        child.process.stdin.close()
        child.process.wait(60)
    assert told == [[False, 1], [True, 2], [True, 3], [False, 3]]


@embedded_only
def test_who_holds_the_file_is_said_in_one_line(open_alma: Open, location: str) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    alma.add_domain_knowledge("a", "d", "The vault is in Bern.")
    code = """
import sys
from alma_graph import ALMA
from alma_graph.errors import StoreLockedError
try:
    ALMA.open(sys.argv[1], project_id="shop", read_only=sys.argv[2] == "read", lock_timeout=0.1)
except StoreLockedError as error:
    print(error.pid, error)
else:
    print("open")
"""
    for mode in ("write", "read"):
        done = subprocess.run([sys.executable, "-c", code, location, mode], capture_output=True, text=True, check=True)
        if mode == "read" and SHARED_READERS:
            assert done.stdout == "open\n"
            continue
        pid, _, message = done.stdout.partition(" ")
        assert int(pid) == os.getpid()
        assert len(message.splitlines()) == 1
        assert f"held by process {os.getpid()}" in message
        assert ("read_only=True" if SHARED_READERS else "alma.backup(") in message


@embedded_only
def test_the_doctor_beside_a_writer(open_alma: Open, location: str) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    alma.add_domain_knowledge("a", "d", "The vault is in Bern.")
    command = [sys.executable, "-c", "from alma_graph.cli import main; main()", "doctor", location]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if SHARED_READERS:
        assert done.returncode == 0, done.stdout
        assert "open read-only" in done.stdout
        assert "round trip" not in done.stdout
        assert "another process holds the store" in done.stderr
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert f"process {os.getpid()}" in done.stderr
    done = subprocess.run([*command, "--fix"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, "")  # nothing is mended under a writer
    assert len(done.stderr.splitlines()) == 1
    assert f"process {os.getpid()}" in done.stderr


@embedded_only
def test_a_notebook_reads_while_an_agent_writes(location: str, tmp_path: Path) -> None:
    """In the way that docs/concurrency.md gives for the engine: the store itself read-only, or copies that the agent
    makes."""
    agent = """
import sys, time
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", embedder="hashing", extractor="rules") as alma:
    alma.add_domain_knowledge("dev", "d", "The AuthService runs on Kubernetes.", id="m0")
    print("{}", flush=True)
    sys.stdin.readline()
    for number in range(1, 61):
        alma.add_domain_knowledge("dev", "d", f"The AuthService {number} runs on Kubernetes.", id=f"m{number}")
        if number % 10 == 0:
            alma.backup(f"{sys.argv[2]}/copy-{number}.graph")
            print(f'{{"copied": {number}}}', flush=True)
"""
    copies = tmp_path / "copies"
    copies.mkdir()
    child = Child(agent, location, copies)
    with children(child):
        assert child.process.stdout is not None
        child.go()
        counts: dict[int, int] = {}
        for line in child.process.stdout:
            copied = int(json.loads(line)["copied"])
            place = location if SHARED_READERS else f"{EMBEDDED}:{copies}/copy-{copied}.graph"
            with ALMA.open(place, project_id="shop", read_only=True, extractor="none") as notebook:
                assert notebook.doctor().ok
                assert notebook.retrieve("AuthService Kubernetes").hits
                assert notebook.cypher("MATCH (m:Memory)-[:MENTIONS]->(e:Entity) RETURN count(*)").rows[0][0] > 0
                counts[copied] = notebook.stats().memories
        assert child.process.wait(60) == 0
    assert list(counts) == [10, 20, 30, 40, 50, 60]
    for copied, count in counts.items():
        assert copied + 1 <= count <= (61 if SHARED_READERS else copied + 1)  # a copy is of one state, a store goes on
    assert list(counts.values()) == sorted(counts.values())


def test_the_guide_names_each_engine() -> None:
    guide = (ROOT / "docs" / "concurrency.md").read_text(encoding="utf-8")
    for words in ("Ladybug", "Kuzu", "Neo4j", "read_only=True", "alma.backup("):
        assert words in guide
