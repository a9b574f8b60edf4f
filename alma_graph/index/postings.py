"""Pairs (owner, item, weight) that are looked up by either side: words of memories, mentions of entities, typed edges.

Entries live in growable columns in order of arrival. A lookup keeps the bulk of them sorted and scans the few that
came since; the sorted part is made anew once the rest has grown by a thirtieth, so that an append costs amortised
constant time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.columns import Column

Ints = npt.NDArray[np.int64]
_MINIMUM_TAIL = 4096


class SortedLookup:
    """Positions of the entries of a column of small non-negative integers, by value."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._order: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._start: Ints = np.zeros(1, dtype=np.int64)

    def refresh(self) -> None:
        """Sorts everything anew where the unsorted tail has become long; called after appends."""
        tail = len(self._column) - len(self._order)
        if tail <= max(_MINIMUM_TAIL, len(self._order) // 32):
            return
        values = self._column.view.astype(np.int64)
        packed = (values << 32) | np.arange(len(values))  # one plain sort that keeps the order of arrival
        packed.sort()
        self._order = (packed & 0xFFFFFFFF).astype(np.int32)
        self._start = np.searchsorted(packed >> 32, np.arange(int(values.max()) + 2))

    def positions(self, value: int) -> Ints:
        """Positions of the entries with this value, in order of arrival."""
        done = len(self._order)
        found = np.zeros(0, dtype=np.int64)
        if 0 <= value < len(self._start) - 1:
            found = self._order[self._start[value] : self._start[value + 1]].astype(np.int64)
        if done == len(self._column):
            return found
        tail = np.flatnonzero(self._column.view[done:] == value) + done
        return np.concatenate([found, tail]) if len(found) else tail

    def reset(self) -> None:
        """Forgets the sorted part, after the column was cleared."""
        self._order = np.zeros(0, dtype=np.int32)
        self._start = np.zeros(1, dtype=np.int64)


class Postings:
    """Weighted pairs of an owner (a memory row) and an item (a term, an entity). Weight 0 is a removed pair."""

    def __init__(self) -> None:
        self._owner = Column(np.int32)
        self._item = Column(np.int32)
        self._weight = Column(np.float32)
        self._by_owner = SortedLookup(self._owner)
        self._by_item = SortedLookup(self._item)

    def __len__(self) -> int:
        return len(self._owner)

    @property
    def weights(self) -> npt.NDArray[Any]:
        """Weights of all pairs by position; writes go through."""
        return self._weight.view

    @property
    def owners(self) -> npt.NDArray[Any]:
        """Owners of all pairs by position."""
        return self._owner.view

    @property
    def items(self) -> npt.NDArray[Any]:
        """Items of all pairs by position."""
        return self._item.view

    def add(self, owners: npt.ArrayLike, items: npt.ArrayLike, weights: npt.ArrayLike) -> None:
        """Appends pairs."""
        self._owner.extend(np.asarray(owners, dtype=np.int32))
        self._item.extend(np.asarray(items, dtype=np.int32))
        self._weight.extend(np.asarray(weights, dtype=np.float32))
        self._by_owner.refresh()
        self._by_item.refresh()

    def of_owner(self, owner: int) -> Ints:
        """Positions of an owner's pairs that were not removed."""
        return self._kept(self._by_owner.positions(owner))

    def of_item(self, item: int) -> Ints:
        """Positions of an item's pairs that were not removed."""
        return self._kept(self._by_item.positions(item))

    def remove_owner(self, owner: int) -> Ints:
        """Removes an owner's pairs; the items they named."""
        positions = self.of_owner(owner)
        self._weight.view[positions] = 0.0
        return self._item.view[positions].astype(np.int64)

    def _kept(self, positions: Ints) -> Ints:
        kept: Ints = positions[self._weight.view[positions] != 0.0]
        return kept
