"""Random calls of `ALMA` on every backend against the in-memory one (`alma_graph.testing.random_memories`)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from alma_graph.testing import MemoriesContract
from tests.conftest import SERVER


@pytest.mark.timeout(1800)  # a server answers each of some thousand small questions by itself
class TestRandomCalls(MemoriesContract):
    """A little, on every run."""

    memory_examples = 1 if SERVER else 3
    memory_steps = 6 if SERVER else 15


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestManyRandomCalls(MemoriesContract):
    """More stores and longer lives."""

    memory_examples = 8
    memory_steps = 30


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestRandomCallsThatAreJudged(MemoriesContract):
    """With the parser, so that memories contradict each other."""

    memory_examples = 3
    memory_options: ClassVar[dict[str, Any]] = {"embedder": "hashing:64", "extractor": "spacy"}
