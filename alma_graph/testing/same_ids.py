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
    before = ids._last, ids._random_bits
    ids._last, ids._random_bits = 0, Random(number).getrandbits  # type: ignore[assignment]
    try:
        yield
    finally:
        ids._last, ids._random_bits = max(before[0], ids._last), before[1]
