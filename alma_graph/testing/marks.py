"""Marks for what one engine does not do, at the test that asks for it.

    @pytest.mark.never("memory", reason="it keeps nothing after close", raises=MemoryNotFoundError)

`notimpl`: we have not built it for that engine; `notyet`: the engine does not do it, and should one day; `never`: it
cannot, by what it is. Each is a strict xfail, so the suite says so on the day on which it is no longer true. A
conftest registers them with `register_marks(config)` and applies them with `apply_marks(items)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

MARKS = {
    "notimpl": "we have not built it for that engine",
    "notyet": "the engine does not do it, and should one day",
    "never": "the engine cannot do it, by what it is",
}


def register_marks(config: pytest.Config) -> None:
    """Makes the marks known; for `pytest_configure`."""
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}(*engines, reason, raises=Exception): a strict xfail: {meaning}")


def apply_marks(items: Iterable[pytest.Item], parameter: str = "engine") -> None:
    """Turns the marks of the tests into strict xfails where their engine is named; for `pytest_collection_modifyitems`.

    Args:
        parameter: the parameter of a test, set by parametrisation, whose value is the engine's name.

    Raises:
        pytest.UsageError: a mark that names no engine or no reason.
    """
    for item in items:
        call = getattr(item, "callspec", None)
        engine = None if call is None else call.params.get(parameter)
        for name in MARKS:
            for mark in item.iter_markers(name):
                reason, raises = _checked(mark, item)
                if engine in mark.args:
                    item.add_marker(pytest.mark.xfail(strict=True, reason=f"{name}: {reason}", raises=raises))


def _checked(mark: pytest.Mark, item: pytest.Item) -> tuple[str, Any]:
    engines_are_names = bool(mark.args) and all(isinstance(engine, str) for engine in mark.args)
    reason = mark.kwargs.get("reason")
    if not engines_are_names or not isinstance(reason, str) or not reason or mark.kwargs.keys() - {"reason", "raises"}:
        raise pytest.UsageError(
            f"{item.nodeid}: @pytest.mark.{mark.name} takes names of engines, reason= and raises=, e.g. "
            f'@pytest.mark.{mark.name}("kuzu", reason="why", raises=UnsupportedError)'
        )
    return reason, mark.kwargs.get("raises", Exception)
