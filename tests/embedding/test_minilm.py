"""The default model: its vectors, its token vectors, its chunks, its graph in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.embedding import (
    Encoder,
    MiniLmEmbedder,
    OnnxEmbedder,
    chunk_text,
    create_embedder,
    unpack_tokens,
)
from alma_graph.embedding.encoding import TOKEN_LIMIT
from alma_graph.embedding.minilm import MINILM_WINDOW, ensure_graph, graph_folder
from alma_graph.embedding.onnx_encoder import pool
from alma_graph.errors import EmbeddingError, InvalidInputError


def default_embedder() -> MiniLmEmbedder:
    embedder = create_embedder("all-MiniLM-L6-v2")
    assert isinstance(embedder, MiniLmEmbedder)
    return embedder


def test_name_dimension_and_revision_are_known_without_loading() -> None:
    embedder = MiniLmEmbedder()
    assert (embedder.name, embedder.dimension, embedder.max_tokens) == ("all-MiniLM-L6-v2", 384, 254)
    assert embedder.revision.startswith("53aa51172d14-")
    assert embedder._loaded is None


def test_meaning_not_words(minilm: Encoder) -> None:
    query = minilm.encode_query("the database does not answer")
    near = minilm.encode_query("PostgreSQL is unreachable")
    far = minilm.encode_query("we adopted a puppy on Sunday")
    assert float(query @ near) > float(query @ far) + 0.2


def test_a_text_has_the_same_vector_to_the_last_bit_in_any_company(real_texts: list[str]) -> None:
    """Ids, near-ties and thresholds must not depend on what else was in a batch."""
    embedder = default_embedder()
    chosen = real_texts[::6]
    together, tokens_together = embedder.embed_with_tokens(chosen)
    for place in range(0, len(chosen), 5):
        alone, tokens_alone = embedder.embed_with_tokens([chosen[place]])
        assert np.array_equal(alone[0], together[place])
        assert np.array_equal(tokens_alone[0].vectors, tokens_together[place].vectors)
    assert np.array_equal(embedder.embed(chosen[::-1])[::-1], together)


def test_more_threads_give_the_same_vectors(real_texts: list[str]) -> None:
    chosen = real_texts[:24]
    assert np.array_equal(MiniLmEmbedder(threads=1).embed(chosen), MiniLmEmbedder(threads=2).embed(chosen))


def test_several_threads_load_the_model_once_and_agree() -> None:
    embedder = MiniLmEmbedder(threads=1)
    expected = default_embedder().embed(["hello world"])
    results: list[bool] = []

    def work() -> None:
        results.append(np.array_equal(embedder.embed(["hello world"]), expected))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [True] * 4


def test_token_vectors_are_of_content_tokens_only(minilm: Encoder) -> None:
    tokens = minilm.query_tokens("When did Caroline go to the support group?")
    assert tokens is not None
    vocabulary = default_embedder()._load().model.tokenizer
    assert [vocabulary.id_to_token(int(identifier)) for identifier in tokens.ids] == [
        "caroline",
        "go",
        "support",
        "group",
    ]
    assert tokens.vectors.dtype == np.int8
    assert tokens.vectors.shape == (4, 64)
    lengths = np.linalg.norm(tokens.vectors.astype(np.float64), axis=1)
    assert np.allclose(lengths, 127, atol=4)


def test_a_query_of_stop_words_has_no_tokens_but_a_vector(minilm: Encoder) -> None:
    tokens = minilm.query_tokens("what is the ...?")
    assert tokens is not None
    assert len(tokens) == 0
    assert np.allclose(np.linalg.norm(minilm.encode_query("what is the ...?")), 1, atol=1e-6)


def test_query_vector_and_tokens_take_one_pass() -> None:
    encoder = Encoder(default_embedder())
    encoder.encode_query("which port does the gateway use?")
    encoder.query_tokens("which port does the gateway use?")
    assert (encoder.calls, encoder.texts) == (1, 1)


def test_token_vectors_find_the_same_word_in_like_context(minilm: Encoder) -> None:
    query = minilm.query_tokens("port of the gateway")
    with_word = minilm.query_tokens("The gateway listens on port 8080.")
    without = minilm.query_tokens("Grandmother baked an apple pie.")
    assert query is not None
    assert with_word is not None
    assert without is not None

    def best(document: np.ndarray) -> float:
        cosines = query.vectors.astype(np.float64) @ document.astype(np.float64).T / 127**2
        return float(cosines.max(axis=1).mean())

    assert best(with_word.vectors) > best(without.vectors) + 0.3


def test_tokens_are_left_out_when_not_asked_for(minilm: Encoder) -> None:
    encoded = minilm.encode(["no tokens, please"], tokens=False)[0]
    assert encoded.token_embeddings is None
    assert np.array_equal(encoded.vector, minilm.encode(["no tokens, please"])[0].vector)


def test_long_text_is_chunked_pooled_and_findable(minilm: Encoder) -> None:
    filler = "Meeting notes: the team went through the open tickets and nothing new came up. " * 40
    text = filler + "The emergency phone number of the data centre is kept in the red folder. " + filler
    encoded = minilm.encode([text])[0]
    query = minilm.encode_query("where do we keep the data centre's emergency number?")
    best = max(encoded.chunks, key=lambda chunk: float(chunk.vector @ query))
    assert "red folder" in text[best.start_char : best.end_char]
    assert encoded.token_embeddings is not None
    folder_id = default_embedder()._load().model.tokenizer.token_to_id("folder")
    assert folder_id in unpack_tokens(encoded.token_embeddings).ids
    assert np.allclose(np.linalg.norm(encoded.vector), 1, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=60),
            st.sampled_from(["A sentence ends here. ", "unbelievably", "\n", "。", "x" * 90, "한국어", "日本" * 200]),
        ),
        max_size=80,
    )
)
def test_chunks_cover_every_character_and_fit_the_window(parts: list[str]) -> None:
    text = "".join(parts) * 2
    embedder = default_embedder()
    spans = chunk_text(text, embedder)
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    for left, right in pairwise(spans):
        assert left.end == right.start
    tokenizer = embedder._load().model.tokenizer
    for span in spans:
        assert len(tokenizer.encode(text[span.start : span.end]).ids) <= MINILM_WINDOW


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_200_kb_of_text(minilm: Encoder) -> None:
    words = "engineers documented unexpected migration problems before restarting several distributed databases".split(
        " "
    )
    text = " ".join(words[number * number % 101 % len(words)] for number in range(25_000))[:200_000]
    encoded = minilm.encode([text])[0]
    assert len(encoded.chunks) > 80  # 20,500 words, 254 wordpieces a window
    assert encoded.chunks[-1].end_char == 200_000
    assert encoded.token_embeddings is not None
    assert len(unpack_tokens(encoded.token_embeddings)) <= TOKEN_LIMIT


def test_a_folder_with_a_model_can_be_named(real_texts: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).symlink_to(ensure_graph() / name)
    embedder = create_embedder(f"onnx:{folder}")
    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.name == f"onnx:my-model@{embedder.revision}"
    assert embedder.dimension == 384
    assert embedder.window == 128  # as its tokenizer.json says
    short = [text for text in real_texts if len(text) < 200][:10]
    assert np.array_equal(embedder.embed(short), default_embedder().embed(short))
    assert create_embedder(str(folder)).name == embedder.name
    encoded = Encoder(embedder).encode(["A long text needs several windows of this model. " * 60])[0]
    assert len(encoded.chunks) > 3
    assert encoded.token_embeddings is None


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"model\.onnx and no tokenizer\.json"):
        create_embedder(f"onnx:{tmp_path}")


def test_a_damaged_model_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"this is no model")
    shutil.copy(ensure_graph() / "tokenizer.json", tmp_path / "tokenizer.json")
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        create_embedder(f"onnx:{tmp_path}").embed(["x"])


def test_pooling_is_the_mean_scaled_to_length_one() -> None:
    states = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32)
    assert np.allclose(pool(states), [2**-0.5, 2**-0.5])


BUILD = """
from alma_graph.embedding import create_embedder
print(create_embedder("all-MiniLM-L6-v2").embed(["built together"])[0, :4].tolist())
"""


@pytest.mark.slow
def test_two_processes_build_the_graph_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "ALMA_GRAPH_CACHE": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", BUILD], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=200)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert outputs[0] == outputs[1] != ""
    assert [path.name for path in (tmp_path / "onnx").iterdir()] == [graph_folder().name]  # no draft is left


@pytest.mark.slow
def test_a_torn_graph_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALMA_GRAPH_CACHE", str(tmp_path))
    folder = ensure_graph()
    with (folder / "model.onnx").open("r+b") as stream:
        stream.truncate(1000)
    expected = default_embedder().embed(["whole again"])
    assert np.array_equal(MiniLmEmbedder().embed(["whole again"]), expected)
    assert (graph_folder() / "model.onnx").stat().st_size > 80_000_000
