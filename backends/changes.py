"""What other processes wrote: a feed that a server keeps, so that catching up costs what changed and not the store.

Apart from `Backend`, since only an engine with several writing processes needs one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from alma_graph.backends.protocol import Backend


@dataclass(frozen=True, slots=True)
class Changes:
    """What the units of work after some sequence did.

    Attributes:
        sequence: that of the last of them.
        touched: keys by label ("Memory", "Entity") of nodes that were made or updated, or have another edge since.
        gone: digests by label of the keys that were deleted; the keys themselves are kept nowhere.
        salt: what the digests are keyed with.
    """

    sequence: int
    touched: Mapping[str, frozenset[str]]
    gone: Mapping[str, frozenset[str]]
    salt: str

    def deleted(self, label: str, known: Iterable[str]) -> list[str]:
        """Which of the known keys were deleted."""
        gone = self.gone.get(label)
        return [key for key in known if digest(key, self.salt) in gone] if gone else []


@runtime_checkable
class ChangeFeed(Protocol):
    """A backend that keeps a feed."""

    def changes(self, since: int) -> Changes | None:
        """What was done after this sequence; None where the feed does not reach back that far."""
        ...


def changes_since(backend: Backend, since: int) -> Changes | None:
    """What was done after this sequence; None where that is not known and everything must be read again."""
    return backend.changes(since) if isinstance(backend, ChangeFeed) else None


def digest(key: str, salt: str) -> str:
    """What is kept of the key of a deleted node: 16 bytes of keyed BLAKE2b, as text."""
    return hashlib.blake2b(key.encode(), digest_size=16, key=salt.encode()[:64]).hexdigest()
