"""The shipped suite fails for a backend that is broken, and passes for one that is not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BROKEN = '''
from dataclasses import replace

import numpy as np
import pytest

from alma_graph.backends.memory import MemoryBackend
from alma_graph.testing import BackendContract


class LosesAnEdge(MemoryBackend):
    """The last edge of a unit of three or more is gone."""

    def write(self, work, *, expected=None):
        super().write(replace(work, edges=work.edges[:-1]) if len(work.edges) > 2 else work, expected=expected)


class RoundsVectors(MemoryBackend):
    """Vectors are kept with half the bits."""

    def nodes(self, label, *, keys=None, project_id=None, columns=None):
        rows = super().nodes(label, keys=keys, project_id=project_id, columns=columns)
        for row in rows:
            if row.get("embedding") is not None:
                row["embedding"] = row["embedding"].astype(np.float16).astype(np.float32)
        return rows


class ReportsWhatItDidNotStore(MemoryBackend):
    """An edge whose end is missing is taken without an error, and not stored."""

    def write(self, work, *, expected=None):
        there = {row["key"] for label in ("Memory", "Entity", "Agent") for row in self.nodes(label)}
        there |= {row.get("key") for rows in (*work.nodes.values(), *work.merge.values()) for row in rows}
        edges = [edge for edge in work.edges if edge.source in there and edge.target in there]
        super().write(replace(work, edges=edges), expected=expected)


class Reorders(MemoryBackend):
    """Rows come in the order in which they were written."""

    def edges(self, type, *, project_id=None, sources=None, targets=None):
        return super().edges(type, project_id=project_id, sources=sources, targets=targets)[::-1]


class WritesHalf(MemoryBackend):
    """Nodes stay where the edges after them are refused."""

    def write(self, work, *, expected=None):
        if work.nodes and work.edges:
            super().write(replace(work, edges=[]), expected=expected)
            work = replace(work, nodes={}, node_deletes=[])
            expected = None
        super().write(work, expected=expected)


class ForgetsZones(MemoryBackend):
    """Times come back naive."""

    def nodes(self, label, *, keys=None, project_id=None, columns=None):
        rows = super().nodes(label, keys=keys, project_id=project_id, columns=columns)
        return [{name: value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value for name, value in row.items()}
                for row in rows]


class KeepsNothing(MemoryBackend):
    """Says that it is durable, and is not."""

    capabilities = replace(MemoryBackend.capabilities, durable=True)


class OverwritesMerged(MemoryBackend):
    """A node that is kept as it is where it exists is written anew."""

    def write(self, work, *, expected=None):
        super().write(work, expected=expected)
        for label, rows in work.merge.items():
            for row in rows:
                self._nodes[label][row["key"]].update(row)


class ForgetsDeletedEdges(MemoryBackend):
    """Where a unit deletes a node and makes it again, its new edges are lost when it has three."""

    def write(self, work, *, expected=None):
        again = {key for _, key in work.node_deletes} & {row.get("key") for rows in work.nodes.values() for row in rows}
        mentions = [edge for edge in work.edges if edge.type == "MENTIONS" and edge.source in again]
        kept = [edge for edge in work.edges if edge not in mentions] if len(mentions) > 2 else work.edges
        super().write(replace(work, edges=kept), expected=expected)


class KeepsOldChunks(MemoryBackend):
    """Other vectors come in place of those of the memories alone."""

    def replace_vectors(self, space, source):
        chunks, edges = dict(self._nodes["Chunk"]), dict(self._edges["HAS_CHUNK"])
        super().replace_vectors(space, source)
        self._nodes["Chunk"].update(chunks)
        self._edges["HAS_CHUNK"].update(edges)


class Of(BackendContract):
    kind = MemoryBackend
    random_examples = 40
    random_bulk = 4

    @pytest.fixture
    def new_location(self):
        return lambda: "nowhere"

    @pytest.fixture
    def open_store(self):
        return lambda location: self.kind()

'''

KINDS = [name for name in re.findall(r"^class (\w+)\(MemoryBackend\)", BROKEN, re.M) if name != "ForgetsDeletedEdges"]


def environment() -> dict[str, str]:
    """What a process in another folder needs to import the package as it is here."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def failures(folder: Path, kinds: list[str], chosen: str) -> dict[str, list[str]]:
    """Runs the suite on backends of these kinds in a process of its own: the tests that failed, by kind."""
    classes = "".join(f"class Test{kind}(Of):\n    kind = {kind}\n\n\n" for kind in kinds)
    (folder / "test_them.py").write_text(BROKEN + "\n" + classes, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-k",
        chosen,
        str(folder),
    ]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+::Test(\w+)::(test_\w+)", done.stdout, re.M)
    assert {kind for _, kind, _ in outcomes} == set(kinds), done.stdout + done.stderr
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    for outcome, kind, test in outcomes:
        if outcome != "PASSED":
            found[kind].append(test)
    return found


EXPECTED = {
    "MemoryBackend": set[str](),
    "LosesAnEdge": {"test_everything_written_comes_back_bit_for_bit"},
    "RoundsVectors": {"test_everything_written_comes_back_bit_for_bit"},
    "ReportsWhatItDidNotStore": {"test_bad_input_is_refused_before_anything_is_written"},
    "Reorders": {"test_edges_by_their_ends"},
    "WritesHalf": {"test_bad_input_is_refused_before_anything_is_written"},
    "ForgetsZones": {"test_times_are_utc_whatever_their_zone"},
    "KeepsNothing": {"test_everything_written_comes_back_bit_for_bit"},
    "KeepsOldChunks": {"test_all_vectors_are_replaced_and_nothing_else"},
    "OverwritesMerged": {"test_merged_nodes_are_kept_as_they_are"},
}


def test_what_is_broken_fails_where_it_is_named_and_what_is_not_passes(tmp_path: Path) -> None:
    found = failures(tmp_path, ["MemoryBackend", *KINDS], "not random_work")
    assert found.keys() == EXPECTED.keys()
    assert found["MemoryBackend"] == []
    for kind, tests in EXPECTED.items():
        assert tests <= set(found[kind]), kind


@pytest.mark.slow
def test_random_work_finds_what_no_single_test_asks(tmp_path: Path) -> None:
    assert failures(tmp_path, ["ForgetsDeletedEdges"], "not random_work")["ForgetsDeletedEdges"] == []
    [test] = failures(tmp_path, ["ForgetsDeletedEdges"], "random_work")["ForgetsDeletedEdges"]
    assert test == "test_random_work_leaves_the_same_as_in_memory"
