"""BM25 kept current by appends and removals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.index.context import SessionContext
from alma_graph.index.lexical import K1, B, LexicalIndex
from alma_graph.index.tokens import query_concepts

WORDS = st.lists(
    st.sampled_from(["redis", "cache", "deploy", "rollback", "latency", "the", "绿茶", "niño", "main.py"]),
    min_size=1,
    max_size=8,
).map(" ".join)


def build(texts: list[str]) -> LexicalIndex:
    index = LexicalIndex(SessionContext())
    index.extend(texts)
    return index


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=20), st.data(), WORDS)
def test_incremental_equals_rebuilt(texts: list[str], data: st.DataObject, query: str) -> None:
    grown = LexicalIndex(SessionContext())
    for text in texts:
        grown.extend([text])
    gone = data.draw(st.sets(st.integers(0, len(texts) - 1), max_size=len(texts) - 1))
    changed = data.draw(st.dictionaries(st.integers(0, len(texts) - 1), WORDS, max_size=3))
    for row in gone:
        grown.remove(row)
    for row, text in changed.items():
        if row not in gone:
            grown.replace(row, text)
    kept = [row for row in range(len(texts)) if row not in gone]
    rebuilt = build([changed.get(row, texts[row]) for row in kept])
    concepts = query_concepts(query)
    np.testing.assert_allclose(grown.scores(concepts)[kept], rebuilt.scores(concepts), rtol=1e-12)
    assert not grown.scores(concepts)[sorted(gone)].any()


def test_formula_on_one_word() -> None:
    index = build(["redis redis cache", "cache", "deploy deploy deploy deploy"])
    scores = index.scores(query_concepts("redis"))
    saturated = 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / (8 / 3)))
    assert scores[0] == pytest.approx(saturated / (K1 + 1))
    assert not scores[1:].any()
    assert index.idf(query_concepts("redis")[0]) == math.log(1 + 2.5 / 1.5)


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS)
def test_scores_lie_in_the_declared_range(texts: list[str], query: str) -> None:
    scores = build(texts).scores(query_concepts(query))
    assert (scores >= 0).all() and (scores < 1).all()


def test_spellings_of_one_word_count_once() -> None:
    index = build(["El niño comió", "el nino comio", "perro"])
    scores = index.scores(query_concepts("niño"))
    assert scores[0] > 0 and scores[1] > 0 and scores[2] == 0


def test_long_queries_are_cut_to_the_rarest_concepts() -> None:
    index = build(["needle"] + [f"word{n} word{n + 1}" for n in range(100)])
    query = " ".join(f"word{n}" for n in range(100)) + " needle"
    assert index.scores(query_concepts(query))[0] > 0


def test_many_appends_keep_every_posting() -> None:
    index = LexicalIndex(SessionContext())
    for start in range(0, 6000, 500):
        index.extend([f"common item{n}" for n in range(start, start + 500)])
    assert np.count_nonzero(index.scores(query_concepts("common"))) == 6000
    assert np.flatnonzero(index.scores(query_concepts("item4711"))).tolist() == [4711]
