"""Quality and speed of extraction.

    ALMA_BENCH_DATA=../shared/data python benchmarks/extraction_f1.py [FILE.jsonl ...]

Prints entity F1 (exact span, typed and untyped), relation precision, recall and F1 (pairs by overlap of words; with
predicate and polarity), and CPU time a text. A file has one text a line with "text", "entities" ([start, end, type,
...]) and "relations" (subject, predicate, object, negated); the default is the development set.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from alma_graph.extraction import EntityExtractor, Extraction, create_extractor

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.extraction.scoring import Score, entity_score, relation_score  # noqa: E402

DATA = Path(os.environ.get("ALMA_BENCH_DATA", ROOT.parent / "shared" / "data"))


def main(arguments: list[str]) -> int:
    """Measure each file; 0 when all could be read."""
    files = [Path(argument) for argument in arguments] or [DATA / "agent_sentences_dev.jsonl"]
    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        print(f"not found: {', '.join(missing)}; set ALMA_BENCH_DATA to the folder of the data", file=sys.stderr)
        return 1
    extractor = EntityExtractor()
    extractor.extract("Load the pipeline.")
    for file in files:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        measure(file.name, rows, extractor)
    return 0


def measure(name: str, rows: list[dict[str, object]], extractor: EntityExtractor) -> None:
    """Print the figures of one file."""
    texts = [str(row["text"]) for row in rows]
    entities = [[(e[0], e[1], e[2]) for e in row["entities"]] for row in rows]  # type: ignore[attr-defined]
    triples = [
        [(r["subject"], r["predicate"], r["object"], r["negated"]) for r in row["relations"]]  # type: ignore[attr-defined]
        for row in rows
    ]
    print(f"{name}: {len(texts)} texts, {sum(map(len, entities))} entities, {sum(map(len, triples))} relations")
    for kind in ("spacy", "rules"):
        found = create_extractor(kind).extract_batch(texts)
        show(f"{kind}: entities, typed", entity_score(found, entities))
        show(f"{kind}: entities, untyped", entity_score(found, entities, typed=False))
        if kind == "spacy":
            show("spacy: relations, pair", relation_score(found, triples))
            show("spacy: relations, pair with predicate and polarity", relation_score(found, triples, predicates=True))
    timed("rules, one by one", texts, lambda: create_extractor("rules").extract_batch(texts))
    timed("spacy, piped", texts, lambda: extractor.extract_batch(texts))
    timed("spacy, one by one", texts, lambda: [Extraction(*extractor.extract(text)) for text in texts])
    long_text = "\n".join(texts * (1 + 50_000 // sum(map(len, texts))))[:50_000]
    timed("spacy, one text of 50,000 characters", [long_text], lambda: extractor.extract_batch([long_text]))


def show(label: str, score: Score) -> None:
    """Print one score."""
    print(f"  {label:<52} P {score.precision:.3f}  R {score.recall:.3f}  F1 {score.f1:.3f}")


def timed(label: str, texts: list[str], work: Callable[[], list[Extraction]]) -> None:
    """Print the CPU time of a run."""
    start = time.process_time()
    work()
    used = time.process_time() - start
    print(f"  {label:<52} {len(texts) / used:8.0f} texts/s  {1000 * used / len(texts):8.2f} ms CPU a text")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
