"""The embedder that needs no model."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.embedding import HashingEmbedder
from alma_graph.errors import InvalidInputError

PROGRAM = """
import hashlib
from alma_graph.embedding import HashingEmbedder
texts = ["The deploy failed", "绿茶 is green tea", "", "!!!", "ñandú \\ud800"]
print(hashlib.sha256(HashingEmbedder(384).embed(texts).tobytes()).hexdigest())
"""


def cosine(first: str, second: str) -> float:
    vectors = HashingEmbedder().embed([first, second])
    return float(vectors[0] @ vectors[1])


def test_similar_texts_are_nearer_than_others_in_any_script() -> None:
    for text, near, far in [
        ("retry the failed deployment", "retrying failed deployments", "the cat sleeps on the sofa"),
        ("我喜欢绿茶", "我喜欢喝绿茶", "订单审批流程自动通知"),
        ("El niño comió jalapeño", "el niño come jalapeños", "la casa está lejos"),
        ("база данных недоступна", "база данных снова недоступна", "погода сегодня хорошая"),
    ]:
        assert cosine(text, near) > 0.4
        assert cosine(text, near) > cosine(text, far) + 0.3


def test_the_same_in_every_process_whatever_the_hash_seed() -> None:
    digests = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        result = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(result.stdout.strip())
    assert len(digests) == 1


@given(st.lists(st.text(st.characters(codec=None)), min_size=1, max_size=5), st.sampled_from([8, 64, 384]))
def test_every_text_has_a_unit_vector_of_its_own_making(texts: list[str], dimension: int) -> None:
    embedder = HashingEmbedder(dimension)
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(embedder.embed([text])[0], vector)


@pytest.mark.parametrize("dimension", [0, 7, 65_537, -1, True, 3.5, "384"])
def test_a_bad_dimension_is_refused(dimension: object) -> None:
    with pytest.raises(InvalidInputError, match="dimension"):
        HashingEmbedder(dimension)  # type: ignore[arg-type]
