"""What the README shows is run: its Python, its command lines, and what it says of the package."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SHELL = [code.strip().splitlines() for language, code in BLOCKS if language == "sh"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the README's reader works."""
    place = tmp_path_factory.mktemp("reader")
    turns = [
        {
            "conv": "c",
            "session": 1,
            "date": "1:56 pm on 8 May, 2023",
            "dia_id": "D1:1",
            "speaker": "Ann",
            "text": "Hi!",
        },
        {
            "conv": "c",
            "session": 1,
            "date": "1:56 pm on 8 May, 2023",
            "dia_id": "D1:2",
            "speaker": "Bo",
            "text": "I moved.",
        },
    ]
    (place / "conversation.jsonl").write_text("\n".join(json.dumps({**turn, "image_caption": None}) for turn in turns))
    return place


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_the_python_of_the_readme_runs(folder: Path, number: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PYTHON[number]], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if "contradictions" in PYTHON[number]:
        assert "3 of 4 succeeded" in done.stdout
        assert "'9090' / '8080'" in done.stdout


def test_the_commands_of_the_readme_run_in_order(tmp_path: Path, folder: Path) -> None:
    [lines] = [block for block in SHELL if block[0].startswith("alma-graph init")]
    lines += next(block for block in SHELL if block[0].startswith("alma-graph backup"))
    lines += next(block for block in SHELL if block[0].startswith("alma-graph export"))
    with sqlite3.connect(tmp_path / "alma.db") as database:
        database.executescript((ROOT / "tests" / "importers" / "alma_0_11.sql").read_text(encoding="utf-8"))
    database.close()
    (tmp_path / "conversation.jsonl").write_bytes((folder / "conversation.jsonl").read_bytes())
    program = str(Path(sys.executable).parent / "alma-graph")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ALMA_GRAPH_")}
    for line in lines:
        command = [program, *shlex.split(line, comments=True)[1:]]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", env=environment, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_first_two_commands_are_one_line_each_and_name_what_exists() -> None:
    first, second = SHELL[0], SHELL[1]
    assert len(first) == len(second) == 1
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"\.\[([\w,-]+)\]", first[0] + second[0])
    assert named
    assert all(extra in extras for group in named for extra in group.split(","))
    assert first[0].endswith("alma-graph demo")
    assert second[0].endswith("-m tests")


def test_links_of_the_readme_lead_somewhere() -> None:
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (ROOT / target).exists(), target
    for path in re.findall(r"`((?:docs|notebooks|benchmarks|backends|queries)/[\w./-]+)`", README):
        assert (ROOT / path).exists(), path
