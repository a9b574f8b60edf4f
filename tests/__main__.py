"""Runs all that must hold: tests on every engine, notebooks, types, style and floors. `python -m tests [--fast]`.

One process can load only one of the two embedded engines, so each has a run of its own: the first runs every test, the
second those that open a store.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def steps(fast: bool) -> list[tuple[str, Sequence[str], Mapping[str, str]]]:
    """Name, arguments to the interpreter and extra environment of every step."""
    python = sys.executable
    parallel = ["-n", "auto", "--dist", "loadfile"]
    quick = [*parallel, *(["-m", "not slow"] if fast else [])]
    engines = [*parallel, "-m", "engine and not slow" if fast else "engine"]
    return [
        ("style", [python, "-m", "ruff", "check", "."], {}),
        ("format", [python, "-m", "ruff", "format", "--check", "."], {}),
        ("types (mypy)", [python, "-m", "mypy"], {}),
        ("types (pyright)", [python, "-m", "pyright", "--pythonpath", python], {}),
        ("floors", [str(Path(python).parent / "lint-imports")], {}),
        ("tests, ladybug and memory", [python, "-m", "pytest", "-q", "-rs", *quick], {"ALMA_TEST_ENGINE": "ladybug"}),
        ("tests, kuzu and memory", [python, "-m", "pytest", "-q", "-rs", *engines], {"ALMA_TEST_ENGINE": "kuzu"}),
    ]


def main() -> int:
    """Runs every step, even after one failed, and says at the end what held; 0 when all did."""
    failed: list[str] = []
    report: list[str] = []
    for name, command, environment in steps("--fast" in sys.argv[1:]):
        print(f"== {name}", flush=True)
        start = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode
        line = f"{'ok    ' if code == 0 else 'FAILED'} {time.monotonic() - start:6.1f} s  {name}"
        report.append(line)
        if code != 0:
            failed.append(name)
    print("\n" + "\n".join(report), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
