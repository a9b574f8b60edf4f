"""The contract of a backend as a suite of tests, for backends of one's own. Needs pytest and hypothesis.

    import itertools
    import pytest
    from alma_graph.testing import BackendContract

    class TestMine(BackendContract):
        @pytest.fixture
        def new_location(self, tmp_path):
            numbers = itertools.count()
            return lambda: f"mine:{tmp_path / str(next(numbers))}"

`new_location` gives, at every call, the location of a store that does not exist yet. A backend that is not registered
under a name (`alma_graph.backends.plugins`) overrides the fixture `open_store` as well; `ALMA.open` does not find it,
so the random calls of `ALMA` (`MemoriesContract`) are left out. What it offers beside the protocol (`Maintainable`,
`ChangeFeed`, `Inspectable`, `Snapshots`) is checked where it offers it.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(f"alma_graph.testing.{area}" for area in ("asking", "changing", "extras", "opening", "random_memories")),
    *(f"alma_graph.testing.{area}" for area in ("random_work", "reading", "refusing", "together", "writing")),
)

from alma_graph.testing.asking import CypherContract  # noqa: E402 - what is asserted in them is rewritten first
from alma_graph.testing.changing import ChangingContract  # noqa: E402
from alma_graph.testing.extras import FeedContract, InspectingContract, MaintainingContract  # noqa: E402
from alma_graph.testing.marks import apply_marks, register_marks  # noqa: E402
from alma_graph.testing.opening import OpeningContract  # noqa: E402
from alma_graph.testing.random_memories import MemoriesContract  # noqa: E402
from alma_graph.testing.random_work import RandomWorkContract  # noqa: E402
from alma_graph.testing.reading import ReadingContract  # noqa: E402
from alma_graph.testing.refusing import RefusingContract  # noqa: E402
from alma_graph.testing.stores import NewLocation, OpenStore, Reopen, StoreFixtures  # noqa: E402
from alma_graph.testing.together import ThreadsContract  # noqa: E402
from alma_graph.testing.writing import WritingContract  # noqa: E402


class BackendContract(
    OpeningContract,
    ReadingContract,
    WritingContract,
    ChangingContract,
    RefusingContract,
    CypherContract,
    ThreadsContract,
    RandomWorkContract,
    MaintainingContract,
    FeedContract,
    InspectingContract,
    MemoriesContract,
):
    """All of the contract that one process can check."""


__all__ = [
    "BackendContract",
    "ChangingContract",
    "CypherContract",
    "FeedContract",
    "InspectingContract",
    "MaintainingContract",
    "MemoriesContract",
    "NewLocation",
    "OpenStore",
    "OpeningContract",
    "RandomWorkContract",
    "ReadingContract",
    "RefusingContract",
    "Reopen",
    "StoreFixtures",
    "ThreadsContract",
    "WritingContract",
    "apply_marks",
    "register_marks",
]
