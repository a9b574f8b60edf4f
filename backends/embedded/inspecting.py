"""What the files of an embedded store look like: their sizes, and what a crash left beside them."""

from __future__ import annotations

from pathlib import Path

from alma_graph.backends.embedded.files import store_files
from alma_graph.backends.inspection import Inspection, Severity

_HALF_COPIES = (".guard.part", ".guard.done.part", ".wal.guard.part", ".pinned.tmp.guard.part")
_STANDING = (".guard", ".wal.guard", ".pinned.tmp.guard")
_CHECKPOINT = (".wal.checkpoint", ".shadow", ".tmp")


def inspect_files(path: str, *, read_only: bool, engine: str) -> list[Inspection]:
    """The files of an open store. Call it where no checkpoint runs."""
    return [
        Inspection("driver", Severity.OK, f"{engine}, with pyarrow {_version_of('pyarrow')}"),
        Inspection("extensions", Severity.OK, "none is loaded and none is needed"),
        _sizes(path),
        _leftovers(path, read_only=read_only),
        _kept_logs(path),
        _unfinished_vectors(path),
    ]


def remove_leftovers(path: str) -> list[str]:
    """Removes copies that a crash left and nothing needs; their names. Only for the holder of the store, outside of
    checkpoints and bulk writes."""
    removed = []
    for file in _useless(path):
        file.unlink(missing_ok=True)
        removed.append(f"removed {file.name}")
    return removed


def _useless(path: str) -> list[Path]:
    """Copies that are not whole, or that are not marked as standing by."""
    marked = Path(f"{path}.guard.done").exists()
    suffixes = _HALF_COPIES if marked else (*_HALF_COPIES, *_STANDING)
    return [file for suffix in suffixes if (file := Path(f"{path}{suffix}")).exists()]


def _sizes(path: str) -> Inspection:
    files = store_files(path)
    total = sum(file.stat().st_size for file in files)
    log = next((file.stat().st_size for file in files if file.name == f"{Path(path).name}.wal"), 0)
    return Inspection("disk", Severity.OK, f"{total:,} bytes in {len(files)} files, {log:,} of them the log")


def _leftovers(path: str, *, read_only: bool) -> Inspection:
    useless = _useless(path)
    unfolded = [file for suffix in _CHECKPOINT if (file := Path(f"{path}{suffix}")).exists()]
    if not useless and not unfolded:
        return Inspection("leftovers", Severity.OK, "no file of an interrupted write")
    names = ", ".join(file.name for file in (*useless, *unfolded))
    cure = "doctor --fix folds the log and removes what is not needed"
    if read_only:
        cure = f"open it once for writing: {cure}"
    return Inspection("leftovers", Severity.WARNING, f"left by an interrupted write: {names}", cure)


def _kept_logs(path: str) -> Inspection:
    folder, name = Path(path).parent, Path(path).name
    kept = sorted(file.name for file in folder.glob(f"{_escaped(name)}.wal.torn-*"))
    if not kept:
        return Inspection("torn logs", Severity.OK, "none kept")
    detail = f"logs with an unreadable end are kept: {', '.join(kept)}"
    return Inspection("torn logs", Severity.WARNING, detail, "delete them once you know that nothing is missing")


def _unfinished_vectors(path: str) -> Inspection:
    made = Path(f"{path}.vectors")
    if not made.exists():
        return Inspection("re-embedding", Severity.OK, "none was interrupted")
    detail = f"one was interrupted; what it made is kept in {made.name}, also of memories forgotten since"
    cure = "finish it with: alma-graph reembed STORE --embedder NAME; or delete that file"
    return Inspection("re-embedding", Severity.WARNING, detail, cure)


def _escaped(name: str) -> str:
    """A file name in which no character is a pattern."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _version_of(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
