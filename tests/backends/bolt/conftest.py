"""Tests of servers. Those that need one are collected where ALMA_TEST_ENGINE names a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from alma_graph import ALMA
from tests.conftest import SERVER

collect_ignore = [] if SERVER else ["test_connecting.py", "test_credentials.py", "test_feed.py", "test_going_away.py"]
collect_ignore += (
    []
    if SERVER
    else ["test_command_line.py", "test_processes.py", "test_statements.py", "test_candidates.py"]
    + ["test_beside_others.py"]
)

Connect = Callable[..., ALMA]


@pytest.fixture
def connect(location: str) -> Iterator[Connect]:
    """Opens the test's store; each `number` has connections and arrays of its own, as another process has."""
    with ExitStack() as opened:

        def open_it(number: int = 0, project_id: str = "shop", **options: Any) -> ALMA:
            options = {"embedder": "hashing", "extractor": "none", "query_timeout": 60 + number, **options}
            return opened.enter_context(ALMA.open(location, project_id=project_id, **options))

        yield open_it
