"""The fixtures that every part of the contract uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from alma_graph.backends import Backend, open_backend
from alma_graph.testing.graphs import DIMENSION

NewLocation = Callable[[], str]
"""Gives the location of a store that does not exist yet, another at every call or the same place emptied."""

OpenStore = Callable[[str], Backend]
"""Opens the store at a location, for writing; makes it where there is none."""

Reopen = Callable[[Backend], Backend]
"""Closes a store and opens it again."""


def initialised(store: Backend) -> Backend:
    """The new store, with its schema made for vectors of `graphs.DIMENSION`."""
    store.initialise(dimension=DIMENSION, embedder="test", embedder_revision=None, created_with="tests")
    return store


class StoreFixtures:
    """What a subclass provides: the fixture `new_location`; and `open_store` too, where `open_backend` does not find
    the backend by its locations."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        """Opens a store by its location."""
        return open_backend

    @pytest.fixture
    def location(self, new_location: NewLocation) -> str:
        """The location of a fresh store."""
        return new_location()

    @pytest.fixture
    def backend(self, open_store: OpenStore, location: str) -> Iterator[Backend]:
        """A fresh, initialised store."""
        store = initialised(open_store(location))
        yield store
        store.close()

    @pytest.fixture
    def reopen(self, open_store: OpenStore, location: str) -> Reopen:
        """Closes the test's store and opens it again; one that keeps nothing is given back as it is."""

        def again(store: Backend) -> Backend:
            if not store.capabilities.durable:
                return store
            store.close()
            return open_store(location)

        return again
