"""The user's cache folder: downloaded weights and the graphs built from them. Everything in it can be made again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from alma_graph.errors import UnsupportedError

CACHE_VARIABLE = "ALMA_GRAPH_CACHE"


def cache_folder() -> Path:
    """`ALMA_GRAPH_CACHE`, else the platform's place for caches; not created here."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "alma_graph" / "Cache" if base else Path.home() / "AppData/Local/alma_graph/Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/alma_graph"
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "alma_graph" if base else Path.home() / ".cache/alma_graph"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def create_folder(target: Path, fill: Callable[[Path], None], is_complete: Callable[[Path], bool]) -> Path:
    """Makes the folder `target` all at once; safe when several processes do it together.

    `fill` writes into a temporary folder beside it, which then takes the name. Whoever comes second finds the work
    done and drops its own. A folder there that is not complete (a torn copy) is replaced.

    Raises:
        UnsupportedError: the cache cannot be written.
    """
    if is_complete(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UnsupportedError(
            f"the cache folder {target.parent} cannot be written ({error.strerror or error}); "
            f"set {CACHE_VARIABLE} to a folder that can"
        ) from error
    try:
        fill(draft)
        _move_into_place(draft, target, is_complete)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _move_into_place(draft: Path, target: Path, is_complete: Callable[[Path], bool]) -> None:
    attempts = 5
    for attempt in range(attempts):
        try:
            draft.rename(target)
        except OSError:
            if is_complete(target):
                return
            if attempt == attempts - 1:
                raise
            torn = draft.with_name(f"{draft.name}-replaced{attempt}")
            with contextlib.suppress(OSError):  # another process may have replaced it in between
                target.rename(torn)
            shutil.rmtree(torn, ignore_errors=True)
        else:
            return
