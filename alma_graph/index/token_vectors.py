"""Token vectors of all memories, for late interaction: every word of the query finds its best match in a text.

Khattab and Zaharia, "ColBERT" (2020), with idf weights, windows for long texts, and neighbouring turns of an episode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from alma_graph.embedding.protocol import TokenVectors
from alma_graph.embedding.token_vectors import unpack_tokens
from alma_graph.index.columns import Column
from alma_graph.index.context import OFFSETS, SessionContext

WINDOW = 24
"""Content tokens compared at once; longer texts are read in half-overlapping windows: a maximum favours length."""
LONG = 32
LENGTH_PENALTY = 0.06
"""Taken off per factor e by which a text is longer than LONG content tokens."""
DECAY = tuple((0.9 if offset < 0 else 0.85) ** abs(offset) for offset in OFFSETS)
"""What a match in the neighbouring turn at each offset is worth, times the neighbour's gate."""
_LEAST_GATE = 0.05

Floats = npt.NDArray[np.float64]


class TokenVectorIndex:
    """int8 token vectors by memory row, as packed by `alma_graph.embedding`."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._vectors: Column | None = None
        self._ids = Column(np.int32)
        self._start = Column(np.int64)
        self._count = Column(np.int32)
        self._frequency = Column(np.int32)
        self._documents = 0

    def __len__(self) -> int:
        return self._documents

    def extend(self, packed: Sequence[bytes | None]) -> None:
        """Adds rows; None for a memory without token vectors."""
        unpacked = [None if item is None else unpack_tokens(item) for item in packed]
        counts = np.array([0 if tokens is None else len(tokens) for tokens in unpacked], dtype=np.int64)
        first = len(self._start)
        self._start.extend(len(self._ids) + np.cumsum(counts) - counts)
        self._count.extend(np.zeros(len(packed), dtype=np.int32))
        filled = [tokens for tokens in unpacked if tokens is not None and len(tokens)]
        if filled:
            self._store(np.flatnonzero(counts) + first, filled)

    def replace(self, row: int, packed: bytes | None) -> None:
        """Sets a row's token vectors."""
        self.remove(row)
        tokens = None if packed is None else unpack_tokens(packed)
        if tokens is not None and len(tokens):
            self._start.view[row] = len(self._ids)
            self._store(np.array([row]), [tokens])

    def remove(self, row: int) -> None:
        """Takes a row out."""
        ids = self._ids_of(row)
        if len(ids):
            self._frequency.view[np.unique(ids)] -= 1
            self._documents -= 1
            self._count.view[row] = 0

    def idf(self, ids: npt.NDArray[np.uint32]) -> Floats:
        """Inverse document frequency of wordpieces among the memories with token vectors."""
        frequency = np.zeros(len(ids))
        known = ids < len(self._frequency)
        frequency[known] = self._frequency.view[ids[known]]
        rarity: Floats = np.log(1 + (self._documents - frequency + 0.5) / (frequency + 0.5))
        return rarity

    def match(
        self, rows: npt.NDArray[np.int64], vectors: npt.NDArray[np.int8], ids: npt.NDArray[np.uint32]
    ) -> Floats | None:
        """How well the query's tokens are matched in each row, in [0, 1]; 0 for rows without token vectors.

        The mean, weighted by idf, of each query token's best cosine in the row's best window or, decayed and gated, in
        its neighbouring turns; less a penalty for length.

        Returns:
            None where the query has no tokens or no row has any.
        """
        if self._vectors is None or not len(ids) or not len(rows) or vectors.shape[1] != self._vectors.view.shape[1]:
            return None
        weights = self.idf(ids)
        weights = weights / weights.sum()
        linked = self._context.linked
        if linked:
            near, _ = self._context.neighbours(rows)
            gates = np.append(self._context.gates(), np.float32(0.0))[near]
            near = np.where(gates > _LEAST_GATE, near, -1)
            involved = np.unique(np.concatenate([rows, near.ravel()]))
            involved = involved[involved >= 0]
        else:
            near, gates = np.zeros((len(rows), 0), dtype=np.int64), np.zeros((len(rows), 0))
            involved = np.unique(rows)
        counts = self._count.view[involved]
        involved, counts = involved[counts > 0], counts[counts > 0].astype(np.int64)
        if not len(involved):
            return None
        similarity, starts = self._similarity(involved, counts, vectors)
        whole = np.zeros((len(self._count) + 1, len(ids)), dtype=np.float32)  # the last row stands for no neighbour
        whole[involved] = np.maximum.reduceat(similarity, starts, axis=0)
        best = whole[rows].copy()
        long = np.flatnonzero(self._count.view[rows] > WINDOW)
        if len(long):
            place = np.searchsorted(involved, rows[long])
            for at, where in zip(long.tolist(), place.tolist(), strict=True):
                block = similarity[starts[where] : starts[where] + counts[where]]
                best[at] = _best_window(block, weights)
        for at, decay in enumerate(DECAY if linked else ()):
            lent = (decay * gates[:, at])[:, None] * whole[near[:, at]]
            np.maximum(best, lent, out=best)
        penalty = LENGTH_PENALTY * np.log(np.maximum(self._count.view[rows] / LONG, 1.0))
        matched: Floats = np.clip(best.astype(np.float64) @ weights - penalty, 0.0, 1.0)
        return matched

    def _similarity(
        self, rows: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], query: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Cosines (tokens of the rows, query tokens), at least 0, and where each row's tokens begin."""
        assert self._vectors is not None
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        place = np.repeat(self._start.view[rows] - starts, counts) + np.arange(int(counts.sum()))
        tokens = self._vectors.view[place].astype(np.float32)
        similarity = tokens @ query.astype(np.float32).T / 127**2
        return np.maximum(similarity, 0.0).astype(np.float32), starts

    def _store(self, rows: npt.NDArray[np.int64], filled: Sequence[TokenVectors]) -> None:
        counts = np.array([len(tokens) for tokens in filled])
        ids = np.concatenate([tokens.ids for tokens in filled]).astype(np.int64)
        if self._vectors is None:
            self._vectors = Column(np.int8, width=filled[0].vectors.shape[1])
        self._vectors.extend(np.concatenate([tokens.vectors for tokens in filled]))
        self._ids.extend(ids.astype(np.int32))
        self._count.view[rows] = counts
        missing = int(ids.max()) + 1 - len(self._frequency)
        if missing > 0:
            self._frequency.extend(np.zeros(missing, dtype=np.int32))
        packed = (np.repeat(np.arange(len(filled)), counts) << 32) | ids
        packed.sort()
        once = packed[np.append(True, packed[1:] != packed[:-1])] & 0xFFFFFFFF
        np.add.at(self._frequency.view, once, 1)
        self._documents += len(filled)

    def _ids_of(self, row: int) -> npt.NDArray[np.int32]:
        start = int(self._start.view[row])
        return self._ids.view[start : start + int(self._count.view[row])]


def _best_window(similarity: npt.NDArray[np.float32], weights: Floats) -> npt.NDArray[np.float32]:
    """Each query token's best cosine in that window of the text which matches the query best."""
    step = WINDOW // 2
    windows = [similarity[at : at + WINDOW].max(axis=0) for at in range(0, max(len(similarity) - step, 1), step)]
    scores = [float(window @ weights) for window in windows]
    best: npt.NDArray[np.float32] = windows[int(np.argmax(scores))]
    return best
