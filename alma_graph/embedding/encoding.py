"""What the rest of the package calls: texts to checked unit vectors, chunks and token vectors, batched and cached."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from alma_graph.embedding.chunking import ChunkSpan, chunk_text, replace_surrogates
from alma_graph.embedding.protocol import (
    Embedder,
    FloatMatrix,
    FloatVector,
    SpanTokenizer,
    TokenEmbedder,
    TokenVectors,
    revision_of,
)
from alma_graph.embedding.token_vectors import join_tokens, pack_tokens, unpack_tokens
from alma_graph.errors import AlmaGraphError, EmbeddingError

BATCH_SIZE = 32
TOKEN_LIMIT = 1024
"""Token vectors kept of one text at most (66 KB); `join_tokens` says which."""

DEFAULT_CACHE_SIZE = 2048
LONGEST_CACHED = 4096
"""Characters; longer texts are seldom encoded twice and would fill the cache."""

SHORTEST_VECTOR = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """A part of a text that is longer than the model's window: characters `start_char` to `end_char` (exclusive)."""

    start_char: int
    end_char: int
    vector: FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What a text becomes.

    Attributes:
        vector: (dimension,) float32 of length 1, read-only; of a long text the mean of its chunks, weighed by length.
        chunks: the parts of a long text, without gap or overlap; empty when one window suffices.
        token_embeddings: packed token vectors (`unpack_tokens`), or None where they were not asked for or the embedder
            has none.
    """

    vector: FloatVector
    chunks: tuple[Chunk, ...]
    token_embeddings: bytes | None


@dataclass(frozen=True, slots=True)
class _Unit:
    """One pass's text: a whole short text or one chunk of a long one."""

    text: str
    span: ChunkSpan


class Encoder:
    """Encodes texts with one embedder. Safe to use from several threads.

    Attributes:
        calls: how often the embedder had to be asked (a call that the cache answers in full does not count).
        texts: units (texts and chunks) that the embedder encoded.
        seconds: wall time spent in the embedder and in checking what it returned.
    """

    def __init__(self, embedder: Embedder, *, cache_size: int = DEFAULT_CACHE_SIZE) -> None:
        """`cache_size` is the number of texts whose encoding is kept; 0 keeps none."""
        self.embedder = embedder
        self.calls = 0
        self.texts = 0
        self.seconds = 0.0
        self._cache_size = max(cache_size, 0)
        self._cache: OrderedDict[str, Encoded] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The embedder's name, as `Meta` stores it."""
        return self.embedder.name

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self.embedder.dimension

    @property
    def revision(self) -> str | None:
        """The embedder's revision, where it states one; stored beside the name."""
        return revision_of(self.embedder)

    @property
    def has_tokens(self) -> bool:
        """Whether the embedder gives token vectors."""
        return isinstance(self.embedder, TokenEmbedder)

    def encode(self, texts: Sequence[str], tokens: bool = True) -> list[Encoded]:
        """Encodes texts, each distinct one once, in batches of 32.

        Args:
            texts: any texts; a lone surrogate is replaced for the model only, the empty text has a vector like any.
            tokens: whether token vectors are wanted (with an embedder that has them).

        Returns:
            One `Encoded` a text, in order.

        Raises:
            EmbeddingError: the embedder failed or returned a wrong shape, a NaN, an infinity or a zero vector.
        """
        wants_tokens = tokens and self.has_tokens
        found: dict[str, Encoded] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts):
            cached = self._cached(text, wants_tokens)
            if cached is None:
                missing.append(text)
            else:
                found[text] = cached
        if missing:
            for text, encoded in zip(missing, self._encode(missing, wants_tokens), strict=True):
                found[text] = encoded
                self._remember(text, encoded)
        return [found[text] for text in texts]

    def encode_query(self, text: str) -> FloatVector:
        """The vector of a query, (dimension,) float32 of length 1; `query_tokens` then costs nothing more."""
        return self.encode([text])[0].vector

    def query_tokens(self, text: str) -> TokenVectors | None:
        """The content tokens of a query with their wordpiece ids, or None with an embedder that has none.

        A query of only stop words has none either: 0 rows.
        """
        packed = self.encode([text])[0].token_embeddings
        return None if packed is None else unpack_tokens(packed)

    def clear_cache(self) -> None:
        """Forgets every cached encoding."""
        with self._lock:
            self._cache.clear()

    def forget(self, texts: Sequence[str]) -> None:
        """Drops the cached encodings of these texts, so that nothing of a forgotten memory stays in the process."""
        with self._lock:
            for text in texts:
                self._cache.pop(text, None)

    def _cached(self, text: str, wants_tokens: bool) -> Encoded | None:
        with self._lock:
            encoded = self._cache.get(text)
            if encoded is None or (wants_tokens and encoded.token_embeddings is None):
                return None
            self._cache.move_to_end(text)
        if not wants_tokens and encoded.token_embeddings is not None:
            return Encoded(encoded.vector, encoded.chunks, None)
        return encoded

    def _remember(self, text: str, encoded: Encoded) -> None:
        if self._cache_size == 0 or len(text) > LONGEST_CACHED:
            return
        with self._lock:
            self._cache[text] = encoded
            self._cache.move_to_end(text)
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)

    def _encode(self, texts: Sequence[str], wants_tokens: bool) -> list[Encoded]:
        started = time.perf_counter()
        tokenizer = self.embedder if isinstance(self.embedder, SpanTokenizer) else None
        units: list[_Unit] = []
        bounds = [0]
        for text in texts:
            cleaned = replace_surrogates(text)
            units += [_Unit(cleaned[span.start : span.end], span) for span in chunk_text(cleaned, tokenizer)]
            bounds.append(len(units))
        vectors, unit_tokens = self._embed_units([unit.text for unit in units], wants_tokens)
        encoded = [
            self._join(units[start:end], vectors[start:end], unit_tokens[start:end]) for start, end in pairwise(bounds)
        ]
        with self._lock:
            self.calls += 1
            self.texts += len(units)
            self.seconds += time.perf_counter() - started
        return encoded

    def _embed_units(self, texts: list[str], wants_tokens: bool) -> tuple[FloatMatrix, list[TokenVectors | None]]:
        """Unit vectors of the texts, and their tokens; equal texts are embedded once, like lengths share a batch."""
        distinct = list(dict.fromkeys(texts))
        order = sorted(range(len(distinct)), key=lambda index: (len(distinct[index]), index))
        vectors = np.empty((len(distinct), self.dimension), np.float32)
        tokens: list[TokenVectors | None] = [None] * len(distinct)
        for start in range(0, len(order), BATCH_SIZE):
            places = order[start : start + BATCH_SIZE]
            batch = [distinct[place] for place in places]
            raw, batch_tokens = self._ask(batch, wants_tokens)
            vectors[places] = self._checked(raw, len(batch))
            for place, token_vectors in zip(places, batch_tokens, strict=True):
                tokens[place] = token_vectors
        index_of = {text: index for index, text in enumerate(distinct)}
        rows = [index_of[text] for text in texts]
        return vectors[rows], [tokens[row] for row in rows]

    def _ask(self, batch: list[str], wants_tokens: bool) -> tuple[object, Sequence[TokenVectors | None]]:
        """What the embedder returns, unchecked; its own errors become `EmbeddingError`."""
        embedder = self.embedder
        try:
            if wants_tokens and isinstance(embedder, TokenEmbedder):
                return embedder.embed_with_tokens(batch)
            return embedder.embed(batch), [None] * len(batch)
        except AlmaGraphError:
            raise
        except Exception as error:
            raise EmbeddingError(f"embedder {self.name!r} failed: {type(error).__name__}: {error}") from error

    def _checked(self, raw: object, count: int) -> FloatMatrix:
        """The rows scaled to length 1.

        Raises:
            EmbeddingError: wrong shape, not finite, or zero.
        """
        expected = (count, self.dimension)
        try:
            matrix = np.asarray(raw, np.float64)
        except (TypeError, ValueError) as error:
            raise EmbeddingError(f"embedder {self.name!r} returned no array of numbers: {error}") from error
        if matrix.shape != expected:
            got = matrix.shape[1] if matrix.ndim == 2 else "no"
            raise EmbeddingError(
                f"embedder {self.name!r} returned an array of shape {matrix.shape} with dimension {got}; expected "
                f"shape {expected} with dimension {self.dimension}. Its `dimension` and `embed` must agree"
            )
        if not np.isfinite(matrix).all():
            row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
            raise EmbeddingError(f"embedder {self.name!r} returned NaN or infinity for text {row} of {count}")
        largest = np.abs(matrix).max(axis=1)
        if not (largest > SHORTEST_VECTOR).all():
            row = int(np.flatnonzero(largest <= SHORTEST_VECTOR)[0])
            raise EmbeddingError(f"embedder {self.name!r} returned a zero vector for text {row} of {count}")
        scaled = matrix / largest[:, np.newaxis]  # so that no square overflows
        lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        unit: FloatMatrix = (scaled / lengths[:, np.newaxis]).astype(np.float32)
        return unit

    def _join(self, units: list[_Unit], vectors: FloatMatrix, tokens: list[TokenVectors | None]) -> Encoded:
        present = [part for part in tokens if part is not None]
        packed = pack_tokens(join_tokens(present, TOKEN_LIMIT)) if present else None
        rows = [_read_only(row) for row in vectors]
        if len(units) == 1:
            return Encoded(rows[0], (), packed)
        weights = np.array([unit.span.weight for unit in units], np.float64)
        mean = weights @ vectors.astype(np.float64) / weights.sum()
        length = float(np.sqrt(np.dot(mean, mean)))
        # Chunks that cancel each other have no mean direction; the first one then stands for the text.
        pooled = rows[0] if length < 1e-6 else _read_only((mean / length).astype(np.float32))
        chunks = tuple(Chunk(unit.span.start, unit.span.end, row) for unit, row in zip(units, rows, strict=True))
        return Encoded(pooled, chunks, packed)


def _read_only(vector: FloatVector) -> FloatVector:
    """A copy of its own: a view would keep its whole batch in memory."""
    copy = vector.copy()
    copy.setflags(write=False)
    return copy
