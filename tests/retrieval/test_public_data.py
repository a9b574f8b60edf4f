"""Ranking on a public conversation: adding an arm never drops recall, without a model."""

from __future__ import annotations

import pytest

from alma_graph.retrieval import ScoringConfig
from benchmarks.datasets import data_folder, locomo
from tests.index.world import World

PLAIN = ScoringConfig(recency=0.0, success=0.0, confidence=0.0, floor=0.0)
ARMS = frozenset({"dense", "lexical", "entity", "graph", "date", "speaker", "role", "question"})

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not (data_folder() / "locomo_turns.jsonl").is_file(), reason="ALMA_BENCH_DATA has no locomo_turns.jsonl"
    ),
]


def test_joining_arms_never_costs_recall() -> None:
    store = next(locomo(data_folder(), half="dev"))
    # Adversarial questions name the wrong speaker on purpose, which no prior can stand.
    questions = [question for question in store.questions if question.type != "adversarial"]
    world = World()
    world.add(*store.memories, project=store.name)

    def recall_at_5(without: frozenset[str]) -> float:
        total = 0.0
        for question in questions:
            found = world.found(question.text, store.name, top_k=5, scoring=PLAIN, context_turns=0, without=without)
            total += len(question.gold.intersection(found)) / len(question.gold)
        return total / len(questions)

    alone = {arm: recall_at_5(ARMS - {arm}) for arm in ("dense", "lexical")}
    pair = recall_at_5(ARMS - {"dense", "lexical"})
    everything = recall_at_5(frozenset())
    # Hashed words are a second, weaker full text: beside the real one they cost up to three points. The model's vectors
    # gain (benchmarks/retrieval_quality.py).
    assert pair >= max(alone.values()) - 0.03
    assert everything >= pair - 0.01
    assert everything >= max(alone.values()) - 0.01
    assert everything >= 0.65
