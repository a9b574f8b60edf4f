"""Vectors of wordings as small integers, so that a cosine is the same number however it is computed.

A float32 matrix product gives other last bits than a dot product of two of its rows, and with them another partition
for another order of arrival. Sums of small integers are exact in float32 below 2^24, in any order and in any library.
Quantising costs a cosine less than .002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alma_graph.errors import EmbeddingError

Codes = NDArray[np.int8]
"""(n, dimension) int8: unit vectors scaled so that the largest component is `levels`."""

DIGITS = 4
"""Decimals of a cosine that count."""


def quantise(vectors: NDArray[np.float32]) -> Codes:
    """Integer codes of (n, dimension) vectors of any length.

    Raises:
        EmbeddingError: not two-dimensional, not finite, or a zero vector.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2:
        raise EmbeddingError(f"wording vectors have shape {rows.shape}; give (n, dimension)")
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    if not np.isfinite(peaks).all() or (peaks == 0).any():
        raise EmbeddingError("a wording vector is zero or not finite; check the embedder")
    levels = min(127, int((2**24 / max(1, rows.shape[1])) ** 0.5))
    codes: Codes = np.rint(rows * (levels / peaks)[:, None]).astype(np.int8)
    return codes


def length(code: NDArray[np.int8] | NDArray[np.float32]) -> float:
    """Euclidean length of one code."""
    wide = code.astype(np.float64)
    return float(np.sqrt(wide @ wide))
