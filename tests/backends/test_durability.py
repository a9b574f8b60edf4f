"""What must hold when things go wrong: failures inside a write, kills, threads, growth."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from alma_graph.backends import (
    EDGES,
    NODES,
    Backend,
    EdgeMatch,
    EdgeRow,
    NodeUpdate,
    UnitOfWork,
    create_backend,
    open_backend,
)
from alma_graph.backends.embedded import writer
from alma_graph.backends.embedded.dialect import DIALECTS
from alma_graph.backends.embedded.engine import Link, Transaction
from alma_graph.backends.embedded.guard import CheckpointGuard
from alma_graph.backends.embedded.opening import StoreRecoveredWarning
from alma_graph.errors import BackendError
from alma_graph.testing.graphs import PROJECT, batch_of, dump, key, supports, unit_of
from benchmarks.kill9 import kill_loop
from tests.conftest import EMBEDDED, store_location


@pytest.fixture
def store(tmp_path: Path) -> Backend:
    opened = open_backend(store_location(tmp_path, EMBEDDED))
    opened.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    opened.write(batch_of([f"bulk{number}" for number in range(300)]))
    opened.write(unit_of("single"))
    opened.write(UnitOfWork(edges=[supports("single", "bulk0")]))
    return opened


def reopened_elsewhere(store: Backend, tmp_path: Path, look: Callable[[Backend], Any] = dump) -> Any:
    """What a fresh process reads from a copy of the files as they are now, without any close."""
    copy = tmp_path / "as_killed.graph"
    source = Path(store.path or "")
    for suffix in ("", ".wal", ".guard", ".wal.guard", ".guard.done"):
        target = Path(f"{copy}{suffix}")
        target.unlink(missing_ok=True)
        if Path(f"{source}{suffix}").exists():
            target.write_bytes(Path(f"{source}{suffix}").read_bytes())
    opened = open_backend(copy)
    try:
        assert opened.verify() == []
        return look(opened)
    finally:
        opened.close()


def from_both_ends(store: Backend) -> dict[str, Any]:
    """Every edge as looked up by its source, and by its target."""
    keys = [row["key"] for label in NODES if label != "Meta" for row in store.nodes(label, columns=("key",))]
    return {name: (store.edges(name, sources=keys), store.edges(name, targets=keys)) for name in EDGES}


def test_deleted_neighbours_come_back_deleted_from_the_log_and_nothing_else_is(store: Backend, tmp_path: Path) -> None:
    names = [f"turn{number}" for number in range(20)]
    work = batch_of(names)
    work.edges += [EdgeRow("NEXT", key(one), key(two)) for one, two in pairwise(["bulk0", *names])]
    store.write(work)
    store.checkpoint()
    store.write(UnitOfWork(node_deletes=[("Memory", key(name)) for name in names[3:9]]))
    store.write(UnitOfWork(edge_deletes=[EdgeMatch("NEXT", source=key("turn10"))]))
    store.write(UnitOfWork(node_deletes=[("Memory", key("turn10")), ("Memory", key("turn11"))]))
    now = dump(store), from_both_ends(store)
    assert all(going == coming for going, coming in now[1].values())
    assert reopened_elsewhere(store, tmp_path, lambda copy: (dump(copy), from_both_ends(copy))) == now


def test_edges_made_and_removed_between_checkpoints(store: Backend) -> None:
    """Kuzu's memory of a table is broken by this; what used it ended the process."""
    for number in range(4):
        store.write(unit_of(f"brief{number}", ["brief"]))
        store.write(UnitOfWork(node_deletes=[("Memory", key(f"brief{number}")), ("Entity", key("brief"))]))
        store.checkpoint()
        store.write(unit_of(f"kept{number}", ["brief"]))
        store.write(UnitOfWork(node_deletes=[("Entity", key("brief"))]))
        store.checkpoint()
    assert all(going == coming for going, coming in from_both_ends(store).values())
    assert store.count("Memory") == 305


class InjectedError(RuntimeError):
    """The failure that a test puts in."""


def fail_at(monkeypatch: pytest.MonkeyPatch, when: Callable[[str], bool], *, engine_error: bool) -> None:
    """Makes the transaction fail behind the first statement that `when` picks."""
    run, copy = Transaction.run, Transaction.copy

    def failing(self: Transaction, statement: str) -> None:
        if when(statement):
            if engine_error:
                self.link.rows("MATCH (n:Nowhere) RETURN n")
            raise InjectedError("the disk is full")

    def failing_run(self: Transaction, statement: str, parameters: Any = None) -> None:
        run(self, statement, parameters)
        failing(self, statement)

    def failing_copy(self: Transaction, statement: str, table: Any) -> None:
        copy(self, statement, table)
        failing(self, statement)

    monkeypatch.setattr(Transaction, "run", failing_run)
    monkeypatch.setattr(Transaction, "copy", failing_copy)


@pytest.mark.parametrize("engine_error", [True, False], ids=["engine", "python"])
@pytest.mark.parametrize(
    ("statement", "copies"),
    [
        ("CREATE (:`Memory`", 1),
        ("SET", 1),
        ("CREATE (a)-[:`MENTIONS`", 1),
        ("COPY `Memory`", 300),
        ("COPY `LEARNED`", 300),
        ("COPY `MENTIONS`", 300),
    ],
)
def test_a_failure_inside_a_write_leaves_nothing_of_it(
    store: Backend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    copies: int,
    engine_error: bool,
) -> None:
    before = dump(store)
    for _ in range(2):
        with monkeypatch.context() as patch:
            fail_at(patch, lambda text: statement in text, engine_error=engine_error)
            with pytest.raises(BackendError, match="not applied"):
                store.write(batch_of([f"new{number}" for number in range(copies)]))
        assert dump(store) == before
    store.write(unit_of("after"))
    store.write(UnitOfWork(edges=[supports("after", "single")], node_deletes=[("Memory", key("bulk7"))]))
    store.write(batch_of([f"more{number}" for number in range(300)]))
    after = dump(store)
    assert store.verify() == []
    assert len(after["nodes"]["Memory"]) == len(before["nodes"]["Memory"]) + 300
    assert reopened_elsewhere(store, tmp_path) == after
    store.close()
    again = open_backend(store_location(tmp_path, EMBEDDED))
    assert dump(again) == after
    again.close()


def test_a_failed_update_is_undone_and_the_row_can_be_updated_again(
    store: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def update(value: int) -> UnitOfWork:
        names = ("single", "bulk1", "bulk2")
        return UnitOfWork(node_updates=[NodeUpdate("Memory", key(name), {"use_count": value}) for name in names])

    for value in range(1, 6):
        store.write(update(value))
        with monkeypatch.context() as patch:
            fail_at(patch, lambda text: "`sequence`" in text, engine_error=bool(value % 2))
            with pytest.raises(BackendError):
                store.write(update(-value))
        rows = store.nodes("Memory", keys=[key("single"), key("bulk1")], columns=("use_count",))
        assert [row["use_count"] for row in rows] == [value, value]
    assert reopened_elsewhere(store, tmp_path) == dump(store)
    store.close()


def test_nothing_runs_in_a_transaction_that_failed(store: Backend) -> None:
    engine = store._engine  # type: ignore[attr-defined]
    caught: list[str] = []

    def body(transaction: Transaction) -> None:
        with pytest.raises(RuntimeError):
            transaction.run("MATCH (n:Nowhere) RETURN n")
        with pytest.raises(BackendError, match="failed earlier"):
            transaction.run("CREATE (:Agent {key: 'x'})")
        with pytest.raises(BackendError, match="failed earlier"):
            transaction.copy("COPY Agent FROM $rows", None)
        caught.append("refused")
        raise InjectedError

    with pytest.raises(InjectedError), engine.transaction() as transaction:
        body(transaction)
    assert caught == ["refused"]
    store._store.ensure_open()  # type: ignore[attr-defined]
    assert store.nodes("Agent", keys=["x"]) == []
    store.close()


@pytest.mark.parametrize("point", ["copied", "marked", "after commit", "checkpointed"])
def test_a_kill_around_a_bulk_write_leaves_all_or_nothing(tmp_path: Path, point: str) -> None:
    """COPY's rows are not in the log: a kill between commit and checkpoint must not keep half of the unit."""
    code = """
import os, signal, sys
from alma_graph.backends import open_backend
from alma_graph.backends.embedded.dialect import DIALECTS
from alma_graph.backends.embedded.engine import Link, Transaction
from alma_graph.backends.embedded.guard import CheckpointGuard
from alma_graph.testing.graphs import batch_of, unit_of

def die(*arguments, **keywords):
    os.kill(os.getpid(), signal.SIGKILL)

store = open_backend(sys.argv[1])
store.initialise(dimension=8, embedder="t", embedder_revision=None, created_with="t")
store.write(batch_of([f"old{n}" for n in range(300)]))
store.write(unit_of("single"))
point, rows, take, drop = sys.argv[2], Link.rows, CheckpointGuard._take, CheckpointGuard._drop
if point == "copied":
    Transaction.copy = die
elif point == "marked":
    CheckpointGuard._take = lambda self: (take(self), die())
elif point == "after commit":
    Link.rows = lambda self, text, values=None: die() if text == "CHECKPOINT" else rows(self, text, values)
elif point == "checkpointed":
    CheckpointGuard._drop = lambda self: die() if self.marked else drop(self)
store.write(batch_of([f"new{n}" for n in range(300)]))
"""
    location = store_location(tmp_path, EMBEDDED)
    done = subprocess.run([sys.executable, "-c", code, location, point], check=False, capture_output=True, timeout=60)
    assert done.returncode == -9, done.stderr
    with pytest.warns(StoreRecoveredWarning, match="interrupted"):
        store = open_backend(location)
    assert store.verify() == []
    assert (store.count("Memory"), store.count("MENTIONS"), store.sequence()) == (301, 602, 2)
    store.write(batch_of([f"new{n}" for n in range(300)]))
    assert store.count("Memory") == 601
    store.close()
    assert not list(tmp_path.glob("*.guard*"))


def test_a_copy_that_was_not_finished_is_thrown_away(store: Backend, tmp_path: Path) -> None:
    expected = dump(store)
    store.close()
    (tmp_path / "store.graph.guard").write_bytes(b"half a co")
    (tmp_path / "store.graph.wal.guard").write_bytes(b"half")
    again = open_backend(store_location(tmp_path, EMBEDDED))
    assert dump(again) == expected
    assert not list(tmp_path.glob("*.guard*"))
    again.close()


def test_a_reader_undoes_an_interrupted_write_too(store: Backend, tmp_path: Path) -> None:
    expected = dump(store)
    store.checkpoint()
    store.close()
    path = tmp_path / "store.graph"
    CheckpointGuard(str(path))._take()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096))
    with pytest.warns(StoreRecoveredWarning):
        reader = open_backend(path, read_only=True)
    assert dump(reader) == expected
    reader.close()


def test_copies_of_a_log_that_begins_with_a_checkpoint_come_back_whole(store: Backend, tmp_path: Path) -> None:
    """Made under a reader, a checkpoint of Ladybug leaves its record in the log, and a mark beside it."""
    if not store.capabilities.shared_readers:
        store.close()  # no checkpoint is made under a reader
        return
    expected = dump(store)
    reader = store._engine.connect()  # type: ignore[attr-defined]
    reader.rows("BEGIN TRANSACTION READ ONLY")
    reader.rows("MATCH (m:Memory) RETURN m.id")
    store.checkpoint()
    assert (tmp_path / "store.graph.pinned.tmp").exists()
    guard = CheckpointGuard(str(tmp_path / "store.graph"))
    guard._take()
    store.back_up(str(tmp_path / "copy.graph"))  # type: ignore[attr-defined]
    reader.rows("COMMIT")
    reader.close()
    store.write(unit_of("later"))
    store.checkpoint()
    assert not (tmp_path / "store.graph.pinned.tmp").exists()
    store.close()
    with pytest.warns(StoreRecoveredWarning):
        again = open_backend(store_location(tmp_path, EMBEDDED))
    assert dump(again) == expected
    again.close()
    copy = open_backend(tmp_path / "copy.graph")
    assert dump(copy) == expected
    copy.close()
    assert not list(tmp_path.glob("*.guard*"))


@pytest.mark.parametrize(("bulk", "failing"), [(0.1, 0.0), (0.6, 0.3)], ids=["single", "batches that may fail"])
def test_killed_in_the_middle_of_writes(tmp_path: Path, bulk: float, failing: float) -> None:
    report = kill_loop(EMBEDDED, tmp_path / "killed.graph", kills=5, seed=7, bulk=bulk, failing=failing)
    assert report.kills + report.crashes == 5
    assert report.acknowledged > 0
    assert report.lost == []
    assert report.halved == []
    assert report.problems == []


def test_threads_share_one_store(backend: Backend) -> None:
    failures: list[BaseException] = []

    def add(thread: int) -> None:
        try:
            for number in range(50):
                backend.write(unit_of(f"t{thread}-{number}", (f"e{thread}",)))
                if number % 10 == 0:
                    backend.nodes("Memory", keys=[key(f"t{thread}-{number}")])
                    assert len(backend.edges("MENTIONS", sources=[key(f"t{thread}-{number}")])) == 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (backend.count("Memory"), backend.count("MENTIONS"), backend.sequence()) == (400, 400, 400)
    assert backend.verify() == []


def test_readers_see_no_half_of_a_write(store: Backend) -> None:
    """While one thread writes memories with their edges, others never see one without the other."""
    stop = threading.Event()
    wrong: list[Any] = []

    def look() -> None:
        statement = (
            "MATCH (m:Memory) WHERE m.id STARTS WITH 'w' OPTIONAL MATCH (m)-[r:MENTIONS]->() "
            "WITH m, count(r) AS n WHERE n <> 2 RETURN m.id, n"
        )
        try:
            while not stop.is_set():
                wrong.extend(store.run(statement, {}).rows)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(30):
        store.write(unit_of(f"w{number}"))
        if number in (10, 20):
            store.checkpoint()
    store.write(batch_of([f"wb{number}" for number in range(300)]))
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    store.close()


def test_one_small_write_after_a_bulk_write_does_not_grow_the_file(tmp_path: Path) -> None:
    store = create_backend(EMBEDDED, tmp_path / "a.graph")
    store.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    store.write(batch_of([f"m{number}" for number in range(10_000)]))
    store.close()  # folds the log; the engine takes some room for that once
    store = create_backend(EMBEDDED, tmp_path / "a.graph")
    before = store.size_bytes()
    store.write(unit_of("one"))
    assert store.size_bytes() - before < 100_000
    for number in range(12):
        store.write(unit_of(f"settling{number}"))
        store.checkpoint()
    before = store.size_bytes()
    store.write(unit_of("another"))
    store.close()
    store = create_backend(EMBEDDED, tmp_path / "a.graph")
    assert store.count("Memory") == 10_014
    assert store.size_bytes() - before < 1_000_000
    sizes = []
    for number in range(6):
        store.write(unit_of(f"more{number}"))
        store.checkpoint()
        sizes.append(store.size_bytes())
    assert sizes[-1] == sizes[-2] == sizes[-3]  # a checkpoint rewrites pages and takes the freed ones again
    store.close()


def test_the_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = create_backend(EMBEDDED, tmp_path / "a.graph")
    store.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    log = tmp_path / "a.graph.wal"
    checkpoints = 0
    rows = Link.rows

    def counted(self: Link, statement: str, parameters: Any = None) -> list[list[Any]]:
        nonlocal checkpoints
        checkpoints += statement == "CHECKPOINT"
        return rows(self, statement, parameters)

    monkeypatch.setattr(Link, "rows", counted)
    monkeypatch.setattr(type(store._dialect), "checkpoint_bytes", property(lambda self: 50_000))  # type: ignore[attr-defined]
    for number in range(60):
        store.write(unit_of(f"m{number}"))
        assert not log.exists() or log.stat().st_size < 60_000
    assert checkpoints >= 1
    assert store.verify() == []
    store.close()


def test_many_vector_updates_do_not_exhaust_the_engine(tmp_path: Path) -> None:
    store = create_backend(EMBEDDED, tmp_path / "a.graph", buffer_pool_bytes=64 << 20)
    store.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    store.write(batch_of([f"m{number}" for number in range(50)]))
    for step in range(30):
        values = {"embedding": [float(step + 1)] * 8, "use_count": step}
        store.write(UnitOfWork(node_updates=[NodeUpdate("Memory", key(f"m{n}"), values) for n in range(50)]))
    keys, matrix = store.vectors("Memory", project_id=PROJECT)
    assert len(keys) == 50
    assert (matrix == 30.0).all()
    store.close()
    again = open_backend(tmp_path / "a.graph")
    assert (again.vectors("Memory", project_id=PROJECT)[1] == 30.0).all()
    again.close()


def test_the_plan_of_a_unit_puts_edges_last() -> None:
    calls: list[str] = []

    class Recorder:
        def run(self, statement: str, parameters: Any = None) -> None:
            calls.append(statement)

        def copy(self, statement: str, table: Any) -> None:
            calls.append(statement)

    from alma_graph.backends.validation import check_work

    work = batch_of([f"m{number}" for number in range(5)], ("redis",))
    work.edges.append(supports("m1", "m0"))
    checked = check_work(work, dimension=8, existing=lambda label, keys: set())
    dialect = replace(DIALECTS[EMBEDDED], copy_rows=5)
    writer.apply_work(Recorder(), checked, dialect, dimension=8, bulk=True)  # type: ignore[arg-type]
    kinds = [call.split("`")[1] for call in calls]
    assert kinds == ["Memory", "Agent", "Entity", "Meta", "Memory", "MENTIONS", "LEARNED"]
    assert [call[:4] for call in calls] == ["COPY", "CREA", "CREA", "MATC", "MATC", "COPY", "COPY"]
