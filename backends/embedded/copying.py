"""A consistent copy of an open store in one file, proven by opening it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from alma_graph.backends.embedded.durable import sync_file, sync_folder
from alma_graph.backends.embedded.engine import Engine, Link
from alma_graph.backends.embedded.guard import LEFTOVERS, LOG_FILES
from alma_graph.backends.embedded.opening import OpenedStore
from alma_graph.backends.schema import EDGES, META_KEY, NODES
from alma_graph.errors import InvalidInputError, StoreError, shown

_SEQUENCE = "MATCH (m:`Meta` {`key`: $key}) RETURN m.`sequence`"
_NO_CHANGE = "MATCH (m:`Meta` {`key`: $key}) SET m.`sequence` = m.`sequence`"


def copy_store(store: OpenedStore, target: str) -> None:
    """Copies the files of an open store into a new one; call with the write lock, or as a reader.

    The copy gets its name when it is durable and was seen to hold what the store holds.

    Raises:
        InvalidInputError: the target exists, or cannot be written.
        StoreError: the copy does not hold what the store holds.
    """
    final = Path(target)
    part = Path(f"{target}.part")
    if os.path.lexists(final):
        raise InvalidInputError(f"{shown(target)} exists already, and a copy replaces no file; give another name")
    try:
        if not final.parent.is_dir():
            raise InvalidInputError(f"{shown(target)}: there is no folder {final.parent}; make it first")
        _remove(part)
        with store.reading() as link:
            state = _state(link)
            shutil.copyfile(store.path, part)
            for suffix in LOG_FILES.values():
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{store.path}{suffix}", f"{part}{suffix}")
        _prove(store.engine.elsewhere(str(part)), state)
        sync_file(part)
        _give_name(part, final)
    except OSError as error:
        raise InvalidInputError(
            f"{shown(target)} cannot be written ({error.strerror or error}); make room, or choose another folder"
        ) from error
    finally:
        with suppress(OSError):
            _remove(part)


def _prove(engine: Engine, expected: dict[str, int]) -> None:
    """Opens the copy, folds the log into it, and compares what it holds.

    The copy of a store that another process writes may hold more, and end in half a record of the log.
    """
    try:
        engine.open()
    except Exception:
        options = engine.dialect.torn_log_options
        if options is None or not engine.log_bytes():
            raise
        engine.open(options)
    try:
        if engine.log_bytes():
            with engine.transaction() as transaction:  # a log that was only replayed would be left behind
                transaction.run(_NO_CHANGE, {"key": META_KEY})
            engine.checkpoint()
        found = _state(engine.reader())
    finally:
        engine.close()
    if engine.log_bytes() or found["sequence"] < expected["sequence"]:
        raise StoreError(f"{engine.path} does not hold all that the store holds; nothing was kept of it")
    if found["sequence"] == expected["sequence"] and found != expected:
        wrong = next(name for name in expected if found.get(name) != expected[name])
        raise StoreError(
            f"{engine.path} has {found.get(wrong)} of {wrong} instead of {expected[wrong]}; nothing was kept of it"
        )


def _state(link: Link) -> dict[str, int]:
    """How many of everything a store holds, and its sequence."""
    tables = {row[0] for row in link.rows("CALL show_tables() RETURN name")}
    found = {name: int(link.rows(f"MATCH (n:`{name}`) RETURN count(*)")[0][0]) for name in NODES if name in tables}
    for name in EDGES:
        if name in tables:
            found[name] = int(link.rows(f"MATCH ()-[r:`{name}`]->() RETURN count(*)")[0][0])
    rows = link.rows(_SEQUENCE, {"key": META_KEY}) if "Meta" in tables else []
    return {**found, "sequence": int(rows[0][0]) if rows else 0}


def _give_name(part: Path, final: Path) -> None:
    """Renames without ever replacing a file."""
    try:
        os.link(part, final)
    except FileExistsError:
        raise InvalidInputError(f"{shown(str(final))} exists already; a copy replaces no file") from None
    except OSError:  # a file system without links
        if os.path.lexists(final):
            raise InvalidInputError(f"{shown(str(final))} exists already; a copy replaces no file") from None
        part.rename(final)
    sync_folder(final.parent)


def _remove(part: Path) -> None:
    for suffix in ("", *LOG_FILES.values(), *LEFTOVERS):
        Path(f"{part}{suffix}").unlink(missing_ok=True)
