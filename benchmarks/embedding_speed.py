"""Build time, load time, speed and memory of the default embedder.

    python -m benchmarks.embedding_speed [THREADS ...]

Each number of threads is measured in a process of its own, on made sentences of about 20 wordpieces. CPU seconds are
the fair figures on a shared machine; wall seconds stand beside them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

SENTENCES = 640


def peak_megabytes() -> float:
    """Largest resident size of this process so far (Linux: kilobytes)."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(threads: int) -> None:
    """One process: load, one text, then batches."""
    started, started_cpu = time.perf_counter(), time.process_time()
    from alma_graph.embedding import Encoder, MiniLmEmbedder

    encoder = Encoder(MiniLmEmbedder(threads=threads), cache_size=0)
    imported = time.perf_counter()
    encoder.encode_query("warm up")
    loaded, loaded_cpu = time.perf_counter(), time.process_time()
    print(
        f"{threads} thread(s): import {imported - started:.2f} s, load and first text {loaded - imported:.2f} s wall; "
        f"both {loaded_cpu - started_cpu:.2f} s CPU; peak {peak_megabytes():.0f} MB"
    )
    from benchmarks.fit_token_projection import made_sentences, model_vocabulary

    texts = made_sentences(model_vocabulary(), SENTENCES)
    for label, tokens in (("with token vectors", True), ("vectors only", False)):
        before, before_cpu = time.perf_counter(), time.process_time()
        encoder.encode(texts, tokens=tokens)
        wall, cpu = time.perf_counter() - before, time.process_time() - before_cpu
        print(
            f"  batch 32, {label}: {SENTENCES / wall:.0f} texts/s wall, {SENTENCES / cpu:.0f} texts per CPU second; "
            f"peak {peak_megabytes():.0f} MB"
        )
    before, before_cpu = time.perf_counter(), time.process_time()
    for text in texts[:100]:
        encoder.encode_query(text)
    wall, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    print(f"  one by one: {wall * 10:.1f} ms wall, {cpu * 10:.1f} ms CPU a text")


def main() -> None:
    if sys.argv[1:2] == ["--in-process"]:
        measure(int(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as cache:
        build = (
            "import time; from alma_graph.embedding.minilm import ensure_graph; "
            "wall, cpu = time.perf_counter(), time.process_time(); ensure_graph(); "
            "print(f'build: {time.perf_counter() - wall:.2f} s wall, {time.process_time() - cpu:.2f} s CPU, once')"
        )
        environment = {**os.environ, "ALMA_GRAPH_CACHE": cache}
        subprocess.run([sys.executable, "-c", build], env=environment, check=True)
    for threads in sys.argv[1:] or ["1", "2"]:
        subprocess.run([sys.executable, "-m", "benchmarks.embedding_speed", "--in-process", threads], check=True)


if __name__ == "__main__":
    main()
