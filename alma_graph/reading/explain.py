"""Why the store holds a memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from alma_graph.backends.protocol import EdgeRow
from alma_graph.backends.schema import node_key
from alma_graph.codec import row_to_memory
from alma_graph.model import EdgeType
from alma_graph.reading.reader import Reader
from alma_graph.results import Explanation, Link
from alma_graph.store.versions import versions_of

_TYPES = (EdgeType.SUPPORTS, EdgeType.CONTRADICTS, EdgeType.INHERITS_FROM)


def explain(reader: Reader, memory_id: str) -> Explanation:
    """Everything that joins a memory to others: each edge with its evidence.

    Raises:
        MemoryNotFoundError: the project has no such memory.
    """
    store = reader.store
    memory = reader.get(memory_id)
    key = node_key(reader.project_id, memory_id)
    with store.one_state():
        into = {type_: store.backend.edges(type_, targets=[key]) for type_ in _TYPES}
        out_of = {type_: store.backend.edges(type_, sources=[key]) for type_ in _TYPES}
        mentions = store.backend.edges(EdgeType.MENTIONS, sources=[key])
        entities = store.backend.nodes("Entity", keys=[edge.target for edge in mentions], columns=("key", "name"))
        others = {edge.source for edges in into.values() for edge in edges}
        others |= {edge.target for edges in out_of.values() for edge in edges}
        memories = {row["key"]: row_to_memory(row) for row in store.memory_rows(sorted(others))}
        versions = versions_of(store, memory)

    def links(type_: EdgeType, edges: Sequence[EdgeRow], incoming: bool) -> tuple[Link, ...]:
        ends = [(memories.get(edge.source if incoming else edge.target), edge) for edge in edges]
        # Another process may have removed a memory in between.
        found = [Link(type_, memory, _properties(edge)) for memory, edge in ends if memory is not None]
        return tuple(sorted(found, key=lambda link: link.memory.id))

    return Explanation(
        memory=memory,
        supported_by=links(EdgeType.SUPPORTS, into[EdgeType.SUPPORTS], True),
        contradicted_by=links(EdgeType.CONTRADICTS, into[EdgeType.CONTRADICTS], True),
        supports=links(EdgeType.SUPPORTS, out_of[EdgeType.SUPPORTS], False),
        contradicts=links(EdgeType.CONTRADICTS, out_of[EdgeType.CONTRADICTS], False),
        sources=links(EdgeType.INHERITS_FROM, out_of[EdgeType.INHERITS_FROM], False),
        derived=links(EdgeType.INHERITS_FROM, into[EdgeType.INHERITS_FROM], True),
        entities=tuple(sorted(row["name"] for row in entities)),
        history=tuple(versions),
    )


def _properties(edge: EdgeRow) -> dict[str, Any]:
    """The edge's properties that are there, its evidence read."""
    kept = {name: value for name, value in edge.properties.items() if value is not None}
    if "evidence" in kept:
        kept["evidence"] = json.loads(kept["evidence"])
    return kept
