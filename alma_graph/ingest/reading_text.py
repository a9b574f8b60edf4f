"""Entities and claims out of the texts of new memories."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from alma_graph.beliefs import Claims, parse_claims
from alma_graph.errors import MissingDependencyError
from alma_graph.extraction import Extraction, SessionContext
from alma_graph.model import Memory, MemoryKind, Observation
from alma_graph.store import Store

JUDGED = frozenset({MemoryKind.DOMAIN_KNOWLEDGE, MemoryKind.USER_PREFERENCE, MemoryKind.OBSERVATION})
"""Kinds whose texts claim something of the world and may contradict each other; outcomes speak through lessons."""

_reading = threading.Lock()
_told = False


def read_entities(store: Store, project_id: str, memories: Sequence[Memory]) -> list[Extraction]:
    """Entities and relations of each memory's text; turns of one session resolve each other's pronouns."""
    contexts: list[SessionContext | None] = []
    for memory in memories:
        if isinstance(memory, Observation):
            shared = store.session_context(project_id, memory.session_id)
            # the names are the session's, "I" is the turn's own speaker
            speaker = memory.speaker or ""
            contexts.append(SessionContext(speaker, shared.people, shared.orgs, shared.things))
        else:
            contexts.append(None)
    with _reading:  # one session's context is read and written in order
        return store.extractor.extract_batch([memory.text for memory in memories], contexts)


def parse_claims_or_none(memories: Sequence[Memory]) -> list[Claims | None]:
    """The claims of those memories whose kind is judged; None for the others, and where no parser is installed."""
    global _told  # noqa: PLW0603 - once a process is the point
    judged = [at for at, memory in enumerate(memories) if memory.kind in JUDGED]
    claims: list[Claims | None] = [None] * len(memories)
    if not judged:
        return claims
    try:
        parsed = parse_claims([memories[at].text for at in judged])
    except MissingDependencyError as error:
        if not _told:
            _told = True
            print(f"alma_graph: contradictions are not looked for: {error}", file=sys.stderr)
        return claims
    for at, value in zip(judged, parsed, strict=True):
        claims[at] = value
    return claims
