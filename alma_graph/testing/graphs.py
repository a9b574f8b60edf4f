"""Small graphs for the tests of the backends."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from alma_graph.backends import Backend, EdgeRow, Row, UnitOfWork, node_key

PROJECT = "shop"
DIMENSION = 8
START = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def key(identifier: str, project: str = PROJECT) -> str:
    """The key of a node of the test project."""
    return node_key(project, identifier)


def vector(number: int) -> Any:
    """A float32 vector that belongs to a number."""
    return np.random.default_rng(number).normal(size=DIMENSION).astype(np.float32)


def memory_row(identifier: str, project: str = PROJECT, **changes: Any) -> Row:
    """A memory with a value in nearly every property."""
    number = sum(identifier.encode("utf-8", "replace"))
    row: Row = {
        "key": node_key(project, identifier),
        "id": identifier,
        "project_id": project,
        "agent": "builder",
        "kind": "outcome",
        "text": f"text of {identifier}",
        "data": '{"task": "deploy"}',
        "metadata": "{}",
        "status": "active",
        "authority": "agent",
        "content_hash": f"{number:032x}",
        "confidence": 0.5,
        "strength": 1.0,
        "use_count": number,
        "valid_from": START + timedelta(seconds=number),
        "recorded_at": START,
        "embedding": vector(number),
        "token_embeddings": bytes(range(256)),
    }
    return {**row, **changes}


def entity_row(name: str, project: str = PROJECT) -> Row:
    """An entity."""
    return {
        "key": node_key(project, name),
        "project_id": project,
        "name": name,
        "canonical": name.lower(),
        "type": "service",
        "aliases": [name.upper()],
    }


def unit_of(identifier: str, entities: Iterable[str] = ("redis", "api"), project: str = PROJECT) -> UnitOfWork:
    """A memory with its agent and its entities, as one unit of work."""
    work = UnitOfWork()
    add_memory(work, identifier, entities, project)
    return work


def add_memory(
    work: UnitOfWork, identifier: str, entities: Iterable[str] = ("redis", "api"), project: str = PROJECT
) -> None:
    """Adds a memory with its agent and its entities to a unit of work."""
    memory = node_key(project, identifier)
    agent = node_key(project, "builder")
    work.add_node("Memory", memory_row(identifier, project))
    work.merge_node("Agent", {"key": agent, "id": "builder", "project_id": project})
    work.edges.append(EdgeRow("LEARNED", agent, memory))
    for position, name in enumerate(entities):
        work.merge_node("Entity", entity_row(name, project))
        properties = {"start_char": position, "end_char": position + len(name), "surface": name, "type": "service"}
        work.edges.append(EdgeRow("MENTIONS", memory, node_key(project, name), properties))


def batch_of(identifiers: Iterable[str], entities: Iterable[str] = ("redis", "api")) -> UnitOfWork:
    """Many memories as one unit of work."""
    work = UnitOfWork()
    names = list(entities)
    for identifier in identifiers:
        add_memory(work, identifier, names)
    return work


def supports(source: str, target: str, **changes: Any) -> EdgeRow:
    """A SUPPORTS edge with all its properties."""
    properties = {"weight": 0.5, "origin": "test", "evidence": "{}", "recorded_at": START, **changes}
    return EdgeRow("SUPPORTS", key(source), key(target), properties)


def plain(row: Row) -> Row:
    """A row that can be compared with ==: vectors as bytes."""
    return {name: value.tobytes() if isinstance(value, np.ndarray) else value for name, value in row.items()}


def dump(store: Backend) -> dict[str, Any]:
    """Everything in a store, comparable between engines; Meta without its time."""
    from alma_graph.backends import EDGES, NODES

    nodes = {label: [plain(row) for row in store.nodes(label)] for label in NODES if label != "Meta"}
    edges = {name: store.edges(name) for name in EDGES}
    return {"nodes": nodes, "edges": edges, "sequence": store.sequence()}
