"""Candidates by similarity and by words, from the indexes of an engine that has them: for stores too large for memory.

Apart from `Backend`, since the embedded engines' own indexes are not used. What comes is a set of candidates, to be
scored anew by who asked: an index may be approximate, and its scores are the engine's own.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from alma_graph.backends.protocol import Backend
from alma_graph.errors import UnsupportedError

Candidates = list[tuple[str, float]]
"""Keys and scores, best first, equal ones by key."""


@runtime_checkable
class CandidateSource(Protocol):
    """A backend whose engine finds candidates."""

    @property
    def max_rows_in_memory(self) -> int:
        """Memories of a project up to which it is read whole; beyond that, queries are answered from candidates."""
        ...

    def vector_candidates(self, label: str, vector: Any, k: int, project_id: str) -> Candidates:
        """The nodes of a label ("Memory", "Chunk") and project whose embeddings are near a vector, at most k, with
        their cosines. All of them where there are no more than k."""
        ...

    def text_candidates(self, query: str, k: int, project_id: str) -> Candidates:
        """The memories of a project whose texts have any word of the query, at most k, with the engine's scores."""
        ...


def as_candidate_source(backend: Backend) -> CandidateSource:
    """The backend as one that finds candidates.

    Raises:
        UnsupportedError: it does not.
    """
    if isinstance(backend, CandidateSource):
        return backend
    raise UnsupportedError(f"the {backend.name} backend has no candidates; its projects are read whole. Use neo4j")
