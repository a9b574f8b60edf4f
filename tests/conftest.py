"""Fixtures that every part's tests may use: stores on every backend that this process can load.

One process can load only one of the two embedded engines; the environment variable ALMA_TEST_ENGINE chooses which
("ladybug", the default, or "kuzu"). The in-memory store always runs beside it.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alma_graph.backends import Backend, open_backend

EMBEDDED = os.environ.get("ALMA_TEST_ENGINE", "ladybug")
DIMENSION = 8

embedded_only = pytest.mark.parametrize("engine", [EMBEDDED], indirect=True)
"""For tests of what only an embedded engine has, a file or Cypher: they run once, on that engine."""


def store_location(folder: Path, engine: str, name: str = "store.graph") -> str:
    """Where a store of an engine is: ":memory:" or "ENGINE:FOLDER/NAME"."""
    return ":memory:" if engine == "memory" else f"{engine}:{folder / name}"


@pytest.fixture(scope="session")
def embedded_engine() -> str:
    """The embedded engine of this test run."""
    return EMBEDDED


@pytest.fixture(params=["memory", EMBEDDED])
def engine(request: pytest.FixtureRequest) -> str:
    """Every backend that this process can load, by name."""
    return str(request.param)


@pytest.fixture
def new_location(tmp_path: Path, engine: str) -> Callable[[], str]:
    """Gives the location of another fresh store at every call."""
    names = itertools.chain(["store.graph"], (f"store-{number}.graph" for number in itertools.count(2)))
    return lambda: store_location(tmp_path, engine, next(names))


@pytest.fixture
def location(new_location: Callable[[], str]) -> str:
    """The location of a fresh store."""
    return new_location()


@pytest.fixture
def backend(location: str) -> Iterator[Backend]:
    """A fresh, initialised store with vectors of DIMENSION."""
    store = open_backend(location)
    store.initialise(dimension=DIMENSION, embedder="test", embedder_revision=None, created_with="tests")
    yield store
    store.close()


@pytest.fixture
def reopen(location: str) -> Callable[[Backend], Backend]:
    """Closes a store and opens it again; the in-memory store, which would be gone, is returned as it is."""

    def again(store: Backend) -> Backend:
        if not store.capabilities.durable:
            return store
        store.close()
        return open_backend(location)

    return again


def pytest_sessionstart() -> None:
    """Loads this run's engine, so that a test that opens the other one always fails, not only in some orders."""
    importlib.import_module(EMBEDDED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that open a store, so that the other embedded engine's run can choose them."""
    for item in items:
        if {"engine", "embedded_engine"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("engine")
