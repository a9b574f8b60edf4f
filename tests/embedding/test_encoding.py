"""The encoder with embedders that are not a model: dedupe, batches, checks, chunks, cache."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from alma_graph.embedding import Encoder, HashingEmbedder, chunk_text
from alma_graph.embedding.chunking import WINDOW_CHARACTERS
from alma_graph.errors import EmbeddingError


class RecordingEmbedder(HashingEmbedder):
    """Hashing that remembers the batches it was given."""

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return super().embed(texts)


class FixedEmbedder:
    """Returns what it was made with, whatever the texts."""

    name = "fixed"
    dimension = 4

    def __init__(self, result: object) -> None:
        self.result = result

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result  # type: ignore[return-value]


def test_each_distinct_text_is_embedded_once_and_answers_keep_their_order() -> None:
    embedder = RecordingEmbedder()
    encoder = Encoder(embedder)
    texts = ["a first one", "second", "a first one", "third", "second"]
    encoded = encoder.encode(texts)
    assert sorted(text for batch in embedder.batches for text in batch) == ["a first one", "second", "third"]
    for text, result in zip(texts, encoded, strict=True):
        assert np.array_equal(result.vector, embedder.embed([text])[0])
    assert (encoder.calls, encoder.texts) == (1, 3)
    assert encoder.seconds > 0


def test_batches_hold_at_most_32() -> None:
    embedder = RecordingEmbedder()
    Encoder(embedder).encode([f"text number {number}" for number in range(100)])
    assert [len(batch) for batch in embedder.batches] == [32, 32, 32, 4]


def test_nothing_to_encode() -> None:
    embedder = RecordingEmbedder()
    assert Encoder(embedder).encode([]) == []
    assert embedder.batches == []


def test_the_cache_answers_again_and_drops_the_least_used() -> None:
    embedder = RecordingEmbedder()
    encoder = Encoder(embedder, cache_size=2)
    for text in ("one", "two", "one", "three", "one"):  # "two" goes when "three" comes
        encoder.encode_query(text)
    assert [batch[0] for batch in embedder.batches] == ["one", "two", "three"]
    encoder.encode_query("two")
    assert len(embedder.batches) == 4
    encoder.forget(["two"])
    encoder.encode_query("two")
    assert len(embedder.batches) == 5


def test_a_cache_of_zero_keeps_nothing() -> None:
    embedder = RecordingEmbedder()
    encoder = Encoder(embedder, cache_size=0)
    encoder.encode_query("one")
    encoder.encode_query("one")
    assert len(embedder.batches) == 2


def test_vectors_cannot_be_changed_by_a_caller() -> None:
    vector = Encoder(HashingEmbedder()).encode_query("shared with the cache")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_vectors_are_scaled_to_length_one_even_huge_ones() -> None:
    for scale in (1e-6, 1.0, 1e30):
        vector = Encoder(FixedEmbedder(np.full((1, 4), scale))).encode_query("x")
        assert vector.dtype == np.float32
        assert np.allclose(vector, 0.5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(EmbeddingError, match="'fixed' returned NaN or infinity for text 0"):
        Encoder(FixedEmbedder(np.array([[1, value, 0, 0]]))).encode_query("x")


def test_a_zero_vector_is_refused() -> None:
    with pytest.raises(EmbeddingError, match="zero vector"):
        Encoder(FixedEmbedder(np.zeros((1, 4)))).encode_query("x")


def test_a_wrong_dimension_is_refused_with_both_numbers() -> None:
    with pytest.raises(EmbeddingError) as caught:
        Encoder(FixedEmbedder(np.ones((1, 7)))).encode_query("x")
    assert "'fixed'" in str(caught.value)
    assert "dimension 7" in str(caught.value)
    assert "dimension 4" in str(caught.value)


@pytest.mark.parametrize(
    "result", [np.ones(4), np.ones((2, 4)), "no array", None, [["a", "b", "c", "d"]], [[1], [1, 2]]]
)
def test_anything_but_one_row_a_text_is_refused(result: object) -> None:
    with pytest.raises(EmbeddingError, match="fixed"):
        Encoder(FixedEmbedder(result)).encode_query("x")


def test_an_embedder_that_fails_is_named() -> None:
    with pytest.raises(EmbeddingError, match=r"embedder 'fixed' failed: ConnectionError: refused"):
        Encoder(FixedEmbedder(ConnectionError("refused"))).encode_query("x")


def test_a_failed_call_leaves_nothing_in_the_cache() -> None:
    embedder = FixedEmbedder(np.zeros((1, 4)))
    encoder = Encoder(embedder)
    with pytest.raises(EmbeddingError):
        encoder.encode_query("x")
    embedder.result = np.ones((1, 4))
    assert np.allclose(encoder.encode_query("x"), 0.5)


def test_chunks_that_cancel_each_other_still_give_a_vector() -> None:
    rows = np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]])
    encoded = Encoder(FixedEmbedder(rows)).encode(["a" * WINDOW_CHARACTERS + "b" * WINDOW_CHARACTERS])[0]
    assert len(encoded.chunks) == 2
    assert np.allclose(np.linalg.norm(encoded.vector), 1)


def test_long_text_is_pooled_and_every_part_is_findable() -> None:
    filler = "The quarterly report lists numbers that nobody reads. " * 200
    text = filler + "The vault opens with the word xylophone. " + filler
    encoder = Encoder(HashingEmbedder())
    encoded = encoder.encode([text])[0]
    query = encoder.encode_query("which word opens the vault, xylophone?")
    best = max(encoded.chunks, key=lambda chunk: float(chunk.vector @ query))
    assert "xylophone" in text[best.start_char : best.end_char]
    assert float(best.vector @ query) > float(encoded.vector @ query)


def test_short_text_has_no_chunks() -> None:
    assert Encoder(HashingEmbedder()).encode(["short"])[0].chunks == ()


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(codec=None), max_size=40),
            st.sampled_from(["A sentence ends here. ", "word ", "\n\n", "。", "x" * 700, " " * 400, "日本" * 300]),
        ),
        max_size=60,
    )
)
def test_chunks_cover_every_character_once_and_fit_the_window(parts: list[str]) -> None:
    text = "".join(parts)
    spans = chunk_text(text, None)
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    for left, right in pairwise(spans):
        assert left.end == right.start
    if len(spans) > 1:
        assert all(0 < span.end - span.start <= WINDOW_CHARACTERS for span in spans)
    assert (len(spans) > 1) == (len(text) > WINDOW_CHARACTERS)


def test_cuts_fall_between_sentences_where_they_can() -> None:
    text = " ".join(f"Sentence number {number} says something plain." for number in range(200))
    spans = chunk_text(text, None)
    assert len(spans) > 5
    for span in spans:
        assert text[span.start : span.end].strip().startswith("Sentence")
        assert text[span.start : span.end].strip().endswith(".")


def test_lone_surrogates_and_other_odd_texts_are_encoded() -> None:
    odd = ["", " ", "\ud800", "a\udfffb", "\0", "\u200b\u200d", "🏳️‍🌈", "\U0010ffff"]
    for encoded in Encoder(HashingEmbedder()).encode(odd):
        assert np.allclose(np.linalg.norm(encoded.vector), 1, atol=1e-5)


def test_threads_share_one_encoder() -> None:
    encoder = Encoder(HashingEmbedder(), cache_size=8)
    expected = {f"text {number}": HashingEmbedder().embed([f"text {number}"])[0] for number in range(30)}
    wrong: list[str] = []

    def work() -> None:
        for text, vector in expected.items():
            if not np.allclose(encoder.encode_query(text), vector, atol=1e-6):
                wrong.append(text)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
