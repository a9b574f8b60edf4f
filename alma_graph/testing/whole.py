"""What must hold of a graph of memories after every step, looked at from outside."""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from alma_graph import ALMA
from alma_graph.backends import EDGES, NODES, Backend, EdgeRow

_NEIGHBOURS = 5


def breaches(alma: ALMA) -> list[str]:
    """What does not hold of the whole store of `alma` and of its project, one line each; empty is well.

    No edge without its two ends, no key twice, no entity that nothing mentions, counts that agree with the rows,
    INHERITS_FROM without a circle, and the neighbours of every memory those that all vectors give.
    """
    backend = alma._store.backend
    rows = {label: backend.nodes(label) for label in NODES}
    edges = {type_: backend.edges(type_) for type_ in EDGES}
    found = [f"verify: {problem}" for problem in backend.verify()]
    found += _dangling(rows, edges) + _orphans(rows, edges) + _counts(backend, rows, edges)
    found += _circle(edges["INHERITS_FROM"]) + _stats(alma, rows) + _neighbours(alma)
    return found


def _dangling(rows: dict[str, list[dict[str, Any]]], edges: dict[str, list[EdgeRow]]) -> list[str]:
    keys = {label: Counter(row["key"] for row in found) for label, found in rows.items()}
    twice = [
        f"{label} {key!r} is there {n} times" for label, found in keys.items() for key, n in found.items() if n > 1
    ]
    loose = [
        f"{edge.type} {edge.source!r} -> {edge.target!r} lacks an end"
        for found in edges.values()
        for edge in found
        if edge.source not in keys[edge.source_label or "Meta"] or edge.target not in keys[edge.target_label or "Meta"]
    ]
    return twice + loose


def _orphans(rows: dict[str, list[dict[str, Any]]], edges: dict[str, list[EdgeRow]]) -> list[str]:
    """Nodes that are made on first mention go with the last memory that held them."""
    mentioned = {edge.target for edge in edges["MENTIONS"]}
    held = {
        "Entity": mentioned,
        "User": {edge.target for edge in edges["ABOUT"]},
        "Agent": {edge.source for edge in edges["LEARNED"]},
        "Session": {edge.target for edge in edges["PART_OF"]},
        "Chunk": {edge.target for edge in edges["HAS_CHUNK"]},
    }
    loose = [
        f"{label} {row['key']!r} has no memory"
        for label, keys in held.items()
        for row in rows[label]
        if row["key"] not in keys
    ]
    ids = {(row["project_id"], row["id"]) for row in rows["Memory"]}
    projects = {row["key"]: row["project_id"] for row in rows["Entity"]}
    stale = [
        f"RELATES_TO of {edge.properties['memory_id']!r}, which is gone"
        for edge in edges["RELATES_TO"]
        if (projects[edge.source], edge.properties["memory_id"]) not in ids
    ]
    return loose + stale


def _counts(backend: Backend, rows: dict[str, list[Any]], edges: dict[str, list[Any]]) -> list[str]:
    there = {**{label: len(found) for label, found in rows.items()}, **{t: len(found) for t, found in edges.items()}}
    return [f"{name}: {n} read, {backend.count(name)} counted" for name, n in there.items() if n != backend.count(name)]


def _circle(edges: list[EdgeRow]) -> list[str]:
    graph: dict[str, set[str]] = {}
    for edge in edges:
        graph.setdefault(edge.source, set()).add(edge.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"INHERITS_FROM goes in a circle: {error.args[1]}"]
    return []


def _stats(alma: ALMA, rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    mine = [row for row in rows["Memory"] if row["project_id"] == alma.project_id]
    stats = alma.stats()
    expected = {
        "memories": len(mine),
        "by_kind": Counter(row["kind"] for row in mine),
        "by_status": Counter(row["status"] for row in mine),
        "by_agent": Counter(row["agent"] for row in mine if row["agent"] is not None),
        "entities": sum(row["project_id"] == alma.project_id for row in rows["Entity"]),
    }
    listed = sorted(memory.id for memory in alma.memories(status=None))
    wrong = [
        f"stats().{name} is {getattr(stats, name)}, not {n}"
        for name, n in expected.items()
        if getattr(stats, name) != n
    ]
    return wrong if listed == sorted(row["id"] for row in mine) else [*wrong, f"memories() gives {listed}"]


def _neighbours(alma: ALMA) -> list[str]:
    """Exact search against the products with all vectors of the active memories and their chunks, as the graph has
    them."""
    store, project = alma._store, alma.project_id
    with store.lock:
        index, backend = store.index(project), store.backend
        active = {row["key"] for row in backend.nodes("Memory", project_id=project) if row["status"] == "active"}
        parts = dict(zip(*backend.vectors("Chunk", project_id=project), strict=True))
        vectors = {key: [vector] for key, vector in zip(*backend.vectors("Memory", project_id=project), strict=True)}
        for edge in backend.edges("HAS_CHUNK", project_id=project):
            vectors[edge.source].append(parts[edge.target])
        wrong: list[str] = []
        for key, (vector, *_) in vectors.items():
            cosines = {
                other: max(float(np.dot(part.astype(np.float64), vector)) for part in vectors[other])
                for other in vectors.keys() & active
            }
            best = sorted(cosines.values(), reverse=True)[:_NEIGHBOURS]
            rows, given = index.nearest(vector, _NEIGHBOURS)
            own = [cosines.get(index.keys[row], -1.0) for row in rows.tolist()]
            if len(best) != len(given) or not np.allclose([best, own], [given, given], atol=1e-5):
                wrong.append(f"the neighbours of {key!r} have cosines {own}, said to be {given.tolist()}, not {best}")
        return wrong
