"""Open stores of a process are shared and counted."""

from __future__ import annotations

import os

import pytest

from alma_graph.backends.handles import Handles


class Engine:
    """Counts how often it was closed."""

    closed = 0

    def shutdown(self) -> None:
        self.closed += 1


def test_the_last_handle_closes_the_engine() -> None:
    handles: Handles[str, Engine] = Handles()
    assert handles.find("here") is None
    engine = Engine()
    handles.keep("here", engine)
    handles.open_again("here")
    handles.give_back("here")
    assert (handles.find("here"), engine.closed) == (engine, 0)
    handles.give_back("here")
    assert (handles.find("here"), engine.closed) == (None, 1)
    handles.give_back("here")
    assert engine.closed == 1


def test_what_a_fork_inherited_is_its_parent_s(monkeypatch: pytest.MonkeyPatch) -> None:
    handles: Handles[str, Engine] = Handles()
    inherited, own = Engine(), Engine()
    handles.keep("here", inherited)
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    assert handles.find("here") is None
    handles.give_back("here")
    handles.keep("here", own)
    assert handles.find("here") is own
    handles.give_back("here")
    assert (inherited.closed, own.closed) == (0, 1)
