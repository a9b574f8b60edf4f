"""Quality of retrieval on public sets, arm by arm: `python -m benchmarks.retrieval_quality --help`.

LoCoMo (turns of ten conversations, each its own project; even ones are the development half, odd ones for test) and
2WikiMultihopQA (101 questions over 6,119 passages, with and without titles). The sets are read from ALMA_BENCH_DATA.
Weights were chosen on LoCoMo's even conversations and the first 51 questions of 2Wiki; the rest is the test part.

Encodings and entities are cached in ALMA_BENCH_CACHE (a folder of the system's temporary one by default), since one run
of the models over 12,000 texts takes minutes on a laptop. Gold labels never reach the store.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from alma_graph.backends.memory import MemoryBackend
from alma_graph.backends.protocol import EdgeRow, UnitOfWork
from alma_graph.codec import memory_to_row, row_to_memory
from alma_graph.embedding import Encoded, Encoder, TokenVectors, create_embedder, unpack_tokens
from alma_graph.extraction import Extraction, create_extractor
from alma_graph.index import ProjectIndex
from alma_graph.ingest.entities import EntityLinker
from alma_graph.model import Memory, Observation
from alma_graph.retrieval import ScoringConfig, retrieve
from benchmarks.capitals import CapitalExtractor
from benchmarks.datasets import Question, Store, data_folder, locomo, two_wiki

RECORDED = datetime(2026, 1, 1, tzinfo=UTC)
RUNS: tuple[tuple[str, frozenset[str]], ...] = (
    ("BM25", frozenset({"dense", "late", "entity", "graph", "date", "speaker", "role", "question"})),
    ("dense", frozenset({"lexical", "late", "entity", "graph", "date", "speaker", "role", "question"})),
    ("BM25 + dense", frozenset({"late", "entity", "graph", "date", "speaker", "role", "question"})),
    ("+ priors", frozenset({"late", "entity", "graph"})),
    ("+ late interaction", frozenset({"entity", "graph"})),
    ("all, with entities and graph", frozenset()),
    ("all but late interaction", frozenset({"late"})),
)
"""Name of a run and the arms it leaves out. BM25 and dense pool the neighbouring turns of an episode."""
KNOWN = "locomo-dev, locomo-test, 2wiki-dev, 2wiki-test, 2wiki-untitled-dev, 2wiki-untitled-test"
PLAIN = ScoringConfig(recency=0.0, success=0.0, confidence=0.0, trust=0.0, floor=0.0)


class ReadyEncoder:
    """Answers from encodings made before, so that runs differ in nothing but the arms."""

    def __init__(self, encoded: dict[str, Encoded]) -> None:
        self._encoded = encoded

    def encode_query(self, text: str) -> np.ndarray[Any, Any]:
        """The unit vector of a query."""
        return self._encoded[text].vector

    def query_tokens(self, text: str) -> TokenVectors | None:
        """The token vectors of a query."""
        packed = self._encoded[text].token_embeddings
        return None if packed is None else unpack_tokens(packed)


@dataclass(frozen=True, slots=True)
class Built:
    """A store in memory, ready to be asked."""

    store: Store
    backend: MemoryBackend
    index: ProjectIndex
    encoder: ReadyEncoder

    def fetch(self, keys: Sequence[str]) -> Iterable[Memory]:
        """Reads memories by key."""
        return [row_to_memory(row) for row in self.backend.nodes("Memory", keys=keys)]


class Workshop:
    """Makes encodings and entities, once a machine."""

    def __init__(self, embedder: str, extractor: str, cache: Path) -> None:
        self._encoder = Encoder(create_embedder(embedder), cache_size=0)
        self._extractor = CapitalExtractor() if extractor == CapitalExtractor.name else create_extractor(extractor)
        self._names = (embedder, extractor)
        # Token vectors of two projections do not compare, so encodings are kept by projection, too.
        projection = resources.files("alma_graph.embedding").joinpath("token_projection.npz").read_bytes()
        self._encodings = " ".join(
            [embedder, self._encoder.revision or "", blake2b(projection, digest_size=8).hexdigest()]
        )
        self._cache = cache
        cache.mkdir(parents=True, exist_ok=True)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Encodings of the texts, in order."""
        found: list[Encoded] = self._cached("encode", self._encodings, texts, self._encoder.encode)
        return found

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """Entities and relations of the texts, in order."""
        found: list[Extraction] = self._cached("extract", self._names[1], texts, self._extractor.extract_batch)
        return found

    def _cached(self, what: str, name: str, texts: Sequence[str], make: Any) -> list[Any]:
        digest = blake2b("\0".join([what, name, *texts]).encode(), digest_size=16).hexdigest()
        path = self._cache / f"{what}-{digest}.pickle"
        if path.exists():
            kept: list[Any] = pickle.loads(path.read_bytes())
            return kept
        made: list[Any] = make(list(texts))
        path.write_bytes(pickle.dumps(made))
        return made

    def build(self, store: Store) -> Built:
        """Writes a store's memories as ingest does and loads the index."""
        backend = MemoryBackend()
        backend.initialise(
            dimension=self._encoder.dimension, embedder=self._names[0], embedder_revision=None, created_with="benchmark"
        )
        project = store.memories[0].project_id
        index = ProjectIndex.load(backend, project)
        work = UnitOfWork()
        linker = EntityLinker(project, index, work)
        last: dict[str, str] = {}
        encoded = self.encode([said(memory) for memory in store.memories])
        extracted = self.extract([memory.text for memory in store.memories])
        for memory, encoding, extraction in zip(store.memories, encoded, extracted, strict=True):
            filled = memory.model_copy(update={"created_at": RECORDED, "confidence": 0.5})
            row = memory_to_row(filled)
            row.update(embedding=encoding.vector, token_embeddings=encoding.token_embeddings)
            work.add_node("Memory", row)
            for place, chunk in enumerate(encoding.chunks):
                key = f"{row['key']}#{place}"
                span = {"position": place, "start_char": chunk.start_char, "end_char": chunk.end_char}
                work.add_node("Chunk", {"key": key, "project_id": project, "embedding": chunk.vector, **span})
                work.edges.append(EdgeRow("HAS_CHUNK", row["key"], key))
            if isinstance(filled, Observation):
                if filled.session_id in last:
                    work.edges.append(EdgeRow("NEXT", last[filled.session_id], row["key"]))
                last[filled.session_id] = row["key"]
            linker.link(filled, extraction)
        linker.finish()
        work.edges = [edge for edge in work.edges if edge.type != "RELATES_TO"]  # retrieval does not walk them
        backend.write(work)
        index.apply(work)
        asked = [question.text for question in store.questions]
        return Built(store, backend, index, ReadyEncoder(dict(zip(asked, self.encode(asked), strict=True))))


def said(memory: Memory) -> str:
    """What is embedded of a memory: a turn with its speaker, as ingest does."""
    speaker = memory.speaker if isinstance(memory, Observation) else None
    return f"{speaker}: {memory.text}" if speaker else memory.text


def measure(built: Built, questions: Iterable[Question], without: frozenset[str]) -> Iterator[tuple[float, ...]]:
    """For each question: any@5, any@10, all@10, fraction@10, fraction@5, all@8, milliseconds."""
    for question in questions:
        started = time.perf_counter()
        answer = retrieve(
            built.index, built.fetch, built.encoder, question.text,
            top_k=10, scoring=PLAIN, now=RECORDED, context_turns=0, without=without,
        )  # fmt: skip
        spent = (time.perf_counter() - started) * 1000
        found = [hit.memory.id for hit in answer]
        at5, at8, at10 = (np.array([gold in found[:k] for gold in sorted(question.gold)]) for k in (5, 8, 10))
        shares = (at5.any(), at10.any(), at10.all(), at10.mean(), at5.mean(), at8.all())
        yield *(float(share) for share in shares), spent


def report(title: str, stores: Sequence[tuple[Built, Sequence[Question]]], runs: Sequence[str]) -> None:
    """Prints one line a run."""
    count = sum(len(questions) for _, questions in stores)
    print(f"\n{title}: {count} questions, {sum(len(built.index) for built, _ in stores)} memories", flush=True)
    print(f"{'run':32s}  any@5 any@10 all@10 frac@10 frac@5  all@8     ms")
    for name, without in RUNS:
        if runs and not any(wanted in name for wanted in runs):
            continue
        rows = [row for built, questions in stores for row in measure(built, questions, without)]
        means = np.mean(np.array(rows, dtype=np.float64), axis=0)
        print(f"{name:32s}  " + " ".join(f"{mean:6.3f}" for mean in means[:-1]) + f" {means[-1]:6.1f}", flush=True)


def main() -> None:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="locomo-dev,2wiki-dev", help=f"some of {KNOWN}")
    parser.add_argument("--runs", default="", help="parts of the runs' names, with commas; all by default")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument("--extractor", default="spacy", help="spacy, rules, none, or capitals (capitals.py)")
    options = parser.parse_args()
    named = os.environ.get("ALMA_BENCH_CACHE")
    cache = Path(named) if named else Path(tempfile.gettempdir()) / "alma_graph_benchmarks"
    workshop = Workshop(options.embedder, options.extractor, cache)
    runs = [part for part in options.runs.split(",") if part]
    for name in options.sets.split(","):
        if name.startswith("locomo-"):
            stores = list(locomo(data_folder(), half=name.removeprefix("locomo-")))
            report(name, [(workshop.build(store), store.questions) for store in stores], runs)
        else:
            store = two_wiki(data_folder(), titles="untitled" not in name)
            part = slice(None, 51) if name.endswith("dev") else slice(51, None)
            report(name, [(workshop.build(store), store.questions[part])], runs)


if __name__ == "__main__":
    main()
