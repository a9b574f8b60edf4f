"""Token vectors for late interaction: which tokens, how they are made small, how they are stored.

A text scores against a query by the best cosine of each query token over the text's tokens (MaxSim; Khattab and
Zaharia, "ColBERT", 2020). Here the token vectors are the encoder's last hidden state, scaled to length 1, centred,
projected to 64 dimensions by principal components, scaled to length 1 again and rounded to int8. Stop words,
punctuation and special tokens are left out. The projection is fitted by `benchmarks/fit_token_projection.py` on text
that is free to use and ships with the package.

Stored layout, little-endian, version 1::

    byte 0      layout version, 1
    byte 1      bytes of one wordpiece id, 2 or 4
    bytes 2-3   width of a vector, uint16
    bytes 4-7   number of tokens, uint32
    then        tokens x width int8, row by row
    then        tokens x 2 or 4 bytes, the wordpiece ids
"""

from __future__ import annotations

import hashlib
import struct
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from alma_graph.embedding.protocol import FloatMatrix, TokenVectors
from alma_graph.embedding.stop_words import STOP_WORDS
from alma_graph.errors import InvalidInputError

TOKEN_DIMENSION = 64
TOKEN_SCALE = 127
LAYOUT_VERSION = 1
PROJECTION_FILE = "token_projection.npz"

_HEADER = struct.Struct("<BBHI")


@dataclass(frozen=True, slots=True, eq=False)
class TokenProjection:
    """Hidden states to small token vectors.

    Attributes:
        mean: (hidden,) float32, subtracted from the unit hidden state.
        components: (hidden, 64) float32, orthonormal columns.
    """

    mean: NDArray[np.float32]
    components: NDArray[np.float32]

    @classmethod
    def load(cls) -> TokenProjection:
        """The projection that ships with the package, for all-MiniLM-L6-v2."""
        with (
            resources.files("alma_graph.embedding").joinpath(PROJECTION_FILE).open("rb") as stream,
            np.load(stream, allow_pickle=False) as arrays,
        ):
            return cls(arrays["mean"].astype(np.float32), arrays["components"].astype(np.float32))

    @staticmethod
    def fingerprint() -> str:
        """8 hexadecimal digits that change when another projection is shipped: vectors of two do not compare."""
        content = resources.files("alma_graph.embedding").joinpath(PROJECTION_FILE).read_bytes()
        return hashlib.blake2b(content, digest_size=4).hexdigest()

    def apply(self, hidden: FloatMatrix) -> NDArray[np.int8]:
        """(tokens, hidden) float32 to (tokens, 64) int8."""
        projected = np.asarray((unit_rows(hidden) - self.mean) @ self.components, np.float32)
        return np.rint(unit_rows(projected) * TOKEN_SCALE).astype(np.int8)


def unit_rows(matrix: FloatMatrix) -> FloatMatrix:
    """Each row divided by its length; a row of zeros stays one."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    scaled: FloatMatrix = (matrix / np.maximum(lengths, 1e-12)[:, np.newaxis]).astype(np.float32)
    return scaled


def content_mask(vocabulary: Mapping[str, int], special_ids: frozenset[int]) -> NDArray[np.bool_]:
    """(vocabulary size,): True for wordpieces that carry content.

    A continuation piece (`##s`) is part of a longer word and stays, even where its letters spell a stop word.
    """
    mask = np.ones(max(vocabulary.values()) + 1, np.bool_)
    for piece, identifier in vocabulary.items():
        if piece in STOP_WORDS or not _has_content(piece):
            mask[identifier] = False
    mask[list(special_ids)] = False
    return mask


def _has_content(piece: str) -> bool:
    letters = piece[2:] if piece.startswith("##") and len(piece) > 2 else piece
    return letters.isalnum() or any(unicodedata.category(letter)[0] not in "PSZC" for letter in letters)


def pack_tokens(tokens: TokenVectors) -> bytes:
    """The stored form of the token vectors of one text; see the module's layout."""
    count, width = tokens.vectors.shape
    wide = count > 0 and int(tokens.ids.max()) > np.iinfo(np.uint16).max
    id_type = np.dtype("<u4") if wide else np.dtype("<u2")
    header = _HEADER.pack(LAYOUT_VERSION, id_type.itemsize, width, count)
    return header + np.ascontiguousarray(tokens.vectors).tobytes() + tokens.ids.astype(id_type).tobytes()


def unpack_tokens(packed: bytes) -> TokenVectors:
    """Reads what `pack_tokens` wrote; the vectors are a read-only view of the bytes.

    Raises:
        InvalidInputError: the bytes have another layout or are cut short.
    """
    if len(packed) < _HEADER.size:
        raise InvalidInputError(f"token_embeddings of {len(packed)} bytes are shorter than their header; run reembed")
    version, id_bytes, width, count = _HEADER.unpack_from(packed)
    expected = _HEADER.size + count * (width + id_bytes)
    if version != LAYOUT_VERSION or id_bytes not in (2, 4) or len(packed) != expected:
        raise InvalidInputError(
            f"token_embeddings of {len(packed)} bytes have layout version {version}; version {LAYOUT_VERSION} with "
            f"{expected} bytes was expected. `alma-graph reembed` writes them anew"
        )
    vectors = np.frombuffer(packed, np.int8, count * width, _HEADER.size).reshape(count, width)
    id_type = np.dtype("<u4") if id_bytes == 4 else np.dtype("<u2")
    ids = np.frombuffer(packed, id_type, count, _HEADER.size + count * width).astype(np.uint32)
    return TokenVectors(vectors, ids)


def join_tokens(parts: list[TokenVectors], limit: int) -> TokenVectors:
    """The token vectors of a text's chunks in one, at most `limit` of them.

    Over the limit, only the first occurrence of each wordpiece is kept, so that a rare word deep in the text stays
    findable; if that is still too many, an even sample of those.
    """
    vectors = np.concatenate([part.vectors for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    if len(ids) > limit:
        first = np.sort(np.unique(ids, return_index=True)[1])
        if len(first) > limit:
            first = first[np.linspace(0, len(first) - 1, limit).round().astype(np.int64)]
        vectors, ids = vectors[first], ids[first]
    return TokenVectors(vectors, ids)
