"""`alma-graph doctor`: what it says, what it mends, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from alma_graph import ALMA
from alma_graph.backends import NodeUpdate, UnitOfWork, node_key, open_backend
from alma_graph.embedding.protocol import FloatMatrix
from alma_graph.testing.graphs import entity_row
from tests.cli.conftest import call


@pytest.fixture
def damaged(store: str) -> str:
    """A store with a memory that lost its vector, and an entity that nothing mentions."""
    with ALMA.open(store, project_id="shop", embedder="hashing", extractor="none") as alma:
        alma.add_domain_knowledge("dev", "auth", "The vault is in Bern.", id="fact")
        alma.add_domain_knowledge("dev", "auth", "The office is in Lisbon.", id="other")
    backend = open_backend(store)
    lost = NodeUpdate("Memory", node_key("shop", "fact"), {"embedding": None})
    backend.write(UnitOfWork(nodes={"Entity": [entity_row("lonely")]}, node_updates=[lost]))
    backend.close()
    return store


def test_damage_is_told_and_mended(damaged: str) -> None:
    told = call("doctor", damaged)
    assert told.code == 1
    lines = [line for line in told.out.splitlines() if line.startswith("PROBLEM")]
    assert len(lines) == 2
    assert all("alma-graph doctor --fix" in line for line in lines)
    assert told.out.endswith("2 problems left, 2 of which --fix mends\n")
    mended = call("doctor", damaged, "--fix")
    assert mended.code == 0
    assert [line for line in mended.out.splitlines() if line.startswith("done")] != []
    assert mended.out.endswith("all is well\n")
    assert call("doctor", damaged).code == 0


def test_json_says_the_same(damaged: str) -> None:
    told = call("doctor", damaged, "--json")
    assert told.code == 1
    assert told.json["ok"] is False
    problems = [check for check in told.json["checks"] if not check["ok"]]
    assert {check["severity"] for check in problems} == {"problem"}
    assert all(check["fixable"] and check["cure"] for check in problems)
    mended = call("doctor", "--store", damaged, "--fix", "--json")
    assert (mended.code, mended.json["ok"], len(mended.json["repairs"])) == (0, True, 2)


def test_rebuild_says_what_it_did(damaged: str) -> None:
    told = call("doctor", damaged, "--rebuild", "--fix")
    assert told.code == 0
    assert "read the arrays of 1 projects anew, 2 memories" in told.out


def test_a_store_whose_embedder_is_missing_is_a_problem_with_a_cure(store: str) -> None:
    class Model:
        """A model that this machine has no longer."""

        name = "gone-model"
        dimension = 8

        def embed(self, texts: Sequence[str]) -> FloatMatrix:
            return np.array([[1.0, *[float(len(text) % 7)] * 7] for text in texts], dtype=np.float32)

    with ALMA.open(store, project_id="shop", embedder=Model(), extractor="none") as alma:
        alma.add_domain_knowledge("dev", "auth", "The vault is in Bern.", id="fact")
    told = call("doctor", store, "--json")
    assert told.code == 1
    problems = [check for check in told.json["checks"] if not check["ok"]]
    assert [check["name"] for check in problems] == ["embedder"]
    assert "gone-model" in problems[0]["detail"]
    assert problems[0]["cure"]
    assert json.dumps(problems)
