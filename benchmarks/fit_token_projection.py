"""Fits the projection of token vectors that ships in `alma_graph/embedding/token_projection.npz`.

    python -m benchmarks.fit_token_projection [TARGET]

Principal components of the unit hidden states of all-MiniLM-L6-v2, over the content tokens of sentences that this
script makes: words of the model's own vocabulary put into templates about work and everyday life, so no text of
others is read. Deterministic for one model.

Many different words matter more than natural sentences: components fitted on docstrings of Python's library and a few
hundred phrases kept fewer of the answers on LoCoMo's development half (any@5 .681, any@10 .758) than components fitted
on sentences of vocabulary words (.693, .765); mixing both gave no more than the former.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np

from alma_graph.embedding.minilm import MiniLmEmbedder, ensure_graph
from alma_graph.embedding.token_vectors import PROJECTION_FILE, TOKEN_DIMENSION, TokenProjection, unit_rows

SEED = 11
SENTENCE_COUNT = 6000
SHORTEST_WORD = 3
TEMPLATES = (
    "I saw the {0} near the {1} and thought about {2}.",
    "{0}: we talked about {1} and {2} last week!",
    "Did {0} like the {1} or the {2}?",
    "The {0} was more {1} than {2}, so they chose {3}.",
    "My {0} said that {1} {2} is part of the {3}.",
)


def made_sentences(vocabulary: list[str], count: int) -> list[str]:
    """`count` sentences of words of the vocabulary, always the same ones."""
    chooser = random.Random(SEED)
    return [chooser.choice(TEMPLATES).format(*chooser.sample(vocabulary, 4)) for _ in range(count)]


def model_vocabulary() -> list[str]:
    """The whole English words among the model's wordpieces, sorted."""
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(str(ensure_graph() / "tokenizer.json")).get_vocab()
    return sorted(piece for piece in pieces if piece.isascii() and piece.isalpha() and len(piece) >= SHORTEST_WORD)


def fit(texts: list[str]) -> TokenProjection:
    """The mean and the strongest components of the texts' token vectors."""
    states = unit_rows(np.concatenate(MiniLmEmbedder().hidden_states(texts)))
    mean = states.mean(axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(np.cov((states - mean).T.astype(np.float64)))
    strongest = directions[:, ::-1][:, :TOKEN_DIMENSION]
    # Eigenvectors have no sign of their own; the largest entry of each is made positive.
    signs = np.sign(strongest[np.abs(strongest).argmax(axis=0), np.arange(TOKEN_DIMENSION)])
    kept = variances[::-1][:TOKEN_DIMENSION].sum() / variances.sum()
    print(f"{len(states)} token vectors of {len(texts)} texts; {TOKEN_DIMENSION} components keep {kept:.3f}")
    return TokenProjection(mean.astype(np.float32), (strongest * signs).astype(np.float32))


def main() -> None:
    default = Path(__file__).parents[1] / "alma_graph" / "embedding" / PROJECTION_FILE
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    projection = fit(made_sentences(model_vocabulary(), SENTENCE_COUNT))
    np.savez(target, mean=projection.mean, components=projection.components.astype(np.float16))
    print(f"wrote {target.name}, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
