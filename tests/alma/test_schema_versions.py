"""A store of every earlier schema version opens, keeps all it had, and works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from alma_graph import ALMA
from alma_graph.backends import EDGES, NODES, SCHEMA_VERSION, UnitOfWork, create_backend, meta, open_backend
from alma_graph.backends.migrations import MIGRATIONS
from alma_graph.backends.protocol import Backend, Row
from alma_graph.testing.graphs import dump
from tests.alma.conftest import Ticking
from tests.conftest import embedded_only

ADDED = {2: {"Memory": ("retired_reason", "retired_state")}}
"""Columns that each schema version brought."""


@contextmanager
def schema_of(version: int) -> Iterator[None]:
    """The schema as it was in an earlier version."""
    with pytest.MonkeyPatch.context() as patch:
        for label, spec in list(NODES.items()):
            later = {name for number, added in ADDED.items() if number > version for name in added.get(label, ())}
            columns = tuple(column for column in spec.columns if column.name not in later)
            patch.setitem(NODES, label, replace(spec, columns=columns))
        patch.setattr(meta, "SCHEMA_VERSION", version)
        yield


def all_of(store: Backend) -> UnitOfWork:
    """Everything in a store but its Meta node."""
    work = UnitOfWork()
    for label in NODES:
        if label != "Meta":
            work.nodes[label] = store.nodes(label)
    for type_ in EDGES:
        work.edges.extend(store.edges(type_))
    return work


def fill(location: str) -> tuple[str, str, Row]:
    """A store with something of everything; the ids of a memory and of its revision, and the Meta row."""
    with ALMA.open(location, project_id="shop", embedder="hashing", extractor="rules", clock=Ticking()) as alma:
        old = alma.add_domain_knowledge("a", "d", "The auth-service uses Redis.", valid_to="2030-01-01")
        new = alma.revise(old.id, fact="The auth-service uses Valkey.", reason="moved in March")
        for number in range(3):
            alma.learn("a", f"deploy {number}", True, "canary", task_type="deploy", session_id="s")
        alma.observe("a", "x" * 5000, session_id="s", user_id="u")
        return old.id, new.id, alma._store.backend.meta() or {}


@embedded_only
def test_a_store_of_version_1_keeps_everything(location: str, engine: str) -> None:
    filled = location + ".now"
    old_id, new_id, told = fill(filled)
    store = open_backend(filled)
    work = all_of(store)
    store.close()
    for row in work.nodes["Memory"]:
        del row["retired_reason"], row["retired_state"]
    with schema_of(1):
        first = create_backend(engine, location.partition(":")[2], migrations=())
        first.initialise(
            dimension=told["dimension"],
            embedder=told["embedder"],
            embedder_revision=told["embedder_revision"],
            created_with=told["created_with"],
        )
        first.write(work)
        assert (first.meta() or {})["schema_version"] == 1
        before = dump(first)
        first.close()

    with ALMA.open(location, project_id="shop", extractor="none") as alma:
        migrated = alma._store.backend
        assert (migrated.meta() or {})["schema_version"] == SCHEMA_VERSION
        after = dump(migrated)
        for label, rows in after["nodes"].items():
            added = {name for columns in ADDED.values() for name in columns.get(label, ())}
            assert all(row.pop(name) is None for row in rows for name in added)
        assert after == before
        assert alma.get(old_id).status == "superseded"
        assert alma.get(old_id).retired_reason is None
        assert [item.id for item in alma.why(new_id).history] == [old_id, new_id]
        alma.revise(new_id, fact="The auth-service uses Dragonfly.", reason="faster")
        assert alma.get(new_id).retired_reason == "faster"
        alma.learn_batch(  # enough for COPY, which goes by the place of a column
            [{"agent": "a", "task": f"more {number}", "outcome": True} for number in range(2500)]
        )
        assert alma.doctor().ok
    with ALMA.open(location, project_id="shop", extractor="none") as alma:
        assert alma.get(new_id).retired_reason == "faster"
        assert alma.stats().memories == 2508


def test_the_migrations_lead_to_the_present_schema() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(2, SCHEMA_VERSION + 1))
    assert max(ADDED) == SCHEMA_VERSION
