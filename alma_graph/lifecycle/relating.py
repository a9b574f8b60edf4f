"""Edges that a caller asserts between memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from alma_graph.arguments import json_object
from alma_graph.backends.protocol import EdgeMatch, EdgeRow, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.codec import compact_json
from alma_graph.errors import InvalidInputError, shown
from alma_graph.index import ProjectIndex
from alma_graph.ingest.judging import contradiction_id
from alma_graph.ingest.lessons import is_formed
from alma_graph.ingest.writer import Writer
from alma_graph.model import Disposition, EdgeType, Memory, Outcome, Signal
from alma_graph.text import checked


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge between two memories; `created` is False where it was there before."""

    type: EdgeType
    source_id: str
    target_id: str
    created: bool


def relate(writer: Writer, source_id: str, type: str, target_id: str, evidence: Mapping[str, Any] | None) -> Relation:
    """Writes the edge unless it is there. A contradiction runs from the newer memory to the older one.

    Raises:
        MemoryNotFoundError: one of the memories does not exist.
        InvalidInputError: an edge from a memory to itself, a circle of INHERITS_FROM, or evidence that is no JSON.
    """
    store, project_id = writer.store, writer.project_id
    checked(source_id, "source_id")
    checked(target_id, "target_id")
    noted = compact_json({} if evidence is None else json_object(evidence, "evidence"))
    type_ = _edge_type(type)
    store.check_writable()

    def connect() -> Relation:
        source, target = store.memory(project_id, source_id), store.memory(project_id, target_id)
        if isinstance(source, Outcome) and type_ is not EdgeType.INHERITS_FROM and is_formed(target):
            raise InvalidInputError(
                f"{target.id!r} is learned from outcomes and counts its own; learn({source.task!r}, ...) counts another"
            )
        if source.id == target.id:
            raise InvalidInputError(f"{type_} from {source.id!r} to itself says nothing; name two memories")
        if type_ is EdgeType.CONTRADICTS and _newer_first(target, source):
            source, target = target, source
        index = store.index(project_id)
        if type_ is EdgeType.INHERITS_FROM and _reaches(index, target.id, source.id):
            raise InvalidInputError(f"{target.id!r} already inherits from {source.id!r}; the edge would close a circle")
        start, end = index.row(source.id), index.row(target.id)
        there = start is not None and any(e.type == type_ and e.target == end for e in index.edges.outgoing(start))
        keys = node_key(project_id, source.id), node_key(project_id, target.id)
        properties = _properties(project_id, source, target, type_, noted, store.clock())
        if not there:
            store.commit(project_id, UnitOfWork(edges=[EdgeRow(type_, *keys, properties, "Memory", "Memory")]))
        elif type_ is EdgeType.CONTRADICTS:  # the caller's word is more than a detector's suspicion
            raised = {name: properties[name] for name in ("score", "signal", "origin", "evidence")}
            store.commit(project_id, UnitOfWork(edge_updates=[(EdgeMatch(type_, *keys), raised)]))
        return Relation(type_, source.id, target.id, created=not there)

    return store.transact(connect)


def _edge_type(value: object) -> EdgeType:
    asserted = (EdgeType.SUPPORTS, EdgeType.CONTRADICTS, EdgeType.INHERITS_FROM)
    for member in asserted:
        if isinstance(value, str) and value.strip().upper() == member:
            return member
    raise InvalidInputError(f"type={shown(value)} cannot be asserted; give one of {', '.join(asserted)}")


def _properties(
    project_id: str, source: Memory, target: Memory, type_: EdgeType, evidence: str, now: datetime
) -> dict[str, Any]:
    common = {"origin": "user", "evidence": evidence, "recorded_at": now}
    if type_ is EdgeType.SUPPORTS:
        return {**common, "weight": 1.0}
    if type_ is EdgeType.INHERITS_FROM:
        return {**common, "mode": "derived", "trust": 1.0}
    return {
        **common,
        "id": contradiction_id(project_id, source.id, target.id),
        "signal": str(Signal.USER),
        "disposition": str(Disposition.OPEN),
        "score": 1.0,
    }


def _newer_first(candidate: Memory, other: Memory) -> bool:
    """Whether the candidate is the newer side: an outcome against a lesson always is."""
    if isinstance(candidate, Outcome) != isinstance(other, Outcome):
        return isinstance(candidate, Outcome)
    return _moments(candidate) > _moments(other)


def _moments(memory: Memory) -> tuple[str, str]:
    recorded = memory.created_at.isoformat() if memory.created_at else ""
    return (memory.valid_from.isoformat() if memory.valid_from else recorded, recorded)


def _reaches(index: ProjectIndex, start_id: str, goal_id: str) -> bool:
    """Whether INHERITS_FROM leads from one memory to another."""
    start, goal = index.row(start_id), index.row(goal_id)
    todo, seen = [start], {start}
    while todo:
        row = todo.pop()
        if row is None:
            continue
        if row == goal:
            return True
        for edge in index.edges.outgoing(row):
            if edge.type == "INHERITS_FROM" and edge.target not in seen:
                seen.add(edge.target)
                todo.append(edge.target)
    return False
