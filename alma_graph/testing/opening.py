"""A new store, the protocol's face, and what is left after close."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC
from typing import Any

import pytest

from alma_graph.backends import EDGES, NODES, SCHEMA_VERSION, Backend
from alma_graph.errors import InvalidInputError, StoreClosedError, StoreError
from alma_graph.testing.graphs import DIMENSION, PROJECT, unit_of
from alma_graph.testing.stores import OpenStore, StoreFixtures, initialised


class OpeningContract(StoreFixtures):
    """A new store is empty and says what it is; a closed one refuses everything."""

    def test_it_has_the_attributes_and_the_signatures_of_the_protocol(self, backend: Backend) -> None:
        assert isinstance(backend, Backend)
        assert backend.name
        assert backend.engine_version()
        assert backend.read_only is False
        methods = [name for name, value in vars(Backend).items() if inspect.isfunction(value) and name[0] != "_"]
        assert len(methods) > 10
        for name in methods:
            assert _parameters(getattr(type(backend), name)) == _parameters(getattr(Backend, name)), name

    def test_a_new_store_is_empty(self, open_store: OpenStore, location: str) -> None:
        store = open_store(location)
        assert store.meta() is None
        assert store.sequence() == 0
        for label in NODES:
            assert store.nodes(label) == []
            assert store.count(label) == 0
        for name in EDGES:
            assert store.edges(name) == []
            assert store.count(name) == 0
        keys, matrix = store.vectors("Memory", project_id=PROJECT)
        assert keys == []
        assert len(matrix) == 0
        assert store.verify() == []
        with pytest.raises(StoreError, match="initialise"):
            store.write(unit_of("a"))
        store.close()

    def test_initialise_makes_meta_once(self, backend: Backend) -> None:
        meta = backend.meta()
        assert meta is not None
        assert (meta["schema_version"], meta["dimension"]) == (SCHEMA_VERSION, DIMENSION)
        assert (meta["embedder"], meta["sequence"]) == ("test", 0)
        assert meta["embedder_revision"] is None
        assert meta["created_at"].tzinfo is UTC
        with pytest.raises(StoreError, match="already"):
            initialised(backend)

    @pytest.mark.parametrize("dimension", [0, -1, 1.5, True, 100_000])
    def test_initialise_refuses_a_wrong_dimension(self, open_store: OpenStore, location: str, dimension: Any) -> None:
        store = open_store(location)
        with pytest.raises(InvalidInputError, match="dimension"):
            store.initialise(dimension=dimension, embedder="test", embedder_revision=None, created_with="tests")
        assert store.meta() is None
        store.close()

    def test_a_closed_store_says_so(self, open_store: OpenStore, location: str) -> None:
        store = initialised(open_store(location))
        store.close()
        store.close()
        calls: list[Callable[[], Any]] = [
            store.engine_version,
            store.meta,
            store.sequence,
            lambda: store.nodes("Memory"),
            lambda: store.edges("SUPPORTS"),
            lambda: store.vectors("Memory", project_id=PROJECT),
            lambda: store.count("Memory"),
            lambda: store.run("RETURN 1", {}),
            lambda: store.write(unit_of("a")),
            store.checkpoint,
            store.verify,
            store.size_bytes,
        ]
        for call in calls:
            with pytest.raises(StoreClosedError):
                call()


def _parameters(method: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """What a caller can rely on: names, defaults, whether by position or keyword; annotations may differ."""
    return [(given.name, given.kind, given.default) for given in inspect.signature(method).parameters.values()]
