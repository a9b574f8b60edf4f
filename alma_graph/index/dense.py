"""Vectors of all memories of a project, searched exactly by one product of a matrix and a vector.

BLAS threads: on a shared machine a second thread makes a product of this size slower, not faster (measured), so set
`OMP_NUM_THREADS=1` (or `OPENBLAS_NUM_THREADS`) in a process that mostly retrieves; numpy reads it once, at import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.columns import Column
from alma_graph.index.context import SessionContext

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]


class DenseIndex:
    """Unit vectors of memories and of the chunks of long memories.

    A memory's cosine is the best of its own vector's and its chunks'. Its pooled cosine is that of its vector plus what
    its neighbouring turns lend (`SessionContext`); no second vector is stored for it, only the length of the sum.
    """

    def __init__(self, dimension: int, context: SessionContext) -> None:
        self.dimension = dimension
        self._context = context
        self._vectors = Column(np.float32, width=dimension)
        self._present = Column(np.bool_)
        self._pooled_length = Column(np.float32)
        self._chunks = Column(np.float32, width=dimension)
        self._chunk_owner = Column(np.int32)

    @property
    def vectors(self) -> Matrix:
        """(rows, dimension) float32, unit rows; zeros where a memory has no vector or was removed."""
        return self._vectors.view

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Which rows have a vector."""
        return self._present.view

    def extend(self, vectors: Sequence[npt.NDArray[Any] | None]) -> None:
        """Adds rows; None for a memory without a vector. A vector that is not finite counts as none."""
        block = np.zeros((len(vectors), self.dimension), dtype=np.float32)
        have = np.zeros(len(vectors), dtype=np.bool_)
        for at, vector in enumerate(vectors):
            if vector is not None:
                block[at] = vector
                have[at] = True
        damaged = have & ~np.isfinite(block).all(axis=1)  # one NaN would make every score of a question NaN
        if damaged.any():
            block[damaged] = 0.0
            have &= ~damaged
        self.extend_matrix(block, have)

    def extend_matrix(self, block: Matrix, have: npt.NDArray[np.bool_]) -> None:
        """Adds rows from one matrix; `have` says which of them are vectors."""
        block = unit(block)
        self._vectors.extend(block)
        self._present.extend(have)
        self._pooled_length.extend(have.astype(np.float32))

    def extend_chunks(self, owners: npt.NDArray[np.int64], vectors: Matrix) -> None:
        """Adds chunk vectors of these memory rows."""
        self._chunks.extend(unit(vectors))
        self._chunk_owner.extend(owners.astype(np.int32))

    def replace(self, row: int, vector: npt.NDArray[Any] | None) -> None:
        """Sets a row's vector; the chunks of the old text are dropped."""
        self.remove(row)
        if vector is not None:
            self._vectors.view[row] = unit(np.asarray(vector, dtype=np.float32)[None, :])[0]
            self._present.view[row] = True
        self.pool(np.array(self._context.window(row, 3), dtype=np.int64))

    def remove(self, row: int) -> None:
        """Takes a row and its chunks out."""
        self._vectors.view[row] = 0.0
        self._present.view[row] = False
        self._pooled_length.view[row] = 0.0
        owners = self._chunk_owner.view
        mine = owners == row
        if mine.any():
            self._chunks.view[mine] = 0.0
            owners[mine] = -1

    def pool(self, rows: npt.NDArray[np.int64]) -> None:
        """Makes the lengths of the pooled vectors of these rows anew, after their neighbours changed."""
        vectors = self._vectors.view
        for start in range(0, len(rows), 4096):
            block = rows[start : start + 4096]
            near, weights = self._context.neighbours(block)
            pooled = vectors[block].astype(np.float32)
            for at in range(near.shape[1]):
                there = near[:, at] >= 0
                pooled[there] += weights[there, at, None].astype(np.float32) * vectors[near[there, at]]
            self._pooled_length.view[block] = np.linalg.norm(pooled, axis=1)

    def cosines(self, query: npt.NDArray[Any], *, pool: bool = False) -> Floats:
        """Cosine of every row with a query vector, in [-1, 1]; 0 for rows without a vector.

        Args:
            pool: takes the vector with what its neighbouring turns lend it, in place of the vector alone.
        """
        direction = unit(np.asarray(query, dtype=np.float32)[None, :])[0]
        single: Floats = (self._vectors.padded @ direction)[: len(self._vectors)].astype(np.float64)
        if pool and self._context.linked:
            lengths = np.maximum(self._pooled_length.view, 1e-9)
            single = np.where(self._present.view, self._context.spread(single) / lengths, 0.0)
        if len(self._chunks):
            owners = self._chunk_owner.view
            kept = owners >= 0
            np.maximum.at(
                single, owners[kept], (self._chunks.padded @ direction)[: len(owners)][kept].astype(np.float64)
            )
        return single


def unit(matrix: Matrix) -> Matrix:
    """Rows scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Matrix = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return scaled


def top_rows(
    scores: Floats, allowed: npt.NDArray[np.bool_] | None, count: int, ties: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """The `count` best rows of those allowed (of those not zero, by default), best first.

    Args:
        ties: (rows,) the order of equal ones (`MemoryRows.ties`), so that it does not matter in which order rows came.
    """
    rows = np.flatnonzero(scores) if allowed is None else np.flatnonzero(allowed)
    values = scores[rows]
    if count < len(rows):
        edge = np.partition(values, len(values) - count)[len(values) - count]
        keep = values >= edge
        rows, values = rows[keep], values[keep]
    return rows[np.lexsort((ties[rows], -values))][:count]
