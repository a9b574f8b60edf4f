"""The default embedder against its reference, sentence-transformers on torch, vector by vector."""

from __future__ import annotations

import numpy as np
import pytest

from alma_graph.embedding import Encoder, chunk_text, create_embedder, find_weights

LEAST_COSINE = 0.999999


@pytest.mark.slow
@pytest.mark.timeout(1800)  # torch reads 300 texts, on whatever cores are left
@pytest.mark.filterwarnings("ignore")  # the warnings of torch and transformers are not ours to mend
def test_every_vector_equals_the_reference_on_300_real_texts(real_texts: list[str]) -> None:
    folder = find_weights()
    assert folder is not None
    reference = create_embedder(f"sentence-transformers:{folder}")
    ours = create_embedder("all-MiniLM-L6-v2")
    assert (reference.dimension, reference.name) == (384, f"sentence-transformers:{folder}")
    assert max(len(text.split()) for text in real_texts) > 600
    expected = reference.embed(real_texts)
    found = ours.embed(real_texts)
    cosines = np.einsum("ij,ij->i", expected.astype(np.float64), found.astype(np.float64))
    print(f"least cosine {cosines.min():.9f}")
    assert cosines.min() >= LEAST_COSINE, real_texts[int(cosines.argmin())]

    same = expected @ expected.T
    nearest = [set(row) for row in np.argsort(-same, axis=1, kind="stable")[:, :6]]
    ours_nearest = [set(row) for row in np.argsort(-(found @ found.T), axis=1, kind="stable")[:, :6]]
    assert np.mean([len(left & right) / 6 for left, right in zip(nearest, ours_nearest, strict=True)]) > 0.995


@pytest.mark.slow
@pytest.mark.timeout(1800)  # torch reads 300 texts, on whatever cores are left
@pytest.mark.filterwarnings("ignore")
def test_the_reference_cuts_long_texts_at_the_same_places(real_texts: list[str]) -> None:
    folder = find_weights()
    reference = create_embedder(f"sentence-transformers:{folder}")
    ours = create_embedder("all-MiniLM-L6-v2")
    longest = max(real_texts, key=len)
    assert len(chunk_text(longest, ours)) > 1  # type: ignore[arg-type]
    assert chunk_text(longest, ours) == chunk_text(longest, reference)  # type: ignore[arg-type]
    left, right = (Encoder(embedder).encode([longest])[0] for embedder in (ours, reference))
    assert float(left.vector @ right.vector) >= LEAST_COSINE
    assert right.token_embeddings is None
