"""Measured targets on the labelled development wordings, with the default model (`benchmarks/strategies_f1.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from alma_graph.embedding import Embedder, create_embedder, find_weights
from benchmarks.datasets import data_folder
from benchmarks.strategies_f1 import made_up_strategies, measure, wrongly_pooled

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def folder() -> Path:
    found = data_folder()
    if not found.is_dir():
        pytest.skip(f"the public evaluation sets are not in {found}; name their folder in ALMA_BENCH_DATA")
    return found


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    if find_weights() is None:
        pytest.skip("the default model is not installed; `alma-graph models fetch` gets it")
    return create_embedder("all-MiniLM-L6-v2")


def test_pooled_strategies_are_surely_the_same(folder: Path, embedder: Embedder) -> None:
    pool = measure("strategies_dev", "pool", embedder.embed, folder=folder)
    assert pool.wrong == []
    assert pool.f1 >= 0.65


def test_kin_strategies(folder: Path, embedder: Embedder) -> None:
    kin = measure("strategies_dev", "near", embedder.embed, folder=folder)
    assert kin.hard_merged <= 4
    assert kin.f1 >= 0.8


def test_contexts(folder: Path, embedder: Embedder) -> None:
    contexts = measure("contexts_dev", "context", embedder.embed, folder=folder)
    assert contexts.precision >= 0.93
    assert contexts.f1 >= 0.9


@pytest.mark.slow
def test_strategies_that_differ_in_one_slot_are_hardly_ever_pooled(embedder: Embedder) -> None:
    texts = made_up_strategies(300)
    assert wrongly_pooled(texts, embedder.embed(texts)) <= 0.02
