"""Ids that come out the same twice: what a store makes up of time and chance, made of time and a number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from alma_graph import ids


@contextmanager
def same_ids(number: int) -> Iterator[None]:
    """Inside, the ids that this process makes up depend on the clock and on `number` alone.

    For the same work on two stores. One thread may make ids meanwhile.
    """
    before = ids._last, ids.secrets
    ids._last = 0
    ids.secrets = _Drawn(number)  # type: ignore[assignment]
    try:
        yield
    finally:
        ids._last, ids.secrets = max(before[0], ids._last), before[1]


class _Drawn:
    """As much of `secrets` as an id needs."""

    def __init__(self, number: int) -> None:
        self._random = Random(number)

    def randbits(self, k: int) -> int:
        return self._random.getrandbits(k)
