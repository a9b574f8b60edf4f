"""What the token projection costs: MaxSim alone with 64-dimensional int8 vectors against the full hidden states.

    python -m benchmarks.token_projection_locomo

Runs on the even conversations of LoCoMo (the development half), read from `ALMA_BENCH_DATA` (default
`../shared/data`). Every question with evidence in its conversation; a turn is encoded as "speaker: text"; the score is
the idf-weighted best cosine of each content token of the question over the turn's own tokens.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alma_graph.embedding.minilm import MiniLmEmbedder
from alma_graph.embedding.token_vectors import TOKEN_DIMENSION, TokenProjection, unit_rows

Matrix = NDArray[np.float32]


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def max_sim(query: Matrix, weights: Matrix, documents: list[Matrix]) -> NDArray[np.float64]:
    """The score of every document: weighted mean over the query's tokens of the best cosine, 0 at least."""
    scores = np.zeros(len(documents))
    if weights.sum() == 0:
        return scores
    for place, document in enumerate(documents):
        if len(document):
            scores[place] = np.maximum((query @ document.T).max(axis=1), 0) @ weights / weights.sum()
    return scores


def main() -> None:
    folder = Path(os.environ.get("ALMA_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
    turns: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for turn in read_lines(folder / "locomo_turns.jsonl"):
        turns[turn["conv"]].append(turn)
    questions = read_lines(folder / "locomo_questions.jsonl")
    projection = TokenProjection.load()
    embedder = MiniLmEmbedder()

    variants: dict[str, Callable[[Matrix], Matrix]] = {
        "384 float, as they are": unit_rows,
        "384 float, centred": lambda states: unit_rows(unit_rows(states) - projection.mean),
        f"{TOKEN_DIMENSION} int8, centred": lambda states: unit_rows(projection.apply(states).astype(np.float32)),
    }
    hits: dict[str, list[tuple[bool, bool]]] = {name: [] for name in variants}
    for conversation in list(turns)[::2]:
        own_turns = turns[conversation]
        ids = [turn["dia_id"] for turn in own_turns]
        asked = [
            question
            for question in questions
            if question["conv"] == conversation and set(question["evidence_ids"]) & set(ids)
        ]
        turn_texts = [f"{turn['speaker']}: {turn['text']}" for turn in own_turns]
        question_texts = [question["question"] for question in asked]
        turn_ids = [tokens.ids for tokens in embedder.embed_with_tokens(turn_texts)[1]]
        question_ids = [tokens.ids for tokens in embedder.embed_with_tokens(question_texts)[1]]
        turn_states, question_states = embedder.hidden_states(turn_texts), embedder.hidden_states(question_texts)

        frequency = np.zeros(40_000, np.float32)
        for identifiers in turn_ids:
            frequency[np.unique(identifiers)] += 1
        idf = np.log(1 + (len(turn_ids) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        for name, transform in variants.items():
            documents = [transform(states) for states in turn_states]
            for place, question in enumerate(asked):
                query = transform(question_states[place])
                scores = max_sim(query, idf[question_ids[place]], documents)
                best = [ids[index] for index in np.argsort(-scores, kind="stable")[:10]]
                gold = set(question["evidence_ids"])
                hits[name].append((bool(gold & set(best[:5])), bool(gold & set(best))))
    for name, found in hits.items():
        in_five, in_ten = np.mean(np.array(found, np.float64), axis=0)
        print(f"{name:26s} any@5 {in_five:.3f}  any@10 {in_ten:.3f}  ({len(found)} questions)")


if __name__ == "__main__":
    main()
