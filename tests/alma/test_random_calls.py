"""More random calls of `ALMA` on every backend than its contract makes (`alma_graph.testing.random_memories`)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from alma_graph.testing import MemoriesContract
from tests.conftest import SERVER


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestManyRandomCalls(MemoriesContract):
    """More stores and longer lives."""

    memory_examples = 2 if SERVER else 8  # a server answers each of some thousand small questions by itself
    memory_steps = 12 if SERVER else 30


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestRandomCallsThatAreJudged(MemoriesContract):
    """With the parser, so that memories contradict each other."""

    memory_examples = 3
    memory_options: ClassVar[dict[str, Any]] = {"embedder": "hashing:64", "extractor": "spacy"}
