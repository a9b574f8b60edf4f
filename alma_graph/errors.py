"""Every error that alma_graph raises.

Each message says what was wrong, with the offending value, and what to do about it. Bad input is refused before
anything is written.

    AlmaGraphError
    +-- InvalidInputError        a value that the call cannot take (also a ValueError)
    |   +-- EmbeddingError       an embedder returned something unusable (shape, NaN, zero vector)
    |   +-- ScopeError           the agent's scope forbids what was asked
    |   +-- RetractedError       this text was retracted before; the message says why (has .memory_id, .reason)
    |   +-- ConfigError          a configuration file with an unknown key or a bad value
    |   +-- UnknownQueryError    no query of this name in the catalogue (also a KeyError)
    +-- IdConflictError          the id is taken by a memory with other fields
    +-- MemoryNotFoundError      no memory with this id in the project (also a KeyError)
    +-- UnsupportedError         this engine or configuration cannot do it; the message names one that can
    |   +-- MissingDependencyError   an optional package is not installed; the message has the install line
    +-- ReadOnlyError            a write through a read-only door
    +-- CypherError              the engine refused a Cypher statement of the caller
    +-- StoreError               the store as a whole
        +-- StoreLockedError     another process holds the file (has .path, .pid)
        +-- StoreCorruptError    the file cannot be read as a store
        +-- StoreVersionError    written by a newer schema (has .found, .supported)
        +-- StoreChangedError    another writer was faster, every time; nothing was written
        +-- EmbedderMismatchError   the store's vectors come from another embedder or dimension
        +-- StoreClosedError     used after close()
        +-- ServerError          a server cannot be reached, or refuses credentials or database (has .uri)
        +-- BackendError         the engine failed in the middle of its work
"""

from __future__ import annotations

import re

_CREDENTIALS = re.compile(r"(://)[^\s'\"]*@")


def shown(value: object, limit: int = 200) -> str:
    """A value as a message shows it: its `repr`, cut where it is long, and never an error of its own.

    Numbers of thousands of digits, lists that contain themselves and objects with a broken `__repr__` have none.
    """
    try:
        text = repr(value)
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"
    text = without_secrets(text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def without_secrets(text: str) -> str:
    """The text without what URIs in it have before their last @: a user's name and password."""
    return _CREDENTIALS.sub(r"\1", text) if "://" in text and "@" in text else text


class AlmaGraphError(Exception):
    """Base of every error of this package."""


class InvalidInputError(AlmaGraphError, ValueError):
    """A value the call cannot take; nothing was written."""


class EmbeddingError(InvalidInputError):
    """An embedder returned a wrong shape, a NaN, an infinity or a zero vector; nothing was written."""


class ScopeError(InvalidInputError):
    """The scope of the agent forbids what was asked; nothing was written."""


class RetractedError(InvalidInputError):
    """The same text of the same owner was retracted, and was not stored again.

    Attributes:
        memory_id: the retracted memory.
        reason: why it was retracted.
    """

    def __init__(self, message: str, *, memory_id: str, reason: str) -> None:
        super().__init__(message)
        self.memory_id = memory_id
        self.reason = reason


class ConfigError(InvalidInputError):
    """A configuration has an unknown key, a missing variable or a bad value."""


class UnknownQueryError(InvalidInputError, KeyError):
    """The catalogue has no query of this name."""

    def __str__(self) -> str:  # KeyError would show the message quoted
        return str(self.args[0]) if self.args else ""


class IdConflictError(AlmaGraphError):
    """The id belongs to a stored memory whose fields differ from the ones given."""


class MemoryNotFoundError(AlmaGraphError, KeyError):
    """No memory with this id exists in the project."""

    def __str__(self) -> str:  # KeyError would show the message quoted
        return str(self.args[0]) if self.args else ""


class UnsupportedError(AlmaGraphError):
    """This engine or configuration cannot do what was asked; the message names one that can."""


class MissingDependencyError(UnsupportedError):
    """An optional package is needed and not installed; the message holds the line that installs it."""


class ReadOnlyError(AlmaGraphError):
    """A write was asked of a read-only store, connection or query; nothing was written."""


class CypherError(AlmaGraphError):
    """The engine refused a Cypher statement; the message is the engine's, with the statement's name."""


class StoreError(AlmaGraphError):
    """Something is wrong with the store as a whole."""


class StoreLockedError(StoreError):
    """Another process holds the store.

    Attributes:
        path: the store's file.
        pid: the process that holds it, or None where it could not be read.
    """

    def __init__(self, message: str, *, path: str, pid: int | None) -> None:
        super().__init__(message)
        self.path = path
        self.pid = pid


class StoreCorruptError(StoreError):
    """The file cannot be read as a store of any engine known here."""


class StoreVersionError(StoreError):
    """The store was written by a newer schema than this package knows.

    Attributes:
        found: schema version of the store.
        supported: newest schema version that this package reads.
    """

    def __init__(self, message: str, *, found: int, supported: int) -> None:
        super().__init__(message)
        self.found = found
        self.supported = supported


class StoreChangedError(StoreError):
    """Another writer was faster, so a unit of work that was made from what the store held before was not applied."""


class EmbedderMismatchError(StoreError):
    """The store's vectors were made by another embedder or have another dimension; nothing was written."""


class StoreClosedError(StoreError):
    """The store was used after it had been closed."""


class ServerError(StoreError):
    """A server cannot be reached, or refuses the credentials or the database; nothing was written, unless the message
    says that this is not known.

    Attributes:
        uri: where it was looked for, without credentials.
    """

    def __init__(self, message: str, *, uri: str) -> None:
        super().__init__(message)
        self.uri = uri


class BackendError(StoreError):
    """The engine failed in the middle of its work; the unit of work was not applied."""
