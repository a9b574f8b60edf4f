"""The arrays of a part of a project: what may answer one query, found by the engine's own indexes.

For projects too large for memory. Words are weighed as in the part, so scores are close to those of the whole project
and not equal to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from alma_graph.backends.candidates import CandidateSource, Wanted
from alma_graph.backends.protocol import Backend, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.index.edges import MEMORY_EDGES
from alma_graph.index.following import MEMORY_COLUMNS, take_edges
from alma_graph.index.project import ProjectIndex

CANDIDATES = 500
"""Candidates of each sort: near memories, near chunks, memories with the words."""
_MOST_NEIGHBOURS = 2_000
_MOST_PREFERENCES = 200


def load_part(
    backend: Backend,
    source: CandidateSource,
    project_id: str,
    *,
    vector: Any,
    query: str,
    user_id: str | None,
    wanted: Sequence[Wanted],
    at_least: int = 1,
) -> ProjectIndex:
    """The candidates for a query and the memories that an edge joins to one of them, with all their edges among
    themselves, their entities and chunks; and what a user prefers.

    Args:
        vector: of the query; None where it has none, and words alone choose.
        wanted: which memories may be candidates; those of each are looked for by themselves.
        at_least: candidates of each sort, where there are so many.
    """
    meta = backend.meta()
    index = ProjectIndex(project_id, int(meta["dimension"]) if meta else 1)
    keys: dict[str, None] = {}
    for one in wanted:
        keys |= dict.fromkeys(_candidates(backend, source, project_id, vector, query, one, max(CANDIDATES, at_least)))
    keys |= dict.fromkeys(_neighbours(backend, list(keys))[:_MOST_NEIGHBOURS])
    if user_id is not None:
        wishes = backend.edges("ABOUT", targets=[node_key(project_id, user_id)])
        keys |= dict.fromkeys(edge.source for edge in wishes[-_MOST_PREFERENCES:])
    work = UnitOfWork()
    # in the order of their keys, as a whole project is loaded
    work.nodes["Memory"] = backend.nodes("Memory", keys=sorted(keys), project_id=project_id, columns=MEMORY_COLUMNS)
    take_edges(backend, work, [row["key"] for row in work.nodes["Memory"]])
    mentioned = sorted({edge.target for edge in work.edges if edge.type == "MENTIONS"})
    work.nodes["Entity"] = backend.nodes("Entity", keys=mentioned)
    index.apply(work)
    return index


def _candidates(
    backend: Backend, source: CandidateSource, project_id: str, vector: Any, query: str, wanted: Wanted, most: int
) -> list[str]:
    """Keys of the memories that are wanted and have the words, are near the vector, or have a chunk that is."""
    keys = [key for key, _ in source.text_candidates(query, most, project_id, wanted)]
    if vector is not None:
        keys += [key for key, _ in source.vector_candidates("Memory", vector, most, project_id, wanted)]
        chunks = [key for key, _ in source.vector_candidates("Chunk", vector, most, project_id, wanted)]
        keys += [edge.source for edge in backend.edges("HAS_CHUNK", targets=chunks)]
    return keys


def _neighbours(backend: Backend, keys: list[str]) -> list[str]:
    """Memories that an edge between memories joins to one of these, in the order of their keys."""
    found: set[str] = set()
    for type_ in ("NEXT", *MEMORY_EDGES):
        found.update(edge.target for edge in backend.edges(type_, sources=keys) if edge.target_label == "Memory")
        found.update(edge.source for edge in backend.edges(type_, targets=keys) if edge.source_label == "Memory")
    return sorted(found.difference(keys))
