"""First light, in one run: learning, retrieval against a bare matrix product, cold starts, memory and file size.

    python benchmarks/first_light.py [--engine ladybug|kuzu|memory] [--store-sizes 1000,10000] [--learns 30]

Machines differ and are noisy: read medians and ratios. Nothing is downloaded; the model's weights must be there.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from alma_graph import ALMA, CacheConfig
from alma_graph.learning import StrategyBook

SERVICES = ("auth", "billing", "search", "checkout", "gateway", "ledger", "mailer", "catalog", "pricing", "inventory")
ACTIONS = (
    "Deploy the {s} service",
    "Fix the flaky {s} test",
    "Tune the {s} cache",
    "Migrate the {s} database",
    "Patch {s}",
)
STRATEGIES = (
    "Blue-green deployment",
    "Rolling update",
    "Canary release with a 10 minute watch",
    "Retry 3 times with backoff",
    "Pin the dependency to version 2.4.1",
    "Replay the failing request in staging",
    "Add an index on created_at",
    "Roll back to the last good image",
)
ERRORS = ("timeout after 30s", "ERR-503 from the gateway", "OOMKilled", "connection refused by redis:6379")


def outcomes(count: int, seed: int) -> list[dict[str, Any]]:
    """Outcomes of a made-up team; about a third of them failures."""
    picker = random.Random(seed)
    items: list[dict[str, Any]] = []
    for number in range(count):
        failed = picker.random() < 0.35
        task = picker.choice(ACTIONS).format(s=picker.choice(SERVICES))
        items.append(
            {
                "agent": picker.choice(("dev", "ops", "qa")),
                "task": f"{task} for release {number % 97}",
                "task_type": picker.choice(("deployment", "bug fix", "performance")),
                "outcome": "failure" if failed else "success",
                "strategy_used": picker.choice(STRATEGIES),
                "error_message": picker.choice(ERRORS) if failed else None,
                "duration_ms": picker.randrange(50, 90_000),
            }
        )
    return items


def percentiles(milliseconds: list[float]) -> str:
    """Median and 95th percentile."""
    ordered = sorted(milliseconds)
    return f"p50 {statistics.median(ordered):8.2f} ms   p95 {ordered[int(len(ordered) * 0.95) - 1]:8.2f} ms"


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


class Stopwatch:
    """Adds up the time spent in methods, by wrapping them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def watch(self, owner: object, method: str, label: str) -> None:
        """Times every call of `owner.method` under a label."""
        inner = getattr(owner, method)

        def outer(*args: object, **keywords: object) -> object:
            start = time.perf_counter()
            try:
                return inner(*args, **keywords)
            finally:
                self.seconds[label] = self.seconds.get(label, 0.0) + time.perf_counter() - start

        setattr(owner, method, outer)


def learning(alma: ALMA, learns: int) -> None:
    """One at a time, then a batch of 1,000 with its time split up."""
    encoder = alma._store.encoder
    singles = outcomes(learns + 5, seed=1)
    alma.learn_batch(singles[:5])
    calls = encoder.calls
    times = [timed(partial(alma.learn, **item)) for item in singles[5:]]
    print(f"learn, one at a time     {percentiles(times)}")
    print(f"  encoder calls a learn  {(encoder.calls - calls) / learns:.2f}")
    watch = Stopwatch()
    watch.watch(encoder, "encode", "embedding")
    watch.watch(alma._store.extractor, "extract_batch", "extraction")
    watch.watch(alma._store.backend, "write", "engine")
    watch.watch(StrategyBook, "settle", "lessons (with their own parsing)")
    total = timed(lambda: alma.learn_batch(outcomes(1000, seed=2))) / 1000
    print(f"learn_batch of 1,000     {total:8.2f} s   {1000 / total:.0f} outcomes/s")
    for label, seconds in sorted(watch.seconds.items(), key=lambda pair: -pair[1]):
        print(f"  {label:34s} {seconds:7.2f} s   {seconds / total:6.1%}")
    share = (watch.seconds["embedding"] + watch.seconds["extraction"]) / total
    print(f"  embedding and extraction           {share:6.1%} of the batch (target: 80 % or more)")


def retrieval(alma: ALMA, size: int) -> None:
    """Retrieval with the query's vector at hand, beside a bare product of the same size, turn by turn."""
    queries = [
        "How do I deploy the auth service?",
        "flaky checkout test",
        "What fixed the billing database migration?",
        "ERR-503 gateway",
        "tune the search cache",
    ]
    for query in queries:
        alma.retrieve(query)
    dimension = alma.stats().dimension
    matrix = np.random.default_rng(0).standard_normal((size, dimension)).astype(np.float32)
    vector = matrix[0].copy()
    bare, ours = [], []
    for turn in range(60):
        bare.append(timed(lambda: matrix @ vector))
        ours.append(timed(partial(alma.retrieve, queries[turn % len(queries)], top_k=5)))
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"retrieve at {size:6d}       {percentiles(ours)}")
    print(f"  bare numpy product     {percentiles(bare)}   ratio of medians {ratio:.2f} (target at 10,000: 5 or less)")


def fill(alma: ALMA, size: int) -> None:
    """Brings the store to `size` memories, through the public batch call."""
    missing = size - alma.stats().memories
    if missing > 0:
        start = time.perf_counter()
        alma.learn_batch(outcomes(missing, seed=size), extract=False)
        print(f"filled to {size} in {time.perf_counter() - start:.1f} s (without extraction)")


def cold_starts(location: str) -> None:
    """Whole processes, five of each after a warm-up."""
    program = str(Path(sys.executable).parent / "alma-graph")
    store = ["--store", location, "--project", "bench"]
    commands = {
        "alma-graph --help": [program, "--help"],
        "alma-graph stats": [program, "stats", *store],
        "alma-graph retrieve": [program, "retrieve", "deploy the auth service", *store],
    }
    for name, command in commands.items():
        times = []
        for _ in range(6):
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            times.append((time.perf_counter() - start) * 1000)
            if done.returncode != 0:
                print(f"{name}: failed: {done.stderr.strip()[-300:]}")
                break
        print(f"cold start, {name:22s} median {statistics.median(times[1:]):7.0f} ms")


def main() -> None:
    """Runs everything in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="ladybug", choices=("ladybug", "kuzu", "memory"))
    parser.add_argument("--store-sizes", default="1000,10000")
    parser.add_argument("--learns", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        location = ":memory:" if options.engine == "memory" else f"{options.engine}:{folder}/bench.graph"
        with ALMA.open(location, project_id="bench", cache=CacheConfig(enabled=False)) as alma:
            learning(alma, options.learns)
            for size in (int(part) for part in options.store_sizes.split(",")):
                fill(alma, size)
                retrieval(alma, size)
            stats = alma.stats()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"memories {stats.memories}, entities {stats.entities}, edges {sum(stats.edges.values())}")
            print(f"file size {(stats.size_bytes or 0) / 1e6:.1f} MB, peak memory of this process {peak:.0f} MB")
        if options.engine != "memory":
            cold_starts(location)


if __name__ == "__main__":
    main()
