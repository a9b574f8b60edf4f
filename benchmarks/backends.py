"""The same large store on every engine: loading, opening, retrieving, its size. Each engine runs in its own process.

    python -m benchmarks.backends [--engines ladybug,kuzu,neo4j] [--memories 100000] [--queries 60]

The embedder is `hashing` and entities come from rules, so that what is measured is the store and not a model. A Neo4j
server is started for the run (Java and Maven must be there), or ALMA_TEST_NEO4J_URI names an empty one. Machines
differ and are noisy: read medians and ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from alma_graph import ALMA, CacheConfig, DomainKnowledge

PROJECT = "bench"
BATCH = 5_000
PLACES = "auth billing search checkout gateway ledger mailer catalog pricing inventory orders returns".split()
THINGS = "redis postgres kafka nginx vault consul grafana prometheus celery rabbitmq minio etcd".split()
FACTS = (
    "The {a} service keeps its sessions in {b} for {n} minutes",
    "{a} listens on port {n} and asks {b} first",
    "Deploys of {a} wait until {b} answers within {n} ms",
    "Version 2.{n} of {a} needs {b} in its newest release",
    "The nightly job of {a} writes {n} rows to {b}",
    "A timeout of {n} s between {a} and {b} ended the incident",
)
QUERIES = (
    "How long does the auth service keep sessions in redis?",
    "Which port does the ledger listen on?",
    "incident between checkout and kafka",
    "nightly job of the catalog",
    "What does the newest version of the mailer need?",
)


def facts(count: int) -> Iterator[DomainKnowledge]:
    """Made-up facts of twelve services and twelve tools; all differ."""
    picker = random.Random(7)
    for number in range(count):
        text = picker.choice(FACTS).format(a=picker.choice(PLACES), b=picker.choice(THINGS), n=number)
        agent = picker.choice(("dev", "ops", "qa"))
        yield DomainKnowledge(id=f"fact-{number}", agent=agent, domain="operations", fact=text)


def seconds(started: float) -> float:
    """Since then."""
    return time.perf_counter() - started


def open_store(location: str) -> ALMA:
    """As the benchmark opens it, every time."""
    return ALMA.open(
        location, project_id=PROJECT, embedder="hashing", extractor="rules", cache=CacheConfig(enabled=False)
    )


def load(location: str, memories: int) -> dict[str, Any]:
    """The loading process: batches of the public call."""
    items = list(facts(memories))
    started = time.perf_counter()
    with open_store(location) as alma:
        for start in range(0, memories, BATCH):
            alma.add_batch(items[start : start + BATCH])
            print(f"  {min(start + BATCH, memories):7,d} in {seconds(started):7.1f} s", file=sys.stderr, flush=True)
        total = seconds(started)
        stats = alma.stats()
    return {
        "load_s": total,
        "per_s": memories / total,
        "memories": stats.memories,
        "entities": stats.entities,
        "edges": sum(stats.edges.values()),
        "size_mb": (stats.size_bytes or 0) / 1e6,
    }


def ask(location: str, queries: int) -> dict[str, Any]:
    """A fresh process: what opening, the first answer and the further ones cost."""
    started = time.perf_counter()
    with open_store(location) as alma:
        opened = seconds(started)
        started = time.perf_counter()
        first = alma.retrieve(QUERIES[0])
        first_s = seconds(started)
        times = []
        for turn in range(queries):
            started = time.perf_counter()
            alma.retrieve(QUERIES[turn % len(QUERIES)])
            times.append(seconds(started) * 1000)
    times.sort()
    return {
        "open_s": opened,
        "first_s": first_s,
        "p50_ms": statistics.median(times),
        "p95_ms": times[int(len(times) * 0.95) - 1],
        "first_hits": [hit.memory.id for hit in first.hits],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_a_process(step: str, location: str, number: int) -> dict[str, Any]:
    """Runs a step in a process of its own, since one process can load only one of the embedded engines."""
    command = [sys.executable, "-m", "benchmarks.backends", "--step", step, location, str(number)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).resolve().parent.parent
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@contextmanager
def place(engine: str, folder: str) -> Iterator[tuple[str, Path | None]]:
    """The location of an empty store, and the folder of its server where one was started."""
    if engine != "neo4j":
        yield f"{engine}:{folder}/bench.{engine}", None
        return
    running = os.environ.get("ALMA_TEST_NEO4J_URI")
    if running:
        yield running, None
        return
    from tests.servers.process import NeoServer

    server = NeoServer(heap="1g")
    try:
        yield server.uri, server.home
    finally:
        server.remove()


def main() -> None:
    """Loads and asks on every engine, and prints one table."""
    if sys.argv[1:2] == ["--step"]:
        step, location, number = sys.argv[2:5]
        print(json.dumps(load(location, int(number)) if step == "load" else ask(location, int(number))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="ladybug,kuzu,neo4j")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=60)
    options = parser.parse_args()
    hits: dict[str, list[str]] = {}
    for engine in options.engines.split(","):
        with tempfile.TemporaryDirectory() as folder, place(engine, folder) as (location, home):
            print(f"{engine}: loading {options.memories:,}", file=sys.stderr, flush=True)
            row = in_a_process("load", location, options.memories)
            row |= in_a_process("ask", location, options.queries)
            hits[engine] = row["first_hits"]
            size = row["size_mb"] if home is None else folder_bytes(home / "data") / 1e6
            print(
                f"{engine:8s} load {row['load_s']:7.1f} s ({row['per_s']:,.0f}/s)   {row['memories']:,} memories, "
                f"{row['entities']:,} entities, {row['edges']:,} edges   size {size:,.0f} MB\n"
                f"{'':8s} open {row['open_s'] * 1000:.0f} ms   first retrieve {row['first_s']:.2f} s   "
                f"p50 {row['p50_ms']:.1f} ms   p95 {row['p95_ms']:.1f} ms   peak memory {row['peak_mb']:,.0f} MB",
                flush=True,
            )
    same = all(found == next(iter(hits.values())) for found in hits.values())
    print(f"the first query's hits are {'the same' if same else 'NOT the same'} on {', '.join(hits)}")


def folder_bytes(folder: Path) -> int:
    """Of all files in it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
