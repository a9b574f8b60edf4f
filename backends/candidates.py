"""Candidates by similarity and by words, from the indexes of an engine that has them: for stores too large for memory.

Apart from `Backend`, since the embedded engines' own indexes are not used. What comes is a set of candidates, to be
scored anew by who asked: an index may be approximate, and its scores are the engine's own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from alma_graph.backends.protocol import Backend
from alma_graph.errors import UnsupportedError

Candidates = list[tuple[str, float]]
"""Keys and scores, best first, equal ones by key."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories may be candidates, and whose chunks. What is None admits every memory.

    Attributes:
        kinds, statuses: of a memory.
        agents: whose memories; those without an agent are admitted too. With no `user_id` beside it, no user's
            preferences are.
        user_id: memories of other users are left out; this one's preferences are admitted, whoever learned them.
        begun_by: the memory holds from then on at the latest; one without `valid_from` always held.
        over_after: the memory holds beyond that time; one without `valid_to` holds for good.
        since, until: bounds, both inclusive, of `valid_from`, or of `recorded_at` where there is none.
    """

    kinds: Collection[str] | None = None
    statuses: Collection[str] | None = None
    agents: Collection[str] | None = None
    user_id: str | None = None
    begun_by: datetime | None = None
    over_after: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None


EVERY_MEMORY = Wanted()


@runtime_checkable
class CandidateSource(Protocol):
    """A backend whose engine finds candidates."""

    @property
    def max_rows_in_memory(self) -> int:
        """Memories of a project up to which it is read whole; beyond that, queries are answered from candidates."""
        ...

    def vector_candidates(
        self, label: str, vector: Any, k: int, project_id: str, wanted: Wanted = EVERY_MEMORY
    ) -> Candidates:
        """The nodes of a label ("Memory", "Chunk") and project whose embeddings are near a vector, of those that are
        wanted, at most k, with their cosines. All of them where there are no more than k."""
        ...

    def text_candidates(self, query: str, k: int, project_id: str, wanted: Wanted = EVERY_MEMORY) -> Candidates:
        """The memories of a project whose texts have any word of the query, of those that are wanted, at most k, with
        the engine's scores."""
        ...


def as_candidate_source(backend: Backend) -> CandidateSource:
    """The backend as one that finds candidates.

    Raises:
        UnsupportedError: it does not.
    """
    if isinstance(backend, CandidateSource):
        return backend
    raise UnsupportedError(f"the {backend.name} backend has no candidates; its projects are read whole. Use neo4j")
