"""The marks are strict: what an engine is said not to do must fail, in the way that is said, and only there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.test_shipped_suite import environment

CONFTEST = """
import pytest
from alma_graph.testing import apply_marks, register_marks

@pytest.fixture(params=["memory", "kuzu"])
def engine(request):
    return request.param

def pytest_configure(config):
    register_marks(config)

def pytest_collection_modifyitems(items):
    apply_marks(items)
"""


def run(folder: Path, test: str) -> tuple[str, list[tuple[str, str]]]:
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", encoding="utf-8")
    (folder / "test_it.py").write_text(f"import pytest\n\n{test}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) \S+\[(\w+)\]", done.stdout, re.M)
    return done.stdout + done.stderr, sorted(outcomes)


@pytest.mark.parametrize("mark", ["notimpl", "notyet", "never"])
def test_a_gap_is_expected_on_its_engine_and_nowhere_else(tmp_path: Path, mark: str) -> None:
    said, outcomes = run(
        tmp_path,
        f"""
@pytest.mark.{mark}("kuzu", "neo4j", reason="it has none", raises=ValueError)
def test_it(engine):
    if engine == "kuzu":
        raise ValueError
""",
    )
    assert outcomes == [("PASSED", "memory"), ("XFAIL", "kuzu")], said
    assert f"{mark}: it has none" in said


def test_a_gap_that_is_gone_or_another_one_fails(tmp_path: Path) -> None:
    said, outcomes = run(
        tmp_path,
        """
@pytest.mark.never("kuzu", reason="it cannot")
@pytest.mark.notyet("memory", reason="it does not", raises=KeyError)
def test_it(engine):
    if engine == "memory":
        raise ValueError
""",
    )
    assert outcomes == [("FAILED", "kuzu"), ("FAILED", "memory")], said
    assert "XPASS(strict)" in said


@pytest.mark.parametrize(
    "call", ['"kuzu"', 'reason="why"', '"kuzu", reason=""', '"kuzu", reason="why", raise_=KeyError']
)
def test_a_mark_without_its_parts_is_refused(tmp_path: Path, call: str) -> None:
    said, outcomes = run(tmp_path, f"@pytest.mark.never({call})\ndef test_it(engine): ...")
    assert outcomes == []
    assert '@pytest.mark.never("kuzu", reason="why", raises=UnsupportedError)' in said
