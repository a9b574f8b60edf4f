"""What a path holds, told from its first bytes, without changing it."""

from __future__ import annotations

from pathlib import Path

from alma_graph.backends.embedded.dialect import DIALECTS, LADYBUG, Dialect
from alma_graph.backends.locks import store_was_ready
from alma_graph.errors import InvalidInputError, StoreCorruptError, shown

_SIDECARS = (
    *(
        ".wal",
        ".wal.checkpoint",
        ".shadow",
        ".tmp",
        ".lock",
        ".readers",
        ".guard",
        ".wal.guard",
        ".guard.done",
        ".guard.done.part",
    ),
    *(".pinned.tmp", ".pinned.tmp.guard", ".new", ".new.wal", ".new.done", ".vectors", ".vectors-journal"),
)


def store_files(path: str) -> list[Path]:
    """The files of a store that are there: its own and those beside it."""
    return [file for file in (Path(path), *(Path(f"{path}{suffix}") for suffix in _SIDECARS)) if file.is_file()]


def choose_dialect(path: str, wanted: str | None, *, create: bool) -> tuple[Dialect, bool]:
    """The engine for a path and whether the store is new.

    An empty file without a log counts as new (a temporary file made by the caller, or a process killed before its first
    write), unless the lock file beside it says that a store has been there: then it was truncated.

    Raises:
        InvalidInputError: no store there and none may be made; no such folder; the file is another engine's, or no
            file but a pipe, device or socket; the engines cannot take its name, which is not UTF-8.
        StoreCorruptError: a folder, or a file that no engine here has written.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(f"path={shown(path)} is not UTF-8, which the engines need; give another name") from None
    file = Path(path)
    if file.exists() and not file.is_file() and not file.is_dir():
        raise InvalidInputError(f"path={shown(path)} is a pipe, device or socket; a store is a file: give another path")
    if file.is_dir():
        raise StoreCorruptError(f"{path} is a folder, not a store; a store is one file: name a file in it")
    chosen = DIALECTS[wanted] if wanted is not None else None
    if not file.exists():
        if not file.parent.is_dir():
            raise InvalidInputError(f"{path}: there is no folder {file.parent}; make it first")
        if not create:
            raise InvalidInputError(f"{path}: there is no store; check the path, or open with create=True to make one")
        if Path(f"{path}.guard.done").exists():
            return chosen or DIALECTS["kuzu"], False
        _refuse_orphan_log(path)
        return chosen or LADYBUG, True
    try:
        with file.open("rb") as stream:
            head = stream.read(16)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read ({error.strerror}); check its permissions") from error
    if not head:
        return _of_empty(path, chosen, create=create), True
    for dialect in DIALECTS.values():
        if head.startswith(dialect.magic):
            if chosen is not None and chosen is not dialect:
                raise InvalidInputError(
                    f"{path} is a {dialect.name} store, not {chosen.name}; open it as {dialect.name}:PATH or just "
                    "by path"
                )
            return dialect, False
    raise StoreCorruptError(
        f"{path} is no store of {' or '.join(DIALECTS)}: it begins with {head[:8]!r}; restore it from a backup, "
        "or choose "
        "another path. It was left as it is"
    )


def _of_empty(path: str, chosen: Dialect | None, *, create: bool) -> Dialect:
    if store_was_ready(path):
        raise StoreCorruptError(
            f"{path} is empty, but a store has been there: it was truncated; restore it from a backup. It was "
            "left as it is"
        )
    if not create:
        raise InvalidInputError(f"{path} is an empty file; open with create=True to make a store of it")
    _refuse_orphan_log(path)
    return chosen or LADYBUG


def _refuse_orphan_log(path: str) -> None:
    log = Path(f"{path}.wal")
    if log.exists() and log.stat().st_size and store_was_ready(path):
        raise StoreCorruptError(
            f"{path} is gone, but its log {log.name} is there; restore the file from a backup, or move the log away"
        )
