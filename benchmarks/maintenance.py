"""How long a backup and a re-embedding of a store take, and what they need.

    python -m benchmarks.maintenance [--engine ladybug|kuzu] [--memories 20000] [--embedder hashing:256]

The store is filled with short facts and hashed words of 384 dimensions, so that the engine's share shows; with a model,
encoding takes nearly all of the time.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from alma_graph import ALMA, DomainKnowledge, backup, reembed
from alma_graph.backends import Backend
from alma_graph.maintenance import reembedding

MEGABYTE = 1 << 20
PART = 5_000


def fill(location: str, count: int) -> None:
    """A new store with so many facts."""
    with ALMA.open(location, project_id="bench", embedder="hashing", extractor="none") as alma:
        for start in range(0, count, PART):
            facts = [
                f"Fact {at}: service {at % 997} and cache {at % 313} talk over port {at % 9_000}."
                for at in range(start, min(count, start + PART))
            ]
            alma.add_batch([DomainKnowledge(domain="d", fact=fact) for fact in facts])


def main() -> None:
    """Fills, copies, re-embeds, and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["ladybug", "kuzu"], default="ladybug")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--embedder", default="hashing:256")
    given = parser.parse_args()
    encoding = 0.0
    encode_all = reembedding._Work.encode_all

    def timed(work: reembedding._Work, backend: Backend, progress: Callable[[int, int], None] | None) -> int:
        nonlocal encoding
        start = time.perf_counter()
        texts = encode_all(work, backend, progress)
        encoding = time.perf_counter() - start
        return texts

    reembedding._Work.encode_all = timed  # type: ignore[assignment, method-assign]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.graph"
        start = time.perf_counter()
        fill(f"{given.engine}:{path}", given.memories)
        filled = time.perf_counter() - start
        print(f"{given.engine}: {given.memories:,} memories in {filled:.0f} s, {path.stat().st_size / MEGABYTE:.0f} MB")
        start = time.perf_counter()
        done = backup(path, Path(folder) / "copy.graph")
        print(f"backup, proven: {time.perf_counter() - start:.1f} s, {done.bytes / MEGABYTE:.0f} MB")
        start = time.perf_counter()
        made = reembed(path, given.embedder)
        whole = time.perf_counter() - start
        print(
            f"reembed to {made.embedder}: {whole:.1f} s, {encoding:.1f} s of them encoding; "
            f"{path.stat().st_size / MEGABYTE:.0f} MB"
        )
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
