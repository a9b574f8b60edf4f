"""Kills a Neo4j server with SIGKILL while a process writes to it, again and again, and looks at what is left.

    python -m benchmarks.kill9_server [--kills 5] [--line 5.26|2026]

The writer and the check are those of `benchmarks.kill9`: every unit whose write had returned must be there whole, none
may be there in half, and `verify` must find nothing. Java and Maven must be there.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from alma_graph.backends import UnitOfWork, create_backend
from alma_graph.errors import StoreError
from benchmarks.kill9 import BULK, DIMENSION, KillReport, add, check
from tests.servers.process import NeoServer


def write_until_gone(uri: str, round_number: int, seed: int) -> None:
    """The child: writes until the server is gone, and says what was acknowledged."""
    dice = random.Random(f"{seed}-{round_number}")
    store = create_backend("neo4j", uri)
    if store.meta() is None:
        store.initialise(dimension=DIMENSION, embedder="kill", embedder_revision=None, created_with="kill9")
    print(json.dumps({"ready": True}), flush=True)
    number = 0
    while True:
        number += 1
        first = f"r{round_number}-{number}"
        names = [f"{first}-{position}" for position in range(BULK)] if dice.random() < 0.1 else [first]
        work = UnitOfWork()
        for name in names:
            add(work, name)
        print(json.dumps({"trying": {"add": names}}), flush=True)
        try:
            store.write(work)
        except StoreError:
            return
        print(json.dumps({"add": names}), flush=True)


def one_round(server: NeoServer, round_number: int, seed: int, seconds: float) -> tuple[list[list[str]], list[str]]:
    """Units that were acknowledged, and the one in flight, of a writer whose server is killed after so many seconds."""
    command = [sys.executable, "-m", "benchmarks.kill9_server", "--child", server.uri, str(round_number), str(seed)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parent.parent
    ) as child:
        assert child.stdout is not None
        if not child.stdout.readline():
            raise RuntimeError("the writer did not start")
        timers = [threading.Timer(seconds, server.kill), threading.Timer(seconds + 2, child.kill)]
        for timer in timers:
            timer.start()
        lines = [json.loads(line) for line in child.stdout if line.endswith("\n")]
        child.wait()
        for timer in timers:
            timer.join()
    acknowledged: list[list[str]] = []
    pending: list[str] = []
    for line in lines:
        if "trying" in line:
            pending = line["trying"]["add"]
        else:
            acknowledged.append(line["add"])
            pending = []
    return acknowledged, pending


def main() -> None:
    """Runs the loop from the command line; exit code 1 where anything was lost or halved."""
    if sys.argv[1:2] == ["--child"]:
        write_until_gone(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--line", choices=("5.26", "2026"), default="5.26")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report, dice = KillReport(), random.Random(options.seed)
    expected: dict[str, int] = {}
    server = NeoServer(line=options.line)
    try:
        for round_number in range(options.kills):
            acknowledged, pending = one_round(server, round_number, options.seed, dice.uniform(1.0, 6.0))
            report.kills += 1
            report.acknowledged += len(acknowledged)
            expected.update(dict.fromkeys((name for names in acknowledged for name in names), 0))
            began = time.perf_counter()
            server.start()
            store = create_backend("neo4j", server.uri)
            report.seconds_to_open = max(report.seconds_to_open, time.perf_counter() - began)
            in_flight: dict[str, Any] = {"add": pending} if pending else {}
            check(store, expected, in_flight, report)
            store.close()
    finally:
        server.remove()
    print(
        f"neo4j {options.line}: {report.kills} kills of the server, {report.acknowledged} units acknowledged, "
        f"{len(report.lost)} lost, {len(report.halved)} halved, {len(report.problems)} problems, "
        f"slowest start and open {report.seconds_to_open:.1f} s"
    )
    for line in (*report.lost, *report.halved, *report.problems):
        print(f"  {line}")
    sys.exit(1 if report.lost or report.halved or report.problems else 0)


if __name__ == "__main__":
    main()
