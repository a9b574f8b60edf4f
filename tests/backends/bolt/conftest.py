"""Tests of servers. Those that need one are collected where ALMA_TEST_ENGINE names a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from alma_graph import ALMA
from tests.conftest import SERVER

_NEED_A_SERVER = (
    *("test_beside_others", "test_candidates", "test_command_line", "test_connecting", "test_credentials"),
    *("test_edges", "test_feed", "test_going_away", "test_processes", "test_reembedding", "test_statements"),
)
collect_ignore = [] if SERVER else [f"{name}.py" for name in _NEED_A_SERVER]

Connect = Callable[..., ALMA]


@pytest.fixture
def connect(location: str) -> Iterator[Connect]:
    """Opens the test's store; each `number` has connections and arrays of its own, as another process has."""
    with ExitStack() as opened:

        def open_it(number: int = 0, project_id: str = "shop", **options: Any) -> ALMA:
            options = {"embedder": "hashing", "extractor": "none", "query_timeout": 60 + number, **options}
            return opened.enter_context(ALMA.open(location, project_id=project_id, **options))

        yield open_it
