"""One store on every engine by export and import: the same answers, to the part of a score.

    python -m benchmarks.portability [--source kuzu] [--targets neo4j,ladybug] [--memories 1000] [--embedder NAME]
    python -m benchmarks.portability --peaks 10000,50000 [--source ladybug]

Memories are learned on the source, exported, and imported into each target; then ten questions are asked of all. Each
engine runs in its own process. It says whether the ids come in the same order, the largest difference of a part,
whether the targets export the very same lines, and what each step took. A Neo4j server is started for the run (Java and
Maven must be there), or ALMA_TEST_NEO4J_URI names an empty one. The exit code is 1 where anything differs.

With `--peaks`, it says instead how much memory a process takes at most that exports, and that imports, a store of so
many memories (hashed words, 384 numbers) on the source's engine, beside one that only opens it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from alma_graph import ALMA, DomainKnowledge, Memory, Observation, Outcome, UserPreference
from alma_graph.backends import EDGES, NODES, EdgeRow, UnitOfWork, node_key, open_backend
from alma_graph.codec import memory_to_row
from alma_graph.embedding import create_embedder
from alma_graph.model import Result
from alma_graph.transfer import export_file
from benchmarks.backends import FACTS, PLACES, PROJECT, THINGS, place

TOLERANCE = 1e-6
NOW = datetime(2026, 6, 1, tzinfo=UTC)
STRATEGIES = ("Blue-green deployment", "Canary release", "Rebuild everything by hand", "Restart the pods one by one")
QUESTIONS = (
    "Deploy the billing service to production",
    "How long does the auth service keep its sessions?",
    "Which port does the ledger listen on?",
    "incident between checkout and kafka",
    "What went wrong when the gateway was deployed?",
    "nightly job of the catalog",
    "What does Maya want in reports?",
    "Which strategy works for deploys?",
    "what was said about redis last week",
    "What does the newest version of the mailer need?",
)


def memories() -> Iterator[Memory]:
    """Made-up memories of five kinds, without an end; the same ones each time."""
    picker = random.Random(11)
    number = 0
    while True:
        a, b, moment = picker.choice(PLACES), picker.choice(THINGS), NOW - timedelta(hours=number)
        agent = picker.choice(("dev", "ops", "qa"))
        common: dict[str, Any] = {"id": f"m{number}", "agent": agent, "created_at": moment}
        match number % 4:
            case 0:
                works = picker.random() < 0.7
                yield Outcome(
                    task=f"Deploy the {a} service, run {number}",
                    outcome=Result.SUCCESS if works else Result.FAILURE,
                    strategy_used=STRATEGIES[0 if works else 2] if picker.random() < 0.6 else picker.choice(STRATEGIES),
                    task_type="deploy",
                    error_message=None if works else f"{b} did not answer",
                    occurred_at=moment,
                    **common,
                )
            case 1:
                yield DomainKnowledge(
                    domain="operations", fact=picker.choice(FACTS).format(a=a, b=b, n=number), **common
                )
            case 2:
                text = f"The {a} service waited for {b} again, {number} ms this time."
                yield Observation(text=text, session_id=f"shift-{number // 40}", occurred_at=moment, **common)
            case _:
                wish = f"Put {b} before {a} in report {number}"
                yield UserPreference(user_id="maya", category="reports", preference=wish, **common)
        number += 1


def opened(location: str, embedder: str | None) -> ALMA:
    """As every process of the benchmark opens a store."""
    return ALMA.open(location, project_id=PROJECT, embedder=embedder, extractor="rules", clock=lambda: NOW)


def learn(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """Learns the memories and exports them."""
    started = time.perf_counter()
    with opened(location, embedder) as alma:
        alma.add_batch(list(islice(memories(), count)))
        learned = time.perf_counter() - started
        started = time.perf_counter()
        made = alma.export(file)
        return {
            "learn_s": learned,
            "export_s": time.perf_counter() - started,
            "sha256": made.sha256,
            "nodes": made.nodes,
        }


def take(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """Imports them."""
    started = time.perf_counter()
    ALMA.import_(file, into=location)
    imported = time.perf_counter() - started
    with opened(location, None) as alma:
        return {"import_s": imported, "sha256": alma.export(f"{file}.again").sha256}


def ask(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """Answers of every question: ids and parts."""
    with opened(location, None) as alma:
        found = [alma.retrieve(question, user_id="maya", top_k=10, asked_at=NOW).hits for question in QUESTIONS]
    return {"answers": [[(hit.memory.id, hit.parts) for hit in hits] for hits in found]}


def fill(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """Makes a store past `ALMA`: memories that teach nothing, with vectors without a meaning, and their agents."""
    made_by, picker = create_embedder(embedder), np.random.default_rng(11)
    chosen = (memory for memory in memories() if not isinstance(memory, Outcome))
    backend = open_backend(location)
    backend.initialise(
        dimension=made_by.dimension, embedder=made_by.name, embedder_revision=None, created_with="benchmark"
    )
    agents = [{"key": node_key(PROJECT, name), "id": name, "project_id": PROJECT} for name in ("dev", "ops", "qa")]
    project = {"key": node_key(PROJECT, ""), "project_id": PROJECT, "created_at": NOW}
    backend.write(UnitOfWork(nodes={"Agent": agents, "Project": [project]}))
    for start in range(0, count, 5_000):
        work = UnitOfWork()
        for memory in islice(chosen, min(5_000, count - start)):
            row = memory_to_row(memory.model_copy(update={"project_id": PROJECT}))
            vector = picker.normal(size=made_by.dimension).astype(np.float32)
            work.add_node("Memory", {**row, "embedding": vector / np.linalg.norm(vector)})
            work.edges.append(EdgeRow("LEARNED", node_key(PROJECT, str(memory.agent)), row["key"]))
        backend.write(work)
    backend.close()
    return {}


def look(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """The peak of a process that opens the store and counts."""
    backend = open_backend(location, read_only=True)
    counted = {name: backend.count(name) for name in (*NODES, *EDGES)}
    backend.close()
    return {"peak_mb": peak(), "edges": sum(counted[name] for name in EDGES)}


def give(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """The peak of a process that exports, as the command does."""
    started = time.perf_counter()
    backend = open_backend(location, read_only=True)
    export_file(backend, file)
    backend.close()
    return {"peak_mb": peak(), "seconds": time.perf_counter() - started}


def bring(location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """The peak of a process that imports into a new store."""
    started = time.perf_counter()
    ALMA.import_(file, into=location)
    return {"peak_mb": peak(), "seconds": time.perf_counter() - started}


def peak() -> float:
    """Megabytes that this process had in memory at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


STEPS: dict[str, Callable[[str, str, int, str | None], dict[str, Any]]] = {
    "learn": learn,
    "take": take,
    "ask": ask,
    "fill": fill,
    "look": look,
    "give": give,
    "bring": bring,
}


def in_a_process(step: str, location: str, file: str, count: int, embedder: str | None) -> dict[str, Any]:
    """Runs a step in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.portability", "--step", step, location, file, str(count)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [*command, *([embedder] if embedder else [])], stdout=subprocess.PIPE, text=True, check=True, cwd=root
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def difference(ours: list[Any], theirs: list[Any]) -> tuple[int, float]:
    """Questions whose ids are not the same in the same order, and the largest difference of a part."""
    unlike, largest = 0, 0.0
    for one, other in zip(ours, theirs, strict=True):
        if [name for name, _ in one] != [name for name, _ in other]:
            unlike += 1
            continue
        for (_, parts), (_, others) in zip(one, other, strict=True):
            names = {*parts, *others}
            largest = max([largest, *(abs(parts.get(name, 0.0) - others.get(name, 0.0)) for name in names)])
    return unlike, largest


def measure_peaks(engine: str, counts: list[int]) -> None:
    """Prints the peaks for stores of so many memories."""
    for count in counts:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
            file = str(Path(folder) / "graph.jsonl")
            source, _ = servers.enter_context(place(engine, folder))
            in_a_process("fill", source, file, count, "hashing:384")
            opened_only = in_a_process("look", source, file, count, None)
            given = in_a_process("give", source, file, count, None)
            size = Path(file).stat().st_size / 1e6
            taken = in_a_process("bring", f"{engine}:{Path(folder) / 'copy.graph'}", file, count, None)
            print(
                f"{engine:8s} {count:,} memories, {opened_only['edges']:,} edges, {size:.0f} MB of lines: peak of "
                f"opening {opened_only['peak_mb']:.0f} MB, of the export {given['peak_mb']:.0f} MB "
                f"({given['seconds']:.1f} s), "
                f"of the import {taken['peak_mb']:.0f} MB ({taken['seconds']:.1f} s)",
                flush=True,
            )


def main() -> int:
    """Learns once, imports everywhere, and compares; 0 when all is the same."""
    if sys.argv[1:2] == ["--step"]:
        step, location, file, count, *embedder = sys.argv[2:]
        print(json.dumps(STEPS[step](location, file, int(count), embedder[0] if embedder else None)))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="kuzu")
    parser.add_argument("--targets", default="neo4j,ladybug")
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--embedder", help="the default model, where it is left out")
    parser.add_argument("--peaks", metavar="COUNTS", help="numbers of memories, such as 10000,50000")
    options = parser.parse_args()
    if options.peaks:
        measure_peaks(options.source, [int(count) for count in options.peaks.split(",")])
        return 0
    well = True
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        file = str(Path(folder) / "graph.jsonl")
        source, _ = servers.enter_context(place(options.source, folder))
        made = in_a_process("learn", source, file, options.memories, options.embedder)
        ours = in_a_process("ask", source, file, 0, None)["answers"]
        hits = sum(map(len, ours))
        size = Path(file).stat().st_size / 1e6
        print(
            f"{options.source:8s} learned {made['nodes']['Memory']:,} memories (lessons included) in "
            f"{made['learn_s']:.1f} s, exported in {made['export_s']:.1f} s ({size:.1f} MB); "
            f"{len(QUESTIONS)} questions, {hits} hits",
            flush=True,
        )
        for engine in options.targets.split(","):
            target, _ = servers.enter_context(place(engine, folder))
            taken = in_a_process("take", target, file, 0, None)
            unlike, largest = difference(ours, in_a_process("ask", target, file, 0, None)["answers"])
            same = taken["sha256"] == made["sha256"]
            well = well and same and unlike == 0 and largest <= TOLERANCE and hits > 0
            print(
                f"{engine:8s} imported in {taken['import_s']:.1f} s; exports {'the same' if same else 'OTHER'} lines; "
                f"{len(QUESTIONS) - unlike} of {len(QUESTIONS)} questions give the same ids in the same order, parts "
                f"differ by {largest:.1e} at most",
                flush=True,
            )
    print("all the same" if well else "NOT the same")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
