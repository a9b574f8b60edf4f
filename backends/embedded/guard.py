"""A copy that stands by while a kill could lose or halve what is stored.

Kuzu loses a file that is killed inside a checkpoint, and on both engines what COPY wrote is not in the log: a kill
between its commit and the checkpoint after it keeps the rest of the transaction without it. So the file and its log are
copied first, a marker says that the copy is whole, and the marker goes when the checkpoint is done; a marker found on
opening means a kill in between, and the copies come back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alma_graph.backends.embedded.durable import copy_whole, sync_folder

LEFTOVERS = (".shadow", ".tmp", ".wal.checkpoint")
"""What an interrupted checkpoint leaves: pages, and on Ladybug the log it was folding, which would be replayed too."""


class CheckpointGuard:
    """The copies of one store's file and log."""

    def __init__(self, path: str) -> None:
        self._store = Path(path)
        self._log = Path(f"{path}.wal")
        self._store_copy = Path(f"{path}.guard")
        self._log_copy = Path(f"{path}.wal.guard")
        self._marker = Path(f"{path}.guard.done")

    @contextmanager
    def standing_by(self) -> Iterator[None]:
        """Keeps the copies while the body runs; they go at its end, and stay where it fails."""
        self._take()
        yield
        self._drop()

    @property
    def marked(self) -> bool:
        """Whether whole copies are there."""
        return self._marker.exists()

    def restore(self) -> None:
        """Brings the copies back; only where they are marked.

        It can be killed and run again at any point: the marker goes last.
        """
        had_log = bool(json.loads(self._marker.read_text())["log"])
        copy_whole(self._store_copy, self._store)
        if had_log:
            copy_whole(self._log_copy, self._log)
        else:
            self._log.unlink(missing_ok=True)
        for suffix in LEFTOVERS:
            Path(f"{self._store}{suffix}").unlink(missing_ok=True)
        self._drop()

    def discard(self) -> None:
        """Removes copies that are not whole."""
        self._drop()

    def _take(self) -> None:
        self._drop()
        copy_whole(self._store, self._store_copy)
        has_log = self._log.exists()
        if has_log:
            copy_whole(self._log, self._log_copy)
        with self._marker.open("w") as file:
            json.dump({"log": has_log}, file)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._store.parent)

    def _drop(self) -> None:
        if self._marker.exists():
            self._marker.unlink()
            sync_folder(self._store.parent)
        self._store_copy.unlink(missing_ok=True)
        self._log_copy.unlink(missing_ok=True)
