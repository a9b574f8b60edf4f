"""A copy that stands by while a kill could lose or halve what is stored.

Kuzu loses a file that is killed inside a checkpoint, and on both engines what COPY wrote is not in the log: a kill
between its commit and the checkpoint after it keeps the rest of the transaction without it. So the file and its log are
copied first, a marker says that the copy is whole, and the marker goes when the checkpoint is done; a marker found on
opening means a kill in between, and the copies come back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alma_graph.backends.embedded.durable import copy_whole, sync_file, sync_folder

LOG_FILES = {"log": ".wal", "pinned": ".pinned.tmp"}
"""What belongs to a store besides its file: the log; and on Ladybug a mark that a checkpoint was made under a reader.
The log then begins with what the file has already, and cannot be opened without the mark."""

LEFTOVERS = (".shadow", ".tmp", ".wal.checkpoint")
"""What an interrupted checkpoint leaves: pages, and on Ladybug the log it was folding, which would be replayed too."""


class CheckpointGuard:
    """The copies of one store's file and log."""

    def __init__(self, path: str) -> None:
        self._store = Path(path)
        self._store_copy = Path(f"{path}.guard")
        self._marker = Path(f"{path}.guard.done")
        self._marker_draft = Path(f"{path}.guard.done.part")

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
        had = json.loads(self._marker.read_text())
        copy_whole(self._store_copy, self._store)
        for name, suffix in LOG_FILES.items():
            if had.get(name):
                copy_whole(self._copy_of(suffix), Path(f"{self._store}{suffix}"))
            else:
                Path(f"{self._store}{suffix}").unlink(missing_ok=True)
        for suffix in LEFTOVERS:
            Path(f"{self._store}{suffix}").unlink(missing_ok=True)
        self._drop()

    def discard(self) -> None:
        """Removes copies that are not whole."""
        self._drop()

    def _take(self) -> None:
        self._drop()
        copy_whole(self._store, self._store_copy)
        has = {name: Path(f"{self._store}{suffix}").exists() for name, suffix in LOG_FILES.items()}
        for name, suffix in LOG_FILES.items():
            if has[name]:
                copy_whole(Path(f"{self._store}{suffix}"), self._copy_of(suffix))
        draft = self._marker_draft  # the marker is there whole, or not at all
        draft.write_text(json.dumps(has))
        sync_file(draft)
        draft.replace(self._marker)
        sync_folder(self._store.parent)

    def _drop(self) -> None:
        if self._marker.exists():
            self._marker.unlink()
            sync_folder(self._store.parent)
        self._marker_draft.unlink(missing_ok=True)
        self._store_copy.unlink(missing_ok=True)
        for suffix in LOG_FILES.values():
            self._copy_of(suffix).unlink(missing_ok=True)

    def _copy_of(self, suffix: str) -> Path:
        return Path(f"{self._store}{suffix}.guard")
