"""What an embedder is: anything with a name, a dimension and `embed`.

Two more capabilities are optional and found by their methods: `SpanTokenizer` lets long texts be cut exactly at the
model's window, `TokenEmbedder` also gives the vectors of single tokens, which late interaction compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.float32]
"""(rows, dimension) float32."""

FloatVector = NDArray[np.float32]
"""(dimension,) float32."""

TokenSpans = NDArray[np.int64]
"""(tokens, 3): first character, one past the last character, index of the word that the token belongs to."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The token vectors of one text, in text order; only tokens that carry content.

    Attributes:
        vectors: (tokens, width) int8, each a unit vector times 127, so that `a @ b / 127**2` is their cosine.
        ids: (tokens,) uint32, the wordpiece of each row in the model's vocabulary; a store counts them for idf.
    """

    vectors: NDArray[np.int8]
    ids: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.ids)


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. What it returns is checked and scaled to length 1 by `Encoder`.

    `embed` must give equal vectors for equal texts. An embedder may also have `revision: str`, which tells apart
    vectors that the name alone does not (a hash of the weights).
    """

    @property
    def name(self) -> str:
        """Stored in `Meta`; two embedders of one name must be interchangeable."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """The vectors of `texts`, (len(texts), dimension) float32, in their order."""
        ...


@runtime_checkable
class SpanTokenizer(Protocol):
    """The capability that lets a long text be cut exactly at the model's window."""

    @property
    def max_tokens(self) -> int:
        """Tokens of text that one pass reads; the model's own special tokens are not counted."""
        ...

    def tokenize_spans(self, text: str) -> TokenSpans:
        """Where each token of `text` stands, in text order, without special tokens and without truncation."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """The capability of giving token vectors from the same forward pass as the text's vector."""

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[FloatMatrix, list[TokenVectors]]:
        """As `embed`, and for each text the vectors of its content tokens."""
        ...


def revision_of(embedder: Embedder) -> str | None:
    """The embedder's revision (a prefix of its weights' hash), where it states one."""
    revision = getattr(embedder, "revision", None)
    return revision if isinstance(revision, str) and revision else None
