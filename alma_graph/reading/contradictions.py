"""Contradictions as the graph holds them."""

from __future__ import annotations

import json
from typing import Any

from alma_graph.backends.protocol import EdgeRow
from alma_graph.codec import row_to_memory
from alma_graph.enums import ASSERTED
from alma_graph.model import Disposition, EdgeType, Memory, Signal, Status
from alma_graph.reading.reader import Reader
from alma_graph.results import Contradiction, EvidenceSpan
from alma_graph.store.versions import one_name_each, predecessors


def list_contradictions(
    reader: Reader, *, agent: str | None, disposition: Disposition | None, suspected: bool
) -> list[Contradiction]:
    """The project's contradictions, the strongest first (ties by id); with `agent`, those in which it has a side.

    One with a retracted side is none until that memory is restored; nor is one that was found between two versions of
    one memory of which one is superseded: that was put right. What a caller asserted stays.
    """
    store = reader.store
    with store.one_state():
        store.check_open()
        edges = store.backend.edges("CONTRADICTS", project_id=reader.project_id)
        keys = sorted({key for edge in edges for key in (edge.source, edge.target)})
        memories = {row["key"]: row_to_memory(row) for row in store.memory_rows(keys)}
        revisions = store.backend.edges(EdgeType.INHERITS_FROM, project_id=reader.project_id) if edges else []
        versions = one_name_each(predecessors(revisions))

    def put_right(edge: EdgeRow) -> bool:
        name = versions.get(edge.source)
        statuses = memories[edge.source].status, memories[edge.target].status
        same = name is not None and name == versions.get(edge.target)
        return same and Status.SUPERSEDED in statuses and edge.properties["signal"] != Signal.USER

    found = [
        _contradiction(edge, memories[edge.source], memories[edge.target])
        for edge in edges
        if edge.source in memories
        and edge.target in memories  # another process may have removed one in between
        and not put_right(edge)
    ]
    chosen = [
        item
        for item in found
        if (suspected or not item.suspected)
        and (disposition is None or item.disposition is disposition)
        and Status.RETRACTED not in (item.newer.status, item.older.status)
        and (agent is None or agent in (item.newer.agent, item.older.agent))
    ]
    return sorted(chosen, key=lambda item: (-item.score, item.id))


def _contradiction(edge: EdgeRow, newer: Memory, older: Memory) -> Contradiction:
    properties = edge.properties
    score = float(properties["score"])
    return Contradiction(
        id=properties["id"],
        newer=newer,
        older=older,
        signal=Signal(properties["signal"]),
        score=score,
        evidence=tuple(_spans(properties.get("evidence"))),
        disposition=Disposition(properties["disposition"]),
        recorded_at=properties.get("recorded_at"),
        resolved_at=properties.get("resolved_at"),
        suspected=score < ASSERTED,
    )


def _spans(evidence: str | None) -> list[EvidenceSpan]:
    """The spans of an edge's evidence; what callers asserted themselves may be any JSON object and has none."""
    items: Any = json.loads(evidence) if evidence else []
    return [EvidenceSpan(**item) for item in items] if isinstance(items, list) else []
