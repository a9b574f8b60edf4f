"""The contract of a backend, on each that this process can load."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys

import pytest

from alma_graph.backends import Backend, node_key
from alma_graph.backends.bolt.backend import BoltBackend
from alma_graph.backends.embedded.backend import EmbeddedBackend
from alma_graph.backends.memory import MemoryBackend
from alma_graph.testing import BackendContract, NewLocation
from tests.conftest import SERVER, durable_only


class TestContract(BackendContract):
    """Every part of the shipped suite."""

    memory_examples = 1 if SERVER else 3
    memory_steps = 6 if SERVER else 15

    @pytest.mark.timeout(1800)  # a server answers each of some thousand small questions by itself
    def test_random_calls_answer_as_in_memory(self, new_location: NewLocation) -> None:
        super().test_random_calls_answer_as_in_memory(new_location)


@pytest.mark.parametrize("implementation", [MemoryBackend, EmbeddedBackend, BoltBackend])
def test_every_implementation_has_the_signatures_of_the_protocol(implementation: type) -> None:
    """Whichever engine this run has; annotations included, which a backend of somebody else may narrow."""
    methods = [name for name, value in vars(Backend).items() if inspect.isfunction(value) and name[0] != "_"]
    assert len(methods) > 10
    for name in methods:
        assert inspect.signature(getattr(implementation, name)) == inspect.signature(getattr(Backend, name)), name


def test_a_backend_says_which_it_is(backend: Backend, engine: str) -> None:
    assert backend.name == engine
    assert (backend.path is None) == (engine == "memory")


def test_importing_the_package_loads_no_engine() -> None:
    code = (
        "import sys, alma_graph.backends; "
        "print([m for m in ('kuzu', 'ladybug', 'pyarrow', 'pandas', 'scipy', 'networkx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@durable_only
@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
def test_the_process_s_zone_does_not_matter(location: str, zone: str) -> None:
    code = """
import sys, json
from datetime import datetime, UTC
from alma_graph.backends import open_backend, UnitOfWork
store = open_backend(sys.argv[1])
if store.meta() is None:
    store.initialise(dimension=2, embedder="t", embedder_revision=None, created_with="t")
    work = UnitOfWork()
    work.add_node("Session", {"key": "s", "started_at": datetime(2026, 8, 28, 23, 30, tzinfo=UTC)})
    work.add_node("Session", {"key": "t", "started_at": datetime(2026, 8, 28, 23, 30)})
    store.write(work)
day = {"low": datetime(2026, 8, 28, tzinfo=UTC), "high": datetime(2026, 8, 29, tzinfo=UTC)}
inside = "s.started_at >= $low AND s.started_at < $high"
found = store.run(f"MATCH (s:Session) WHERE {inside} RETURN s.key, s.started_at", day)
print(json.dumps([[str(v) for v in row] for row in sorted(found.rows)]
                 + [[r["key"], str(r["started_at"])] for r in store.nodes("Session")]))
store.close()
"""
    answers = []
    for name in (zone, "UTC"):
        done = subprocess.run(
            [sys.executable, "-c", code, location],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TZ": name},
        )
        answers.append(json.loads(done.stdout))
    expected = [[name, "2026-08-28 23:30:00+00:00"] for name in ("s", "t")]
    assert answers == [expected * 2] * 2


def test_keys_join_project_and_id_without_ambiguity() -> None:
    pairs = [("a", "b:c"), ("a:b", "c"), ("1:a", "b"), ("a/b", "c"), ("a", "b/c"), ("", "x"), ("0:", "x")]
    assert len({node_key(project, identifier) for project, identifier in pairs}) == len(pairs)
