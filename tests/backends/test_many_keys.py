"""Many keys at once are read by a scan of their range; whatever characters they have, none is lost or added."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from alma_graph.backends import Backend, UnitOfWork
from alma_graph.testing.graphs import key, memory_row, supports

ALPHABET = [*"aZ09 _-/:", "\x00", "\x7f", "é", "ÿ", "߿", "東", "\ud7ff", "\ue000", "\uffff", "😀", "\U0010ffff"]
NAMES = sorted({"".join(random.Random(seed).choices(ALPHABET, k=3)) for seed in range(1500)})


@pytest.fixture
def filled(backend: Backend) -> Backend:
    work = UnitOfWork()
    for name in NAMES:
        work.add_node("Memory", memory_row(name))
    for one, other in pairwise(NAMES):
        work.edges.append(supports(one, other))
    backend.write(work)
    return backend


@pytest.mark.parametrize("every", [1, 3, 7], ids=["all", "a third", "few in a wide range"])
def test_the_wanted_nodes_come_back_in_the_order_asked_for(filled: Backend, every: int) -> None:
    wanted = [key(name) for name in NAMES[every::every]]
    random.Random(0).shuffle(wanted)
    asked = [*wanted, key("nowhere"), wanted[0]]
    assert [row["key"] for row in filled.nodes("Memory", keys=asked, columns=("key", "text"))] == wanted
    assert [row["text"] for row in filled.nodes("Memory", keys=asked, columns=("text",), project_id="shop")]
    assert filled.nodes("Memory", keys=asked, columns=("text",), project_id="other") == []


@pytest.mark.parametrize("every", [1, 3, 7], ids=["all", "a third", "few in a wide range"])
def test_the_edges_at_the_wanted_ends_come_back(filled: Backend, every: int) -> None:
    every_edge = filled.edges("SUPPORTS")
    assert len(every_edge) == len(NAMES) - 1
    wanted = {key(name) for name in NAMES[every::every]}
    ends = list(wanted)
    assert filled.edges("SUPPORTS", sources=ends) == [edge for edge in every_edge if edge.source in wanted]
    assert filled.edges("SUPPORTS", targets=ends) == [edge for edge in every_edge if edge.target in wanted]
    assert filled.edges("SUPPORTS", sources=ends, targets=ends) == [
        edge for edge in every_edge if edge.source in wanted and edge.target in wanted
    ]
    assert filled.edges("SUPPORTS", sources=ends, project_id="other") == []
