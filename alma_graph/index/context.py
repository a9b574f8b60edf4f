"""The order of an episode, and what a turn's neighbours lend it.

In a chat the answer often stands beside the words of the question. So every turn borrows words and vectors from the
turns around it, by a fixed kernel, gated by the neighbour's length: short turns lend context, long ones do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.columns import Column

OFFSETS = (-3, -2, -1, 1, 2, 3)
KERNEL = (0.2, 0.35, 0.7, 0.5, 0.25, 0.15)
"""What the neighbour at each offset is worth; the turn before explains more than the turn after."""
GATE_WORDS = 30.0
"""A neighbour of this many content words lends half its weight, a longer one soon nothing: 1 / (1 + (n / 30)^4)."""

Floats = npt.NDArray[np.float64]
_HALF = len(OFFSETS) // 2


class SessionContext:
    """NEXT links between memory rows, and the neighbours of each row with their weights."""

    def __init__(self) -> None:
        self._next = Column(np.int32)
        self._previous = Column(np.int32)
        self._gate = Column(np.float32)
        self._near = tuple(Column(np.int64) for _ in OFFSETS)
        self.linked = False
        """Whether any two rows are neighbours."""
        self.version = 0
        """Grows with every change, so that what was derived can be kept in between."""

    def __len__(self) -> int:
        return len(self._next)

    def extend(self, content_words: npt.NDArray[Any]) -> None:
        """Adds rows, without links, by their length in content words."""
        self.version += 1
        lone = np.full(len(content_words), -1, dtype=np.int32)
        self._next.extend(lone)
        self._previous.extend(lone)
        self._gate.extend(gate(content_words))
        for column in self._near:
            column.extend(lone)

    def set_length(self, row: int, content_words: float) -> None:
        """A row's text has changed."""
        self._gate.view[row] = gate(np.array([content_words]))[0]
        self.version += 1

    def link(self, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]) -> None:
        """Each target follows its source."""
        if not len(sources):
            return
        self._next.view[sources] = targets
        self._previous.view[targets] = sources
        self.linked = True
        self._update(np.concatenate([sources, targets]))

    def unlink(self, row: int) -> None:
        """Takes a row out of its episode; the turns around it are no neighbours of each other through it."""
        around = self.window(row, _HALF)
        before, after = self._previous.view[row], self._next.view[row]
        if before >= 0:
            self._next.view[before] = -1
        if after >= 0:
            self._previous.view[after] = -1
        self._next.view[row] = self._previous.view[row] = -1
        self._update(np.array(around, dtype=np.int64))

    def unlink_pair(self, source: int, target: int) -> None:
        """Removes one NEXT link."""
        if self._next.view[source] != target:
            return
        around = np.array(self.window(source, _HALF) + self.window(target, _HALF), dtype=np.int64)
        self._next.view[source] = -1
        self._previous.view[target] = -1
        self._update(around)

    def window(self, row: int, turns: int) -> list[int]:
        """The row and up to `turns` turns on each side of it, in the order of the episode."""
        before: list[int] = []
        at = int(self._previous.view[row])
        while at >= 0 and len(before) < turns:
            before.append(at)
            at = int(self._previous.view[at])
        after: list[int] = []
        at = int(self._next.view[row])
        while at >= 0 and len(after) < turns:
            after.append(at)
            at = int(self._next.view[at])
        return [*reversed(before), row, *after]

    def spread(self, values: Floats) -> Floats:
        """Each row's own value plus what its neighbours lend: `values[i] + sum_k kernel[k] * gate * values[i + k]`."""
        # Absent neighbours are -1, which picks the appended zero.
        lent = np.append(values * self._gate.view, 0.0)
        total = values.copy()
        for column, weight in zip(self._near, KERNEL, strict=True):
            total += weight * lent[column.view]
        return total

    def lend(self, rows: npt.NDArray[Any], values: Floats) -> tuple[npt.NDArray[Any], Floats]:
        """The transpose of `spread` for few rows: the rows and values themselves, and those of all who borrow them."""
        all_rows, all_values = [rows], [values]
        gated = values * self._gate.view[rows]
        # A row at offset k of another has that one at offset -k; the tables are mirrored.
        for column, weight in zip(reversed(self._near), KERNEL, strict=True):
            borrower = column.view[rows]
            there = borrower >= 0
            all_rows.append(borrower[there])
            all_values.append(weight * gated[there])
        return np.concatenate(all_rows), np.concatenate(all_values)

    def neighbours(self, rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Floats]:
        """Neighbour rows (n, 6), -1 where there is none, and their weights (kernel times gate)."""
        near = np.stack([column.view[rows] for column in self._near], axis=1)
        weights = np.array(KERNEL) * np.append(self._gate.view, np.float32(0.0))[near]
        return near, weights

    def has_neighbours(self) -> npt.NDArray[np.bool_]:
        """Which rows stand beside another."""
        beside: npt.NDArray[np.bool_] = (self._next.view >= 0) | (self._previous.view >= 0)
        return beside

    def gates(self) -> npt.NDArray[Any]:
        """How much each row lends, in [0, 1]."""
        return self._gate.view

    def _update(self, rows: npt.NDArray[np.int64]) -> None:
        """Makes the neighbour tables of these rows and of all within reach of them anew."""
        self.version += 1
        following = np.append(self._next.view, -1)
        preceding = np.append(self._previous.view, -1)
        reached = [rows]
        for table in (following, preceding):
            at = rows
            for _ in range(_HALF):
                at = table[at]
                reached.append(at)
        stale = np.unique(np.concatenate(reached))
        stale = stale[stale >= 0]
        for table, sides in ((preceding, range(_HALF - 1, -1, -1)), (following, range(_HALF, 2 * _HALF))):
            at = stale
            for column in sides:
                at = table[at]
                self._near[column].view[stale] = at


def gate(content_words: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """How much of its content a turn of this length lends to its neighbours."""
    return (1.0 / (1.0 + (np.asarray(content_words, dtype=np.float32) / GATE_WORDS) ** 4)).astype(np.float32)
