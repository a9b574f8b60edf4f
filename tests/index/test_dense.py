"""Exact vector search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.index.context import KERNEL, OFFSETS, SessionContext, gate
from alma_graph.index.dense import DenseIndex, top_rows, unit


def random_vectors(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)


@settings(deadline=None)
@given(st.integers(1, 80), st.integers(1, 90), st.integers(0, 1000))
def test_exact_search_equals_brute_force_and_filters_before_the_cut(count: int, k: int, seed: int) -> None:
    vectors = random_vectors(count, seed)
    context = SessionContext()
    context.extend(np.ones(count))
    index = DenseIndex(16, context)
    index.extend(list(vectors))
    query = random_vectors(1, seed + 1)[0]
    allowed = np.random.default_rng(seed).random(count) < 0.3
    cosines = index.cosines(query)
    expected = [float(query @ v / np.linalg.norm(query) / np.linalg.norm(v)) for v in vectors]
    np.testing.assert_allclose(cosines, expected, atol=1e-5)
    ties = np.random.default_rng(seed).permutation(count).astype(np.uint64)
    brute = sorted(np.flatnonzero(allowed).tolist(), key=lambda row: (-cosines[row], ties[row]))[:k]
    assert top_rows(cosines, allowed, k, ties).tolist() == brute


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(0, 1000))
def test_a_cosine_does_not_depend_on_the_row_it_stands_in(count: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    query = vectors[count // 2]
    order = np.random.default_rng(seed + 1).permutation(count)
    found = []
    for some in (vectors, vectors[order]):
        context = SessionContext()
        context.extend(np.ones(count))
        index = DenseIndex(384, context)
        for vector in some:
            index.extend([vector])
        found.append(index.cosines(query))
    assert found[0][order].tolist() == found[1].tolist()


def test_which_of_equal_rows_are_best_does_not_depend_on_their_order() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.5, 0.5])
    ties = np.array([4, 9, 1, 3, 2], dtype=np.uint64)
    assert top_rows(scores, None, 3, ties).tolist() == [1, 2, 4]
    back = top_rows(scores[::-1], None, 3, ties[::-1])
    assert (4 - back).tolist() == [1, 2, 4]


def test_pooled_cosine_is_that_of_the_pooled_vector() -> None:
    count = 12
    vectors = unit(random_vectors(count))
    lengths = np.array([5, 80, 3, 10, 40, 2, 9, 7, 100, 4, 6, 8])
    context = SessionContext()
    context.extend(lengths)
    index = DenseIndex(16, context)
    index.extend(list(vectors))
    context.link(np.arange(0, 8), np.arange(1, 9))  # rows 0-8 are one episode, 9-11 stand alone
    index.pool(np.arange(9))
    query = unit(random_vectors(1, 5))[0]
    pooled = index.cosines(query, pool=True)
    for row in range(count):
        total = vectors[row].astype(np.float64)
        for offset, weight in zip(OFFSETS, KERNEL, strict=True):
            other = row + offset
            if row < 9 and 0 <= other < 9:
                total = total + weight * gate(lengths)[other] * vectors[other]
        assert pooled[row] == pytest.approx(float(total @ query / np.linalg.norm(total)), abs=1e-5)


def test_the_best_chunk_speaks_for_a_long_memory() -> None:
    vectors = unit(random_vectors(3))
    context = SessionContext()
    context.extend(np.ones(2))
    index = DenseIndex(16, context)
    index.extend([vectors[0], vectors[1]])
    index.extend_chunks(np.array([1]), vectors[2:])
    assert index.cosines(vectors[2])[1] == pytest.approx(1.0, abs=1e-6)
    index.remove(1)
    assert index.cosines(vectors[2])[1] == 0.0


def test_rows_without_a_vector_have_cosine_zero() -> None:
    context = SessionContext()
    context.extend(np.ones(2))
    index = DenseIndex(16, context)
    index.extend([None, random_vectors(1)[0]])
    assert index.cosines(random_vectors(1)[0])[0] == 0.0
    assert index.present.tolist() == [False, True]
