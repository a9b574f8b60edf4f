"""How well contradictions between memories are found: F1 on labelled pairs, false alarms on chat turns, time.

    python -m benchmarks.contradiction_f1 [--pairs NAME ...] [--errors] [--alarms N]

Reads the public evaluation sets from ALMA_BENCH_DATA (default: ../shared/data beside the repository). Labels C
(contradiction) and U (update of one slot) both count as a contradiction. Constants are chosen on the development sets
only; name another set with --pairs to measure it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from alma_graph.beliefs import EDGE, SUSPECTED, Claims, Judgement, Side, SymbolicDetector, parse_claims

DEVELOPMENT_SETS = ("belief_pairs_dev", "belief_pairs_dev2", "memory_pairs_dev")
ALARM_SEED = 7


class Row(NamedTuple):
    """A labelled pair and what the detector said."""

    newer: str
    older: str
    label: str
    category: str
    judgement: Judgement | None

    def found(self, threshold: float) -> bool:
        """A contradiction was found with at least this score."""
        verdict = self.judgement
        return verdict is not None and verdict.relation == "contradicts" and verdict.score >= threshold


class Quality(NamedTuple):
    """Precision, recall and F1 of contradiction."""

    precision: float
    recall: float
    f1: float


def data_folder() -> Path:
    """Where the evaluation sets are."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    return Path(os.environ.get("ALMA_BENCH_DATA", default))


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def claims_by_text(texts: Iterable[str]) -> dict[str, Claims]:
    """Claims of each distinct text."""
    distinct = sorted(set(texts))
    return dict(zip(distinct, parse_claims(distinct), strict=True))


def judged(pairs: list[dict[str, Any]]) -> list[Row]:
    """Every pair of a labelled set with its judgement; `a` is the older memory, `b` the newer."""
    claims = claims_by_text(text for pair in pairs for text in (pair["a"], pair["b"]))
    detector = SymbolicDetector()
    return [
        Row(
            pair["b"],
            pair["a"],
            pair["label"],
            pair.get("cat", ""),
            detector.judge(Side(pair["b"], claims[pair["b"]]), Side(pair["a"], claims[pair["a"]])),
        )
        for pair in pairs
    ]


def contradiction_quality(rows: list[Row], threshold: float) -> Quality:
    """C and U count as contradictions."""
    true_positives = sum(row.label in "CU" and row.found(threshold) for row in rows)
    flagged = sum(row.found(threshold) for row in rows)
    labelled = sum(row.label in "CU" for row in rows)
    return Quality(
        true_positives / max(1, flagged),
        true_positives / max(1, labelled),
        2 * true_positives / max(1, flagged + labelled),
    )


def support_quality(rows: list[Row]) -> Quality:
    """The same for SUPPORTS (label S)."""
    said = [row.judgement is not None and row.judgement.relation == "supports" for row in rows]
    true_positives = sum(row.label == "S" and supports for row, supports in zip(rows, said, strict=True))
    labelled = sum(row.label == "S" for row in rows)
    return Quality(
        true_positives / max(1, sum(said)),
        true_positives / max(1, labelled),
        2 * true_positives / max(1, sum(said) + labelled),
    )


def chat_pairs(folder: Path, count: int, seed: int = ALARM_SEED) -> list[tuple[str, str, str]]:
    """(speaker, turn, turn): random pairs of two turns of one speaker in one LoCoMo conversation."""
    turns: dict[tuple[str, str], list[str]] = {}
    for turn in read_jsonl(folder / "locomo_turns.jsonl"):
        if turn["text"]:
            turns.setdefault((turn["conv"], turn["speaker"]), []).append(turn["text"])
    generator = random.Random(seed)
    speakers = sorted(turns)
    pairs = []
    for _ in range(count):
        speaker = generator.choice(speakers)
        first, second = generator.sample(turns[speaker], 2)
        pairs.append((speaker[1], first, second))
    return pairs


def chat_judgements(pairs: list[tuple[str, str, str]]) -> list[Judgement | None]:
    """Judgement of each chat pair."""
    claims = claims_by_text(text for _, *texts in pairs for text in texts)
    detector = SymbolicDetector()
    return [
        detector.judge(Side(second, claims[second], speaker=speaker), Side(first, claims[first], speaker=speaker))
        for speaker, first, second in pairs
    ]


def _print_errors(rows: list[Row]) -> None:
    for row in rows:
        if row.found(SUSPECTED) != (row.label in "CU"):
            verdict = row.judgement
            said = f"{verdict.relation} {verdict.signal} {verdict.score:.2f}" if verdict else "nothing"
            print(f"    {row.label} {row.category:12s} said {said} | {row.older} | {row.newer}")


def _print_times(rows: list[Row]) -> None:
    texts = sorted({text for row in rows for text in (row.newer, row.older)})
    started = time.process_time()
    parsed = parse_claims(texts)
    piped = (time.process_time() - started) / len(texts)
    started = time.process_time()
    for text in texts[:50]:
        parse_claims([text])
    alone = (time.process_time() - started) / len(texts[:50])
    claims = dict(zip(texts, parsed, strict=True))
    detector = SymbolicDetector()
    sides = [(Side(row.newer, claims[row.newer]), Side(row.older, claims[row.older])) for row in rows]
    for newer, older in sides:
        detector.judge(newer, older)
    started = time.process_time()
    for newer, older in sides:
        detector.judge(newer, older)
    warm = (time.process_time() - started) / len(sides)
    sizes = sorted(len(each.to_json().encode()) for each in parsed)
    print(
        f"CPU time: parse {piped * 1e3:.2f} ms a text piped, {alone * 1e3:.2f} ms alone; "
        f"judge {warm * 1e3:.3f} ms a pair; "
        f"stored claims {sizes[len(sizes) // 2]} bytes at the median, {sizes[-1]} at most"
    )


def main() -> None:
    """Print quality, false alarms and times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", nargs="*", default=list(DEVELOPMENT_SETS), help="names of labelled sets")
    parser.add_argument("--errors", action="store_true", help="print every pair that was judged wrongly")
    parser.add_argument("--alarms", type=int, default=1000, help="number of random chat pairs")
    options = parser.parse_args()
    folder = data_folder()
    rows: list[Row] = []
    for name in options.pairs:
        rows = judged(read_jsonl(folder / f"{name}.jsonl"))
        for threshold in (SUSPECTED, EDGE):
            quality = contradiction_quality(rows, threshold)
            print(
                f"{name} (n={len(rows)}) contradiction at {threshold}: "
                f"P {quality.precision:.3f} R {quality.recall:.3f} F1 {quality.f1:.3f}"
            )
        supports = support_quality(rows)
        print(f"{name} supports: P {supports.precision:.3f} R {supports.recall:.3f} F1 {supports.f1:.3f}")
        if options.errors:
            _print_errors(rows)
    if options.alarms:
        pairs = chat_pairs(folder, options.alarms)
        judgements = chat_judgements(pairs)
        alarms = [
            (pair, verdict)
            for pair, verdict in zip(pairs, judgements, strict=True)
            if verdict and verdict.relation == "contradicts"
        ]
        signals = Counter(str(verdict.signal) for _, verdict in alarms)
        strong = sum(verdict.score >= EDGE for _, verdict in alarms)
        supports_count = sum(verdict is not None and verdict.relation == "supports" for verdict in judgements)
        print(
            f"LoCoMo same-speaker pairs (n={len(pairs)}): flagged at {SUSPECTED}: {len(alarms) / len(pairs):.2%}, "
            f"at {EDGE}: {strong / len(pairs):.2%}; supports {supports_count / len(pairs):.2%}; {dict(signals)}"
        )
        if options.errors:
            for (_, first, second), verdict in alarms:
                print(f"    {verdict.signal} {verdict.score:.2f} | {first} | {second}")
    if rows:
        _print_times(rows)


if __name__ == "__main__":
    main()
