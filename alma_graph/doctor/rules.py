"""What holds in a graph that this package wrote, beyond what any graph needs: owners, walls of projects, models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import EDGES, NODES, node_key
from alma_graph.backends.verify import Readable
from alma_graph.codec import row_to_memory
from alma_graph.doctor.scratch import is_scratch
from alma_graph.errors import AlmaGraphError
from alma_graph.store.store import MEMORY_COLUMNS

HELD_BY = {"Chunk": ("HAS_CHUNK",), "User": ("ABOUT",), "Session": ("PART_OF",), "Agent": ("LEARNED", "INHERITS_FROM")}
"""Labels of nodes that are there only as long as one of these edges holds them."""

OWNERS = (("agent", "Agent", "LEARNED"), ("user_id", "User", "ABOUT"))
"""Property of a memory, label of its owner, type of the edge between them."""


@dataclass(slots=True)
class Disorder:
    """What the rules found.

    Attributes:
        unreadable: why memories cannot be read, one line each.
        orphans: keys of nodes that nothing holds, by label.
        ownerless: memories without the edge to their agent or user: (memory row, owner's label, edge type).
        projects: projects that have memories and no Project node.
        stale: relations that a memory stated which is gone.
        crossing: edges between two projects.
        circles: memories that inherit from themselves, by id.
        scratch: scratch projects that a doctor left behind.
        memories: how many memories were read.
    """

    unreadable: list[str] = field(default_factory=list)
    orphans: dict[str, list[str]] = field(default_factory=dict)
    ownerless: list[tuple[Row, str, str]] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    stale: list[EdgeRow] = field(default_factory=list)
    crossing: list[EdgeRow] = field(default_factory=list)
    circles: list[str] = field(default_factory=list)
    scratch: list[str] = field(default_factory=list)
    memories: int = 0


def check_rules(backend: Readable) -> Disorder:
    """Reads the graph (without vectors) and says which of its rules are broken."""
    found = Disorder()
    memories = [row for row in backend.nodes("Memory", columns=MEMORY_COLUMNS) if not is_scratch(row["project_id"])]
    edges = {type_: backend.edges(type_) for type_ in EDGES}
    projects = _projects_of_nodes(backend)
    found.memories = len(memories)
    found.unreadable = list(_unreadable(memories))
    for label, types in HELD_BY.items():
        held = {end for type_ in types for edge in edges[type_] for end in (edge.source, edge.target)}
        orphans = sorted(key for key in projects[label] if key not in held)
        if orphans:
            found.orphans[label] = orphans
    _check_owners(found, memories, edges)
    known = set(projects["Project"].values())
    used = {row["project_id"] for row in memories}
    found.scratch = sorted(project for project in _all_projects(projects) if is_scratch(project))
    found.projects = sorted(used - known)
    ids = {(row["project_id"], row["id"]) for row in memories}
    found.stale = [
        edge
        for edge in edges["RELATES_TO"]
        if (projects["Entity"].get(edge.source), edge.properties["memory_id"]) not in ids
    ]
    for rows in edges.values():
        for edge in rows:
            ends = (
                projects[edge.source_label or ""].get(edge.source),
                projects[edge.target_label or ""].get(edge.target),
            )
            if None not in ends and ends[0] != ends[1]:
                found.crossing.append(edge)
    inherits = [edge for edge in edges["INHERITS_FROM"] if edge.source_label == "Memory"]
    found.circles = sorted(_in_circles(inherits))
    return found


def _projects_of_nodes(backend: Readable) -> dict[str, dict[str, Any]]:
    """Project of each node, by label and key."""
    labels = [label for label, spec in NODES.items() if any(column.name == "project_id" for column in spec.columns)]
    found: dict[str, dict[str, Any]] = {label: {} for label in NODES}
    for label in labels:
        found[label] = {row["key"]: row["project_id"] for row in backend.nodes(label, columns=("key", "project_id"))}
    return found


def _all_projects(projects: dict[str, dict[str, Any]]) -> set[str]:
    return {str(project) for nodes in projects.values() for project in nodes.values()}


def _unreadable(memories: Iterable[Row]) -> Iterable[str]:
    for row in memories:
        try:
            row_to_memory(row)
            if row["key"] != node_key(row["project_id"], row["id"]):
                yield f"the memory {row['id']!r} has the key {row['key']!r}, which is not that of its project and id"
        except AlmaGraphError as error:
            yield str(error).splitlines()[0]


def _check_owners(found: Disorder, memories: Iterable[Row], edges: dict[str, list[EdgeRow]]) -> None:
    owned = {
        "LEARNED": {(edge.target, edge.source) for edge in edges["LEARNED"]},
        "ABOUT": {(edge.source, edge.target) for edge in edges["ABOUT"]},
    }
    for row in memories:
        for name, label, type_ in OWNERS:
            owner = row[name]
            if owner is not None and (row["key"], node_key(row["project_id"], owner)) not in owned[type_]:
                found.ownerless.append((row, label, type_))


def _in_circles(edges: Iterable[EdgeRow]) -> set[str]:
    """Nodes on a circle or between circles: what is left when ends without a way on, then without a way in, are cut."""
    forward: dict[str, set[str]] = {}
    backward: dict[str, set[str]] = {}
    for edge in edges:
        forward.setdefault(edge.source, set()).add(edge.target)
        backward.setdefault(edge.target, set()).add(edge.source)
    left = set(forward) | set(backward)
    for ways, others in ((forward, backward), (backward, forward)):
        counts = {node: len(ways.get(node, set()) & left) for node in left}
        ends = [node for node in left if not counts[node]]
        while ends:
            node = ends.pop()
            left.discard(node)
            for before in others.get(node, set()) & left:
                counts[before] -= 1
                if not counts[before]:
                    ends.append(before)
    return left
