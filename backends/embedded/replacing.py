"""A new file that takes the place of a store's, all at once.

It is made beside the store. A marker says that it is whole: from then on it is the store, and whoever opens the store
finishes the change of places; without the marker it is thrown away. The old log goes before the file does, since it
would be replayed into the new one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from alma_graph.backends.embedded.durable import sync_file, sync_folder
from alma_graph.backends.embedded.guard import LEFTOVERS, LOG_FILES

WORK_IN_PROGRESS = (".vectors", ".vectors-journal")
"""What a new file is made from, kept beside the store until it has taken the store's place."""


class Replacement:
    """The file that is to replace a store's."""

    def __init__(self, path: str) -> None:
        self._store = Path(path)
        self.new = Path(f"{path}.new")
        self._marker = Path(f"{path}.new.done")

    @property
    def marked(self) -> bool:
        """Whether the new file is whole and must take the store's place."""
        return self._marker.exists()

    def announce(self) -> None:
        """Says that the new file is whole; its engine is closed."""
        sync_file(self.new)
        with self._marker.open("w") as file:
            file.write(self.new.name)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._store.parent)

    def finish(self) -> None:
        """Puts the new file in the store's place; only where it is marked, with the store held alone and closed.

        It can be killed and run again at any point: the marker goes last.
        """
        if self.new.exists():
            for suffix in (*LOG_FILES.values(), *LEFTOVERS):
                Path(f"{self._store}{suffix}").unlink(missing_ok=True)
            sync_folder(self._store.parent)
            self.new.replace(self._store)
            sync_folder(self._store.parent)
        for name in WORK_IN_PROGRESS:
            with suppress(OSError):  # open in this process, which removes it itself, where an open file cannot go
                Path(f"{self._store}{name}").unlink(missing_ok=True)
        self._marker.unlink()
        sync_folder(self._store.parent)

    def discard(self) -> None:
        """Removes a new file that was not finished, with all beside it."""
        for suffix in ("", *LOG_FILES.values(), *LEFTOVERS):
            Path(f"{self.new}{suffix}").unlink(missing_ok=True)
