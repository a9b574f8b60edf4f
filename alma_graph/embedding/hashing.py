"""A deterministic embedder without a model: hashed words and character n-grams.

Texts that share words, or parts of words, are near; meaning is not seen. It is for tests and for installs without the
`local` extra. Signed feature hashing (Weinberger et al., 2009) over features in any script.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from alma_graph.embedding.protocol import FloatMatrix
from alma_graph.embedding.stop_words import STOP_WORDS
from alma_graph.errors import InvalidInputError

DEFAULT_DIMENSION = 384
SMALLEST_DIMENSION = 8
LARGEST_DIMENSION = 65_536

WORD_WEIGHT = 1.0
STOP_WORD_WEIGHT = 0.2
GRAM_WEIGHT = 0.5
"""Of all n-grams of one word together, against the word itself."""

UNSPACED_WEIGHT = 0.7
LONGEST_WORD = 64
FIRST_UNSPACED = 0x2E80
"""From here on lie the scripts of East Asia, written without spaces: their characters and pairs are the features."""

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Signed hashing of words and character n-grams; pure numpy, equal on every machine and in every process."""

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        """Makes the embedder.

        Raises:
            InvalidInputError: the dimension is no whole number from 8 to 65,536.
        """
        if isinstance(dimension, bool) or not isinstance(dimension, int):
            raise InvalidInputError(f"hashing dimension {dimension!r} is no whole number")
        if not SMALLEST_DIMENSION <= dimension <= LARGEST_DIMENSION:
            raise InvalidInputError(
                f"hashing dimension {dimension} is outside {SMALLEST_DIMENSION} to {LARGEST_DIMENSION}"
            )
        self.dimension = dimension
        self.name = f"hashing-{dimension}"

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """(texts, dimension) float32, unit rows; no text, however odd, gives zeros."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for index, text in enumerate(texts):
            vectors[index] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> NDArray[np.float32]:
        normal = unicodedata.normalize("NFKC", text).casefold()
        vector = np.zeros(self.dimension, np.float64)
        for feature, weight in _weighted_features(normal).items():
            digest = _digest(feature)
            vector[(digest >> 1) % self.dimension] += weight if digest & 1 else -weight
        length = math.sqrt(float(np.dot(vector, vector)))
        if length < 1e-6:  # no feature at all, or they cancel each other
            vector[_digest("whole:" + normal) % self.dimension] = length = 1.0
        return (vector / length).astype(np.float32)


def _weighted_features(text: str) -> dict[str, float]:
    """The features of a text with their weights, in the order of their first appearance."""
    weights: dict[str, float] = {}
    words = Counter(_WORD.findall(text))
    for word, count in words.items():
        for feature, weight in _word_features(word):
            weights[feature] = weights.get(feature, 0.0) + weight * math.sqrt(count)
    if not words:
        for character, count in Counter(text.split()).items():
            weights[f"mark:{character}"] = math.sqrt(count)
    return weights


def _word_features(word: str) -> Iterator[tuple[str, float]]:
    if any(ord(character) >= FIRST_UNSPACED for character in word):
        for character in word:
            yield f"gram:{character}", UNSPACED_WEIGHT / 2
        for first, second in pairwise(word):
            yield f"gram:{first}{second}", UNSPACED_WEIGHT
        return
    if word in STOP_WORDS:
        yield f"word:{word}", STOP_WORD_WEIGHT
        return
    yield f"word:{word}", WORD_WEIGHT
    bounded = f"<{word[:LONGEST_WORD]}>"
    grams = [bounded[start : start + size] for size in (3, 4) for start in range(len(bounded) - size + 1)]
    for gram in grams:
        yield f"gram:{gram}", GRAM_WEIGHT / math.sqrt(len(grams))


@lru_cache(maxsize=65_536)
def _digest(feature: str) -> int:
    """64 bits of a feature; Python's own hash() differs from process to process."""
    data = feature.encode("utf-8", errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
