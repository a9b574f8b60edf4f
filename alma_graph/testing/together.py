"""Threads that share one store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from alma_graph.backends import Backend
from alma_graph.testing.graphs import key, unit_of
from alma_graph.testing.stores import Reopen, StoreFixtures

_THREADS = 8
_UNITS = 5


class ThreadsContract(StoreFixtures):
    """Threads may share a store: writes are one after the other, and nobody reads half of one."""

    def test_threads_write_at_once_and_readers_see_whole_units(self, backend: Backend, reopen: Reopen) -> None:
        done = threading.Event()

        def write(thread: int) -> None:
            for number in range(_UNITS):
                backend.write(unit_of(f"{thread}-{number}"))

        def read() -> list[str]:
            halves: list[str] = []
            while not done.wait(0.01):
                keys = [row["key"] for row in backend.nodes("Memory", columns=("key",))]
                mentioning = [edge.source for edge in backend.edges("MENTIONS", sources=keys)]
                halves += [found for found in keys if mentioning.count(found) != 2]
            return halves

        with ThreadPoolExecutor(_THREADS + 2) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            try:
                _finish(pool, write)
            finally:
                done.set()
            assert [reader.result() for reader in readers] == [[], []]
        assert backend.sequence() == _THREADS * _UNITS
        store = reopen(backend)
        wanted = [key(f"{thread}-{number}") for thread in range(_THREADS) for number in range(_UNITS)]
        assert [row["key"] for row in store.nodes("Memory", keys=wanted, columns=("key",))] == wanted
        assert store.verify() == []
        store.close()


def _finish(pool: ThreadPoolExecutor, write: Callable[[int], None]) -> None:
    for writer in [pool.submit(write, thread) for thread in range(_THREADS)]:
        writer.result()
