"""What an engine's own error means to the caller."""

from __future__ import annotations

from alma_graph.errors import BackendError, StoreCorruptError

FREE_SPACE = "free space on the disk and try again; what was acknowledged is there"
_DISK_FULL = ("no space left", "disk quota", "file too large", "cannot write to file")


def read_failure(path: str | None, what: str, engine: str, error: Exception) -> BackendError | StoreCorruptError:
    """The error to raise for one of an engine: damage where it read a text that is no text, which none of its writes
    can have made."""
    if isinstance(error, UnicodeDecodeError):
        return StoreCorruptError(
            f"{path}: {what}: the file is damaged ({engine} reads a text that is none); restore a backup, or take out "
            f"what can be read: alma-graph export {path} FILE --raw"
        )
    return BackendError(f"{path}: {what}: {engine} says: {error}{cure_of_a_full_disk(error)}")


def cure_of_a_full_disk(error: Exception) -> str:
    """The end of a message about an error that comes from a full disk; empty for any other."""
    return f"; {FREE_SPACE}" if any(word in str(error).lower() for word in _DISK_FULL) else ""
