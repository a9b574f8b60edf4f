"""Fixtures that every part's tests may use: stores on every backend that this process can load.

One process can load only one of the two embedded engines; the environment variable ALMA_TEST_ENGINE chooses which
("ladybug", the default, or "kuzu"). The in-memory store runs beside Ladybug. ALMA_TEST_ENGINE=neo4j runs the tests of
an engine on a real server instead, which is started for the run (`tests.servers`): one store at a time, emptied for
each test.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alma_graph.backends import Backend, open_backend
from alma_graph.backends.bolt.dialects import BOLT_DIALECTS
from alma_graph.testing import apply_marks, register_marks
from tests.servers.jars import CannotRunError
from tests.servers.shared import emptied, end

ENGINE = os.environ.get("ALMA_TEST_ENGINE", "ladybug")
SERVER = ENGINE in BOLT_DIALECTS
EMBEDDED = "ladybug" if SERVER else ENGINE
ENGINES = ["memory", ENGINE] if ENGINE == "ladybug" else [ENGINE]
DIMENSION = 8

embedded_only = pytest.mark.parametrize("engine", [EMBEDDED], indirect=True)
"""For tests of what only an embedded engine has, a file: they run once, on that engine."""

durable_only = pytest.mark.parametrize("engine", [ENGINE], indirect=True)
"""For tests of what every engine has but the in-memory one: the data after closing, and Cypher."""


def store_location(folder: Path, engine: str, name: str = "store.graph") -> str:
    """Where a new store of an engine is: ":memory:", "ENGINE:FOLDER/NAME", or the URI of this run's server, emptied."""
    if engine in BOLT_DIALECTS:
        try:
            return emptied()
        except CannotRunError as error:
            pytest.exit(f"the tests on {engine} cannot run: {error}", returncode=1)
    return ":memory:" if engine == "memory" else f"{engine}:{folder / name}"


@pytest.fixture(scope="session")
def embedded_engine() -> str:
    """The embedded engine of this test run."""
    return EMBEDDED


@pytest.fixture(scope="session")
def cypher_engine() -> str:
    """The engine of this test run, embedded or a server: one that has Cypher and keeps its data."""
    return ENGINE


@pytest.fixture(params=ENGINES)
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


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marks for an engine's gaps known."""
    register_marks(config)


def pytest_sessionstart() -> None:
    """Loads this run's engine, so that a test that opens the other one always fails, not only in some orders."""
    importlib.import_module(EMBEDDED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that open a store of this run's engine, so that the other engines' runs can choose them; and the
    gaps."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        chosen = getattr(getattr(item, "callspec", None), "params", {}).get("engine", ENGINE)
        if names & {"engine", "cypher_engine"} and (not SERVER or chosen == ENGINE):
            item.add_marker("engine")
        if ("embedded_engine" in names or hasattr(getattr(item, "module", None), "EMBEDDED")) and not SERVER:
            item.add_marker("engine")  # a module that names the engine of this run opens stores of it by itself
    apply_marks(items)


def pytest_sessionfinish() -> None:
    """Stops the server, if one was started."""
    end()
