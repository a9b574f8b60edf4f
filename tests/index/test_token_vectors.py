"""Late interaction over token vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.embedding import TokenVectors, pack_tokens
from alma_graph.index.context import OFFSETS, SessionContext, gate
from alma_graph.index.token_vectors import DECAY, LENGTH_PENALTY, LONG, WINDOW, TokenVectorIndex

WIDTH = 8


def tokens(count: int, seed: int) -> TokenVectors:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, WIDTH))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return TokenVectors(np.rint(vectors * 127).astype(np.int8), random.integers(0, 40, count).astype(np.uint32))


def build(texts: list[TokenVectors | None], context: SessionContext | None = None) -> TokenVectorIndex:
    if context is None:
        context = SessionContext()
        context.extend(np.full(len(texts), 10))
    index = TokenVectorIndex(context)
    index.extend([None if text is None else pack_tokens(text) for text in texts])
    return index


def best(text: TokenVectors, query: TokenVectors) -> npt.NDArray[np.float64]:
    cosines = text.vectors.astype(np.float64) @ query.vectors.astype(np.float64).T / 127**2
    found: npt.NDArray[np.float64] = np.maximum(cosines.max(axis=0), 0.0)
    return found


def test_match_is_the_weighted_mean_of_the_best_cosines() -> None:
    texts = [tokens(count, count) for count in (3, 7, 12)]
    index = build([*texts, None])
    query = tokens(4, 99)
    weights = index.idf(query.ids) / index.idf(query.ids).sum()
    matched = index.match(np.arange(4), query.vectors, query.ids)
    assert matched is not None
    expected = [float(best(text, query) @ weights) for text in texts]
    np.testing.assert_allclose(matched, [*expected, 0.0], atol=1e-6)


def test_a_text_matches_itself_best() -> None:
    texts: list[TokenVectors | None] = [tokens(6, seed) for seed in range(20)]
    index = build(texts)
    for row, text in enumerate(texts):
        assert text is not None
        matched = index.match(np.arange(20), text.vectors, text.ids)
        assert matched is not None
        assert int(np.argmax(matched)) == row
        assert matched[row] == pytest.approx(1.0, abs=0.02)


def test_long_texts_are_read_in_windows_and_pay_for_their_length() -> None:
    text = tokens(3 * WINDOW, 1)
    index = build([text])
    query = tokens(5, 2)
    weights = index.idf(query.ids) / index.idf(query.ids).sum()
    windows = [
        best(TokenVectors(text.vectors[at : at + WINDOW], text.ids[at : at + WINDOW]), query) @ weights
        for at in range(0, 3 * WINDOW - WINDOW // 2, WINDOW // 2)
    ]
    matched = index.match(np.array([0]), query.vectors, query.ids)
    assert matched is not None
    expected = max(windows) - LENGTH_PENALTY * np.log(3 * WINDOW / LONG)
    assert matched[0] == pytest.approx(max(expected, 0.0), abs=1e-6)


def test_neighbouring_turns_lend_their_matches() -> None:
    context = SessionContext()
    context.extend(np.array([5, 5, 5]))
    context.link(np.array([0]), np.array([1]))
    answer, question, other = tokens(3, 1), tokens(3, 2), tokens(3, 3)
    index = build([question, answer, other], context)
    matched = index.match(np.arange(3), question.vectors, question.ids)
    alone = build([question, answer, other]).match(np.arange(3), question.vectors, question.ids)
    assert matched is not None and alone is not None
    share = DECAY[OFFSETS.index(-1)] * float(gate(np.array([5]))[0])
    assert matched[1] == pytest.approx(share, abs=0.03)
    assert matched[1] > alone[1]
    assert matched[2] == alone[2]


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.data())
def test_incremental_equals_rebuilt(sizes: list[int], data: st.DataObject) -> None:
    texts: list[TokenVectors | None] = [tokens(size, seed) if size else None for seed, size in enumerate(sizes)]
    context = SessionContext()
    context.extend(np.full(len(texts), 10))
    grown = TokenVectorIndex(context)
    for text in texts:
        grown.extend([None if text is None else pack_tokens(text)])
    for row in data.draw(st.sets(st.integers(0, len(texts) - 1))):
        texts[row] = tokens(9, 1000 + row) if data.draw(st.booleans()) else None
        changed = texts[row]
        grown.replace(row, None if changed is None else pack_tokens(changed))
    query = tokens(4, 77)
    now = grown.match(np.arange(len(texts)), query.vectors, query.ids)
    fresh = build(texts).match(np.arange(len(texts)), query.vectors, query.ids)
    assert (now is None) == (fresh is None)
    if now is not None and fresh is not None:
        np.testing.assert_allclose(now, fresh, atol=1e-6)


def test_nothing_to_compare_is_none() -> None:
    query = tokens(3, 1)
    assert build([None, None]).match(np.arange(2), query.vectors, query.ids) is None
    empty = TokenVectors(np.zeros((0, WIDTH), dtype=np.int8), np.zeros(0, dtype=np.uint32))
    assert build([tokens(2, 1)]).match(np.arange(1), empty.vectors, empty.ids) is None
