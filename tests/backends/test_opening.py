"""Opening stores: engines, files, locks, handles."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from alma_graph.backends import SCHEMA_VERSION, Backend, UnitOfWork, create_backend, open_backend
from alma_graph.backends.embedded.dialect import DIALECTS
from alma_graph.backends.embedded.opening import StoreRecoveredWarning
from alma_graph.backends.migrations import MIGRATIONS as KNOWN
from alma_graph.backends.migrations import Migration, pending
from alma_graph.errors import (
    AlmaGraphError,
    InvalidInputError,
    MissingDependencyError,
    ReadOnlyError,
    ServerError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreVersionError,
    UnsupportedError,
)
from alma_graph.testing.graphs import batch_of, dump, unit_of
from tests.conftest import EMBEDDED

OTHER = next(name for name in DIALECTS if name != EMBEDDED)
SHARED_READERS = DIALECTS[EMBEDDED].shared_readers


def make(path: Path, *, close: bool = True, units: int = 1) -> Backend:
    """A store with some memories."""
    store = create_backend(EMBEDDED, path)
    store.initialise(dimension=8, embedder="test", embedder_revision=None, created_with="tests")
    for number in range(units):
        store.write(unit_of(f"m{number}"))
    if close:
        store.close()
    return store


def run_child(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=60, **options
    )


def test_a_plain_path_is_recognised_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path)
    for location in (path, str(path), f"{EMBEDDED}:{path}"):
        store = open_backend(location)
        assert store.name == EMBEDDED
        assert store.count("Memory") == 1
        store.close()
    with pytest.raises(InvalidInputError, match=f"is a {EMBEDDED} store, not {OTHER}"):
        open_backend(f"{OTHER}:{path}")


def test_a_new_plain_path_is_ladybug_s(tmp_path: Path) -> None:
    code = "import sys; from alma_graph.backends import open_backend as o; b = o(sys.argv[1]); print(b.name); b.close()"
    assert run_child(code, str(tmp_path / "new.graph")).stdout.strip() == "ladybug"


def test_the_other_engine_in_one_process_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "a.graph")
    with pytest.raises(UnsupportedError, match=f"has loaded {EMBEDDED}, so it cannot load {OTHER}"):
        create_backend(OTHER, tmp_path / "b.graph")
    assert OTHER not in sys.modules


def test_an_engine_that_is_not_installed_names_the_line(tmp_path: Path) -> None:
    code = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "kuzu" else find(name, *rest)
from alma_graph.backends import create_backend
from alma_graph.errors import MissingDependencyError
try:
    create_backend("kuzu", sys.argv[1])
except MissingDependencyError as error:
    print(error)
"""
    assert "pip install 'alma_graph[kuzu]'" in run_child(code, str(tmp_path / "k")).stdout
    assert issubclass(MissingDependencyError, UnsupportedError)
    assert not (tmp_path / "k").exists()


@pytest.mark.parametrize(
    ("location", "error", "words"),
    [
        ("", InvalidInputError, "no path"),
        ("  ", InvalidInputError, "no path"),
        ("a\0b", InvalidInputError, "no path"),
        ("kuzu:", InvalidInputError, "no path behind"),
        (7, InvalidInputError, "no path"),
        ("bolt://127.0.0.1:1", ServerError, "cannot be reached"),
        ("bolt:127.0.0.1", InvalidInputError, "names no server"),
        ("neo4j://127.0.0.1:1/shop", InvalidInputError, "database="),
        ("bolt+tls://127.0.0.1:1", InvalidInputError, "unknown scheme"),
        ("neo4j+s://127.0.0.1:1", ServerError, "cannot be reached"),
    ],
)
def test_locations_that_mean_nothing(location: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        open_backend(location)


def test_options_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    bad: list[dict[str, Any]] = [{"colour": 1}, {"buffer_pool_bytes": 1}, {"buffer_pool_bytes": "1"}]
    for options in bad:
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            create_backend(EMBEDDED, path, **options)
    for timeout in (-1, float("nan"), "x", True):
        with pytest.raises(InvalidInputError, match="lock_timeout"):
            create_backend(EMBEDDED, path, lock_timeout=timeout)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="memgraphs"):
        create_backend("memgraphs", path)
    with pytest.raises(InvalidInputError, match="path"):
        create_backend(EMBEDDED)
    with pytest.raises(InvalidInputError, match="no file"):
        create_backend("memory", path)
    with pytest.raises(InvalidInputError, match="read_only"):
        create_backend("memory", read_only=True)
    assert not path.exists()


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no folder"):
        open_backend(tmp_path / "no" / "a.graph")
    with pytest.raises(InvalidInputError, match="create=True"):
        open_backend(tmp_path / "a.graph", create=False)
    with pytest.raises(InvalidInputError, match="no store"):
        open_backend(tmp_path / "a.graph", read_only=True)
    with pytest.raises(StoreCorruptError, match="folder"):
        open_backend(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_stores_in_one_process(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a.graph", close=False), make(tmp_path / "b.graph", close=False, units=2)
    assert (first.count("Memory"), second.count("Memory")) == (1, 2)
    first.close()
    assert second.count("Memory") == 2
    second.close()


def test_a_second_open_shares_the_handle(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    first = make(path, close=False)
    (tmp_path / "link.graph").symlink_to(path)
    second = open_backend(path)
    third = open_backend(tmp_path / "link.graph")
    assert second is first
    assert third is first
    second.write(unit_of("x"))
    first.close()
    third.close()
    assert second.count("Memory") == 2
    second.close()
    with pytest.raises(StoreClosedError):
        second.count("Memory")
    again = open_backend(path)
    assert again is not first
    assert again.count("Memory") == 2
    again.close()


def test_another_mode_or_engine_for_an_open_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    store = make(path, close=False)
    with pytest.raises(InvalidInputError, match="open in this process for writing"):
        open_backend(path, read_only=True)
    with pytest.raises(InvalidInputError, match=f"as a {EMBEDDED} store"):
        create_backend(OTHER, path)
    assert store.count("Memory") == 1
    store.close()


def test_reading_only(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path, units=3)
    store = open_backend(path, read_only=True)
    assert store.read_only
    assert store.count("Memory") == 3
    assert store.verify() == []
    assert store.run("MATCH (m:Memory) RETURN count(*)", {}).rows == ((3,),)
    with pytest.raises(ReadOnlyError):
        store.write(unit_of("x"))
    with pytest.raises(ReadOnlyError):
        store.initialise(dimension=8, embedder="x", embedder_revision=None, created_with="x")
    store.checkpoint()
    store.close()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "content",
    [b"hello, I am a text file\n" * 400, b"\0" * 20_000, b"SQLite format 3\0" + b"\1" * 5_000, b"\x89PNG", b"K"],
    ids=["text", "zeros", "sqlite", "png", "one byte"],
)
@pytest.mark.parametrize("named", [True, False], ids=["named", "plain"])
def test_a_file_of_something_else_is_refused_and_left(tmp_path: Path, content: bytes, named: bool) -> None:
    path = tmp_path / "a.graph"
    path.write_bytes(content)
    with pytest.raises(StoreCorruptError, match=r"a\.graph is no store"):
        open_backend(f"{EMBEDDED}:{path}" if named else path)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["a.graph"]


@pytest.mark.parametrize("damage", ["truncated", "header", "garbled"])
def test_a_damaged_store_is_refused_and_left(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.graph"
    store = make(path, close=False, units=3)
    store.checkpoint()
    store.close()
    content = path.read_bytes()
    magic = DIALECTS[EMBEDDED].magic
    damaged = {
        "truncated": content[: len(content) // 3],
        "header": content[:100],
        "garbled": magic + hashlib.sha512(b"x").digest() * (len(content) // 64),
    }[damage]
    path.write_bytes(damaged)
    with pytest.raises(StoreCorruptError, match=r"a\.graph"):
        open_backend(path)
    assert path.read_bytes() == damaged
    path.write_bytes(content)
    again = open_backend(path)
    assert again.count("Memory") == 3
    again.close()


def test_an_empty_file_is_new_unless_a_store_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.touch()
    with pytest.raises(InvalidInputError, match="empty"):
        open_backend(f"{EMBEDDED}:{path}", create=False)
    make(path, units=2)
    store = open_backend(path)
    assert store.count("Memory") == 2
    store.close()
    path.write_bytes(b"")
    for location in (str(path), f"{EMBEDDED}:{path}"):
        with pytest.raises(StoreCorruptError, match="truncated"):
            open_backend(location)
    assert path.read_bytes() == b""


def test_a_store_whose_file_is_gone_but_not_its_log(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    code = """
import os, sys
from alma_graph.backends import open_backend
from alma_graph.testing.graphs import unit_of
store = open_backend(sys.argv[1])
store.initialise(dimension=8, embedder="t", embedder_revision=None, created_with="t")
store.write(unit_of("a"))
os._exit(0)
"""
    assert run_child(code, f"{EMBEDDED}:{path}").returncode == 0
    assert path.with_name("a.graph.wal").stat().st_size
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreCorruptError, match="log"):
        open_backend(f"{EMBEDDED}:{path}")
    assert not path.exists()


def test_a_torn_log_loses_no_more_than_its_tail(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    code = """
import os, sys
from alma_graph.backends import open_backend
from alma_graph.testing.graphs import unit_of
store = open_backend(sys.argv[1])
store.initialise(dimension=8, embedder="t", embedder_revision=None, created_with="t")
for number in range(20):
    store.write(unit_of(f"m{number}"))
os._exit(0)
"""
    assert run_child(code, f"{EMBEDDED}:{path}").returncode == 0
    log = path.with_name("a.graph.wal")
    log.write_bytes(log.read_bytes()[:-37])
    if DIALECTS[EMBEDDED].torn_log_options is None:
        store = open_backend(path)
    else:
        with pytest.warns(StoreRecoveredWarning, match="torn-1"):
            store = open_backend(path)
        assert path.with_name("a.graph.wal.torn-1").exists()
    assert store.count("Memory") == store.sequence() == 19
    assert store.verify() == []
    store.write(unit_of("new"))
    store.close()
    again = open_backend(path)
    assert again.count("Memory") == 20
    again.close()


HOLDER = """
import sys
from alma_graph.backends import open_backend
store = open_backend(sys.argv[1], read_only=sys.argv[2] == "read")
print("held", flush=True)
sys.stdin.readline()
store.close()
"""


def hold(location: str, mode: str = "write") -> subprocess.Popen[str]:
    """A process that holds a store until a line comes in."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, location, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_two_processes_on_one_path(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path)
    process = hold(str(path))
    with pytest.raises(StoreLockedError, match=rf"process {process.pid} .*0\.1 s") as caught:
        open_backend(path, lock_timeout=0.1)
    assert (caught.value.pid, caught.value.path) == (process.pid, str(path))
    threading.Timer(0.3, lambda: process.communicate("\n")).start()
    store = open_backend(path, lock_timeout=30.0)
    assert store.count("Memory") == 1
    store.close()
    process.wait()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path)
    process = hold(str(path))
    process.kill()
    process.communicate()
    store = open_backend(path, lock_timeout=0.0)
    assert store.count("Memory") == 1
    store.close()


def test_a_reader_beside_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    writer = make(path, close=False)
    code = """
import sys
from alma_graph.backends import open_backend
from alma_graph.errors import StoreLockedError
try:
    store = open_backend(sys.argv[1], read_only=True, lock_timeout=0.1)
except StoreLockedError as error:
    print("locked", error.pid, flush=True)
    print(error, file=sys.stderr)
    sys.exit()
for line in sys.stdin:
    print(store.count("Memory"), store.sequence(), store.verify(), flush=True)
store.close()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not SHARED_READERS:
        out, err = process.communicate(timeout=60)
        assert out.split() == ["locked", str(os.getpid())]
        assert "through that process" in err
        writer.close()
        return
    assert process.stdin is not None
    assert process.stdout is not None
    for step in range(4):
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline().split(maxsplit=2) == [str(step + 1), str(step + 1), "[]\n"]
        writer.write(unit_of(f"x{step}"))
        if step == 1:
            writer.checkpoint()
    process.communicate("", timeout=60)
    writer.close()


def test_two_readers(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path, units=2)
    process = hold(str(path), "read")
    store = open_backend(path, read_only=True, lock_timeout=1.0)
    assert store.count("Memory") == 2
    store.close()
    process.communicate("\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_use_in_a_forked_child_is_an_error_not_a_hang(tmp_path: Path) -> None:
    code = """
import os, sys, warnings
warnings.simplefilter("ignore")
from alma_graph.backends import open_backend
from alma_graph.errors import StoreError, StoreLockedError
store = open_backend(sys.argv[1])
child = os.fork()
if child == 0:
    for action in (lambda: store.count("Memory"), lambda: store.meta(), lambda: store.run("RETURN 1", {})):
        try:
            action()
        except StoreError as error:
            assert "forked child" in str(error), error
        else:
            os._exit(1)
    try:
        open_backend(sys.argv[1], lock_timeout=0.1)
    except StoreLockedError as error:
        os._exit(0 if error.pid == os.getppid() else 2)
    os._exit(3)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), store.count("Memory"))
store.close()
"""
    path = tmp_path / "a.graph"
    make(path)
    assert run_child(code, str(path)).stdout.split() == ["0", "1"]


NOW = len(KNOWN) + 1
MIGRATIONS = (
    *KNOWN,
    Migration(NOW + 1, "a colour", ("ALTER TABLE Memory ADD colour STRING DEFAULT 'red'",)),
    Migration(NOW + 2, "another vector", ("ALTER TABLE Entity ADD centre FLOAT[{dimension}]",)),
)


def test_an_older_store_is_migrated_and_a_newer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path, units=2)
    with pytest.raises(StoreVersionError, match="read_only"):
        create_backend(EMBEDDED, path, read_only=True, migrations=MIGRATIONS)
    store = create_backend(EMBEDDED, path, migrations=MIGRATIONS)
    assert (store.meta() or {})["schema_version"] == NOW + 2
    assert store.run("MATCH (m:Memory) RETURN DISTINCT m.colour", {}).rows == (("red",),)
    assert store.count("Memory") == 2
    store.close()
    store = create_backend(EMBEDDED, path, migrations=MIGRATIONS)
    store.close()
    with pytest.raises(StoreVersionError, match=rf"schema version {NOW + 2}.*up to {NOW}") as caught:
        open_backend(path)
    assert (caught.value.found, caught.value.supported) == (NOW + 2, NOW)
    with pytest.raises(StoreVersionError):
        open_backend(path, read_only=True)


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    make(path, units=2)
    nonsense = Migration(NOW + 2, "nonsense", ("ALTER TABLE Entity ADD x STRING", "ALTER TABLE Nobody DROP y"))
    broken = (*MIGRATIONS[:-1], nonsense)
    with pytest.raises(StoreError, match=rf"migration {NOW + 2} \(nonsense\)"):
        create_backend(EMBEDDED, path, migrations=broken)
    store = create_backend(EMBEDDED, path, migrations=MIGRATIONS)
    assert (store.meta() or {})["schema_version"] == NOW + 2
    assert store.run("MATCH (m:Memory) RETURN count(*)", {}).rows == ((2,),)
    with pytest.raises(AlmaGraphError):
        store.run("MATCH (e:Entity) RETURN e.x", {})
    store.close()


def test_migrations_have_no_gap() -> None:
    assert NOW == SCHEMA_VERSION
    assert pending(NOW, "a.graph") == []
    assert [step.version for step in pending(NOW + 1, "a.graph", MIGRATIONS)] == [NOW + 2]
    with pytest.raises(StoreError, match="gap"):
        pending(1, "a.graph", MIGRATIONS[1:])


def test_a_copy_of_the_files_is_a_store(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    store = make(path, close=False)
    store.write(batch_of([f"b{number}" for number in range(300)]))
    store.write(unit_of("last"))
    for suffix in ("", ".wal"):
        shutil.copyfile(f"{path}{suffix}", tmp_path / f"copy.graph{suffix}")
    copy = open_backend(tmp_path / "copy.graph")
    assert dump(copy) == dump(store)
    copy.write(UnitOfWork(node_deletes=[("Memory", copy.nodes("Memory")[0]["key"])]))
    assert copy.count("Memory") == store.count("Memory") - 1
    copy.close()
    store.close()


@pytest.mark.parametrize(
    ("location", "cure"),
    [
        (f"{EMBEDDED.upper()}:x.graph", f"write '{EMBEDDED}:x.graph', or './{EMBEDDED.upper()}:x.graph'"),
        (f"{OTHER.title()}:x.graph", f"write '{OTHER}:x.graph'"),
        ("http://x/y", "is no store; give a path or the URI of a server"),
        ("file:///x/u.graph", "give the path alone, '/x/u.graph'"),
        ("\udcff.graph", "is not UTF-8, which the engines need; give another name"),
        (f"{EMBEDDED}:\udcff.graph", "is not UTF-8"),
    ],
)
def test_a_location_that_can_be_no_store_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str, cure: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError) as caught:
        open_backend(location)
    assert cure in str(caught.value)
    assert repr(location.partition(":")[2] if "\udcff" in location and ":" in location else location)[1:-1] in str(
        caught.value
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, read_only: bool
) -> None:
    place = tmp_path / "odd.graph"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place = Path(os.devnull)
    else:
        monkeypatch.chdir(tmp_path)  # a socket's path is short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(place.name)
    for location in (str(place), f"{EMBEDDED}:{place}"):
        with pytest.raises(InvalidInputError, match=r"is a pipe, device or socket; a store is a file: give another"):
            open_backend(location, read_only=read_only)
    assert {file.name for file in tmp_path.iterdir()} <= {place.name}
