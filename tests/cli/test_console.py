"""The command line as a process: start-up, narrow consoles, pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

RUN = [sys.executable, "-c", "from alma_graph.cli import main; main()"]
HEAVY = (
    "torch",
    "spacy",
    "onnxruntime",
    "onnx",
    "sentence_transformers",
    "transformers",
    "pandas",
    "pyarrow",
    "scipy",
    "networkx",
)
ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, encoding: str = "utf-8", **more: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding, **more}
    return subprocess.run([*RUN, *arguments], capture_output=True, env=environment, check=False)


def modules_after(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom alma_graph.cli import cli\n"
        f"try: cli.main({list(arguments)!r}, prog_name='alma-graph')\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(' '.join(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    loaded = modules_after("--help")
    assert loaded.isdisjoint(HEAVY)
    assert loaded.isdisjoint({"numpy", "pydantic", "rich", "ladybug", "kuzu"})


def test_stats_loads_no_model_and_no_parser(filled: str) -> None:
    loaded = modules_after("stats", "--store", filled, "--project", "shop")
    assert loaded.isdisjoint(set(HEAVY) - {"pyarrow"})  # the engines give their rows as Arrow
    assert loaded.isdisjoint({"pydantic", "snowballstemmer", "rich"})


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_narrow_console_never_fails(filled: str, encoding: str) -> None:
    shop = ("--store", filled, "--project", "shop")
    for command in (
        ("stats",),
        ("query",),
        ("query", "recent-memories"),
        ("retrieve", "café"),
        ("why", "odd"),
        ("--help",),
    ):
        where = () if command in (("--help",), ("query",)) else shop
        done = run(*command, *where, encoding=encoding)
        assert done.returncode == 0, done.stderr
        done.stdout.decode(encoding)
    failed = run("why", *shop, "東京", encoding=encoding)
    assert failed.returncode == 2
    assert failed.stderr.startswith(b"error: ")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_json_loses_nothing_on_a_narrow_console(filled: str, encoding: str) -> None:
    done = run(
        "query",
        "recent-memories",
        "kind=observation",
        "--json",
        "--store",
        filled,
        "--project",
        "shop",
        encoding=encoding,
    )
    (row,) = json.loads(done.stdout.decode(encoding))
    assert "東京" in row["text"]


def test_output_has_no_pictograms(filled: str) -> None:
    done = run("query", encoding="utf-8")
    assert max(done.stdout.decode()) < "\u2600"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of a POSIX shell")
def test_a_reader_that_stops_reading_is_no_error(filled: str) -> None:
    line = f"{sys.executable} -c 'from alma_graph.cli import main; main()' query --json | head -c 10"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stderr == b""


EVERY_PRINTING = [
    *(("stats",), ("stats", "--json"), ("query",), ("query", "recent-memories"), ("retrieve", "deploy")),
    *(
        ("why", "odd", "--json"),
        ("export", "-"),
        ("export", "-", "--raw"),
        ("doctor",),
        ("contradictions",),
        ("cypher", "MATCH (m:Memory) RETURN m.id"),
    ),
]


def in_shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    line = ["sh", "-c", f'"$@" {redirection}', "sh", *RUN, *arguments]
    return subprocess.run(line, capture_output=True, env=environment, check=False)


@pytest.mark.parametrize("command", EVERY_PRINTING, ids=" ".join)
@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
def test_a_stdout_that_takes_nothing_is_named(filled: str, command: tuple[str, ...], redirection: str) -> None:
    where = () if command == ("query",) else ("--store", filled, "--project", "shop")
    asked = ("export", filled, *command[1:]) if command[0] == "export" else (*command, *where)
    done = in_shell(redirection, *asked)
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if not line.startswith(b"export: ")]  # its progress
    assert line.startswith(b"error: stdout")


def test_a_closed_stdout_is_told_before_anything_is_written(store: str) -> None:
    assert in_shell(">&-", "observe", "--store", store, "--agent", "a", "--session", "s", "Hello.").returncode == 1
    assert not Path(store.partition(":")[2]).exists()


def test_a_closed_stderr_leaves_stdout_alone(filled: str) -> None:
    done = in_shell("2>&-", "doctor", filled, "--json")
    assert json.loads(done.stdout)["ok"] is True
    assert in_shell("<&- 2>&-", "stats", "--store", filled, "--project", "shop").returncode == 0
