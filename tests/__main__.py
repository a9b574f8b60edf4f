"""Runs all that must hold: tests on every engine, notebooks, types, style and floors. `python -m tests [--fast]`.

One process can load only one of the two embedded engines, so each has a run of its own: the first runs every test, the
second those that open a store. Those run on a real Neo4j too, of two lines of releases, where Java and Maven are found;
otherwise the last lines say that this did not run, and why. ALMA_TEST_REQUIRE_NEO4J=1 makes that a failure.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.jars import LINES, missing

ROOT = Path(__file__).resolve().parent.parent
_MOST_SECONDS = 2400
"""What a step may take; on two cores the longest, Neo4j's, is done in half of it."""


@dataclass(frozen=True)
class Step:
    """One thing to run.

    Attributes:
        command: arguments to the interpreter, itself included.
        environment: added to this process's.
        line: of Neo4j's releases, whose server the step needs.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    line: str | None = None


def steps(fast: bool) -> list[Step]:
    """All of them, in order."""
    python = sys.executable
    # a worker that an engine ends must fail the run, not hold it up
    tests = [python, "-m", "pytest", "-q", "-rs", "-n", "auto", "--dist", "loadfile", "--max-worker-restart", "0"]
    quick = ["-m", "not slow"] if fast else []
    engines = ["-m", "engine and not slow" if fast else "engine"]
    contract = ["tests/backends/test_contract.py", "tests/backends/bolt"]
    return [
        Step("style", [python, "-m", "ruff", "check", "."]),
        Step("format", [python, "-m", "ruff", "format", "--check", "."]),
        Step("types (mypy)", [python, "-m", "mypy"]),
        Step("types (pyright)", [python, "-m", "pyright", "--pythonpath", python]),
        Step("floors", [str(Path(python).parent / "lint-imports")]),
        Step("tests, ladybug and memory", [*tests, *quick], {"ALMA_TEST_ENGINE": "ladybug"}),
        Step("tests, kuzu", [*tests, *engines], {"ALMA_TEST_ENGINE": "kuzu"}),
        Step("tests, neo4j 5.26", [*tests, *engines], _neo4j("5.26"), "5.26"),
        Step("contract, neo4j 2026", [*tests, "-m", "engine and not slow", *contract], _neo4j("2026"), "2026"),
    ]


def _neo4j(line: str) -> dict[str, str]:
    return {"ALMA_TEST_ENGINE": "neo4j", "ALMA_TEST_NEO4J_LINE": line}


def main() -> int:
    """Runs every step, even after one failed, and says at the end what held; 0 when all did."""
    required = os.environ.get("ALMA_TEST_REQUIRE_NEO4J") == "1"
    ok = True
    report: list[str] = []
    for step in steps("--fast" in sys.argv[1:]):
        print(f"== {step.name}", flush=True)
        lacking = _lacking(step)
        if lacking is not None:
            ok = ok and not required
            report.append(f"NOT RUN           {step.name}: {lacking}")
            continue
        start = time.monotonic()
        good = _run(step)
        report.append(f"{'ok    ' if good else 'FAILED'} {time.monotonic() - start:8.1f} s  {step.name}")
        ok = ok and good
    print("\n" + "\n".join(report), flush=True)
    return 0 if ok else 1


def _run(step: Step) -> bool:
    environment = {**os.environ, **step.environment}
    with subprocess.Popen(step.command, cwd=ROOT, env=environment, start_new_session=True) as process:
        try:
            return process.wait(_MOST_SECONDS) == 0
        except BaseException as error:  # of an interrupt from the keyboard, too, nothing may be left running
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            print(f"{step.name}: ended after {_MOST_SECONDS} s", flush=True)
            return False


def _lacking(step: Step) -> str | None:
    """Why a step cannot run here."""
    if step.line is None or os.environ.get("ALMA_TEST_NEO4J_URI"):
        return None
    return missing(LINES[step.line])


if __name__ == "__main__":
    sys.exit(main())
