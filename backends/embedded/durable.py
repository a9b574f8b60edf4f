"""Files that are there, whole, after a loss of power: written aside, made durable, renamed."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def copy_whole(source: Path, target: Path) -> None:
    """Copies a file so that the target is the old one or the new one, whole, whatever happens."""
    part = Path(f"{target}.part")
    shutil.copyfile(source, part)
    sync_file(part)
    part.replace(target)
    sync_folder(target.parent)


def sync_file(path: Path) -> None:
    """Makes a file's content durable."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Makes the folder's entries durable where the system can (Windows cannot open a folder)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
