"""Copies of an open store, and stores of an older schema."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alma_graph import (
    ALMA,
    AlmaGraphError,
    AsyncALMA,
    InvalidInputError,
    StoreLockedError,
    StoreVersionError,
    UnsupportedError,
    backup,
    migrate,
    reembed,
)
from alma_graph.backends import create_backend, open_backend
from alma_graph.backends.embedded import copying
from alma_graph.backends.migrations import MIGRATIONS, Migration
from alma_graph.backends.schema import SCHEMA_VERSION
from alma_graph.errors import StoreClosedError, StoreError
from alma_graph.testing.graphs import dump
from tests.alma.test_odd_values import ODD
from tests.conftest import EMBEDDED, SERVER, embedded_only

NEXT = (
    *MIGRATIONS,
    Migration(SCHEMA_VERSION + 1, "a colour", ("ALTER TABLE Memory ADD colour STRING DEFAULT 'red'",)),
    Migration(SCHEMA_VERSION + 2, "a centre", ("ALTER TABLE Entity ADD centre FLOAT[{dimension}]",)),
)
NOW = SCHEMA_VERSION + 2


def fill(alma: ALMA, count: int = 30) -> None:
    for at in range(count):
        alma.add_domain_knowledge("dev", "d", f"Fact number {at}.", id=f"fact-{at}")
    alma.relate("fact-1", "SUPPORTS", "fact-2")


def held(path: Path | str) -> dict[str, Any]:
    """What a store holds, read through its engine."""
    store = open_backend(path, read_only=True)
    try:
        assert store.verify() == []
        return dump(store)
    finally:
        store.close()


@embedded_only
def test_a_backup_of_an_open_store_is_a_store(plain: ALMA, tmp_path: Path) -> None:
    fill(plain)
    target = tmp_path / "copies"
    target.mkdir()
    assert plain.backup(target / "one.graph") == str(target / "one.graph")
    expected = dump(plain._store.backend)
    plain.add_domain_knowledge("dev", "d", "Written after the backup.")
    assert [path.name for path in target.iterdir()] == ["one.graph"]
    assert held(target / "one.graph") == expected
    with ALMA.open(target / "one.graph", project_id="shop", extractor="none") as copy:
        copy.add_domain_knowledge("dev", "d", "Written into the copy.")
        assert copy.stats().memories == 31
    plain.backup(target / "two.graph")
    assert held(target / "two.graph") == dump(plain._store.backend)


def test_an_engine_without_a_file_says_what_there_is_instead(plain: ALMA, engine: str, tmp_path: Path) -> None:
    if engine == "memory" or SERVER:
        with pytest.raises(UnsupportedError, match="export"):
            plain.backup(tmp_path / "copy.graph")
        assert list(tmp_path.iterdir()) == []
    else:
        plain.backup(tmp_path / "copy.graph")


@embedded_only
def test_a_backup_replaces_nothing_and_says_what_is_wrong(plain: ALMA, tmp_path: Path) -> None:
    fill(plain, 3)
    taken = tmp_path / "taken.graph"
    taken.write_text("precious")
    with pytest.raises(InvalidInputError, match=r"taken\.graph.*exists already"):
        plain.backup(taken)
    assert taken.read_text() == "precious"
    with pytest.raises(InvalidInputError, match="no folder"):
        plain.backup(tmp_path / "nowhere" / "copy.graph")
    with pytest.raises(InvalidInputError, match="path"):
        plain.backup(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="exists already"):
        plain.backup(str(plain._store.backend.path))
    plain.close()
    with pytest.raises(StoreClosedError):
        plain.backup(tmp_path / "late.graph")
    assert not list(tmp_path.glob("*.part*"))


@embedded_only
def test_a_backup_that_does_not_hold_everything_is_not_kept(
    plain: ALMA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(plain, 3)
    state = copying._state

    def one_more(link: Any) -> dict[str, int]:
        return {**state(link), "Memory": 99}

    calls: list[int] = []

    def wrong(link: Any) -> dict[str, int]:
        calls.append(1)
        return one_more(link) if len(calls) == 1 else state(link)

    monkeypatch.setattr(copying, "_state", wrong)
    with pytest.raises(StoreError, match="instead of 99"):
        plain.backup(tmp_path / "copy.graph")
    assert not list(tmp_path.glob("copy*"))
    plain.backup(tmp_path / "copy.graph")


@embedded_only
def test_backups_while_threads_write(plain: ALMA, tmp_path: Path) -> None:
    failures: list[BaseException] = []
    stop = threading.Event()

    def write(name: str) -> None:
        number = 0
        try:
            while not stop.is_set():
                plain.add_domain_knowledge(name, "d", f"{name} {number}", id=f"{name}-{number}")
                number += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"t{at}",)) for at in range(3)]
    for thread in threads:
        thread.start()
    try:
        for at in range(4):
            plain.backup(tmp_path / f"copy-{at}.graph")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    counts = []
    for at in range(4):
        nodes = held(tmp_path / f"copy-{at}.graph")["nodes"]["Memory"]
        counts.append(len(nodes))
        for thread_name in ("t0", "t1", "t2"):  # each thread's memories without a gap: one state, not a mixture
            numbers = {int(row["id"].split("-")[1]) for row in nodes if row["agent"] == thread_name}
            assert numbers == set(range(len(numbers)))
    assert counts == sorted(counts)


WRITER = """
import select, sys
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", embedder="hashing", extractor="none") as alma:
    print("held", flush=True)
    number = 0
    while number < 20 or not select.select([sys.stdin], [], [], 0)[0]:
        alma.add_domain_knowledge("w", "d", f"w {number}", id=f"w-{number}")
        number += 1
"""


@embedded_only
def test_a_backup_beside_a_writer_of_another_process(plain: ALMA, location: str, tmp_path: Path) -> None:
    fill(plain)
    shared = plain._store.backend.capabilities.shared_readers
    plain.close()
    command = [sys.executable, "-c", WRITER, location]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "held\n"
    try:
        if not shared:
            with pytest.raises(StoreLockedError, match=rf"process {writer.pid}"):
                backup(location, tmp_path / "copy-0.graph", lock_timeout=0.2)
            return
        for at in range(3):
            done = backup(location, tmp_path / f"copy-{at}.graph")
            assert done.bytes == (tmp_path / f"copy-{at}.graph").stat().st_size
    finally:
        writer.communicate("\n", timeout=120)
    for at in range(3):
        rows = held(tmp_path / f"copy-{at}.graph")["nodes"]["Memory"]
        numbers = {int(row["id"][2:]) for row in rows if row["agent"] == "w"}
        assert len(rows) - len(numbers) == 30
        assert numbers == set(range(len(numbers)))


# ---------------------------------------------------------------- migrations


@embedded_only
def test_a_migration_keeps_the_store_as_it_was(
    plain: ALMA, location: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(plain)
    plain.close()
    before = held(location)
    with caplog.at_level(logging.WARNING):
        store = create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT)
    kept = tmp_path / f"store.graph.schema-{SCHEMA_VERSION}.backup"
    [line] = [record.getMessage() for record in caplog.records]
    for word in (f"{SCHEMA_VERSION} to {NOW}", "a colour", "a centre", str(kept)):
        assert word in line
    assert store.migrated is not None  # type: ignore[attr-defined]
    assert store.migrated.backup == str(kept)  # type: ignore[attr-defined]
    assert store.run("MATCH (m:Memory) RETURN DISTINCT m.colour", {}).rows == (("red",),)
    assert store.count("Memory") == 30
    store.close()
    assert held(kept) == before
    store = create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT)
    store.close()
    assert sorted(path.name for path in tmp_path.glob("*.backup")) == [kept.name]


@embedded_only
def test_a_failed_migration_leaves_the_store_as_it_was(plain: ALMA, location: str, tmp_path: Path) -> None:
    fill(plain)
    plain.close()
    before = held(location)
    broken = (*NEXT[:-1], Migration(NOW, "nonsense", ("ALTER TABLE Entity ADD x STRING", "ALTER TABLE Nobody DROP y")))
    for _ in range(3):
        with pytest.raises(StoreError, match=rf"migration {NOW} \(nonsense\) failed and was undone"):
            create_backend(EMBEDDED, tmp_path / "store.graph", migrations=broken)
        assert held(location) == before  # of the first of the two steps, too, nothing is left
        assert not list(tmp_path.glob("*.backup*"))
    create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT).close()


@embedded_only
def test_without_a_backup_there_is_no_migration(
    plain: ALMA, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(plain, 3)
    plain.close()
    before = held(location)

    def no_room(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("alma_graph.backends.embedded.copying.shutil.copyfile", no_room)
        with pytest.raises(StoreError, match="No space left"):
            create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT)
    assert held(location) == before
    kept = tmp_path / f"store.graph.schema-{SCHEMA_VERSION}.backup"
    kept.write_text("an earlier one")
    create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT).close()
    assert kept.read_text() == "an earlier one"
    assert held(f"{kept}-2") == before


@embedded_only
def test_a_kill_in_a_migration_leaves_the_old_store_or_the_new_one(plain: ALMA, location: str, tmp_path: Path) -> None:
    fill(plain)
    plain.close()
    code = """
import os, signal, sys
from alma_graph.backends import create_backend
from alma_graph.backends.embedded.engine import Transaction
from tests.alma.test_backups import NEXT
run = Transaction.run
def dying(self, statement, parameters=None):
    if sys.argv[3] in statement:
        os.kill(os.getpid(), signal.SIGKILL)
    run(self, statement, parameters)
Transaction.run = dying
create_backend(sys.argv[1], sys.argv[2], migrations=NEXT)
"""
    before = held(location)
    for statement in ("ADD colour", "ADD centre", "schema_version"):
        command = [sys.executable, "-c", code, EMBEDDED, str(tmp_path / "store.graph"), statement]
        assert subprocess.run(command, check=False, timeout=60).returncode == -9
        assert held(location) == before
    create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT).close()


@embedded_only
def test_migrate_says_what_it_did(plain: ALMA, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(plain, 3)
    plain.close()
    done = migrate(location)
    assert (done.found, done.now, done.steps, done.backup) == (SCHEMA_VERSION, SCHEMA_VERSION, (), None)
    monkeypatch.setattr("alma_graph.backends.registry.MIGRATIONS", NEXT)
    with pytest.raises(StoreVersionError, match="alma-graph migrate"):
        open_backend(location, read_only=True)
    done = migrate(location)
    assert (done.found, done.now, done.steps) == (SCHEMA_VERSION, NOW, ("a colour", "a centre"))
    assert done.backup is not None
    monkeypatch.undo()
    for action in (lambda: migrate(location), lambda: open_backend(location, read_only=True)):
        with pytest.raises(StoreVersionError, match=rf"version {NOW}.*up to {SCHEMA_VERSION}"):
            action()
    assert held(done.backup)["nodes"]["Memory"]
    with pytest.raises(InvalidInputError, match="no store"):
        migrate(tmp_path / "nothing.graph")
    assert not (tmp_path / "nothing.graph").exists()


@embedded_only
def test_odd_values_are_refused(plain: ALMA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(plain, 3)
    before = dump(plain._store.backend)
    for name, odd in ODD.items():
        calls: list[Callable[[Any], Any]] = [
            plain.reembed,
            lambda value: reembed(value, "hashing"),
            lambda value: backup(value, tmp_path / "copy"),
            migrate,
        ]
        if odd is not None and not callable(odd):
            calls.append(lambda value: plain.reembed("hashing", value))
        if not isinstance(odd, str):
            calls.append(plain.backup)
        for number, call in enumerate(calls):
            with pytest.raises(AlmaGraphError):
                call(odd)
                pytest.fail(f"{name} was taken by call {number}")
    assert dump(plain._store.backend) == before
    assert not list(tmp_path.glob("copy*"))


@embedded_only
def test_the_asynchronous_face_has_both(location: str, tmp_path: Path) -> None:
    async def work() -> tuple[Any, str]:
        async with await AsyncALMA.open(location, project_id="shop", embedder="hashing", extractor="none") as alma:
            await alma.add_domain_knowledge("dev", "d", "A fact.")
            return await alma.reembed("hashing:16"), await alma.backup(tmp_path / "copy.graph")

    done, copy = asyncio.run(work())
    assert (done.embedder, done.memories) == ("hashing-16", 1)
    assert (held(copy)["nodes"]["Memory"][0]["text"], held(location)) == ("A fact.", held(copy))
