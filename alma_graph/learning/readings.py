"""What is known of each distinct wording: its signature and its vector's code, each made once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from alma_graph.errors import EmbeddingError
from alma_graph.learning.signature import Signature, signature
from alma_graph.learning.vectors import Codes, quantise
from alma_graph.learning.wording import is_opaque, normalise_wording

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts -> float32 (n, dimension)."""
FindNouns = Callable[[Sequence[str]], Sequence[Collection[str]]]
"""Texts -> the nouns of each, as written."""


class Readings:
    """Signatures by surface and vector codes by normalised wording, shared by all contexts of a project.

    A wording's vector and nouns are properties of its text: `embed` and `nouns` are asked once for each text, in
    batches, and must not depend on what else is in the batch.
    """

    def __init__(self, embed: Embed, nouns: FindNouns | None = None) -> None:
        self._embed = embed
        self._nouns = nouns
        self._signatures: dict[str, Signature] = {}
        self._codes: dict[str, NDArray[np.int8]] = {}

    def signatures(self, surfaces: Iterable[str]) -> list[Signature]:
        """The signature of each surface, in order."""
        wanted = list(surfaces)
        missing = [text for text in dict.fromkeys(wanted) if text not in self._signatures]
        if missing:
            found = self._nouns(missing) if self._nouns is not None else [None] * len(missing)
            for text, nouns in zip(missing, found, strict=True):
                self._signatures[text] = signature(text, nouns)
        return [self._signatures[text] for text in wanted]

    def missing(self, wordings: Iterable[str]) -> list[str]:
        """Those of the normalised wordings that need a vector and have none yet, each once, in order."""
        return [wording for wording in dict.fromkeys(wordings) if wording not in self._codes and not is_opaque(wording)]

    def provide(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Takes vectors that the caller made. A wording that already has one keeps it.

        Raises:
            EmbeddingError: not one finite, non-zero vector for each text, or another dimension than before.
        """
        self.provide_codes(texts, quantise(vectors) if len(texts) else np.zeros((0, 1), np.int8))

    def provide_codes(self, texts: Sequence[str], codes: Codes) -> None:
        """Takes codes as `codes` gave them, for a caller that keeps them between runs."""
        if len(codes) != len(texts):
            raise EmbeddingError(f"{len(codes)} vectors for {len(texts)} wordings; give one for each")
        for text, code in zip(texts, codes, strict=True):
            known = next(iter(self._codes.values()), code)
            if known.shape != code.shape:
                raise EmbeddingError(
                    f"wording vectors of dimension {code.shape[0]} and {known.shape[0]} cannot be mixed"
                )
            self._codes.setdefault(normalise_wording(text), code)

    def codes(self, signatures: Iterable[Signature]) -> Codes:
        """Codes of the readable ones, (n, dimension) int8; those that are missing are embedded in one call."""
        wordings = [signature.wording for signature in signatures if not signature.opaque]
        missing = self.missing(wordings)
        if missing:
            self.provide(missing, self._embed(missing))
        return np.stack([self._codes[wording] for wording in wordings]) if wordings else np.zeros((0, 1), np.int8)

    def known_codes(self) -> tuple[list[str], Codes]:
        """All wordings with a vector, sorted, and their codes: what `provide_codes` takes."""
        wordings = sorted(self._codes)
        return wordings, np.stack([self._codes[wording] for wording in wordings]) if wordings else np.zeros(
            (0, 1), np.int8
        )
