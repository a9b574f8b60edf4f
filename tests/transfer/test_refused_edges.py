"""What an import refuses of edges: what crosses projects, and what could not be read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alma_graph import ALMA, InvalidInputError
from alma_graph.backends.schema import node_key, project_of_key

Change = Callable[[dict[str, Any]], None]


def other_project(edge: dict[str, Any]) -> None:
    edge["target"] = node_key("other", "two")


def no_project(edge: dict[str, Any]) -> None:
    edge["target"] = "banana"


def evidence(edge: dict[str, Any]) -> None:
    edge["evidence"] = "oops"


def signal(edge: dict[str, Any]) -> None:
    edge["signal"] = "banana"


def disposition(edge: dict[str, Any]) -> None:
    edge["disposition"] = "banana"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_project, "not of one project"),
        (no_project, "not of one project"),
        (evidence, "no JSON"),
        (signal, "signal='banana' is unknown"),
        (disposition, "disposition='banana' is unknown"),
    ],
)
def test_an_edge_that_could_not_be_read_back_is_refused_by_its_line(tmp_path: Path, change: Change, words: str) -> None:
    file = tmp_path / "graph.jsonl"
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none") as alma:
        for name in ("one", "two"):
            alma.add_domain_knowledge("a", "d", f"fact {name}", id=name)
        alma.relate("one", "CONTRADICTS", "two", {"said": "so"})
        alma.export(tmp_path / "shop.jsonl")
    lines = (tmp_path / "shop.jsonl").read_text(encoding="utf-8").splitlines()
    (at,) = [number for number, line in enumerate(lines) if '"edge":"CONTRADICTS"' in line]
    edge = json.loads(lines[at])
    change(edge)
    lines[at] = json.dumps(edge)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none") as alma:
        with pytest.raises(InvalidInputError, match=rf"line {at + 1}: .*{words}"):
            ALMA.import_(file, alma)
        assert alma.stats().memories == 0


@pytest.mark.parametrize("project", ["shop", "5:x/", "日本", "a/b", "1"])
def test_a_key_names_its_project(project: str) -> None:
    assert project_of_key(node_key(project, "x")) == project
    assert project_of_key(node_key(project, "")) == project


@pytest.mark.parametrize(
    "key", ["", "banana", "4:shop", "04:shop/x", "5:shop/x", ":shop/x", "４:shop/x", "9" * 30 + ":x/"]
)
def test_other_texts_name_none(key: str) -> None:
    assert project_of_key(key) is None
