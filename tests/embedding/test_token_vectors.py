"""The stored form of token vectors, and the shipped projection."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.embedding import TokenVectors, pack_tokens, unpack_tokens
from alma_graph.embedding.token_vectors import PROJECTION_FILE, TokenProjection, content_mask, join_tokens
from alma_graph.errors import InvalidInputError


def made_tokens(ids: list[int], width: int = 64) -> TokenVectors:
    vectors = np.random.default_rng(len(ids)).integers(-127, 128, (len(ids), width), dtype=np.int8)
    return TokenVectors(vectors, np.array(ids, np.uint32))


@given(st.lists(st.integers(0, 2**32 - 1), max_size=50), st.sampled_from([1, 64, 128]))
def test_packing_loses_nothing(ids: list[int], width: int) -> None:
    tokens = made_tokens(ids, width)
    packed = pack_tokens(tokens)
    read = unpack_tokens(packed)
    assert np.array_equal(read.vectors, tokens.vectors)
    assert np.array_equal(read.ids, tokens.ids)
    assert read.vectors.shape == (len(ids), width)
    assert pack_tokens(read) == packed


def test_the_layout_is_as_documented() -> None:
    tokens = TokenVectors(np.array([[1, -2]], np.int8), np.array([513], np.uint32))
    assert pack_tokens(tokens) == bytes([1, 2, 2, 0, 1, 0, 0, 0, 1, 254, 1, 2])


@pytest.mark.parametrize(
    "packed", [b"", b"\x01\x02", b"\x02\x02\x40\x00\x00\x00\x00\x00", b"\x01\x02\x40\x00\x01\x00\x00\x00"]
)
def test_torn_or_foreign_bytes_are_refused(packed: bytes) -> None:
    with pytest.raises(InvalidInputError, match="token_embeddings"):
        unpack_tokens(packed)


def test_chunks_join_in_order_below_the_limit() -> None:
    joined = join_tokens([made_tokens([5, 6]), made_tokens([7])], 10)
    assert joined.ids.tolist() == [5, 6, 7]


def test_over_the_limit_the_first_of_each_wordpiece_stays() -> None:
    joined = join_tokens([made_tokens([9, 9, 9, 4]), made_tokens([9, 4, 7, 9])], 4)
    assert joined.ids.tolist() == [9, 4, 7]
    sampled = join_tokens([made_tokens(list(range(100)))], 10)
    assert sampled.ids.tolist() == [0, 11, 22, 33, 44, 55, 66, 77, 88, 99]


def test_the_shipped_projection_is_small_and_orthonormal() -> None:
    size = len(resources.files("alma_graph.embedding").joinpath(PROJECTION_FILE).read_bytes())
    assert size < 120_000
    projection = TokenProjection.load()
    assert projection.components.shape == (384, 64)
    assert projection.mean.shape == (384,)
    gram = projection.components.T @ projection.components
    assert np.allclose(gram, np.eye(64), atol=2e-3)  # stored as float16


def test_which_wordpieces_carry_content() -> None:
    pieces = ["[CLS]", "the", "##the", "port", ".", "##-", "##", "日", "42", "'", "not", "µ", "€"]
    mask = content_mask({piece: place for place, piece in enumerate(pieces)}, frozenset({0}))
    assert [piece for piece, kept in zip(pieces, mask, strict=True) if kept] == ["##the", "port", "日", "42", "µ"]
