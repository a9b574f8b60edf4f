"""What a backend may do to a store as a whole: put other vectors in place of all, and copy itself.

Apart from `Backend`, so that a backend of somebody else's need not have it; `as_maintainable` says so where it has not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from alma_graph.backends.protocol import Backend, Row
from alma_graph.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The vectors that a store is to have, as `Meta` names them."""

    dimension: int
    embedder: str
    embedder_revision: str | None


@dataclass(frozen=True, slots=True, eq=False)
class MemoryVectors:
    """All that one memory's text becomes.

    Attributes:
        embedding: (dimension,) float32.
        token_embeddings: packed token vectors, or None.
        chunks: the Chunk nodes that stand in place of its old ones, in order; none for a short text.
    """

    embedding: Any
    token_embeddings: bytes | None
    chunks: Sequence[Row]


VectorSource = Callable[[Sequence[Row]], Sequence[MemoryVectors]]
"""The new vectors of some memories, given as rows of `key`, `project_id` and `text`; one each, in order."""

SOURCE_COLUMNS: tuple[str, ...] = ("key", "project_id", "text")
"""What a `VectorSource` is given of a memory."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """What opening a store did to its schema.

    Attributes:
        found: the schema version that the store had.
        now: the one that it has.
        steps: what each migration did, in order; empty where none was due.
        backup: the copy from before, or None where none was made.
    """

    found: int
    now: int
    steps: tuple[str, ...] = ()
    backup: str | None = None


@runtime_checkable
class Maintainable(Protocol):
    """A backend that can be maintained as a whole."""

    @property
    def migrated(self) -> Migrated | None:
        """What opening it did to its schema; None for a store that is new."""
        ...

    def stage_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Does beforehand what of `replace_vectors` can be done while this process and others go on; often nothing."""
        ...

    def replace_vectors(self, space: VectorSpace, source: VectorSource) -> None:
        """Puts other vectors, and Chunk nodes, in place of all, of every project, and says so in Meta.

        Atomic: the store answers with the old ones until the end, and after a kill at any point the next opening finds
        the old ones or the new ones, never some of each. Meta.sequence grows by at least one.

        Raises:
            StoreError: readers or writers of other processes are in the way, or the store is not initialised.
            ReadOnlyError: the store is open for reading only.
        """
        ...

    def back_up(self, target: str) -> None:
        """Makes a consistent copy of the store in a file of its own, while it is open: durable, and opened once to see
        that it holds what the store holds. An existing file is never replaced.

        Raises:
            InvalidInputError: the target exists, or cannot be written.
            UnsupportedError: the store is no file.
        """
        ...


def as_maintainable(backend: Backend) -> Maintainable:
    """The backend as one that can be maintained as a whole.

    Raises:
        UnsupportedError: it cannot.
    """
    if isinstance(backend, Maintainable):
        return backend
    raise UnsupportedError(
        f"the {backend.name} backend cannot be re-embedded or copied as a whole; export the store and import it into "
        "one of ladybug"
    )
