"""Arrays that grow at the end at amortised constant cost, and codes for repeated texts."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

_GROWTH = 1.5
_BLOCK = 64
"""Rows that BLAS takes at once, or a multiple of it; the last few of a matrix would be rounded otherwise."""


class Column:
    """A growable array of one dtype; `width` makes it two-dimensional, (n, width), C-contiguous."""

    def __init__(self, dtype: npt.DTypeLike, *, width: int | None = None) -> None:
        self._width = width
        self._size = 0
        self._data: npt.NDArray[Any] = np.zeros((0,) if width is None else (0, width), dtype=dtype)

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> npt.NDArray[Any]:
        """The filled part; writes go through. Taken anew after every growth."""
        return self._data[: self._size]

    @property
    def padded(self) -> npt.NDArray[Any]:
        """`view` and zeros behind it, to a multiple of `_BLOCK` entries: what BLAS computes of each row then does not
        depend on the row's place."""
        return self._data[: -(-self._size // _BLOCK) * _BLOCK]

    def append(self, value: Any) -> None:
        """Adds one entry (a row, where the column has a width)."""
        self._reserve(self._size + 1)
        self._data[self._size] = value
        self._size += 1

    def extend(self, values: npt.NDArray[Any]) -> None:
        """Adds the entries of an array."""
        self._reserve(self._size + len(values))
        self._data[self._size : self._size + len(values)] = values
        self._size += len(values)

    def clear(self) -> None:
        """Forgets all entries and frees their memory."""
        self._size = 0
        self._data = self._data[:0].copy()

    def _reserve(self, size: int) -> None:
        if size <= len(self._data):
            return
        capacity = -(-max(size, int(len(self._data) * _GROWTH)) // _BLOCK) * _BLOCK
        grown = np.zeros((capacity, *self._data.shape[1:]), dtype=self._data.dtype)
        grown[: self._size] = self._data[: self._size]
        self._data = grown


class Codes:
    """Small numbers for texts, in order of first sight; None is -1."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str | None) -> int:
        """The code of a text, made where it is new."""
        if name is None:
            return -1
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
        return code

    def get(self, name: str | None) -> int | None:
        """The code of a text; None where it was never seen (-1 for None itself)."""
        return -1 if name is None else self._codes.get(name)

    def name(self, code: int) -> str | None:
        """The text of a code; None for -1."""
        return None if code < 0 else self.names[code]


def tie(name: str) -> int:
    """A number of 64 bits that stands for a name: an order of equals that is the same wherever rows come in another
    order."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
