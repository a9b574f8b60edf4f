"""Kills a writing process with SIGKILL, again and again, and looks at what is left.

    python -m benchmarks.kill9 [--engine ladybug|kuzu] [--kills 30] [--bulk 0.1] [--failing 0]

A child writes units (a memory with its vector, its agent, its entities and the edges between them; now and then a bulk
unit, an update, a delete or a checkpoint) and prints what was acknowledged. After each kill the store is opened again:
every acknowledged unit must be there whole, none may be there in half, and `verify` must find nothing.

`--bulk` is the share of units of 400 memories, which go by COPY. Into a share of those, `--failing`, a failure is
injected right after the COPY of their edges: nothing of them may be there, and nothing of what was there may be gone.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from alma_graph.backends import EDGES, Backend, EdgeRow, NodeUpdate, UnitOfWork, create_backend, node_key
from alma_graph.backends.embedded.engine import Transaction
from alma_graph.errors import BackendError

PROJECT = "kill"
DIMENSION = 64
BULK = 400


@dataclass(slots=True)
class KillReport:
    """What a run of kills found.

    Attributes:
        kills: how many times the writer was killed.
        crashes: how often the engine killed it itself (a segmentation fault); looked at like a kill.
        acknowledged: units whose write had returned.
    failed: units into which a failure was injected after the COPY of their edges.
        lost: acknowledged memories that were gone, or acknowledged deletes and updates that were undone.
        halved: memories without their vector, an entity or an edge.
        problems: what `verify` said.
        recovered: how often a standing copy had to be restored.
        seconds_to_open: the slowest open after a kill.
    """

    kills: int = 0
    crashes: int = 0
    acknowledged: int = 0
    failed: int = 0
    lost: list[str] = field(default_factory=list)
    halved: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    recovered: int = 0
    seconds_to_open: float = 0.0


def vector_of(identifier: str) -> Any:
    """The vector that belongs to an identifier."""
    seed = sum(position * byte for position, byte in enumerate(identifier.encode(), 1))
    return np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)


def add(work: UnitOfWork, identifier: str) -> None:
    """Adds a memory with its agent, two entities and three edges."""
    key, agent = node_key(PROJECT, identifier), node_key(PROJECT, "agent")
    work.add_node(
        "Memory",
        {
            "key": key,
            "id": identifier,
            "project_id": PROJECT,
            "agent": "agent",
            "text": f"text of {identifier}",
            "use_count": 0,
            "embedding": vector_of(identifier),
            "token_embeddings": identifier.encode() * 50,
        },
    )
    work.merge_node("Agent", {"key": agent, "id": "agent", "project_id": PROJECT})
    work.edges.append(EdgeRow("LEARNED", agent, key))
    for name in entities_of(identifier):
        entity = node_key(PROJECT, name)
        work.merge_node("Entity", {"key": entity, "project_id": PROJECT, "name": name, "aliases": [name]})
        work.edges.append(EdgeRow("MENTIONS", key, entity, {"surface": name}))


def entities_of(identifier: str) -> list[str]:
    """The entities that a memory mentions: one that many share, one of its own."""
    return [f"shared{len(identifier) % 3}", f"own-{identifier}"]


class InjectedError(RuntimeError):
    """The failure that is injected."""


def fail_after_edges(armed: list[bool]) -> None:
    """From now on the first COPY of edges fails after it was done, where `armed` holds True."""
    copy = Transaction.copy

    def failing(transaction: Transaction, statement: str, table: Any) -> None:
        copy(transaction, statement, table)
        if armed[0] and any(f"`{name}`" in statement for name in EDGES):
            raise InjectedError(statement)

    setattr(Transaction, "copy", failing)  # noqa: B010  (a method is replaced, which the type checker refuses)


def write_until_killed(engine: str, path: str, round_number: int, seed: int, bulk: float, failing: float) -> None:
    """The child: writes for ever and says what was acknowledged."""
    armed = [False]
    fail_after_edges(armed)
    dice = random.Random(f"{seed}-{round_number}")
    store = create_backend(engine, path, buffer_pool_bytes=128 << 20)
    if store.meta() is None:
        store.initialise(dimension=DIMENSION, embedder="kill", embedder_revision=None, created_with="kill9")
    mine: list[str] = []
    print(json.dumps({"ready": True}), flush=True)
    number = 0
    while True:
        number += 1
        work = UnitOfWork()
        said: dict[str, Any] = {"add": [f"r{round_number}-{number}"]}
        choice = dice.random()
        if choice < bulk:
            said = {"add": [f"r{round_number}-{number}-{position}" for position in range(BULK)]}
            armed[0] = dice.random() < failing
        elif choice < bulk + 0.1 and mine:
            gone = mine.pop(dice.randrange(len(mine)))
            said = {"delete": gone}
            work.node_deletes = [("Memory", node_key(PROJECT, gone)), ("Entity", node_key(PROJECT, f"own-{gone}"))]
        elif choice < bulk + 0.25 and mine:
            said = {"update": dice.choice(mine), "value": number}
            values = {"use_count": number, "embedding": vector_of(said["update"])}
            work.node_updates = [NodeUpdate("Memory", node_key(PROJECT, said["update"]), values)]
        for identifier in said.get("add", ()):
            add(work, identifier)
        print(json.dumps({"trying": {} if armed[0] else said}), flush=True)
        try:
            store.write(work)
        except BackendError as error:
            if not isinstance(error.__cause__, InjectedError):
                raise
            armed[0] = False
            print(json.dumps({"failed": len(said["add"])}), flush=True)
            continue
        if armed[0]:
            raise SystemExit("the failure was not injected: the unit did not go by COPY")
        print(json.dumps(said), flush=True)
        mine += said.get("add", [])[:3]
        if dice.random() < 0.15:
            store.checkpoint()


def kill_loop(
    engine: str, path: Path, *, kills: int, seed: int = 1, longest: float = 1.2, bulk: float = 0.1, failing: float = 0.0
) -> KillReport:
    """Starts the child `kills` times, kills it within `longest` seconds of its writes, and checks what is left."""
    report = KillReport()
    dice = random.Random(seed)
    expected: dict[str, int] = {}
    for round_number in range(kills):
        options = (engine, path, round_number, seed, bulk, failing)
        said_lines, pending, crashed = _one_round(options, dice.uniform(0.05, longest))
        acknowledged = [said for said in said_lines if "failed" not in said]
        report.failed += len(said_lines) - len(acknowledged)
        report.kills += not crashed
        report.crashes += crashed
        report.acknowledged += len(acknowledged)
        for said in acknowledged:
            expected.update(dict.fromkeys(said.get("add", ()), 0))
            expected.pop(said.get("delete", ""), None)
            if "update" in said:
                expected[said["update"]] = said["value"]
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            store = create_backend(engine, path, buffer_pool_bytes=128 << 20)
        report.seconds_to_open = max(report.seconds_to_open, time.perf_counter() - began)
        report.recovered += bool(caught)
        check(store, expected, pending, report)
        if store.meta() is not None and round_number % 2:  # every other time the store is written to, closed and opened
            work = UnitOfWork()
            add(work, f"parent-{round_number}")
            store.write(work)
            expected[f"parent-{round_number}"] = 0
            store.close()
            store = create_backend(engine, path, buffer_pool_bytes=128 << 20)
            check(store, expected, {}, report)
        store.close()
    return report


def _one_round(options: Sequence[object], seconds: float) -> tuple[list[dict[str, Any]], dict[str, Any], bool]:
    command = [sys.executable, "-m", "benchmarks.kill9", "--child", *map(str, options)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parent.parent
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        first = child.stdout.readline()
        if not first:
            raise RuntimeError(f"the writer did not start: {child.stderr.read()}")
        timer = threading.Timer(seconds, child.kill)
        timer.start()
        lines = [json.loads(line) for line in child.stdout if line.endswith("\n")]
        timer.cancel()
        code = child.wait()
        if code not in (-signal.SIGKILL, -signal.SIGSEGV):
            raise RuntimeError(f"the writer failed by itself: {child.stderr.read()}")
    pending: dict[str, Any] = {}
    acknowledged = []
    for line in lines:
        if "trying" in line:
            pending = line["trying"]
        else:
            acknowledged.append(line)
            pending = {}
    return acknowledged, pending, code == -signal.SIGSEGV


def check(store: Backend, expected: dict[str, int], pending: dict[str, Any], report: KillReport) -> None:
    """Compares the store with what was acknowledged; the unit in flight may be there or not, but not in half."""
    rows = {row["id"]: row for row in store.nodes("Memory")} if store.meta() is not None else {}
    trying = set(pending.get("add", ()))
    there = {identifier for identifier in trying if identifier in rows}
    if there and there != trying:
        report.halved.append(f"{len(there)} of {len(trying)} memories of the unit in flight")
    if pending.get("delete") in expected and pending["delete"] not in rows:
        del expected[pending["delete"]]
    if pending.get("update") in rows and rows[pending["update"]]["use_count"] == pending["value"]:
        expected[pending["update"]] = pending["value"]
    expected.update(dict.fromkeys(there, 0))
    report.lost += [f"{name} is gone" for name in expected if name not in rows]
    report.lost += [f"{name} is back" for name in rows if name not in expected]
    targets: dict[str, set[str]] = {}
    for edge in store.edges("MENTIONS"):
        targets.setdefault(edge.source, set()).add(edge.target)
    learned = {edge.target for edge in store.edges("LEARNED")}
    for name, row in rows.items():
        if row["use_count"] != expected.get(name):
            report.lost.append(f"{name} has use_count {row['use_count']} instead of {expected.get(name)}")
        if row["embedding"] is None or row["embedding"].tobytes() != vector_of(name).tobytes():
            report.halved.append(f"{name} without its vector")
        if row["token_embeddings"] != name.encode() * 50:
            report.halved.append(f"{name} without its bytes")
        if targets.get(row["key"]) != {node_key(PROJECT, entity) for entity in entities_of(name)}:
            report.halved.append(f"{name} without its entities")
        if row["key"] not in learned:
            report.halved.append(f"{name} without its agent")
    # An entity that several share may outlive its memories here, since this writer deletes only a memory's own.
    report.problems += [problem for problem in store.verify() if "that nothing mentions" not in problem]


def main() -> None:
    """Runs the loop from the command line; exit code 1 where anything was lost or halved."""
    if sys.argv[1:2] == ["--child"]:
        engine, store, round_number, seed, bulk, failing = sys.argv[2:8]
        write_until_killed(engine, store, int(round_number), int(seed), float(bulk), float(failing))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("ladybug", "kuzu"), default="ladybug")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--bulk", type=float, default=0.1, help="share of units of 400 memories, which go by COPY")
    parser.add_argument("--failing", type=float, default=0.0, help="share of those that fail after the COPY of edges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=3.0, help="longest life of a writer, in seconds")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "killed.graph"
        report = kill_loop(
            arguments.engine,
            path,
            kills=arguments.kills,
            seed=arguments.seed,
            longest=arguments.longest,
            bulk=arguments.bulk,
            failing=arguments.failing,
        )
    print(
        f"{arguments.engine}: {report.kills} kills, {report.crashes} crashes of the engine, "
        f"{report.acknowledged} units acknowledged, {report.failed} failed as injected, {len(report.lost)} lost, "
        f"{len(report.halved)} halved, {len(report.problems)} problems, {report.recovered} restored from the "
        "standing copy, "
        f"slowest open {report.seconds_to_open * 1000:.0f} ms"
    )
    for line in (*report.lost, *report.halved, *report.problems):
        print(f"  {line}")
    sys.exit(1 if report.lost or report.halved or report.problems else 0)


if __name__ == "__main__":
    main()
