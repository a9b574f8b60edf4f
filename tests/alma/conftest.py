"""A store of every engine, opened as a caller opens it: with the default model and spaCy unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from alma_graph import ALMA

Open = Callable[..., ALMA]


class Ticking:
    """A clock that moves one second at every look, so that times are known and all differ."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def open_alma(location: str) -> Iterator[Open]:
    """Opens the test's store, again and again if wanted; everything is closed at the end."""
    opened: list[ALMA] = []

    def open_it(**options: Any) -> ALMA:
        options.setdefault("project_id", "shop")
        options.setdefault("clock", Ticking())
        alma = ALMA.open(location, **options)
        opened.append(alma)
        return alma

    yield open_it
    for alma in opened:
        alma.close()


@pytest.fixture
def alma(open_alma: Open) -> ALMA:
    """A fresh store with the default embedder and extractor."""
    return open_alma()


@pytest.fixture
def plain(open_alma: Open) -> ALMA:
    """A fresh store without models: hashed words, no parser. For what has nothing to do with language."""
    return open_alma(embedder="hashing", extractor="none")
