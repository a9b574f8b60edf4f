"""How well wordings of one strategy, and tasks of one context, are found; and what a new wording costs.

    python -m benchmarks.strategies_f1 [--sets NAME ...] [--nouns] [--errors] [--costs N ...] [--embedder NAME]

Reads the labelled wordings from ALMA_BENCH_DATA (default: ../shared/data beside the repository): `strategies_dev` and
`contexts_dev`, own wordings in groups, with families of groups that contrast (hard negatives). Constants are chosen on
these development sets only; name another set with --sets to measure it. Costs are CPU time without embedding, for
made-up strategies that differ in one slot: the densest case there is.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alma_graph.embedding import create_embedder
from alma_graph.learning import LearnedOutcome, StrategyBook
from alma_graph.learning.likeness import Likeness
from alma_graph.learning.readings import FindNouns, Readings
from benchmarks.datasets import data_folder, read_lines

DEVELOPMENT_SETS = ("strategies_dev", "contexts_dev")
CONTEXTS = 200
"""Task types over which the spread-out case distributes its strategies."""
SAMPLE = 20
"""Outcomes recorded one by one, after all others, whose mean cost is "one more"."""

Level = Literal["near", "pool", "context"]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Joined = Callable[[int, int], bool]
"""Whether two rows, by number, are taken for the same."""


class Quality(NamedTuple):
    """Pairs of wordings in one group against pairs with one label; hard pairs are of two contrasting groups."""

    precision: float
    recall: float
    f1: float
    hard_merged: int
    hard: int
    wrong: list[tuple[str, str]]
    missed: list[tuple[str, str]]


def compared(texts: Sequence[str], level: Level, embed: Embed, nouns: FindNouns | None = None) -> Joined:
    """Whether two of the texts are near (strategies), pooled (strategies) or one context (tasks)."""
    readings = Readings(embed, nouns)
    signatures = readings.signatures(texts)
    wordings = [signature.wording for signature in signatures]
    likeness = Likeness("kin" if level == "context" else "pool")
    likeness.add(signatures, readings.codes(signatures))
    likeness.groups.settle()
    if level == "near":
        return lambda left, right: wordings[right] in likeness.near(wordings[left])
    return lambda left, right: wordings[right] in likeness.groups.group(wordings[left])


def quality(rows: Sequence[dict[str, Any]], joined: Joined) -> Quality:
    """Pair precision, recall and F1 against the rows' labels."""
    right = hard = hard_merged = 0
    wrong: list[tuple[str, str]] = []
    missed: list[tuple[str, str]] = []
    for one, two in combinations(range(len(rows)), 2):
        same, together = rows[one]["group"] == rows[two]["group"], joined(one, two)
        texts = (rows[one]["text"], rows[two]["text"])
        contrast = not same and rows[one]["family"] == rows[two]["family"]
        hard += contrast
        hard_merged += contrast and together
        right += same and together
        if together and not same:
            wrong.append(texts)
        if same and not together:
            missed.append(texts)
    precision = right / (right + len(wrong)) if right else 0.0
    recall = right / (right + len(missed)) if right else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return Quality(precision, recall, f1, hard_merged, hard, wrong, missed)


def wrongly_pooled(texts: Sequence[str], vectors: NDArray[np.float32]) -> float:
    """Share of strategies, all distinct, that are pooled with another."""
    joined = compared(texts, "pool", lambda _: vectors)
    pooled = {number for pair in combinations(range(len(texts)), 2) if joined(*pair) for number in pair}
    return len(pooled) / len(texts)


def measure(
    name: str, level: Level, embed: Embed, nouns: FindNouns | None = None, folder: Path | None = None
) -> Quality:
    """Quality on one labelled set."""
    rows = read_lines((folder or data_folder()) / f"{name}.jsonl")
    return quality(rows, compared([row["text"] for row in rows], level, embed, nouns))


def made_up_strategies(count: int) -> list[str]:
    """`count` distinct strategies, at most 15,000, that differ in one of three slots; always the same ones."""
    verbs = (
        "restart scale deploy check test monitor delete create update copy restore patch pause resume drain migrate "
        "audit tune archive rotate rename shard compress encrypt profile"
    ).split()
    things = [
        f"{name} {sort}"
        for name, sort in product(
            "auth payment search order billing image user audit video mail".split(),
            "service queue cache index database gateway".split(),
        )
    ]
    manners = (
        "before noon, with a dry run, during low traffic, after a backup, using terraform, with two reviewers, "
        "from the console, in small batches, under load, with alerts off"
    ).split(", ")
    texts = [f"{verb} the {thing} {manner}" for verb, thing, manner in product(verbs, things, manners)]
    random.Random(1).shuffle(texts)
    return texts[:count]


def cost(texts: Sequence[str], vectors: NDArray[np.float32], place: Literal["spread", "one context", "tasks"]) -> str:
    """CPU milliseconds an outcome, each with a new wording: in one batch, and one by one at the end."""

    def no_embedding(missing: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError(f"{len(missing)} wordings were not provided")

    book = StrategyBook("benchmark", no_embedding)
    shared = ["do it at once", "do it twice"]
    book.provide([*texts, *shared], np.concatenate([vectors, vectors[:2] + vectors[2:4]]))
    draw = random.Random(2)
    outcomes = [
        LearnedOutcome(
            id=str(number),
            agent="dev",
            task=text if place == "tasks" else "any",
            strategy=shared[number % 2] if place == "tasks" else text,
            success=draw.random() < 0.7,
            task_type={"spread": f"type {number % CONTEXTS}", "one context": "one", "tasks": None}[place],
        )
        for number, text in enumerate(texts)
    ]
    started = time.process_time()
    book.record(outcomes[:-SAMPLE])
    book.settle()
    batch = (time.process_time() - started) * 1e3 / (len(outcomes) - SAMPLE)
    started = time.process_time()
    for outcome in outcomes[-SAMPLE:]:
        book.record([outcome])
        book.settle()
    single = (time.process_time() - started) * 1e3 / SAMPLE
    return (
        f"{place:12} {len(texts):6}   batch {batch:7.3f} ms   one more {single:8.2f} ms   lessons {len(book.lessons())}"
    )


def main() -> None:
    """Prints quality and costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=DEVELOPMENT_SETS)
    parser.add_argument("--nouns", action="store_true", help="ask the parser for nouns")
    parser.add_argument("--errors", action="store_true", help="print what was joined or left apart wrongly")
    parser.add_argument("--costs", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    options = parser.parse_args()
    embedder = create_embedder(options.embedder)
    nouns: FindNouns | None = None
    if options.nouns:
        from alma_graph.extraction import create_extractor

        extractor = create_extractor("spacy")

        def nouns(texts: Sequence[str]) -> list[frozenset[str]]:
            return [frozenset(extraction.nouns) for extraction in extractor.extract_batch(texts)]

    for name in options.sets:
        levels: tuple[Level, ...] = ("context",) if name.startswith("contexts") else ("near", "pool")
        for level in levels:
            found = measure(name, level, embedder.embed, nouns)
            print(
                f"{name:16} {level:8} P {found.precision:.3f} R {found.recall:.3f} F {found.f1:.3f}"
                f"   hard pairs merged {found.hard_merged} of {found.hard}"
            )
            if options.errors:
                for kind, pairs in (("joined", found.wrong), ("apart", found.missed)):
                    for left, right in pairs:
                        print(f"    {kind}: {left} | {right}")
    for count in options.costs:
        texts = made_up_strategies(count)
        started = time.perf_counter()
        vectors = embedder.embed(texts)
        print(f"embedding {count}: {(time.perf_counter() - started) * 1e3 / count:.2f} ms each (wall clock)")
        share = wrongly_pooled(texts[:1_000], vectors[:1_000])
        print(f"distinct strategies wrongly pooled: {share:.3f} of {len(texts[:1_000])}")
        for place in ("spread", "one context", "tasks"):
            print(cost(texts, vectors, place))


if __name__ == "__main__":
    main()
