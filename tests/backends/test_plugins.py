"""Backends of other distributions are found by their entry points; what is wrong with one names its distribution."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from alma_graph.backends import create_backend, open_backend
from alma_graph.backends.plugins import plugin_names
from alma_graph.errors import BackendError, InvalidInputError, UnsupportedError
from tests.backends.distributions import SHELF, install

Install = Callable[..., Path]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs distributions where this process finds them."""
    target = tmp_path / "site"
    target.mkdir()
    monkeypatch.syspath_prepend(target)

    def add(name: str, entry_points: str, source: str = "", **more: str) -> Path:
        path = install(target, name, entry_points, source, **more)
        monkeypatch.delitem(sys.modules, name.replace("-", "_"), raising=False)
        return path

    return add


def test_a_store_of_another_distribution_is_opened_by_its_scheme(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    install(site, "alma-shelf", "shelf = alma_shelf:open_shelf", SHELF)
    program = """
        from alma_graph import ALMA
        from alma_graph.backends import create_backend, open_backend
        with ALMA.open("shelf:top", project_id="p", embedder="hashing", extractor="rules") as alma:
            alma.learn(agent="dev", task="Deploy the API", outcome="success", strategy_used="Blue-green", id="one")
            assert [hit.memory.id for hit in alma.retrieve("deploy the API").hits] == ["one"]
            assert alma.stats().engine == "shelf"
            again = ALMA.open("shelf:top", project_id="p", extractor="rules")
            assert again.get("one").task == "Deploy the API"
            assert create_backend("shelf", "top") is open_backend("shelf:top")
        print("fine")
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_its_options_and_errors_are_its_own(installed: Install) -> None:
    installed("alma-shelf", "shelf = alma_shelf:open_shelf", SHELF)
    assert plugin_names() == ("shelf",)
    assert open_backend("shelf://host/name").name == "shelf"
    with pytest.raises(InvalidInputError, match="'colour' is no option of the shelf"):
        create_backend("shelf", "x", colour="red")
    with pytest.raises(InvalidInputError, match="not on the shelf"):
        open_backend("shelf:nothing", create=False)
    with pytest.raises(InvalidInputError, match="lock_timeout"):
        open_backend("shelf:x", lock_timeout=-1)
    with pytest.raises(InvalidInputError, match=r"backend='shelves' is unknown.*kuzu.*shelf"):
        create_backend("shelves")


def test_a_name_offered_twice_names_both_distributions(installed: Install) -> None:
    installed("alma-shelf", "shelf = alma_shelf:open_shelf", SHELF)
    installed("other-shelf", "shelf = other_shelf:open_shelf", SHELF, version="2.1")
    with pytest.raises(UnsupportedError, match=r"alma-shelf 1\.0 .* and other-shelf 2\.1 .*uninstall all but one"):
        open_backend("shelf:x")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import a_library_that_is_gone", "ModuleNotFoundError.*a_library_that_is_gone"),
        ("1 / 0", "ZeroDivisionError"),
        ("def open_other(): ...", "AttributeError.*open_shelf"),
        ("open_shelf = 7", "7, no callable"),
        ("def open_shelf(location, **_): return object()", "no capabilities, checkpoint"),
    ],
)
def test_a_broken_distribution_is_named(installed: Install, source: str, words: str) -> None:
    installed("alma-shelf", "shelf = alma_shelf:open_shelf", source)
    with pytest.raises(UnsupportedError, match=rf"'shelf' of alma-shelf 1\.0 .*{words}"):
        open_backend("shelf:x")


def test_a_backend_that_fails_with_an_error_of_its_own_is_named(installed: Install) -> None:
    installed("alma-shelf", "shelf = alma_shelf:open_shelf", "def open_shelf(location, **_): raise OSError('no disk')")
    with pytest.raises(BackendError, match=r"'shelf' of alma-shelf 1\.0 failed to open 'x': OSError: no disk"):
        open_backend("shelf:x")


def test_a_drive_letter_and_our_own_names_are_no_plugins(installed: Install, tmp_path: Path) -> None:
    names = ("c", "memory", "ladybug", "kuzu")
    installed("alma-shelf", "\n".join(f"{name} = alma_shelf:open_shelf" for name in names), SHELF)
    assert create_backend("memory").name == "memory"
    with pytest.raises(InvalidInputError, match="c:"):
        open_backend(f"c:{tmp_path}/nothing", create=False)
