"""What keys say: whose project a node is, and which memory something hangs on."""

from __future__ import annotations

from collections.abc import Container

from alma_graph.backends.protocol import EdgeRow, UnitOfWork
from alma_graph.backends.schema import node_key


def project_of(key: str) -> str:
    """The project of a key that `node_key` made."""
    length, _, rest = key.partition(":")
    return rest[: int(length)]


def projects_of(work: UnitOfWork) -> set[str]:
    """The projects of what a unit writes: of its rows, and of the sources of its edges."""
    rows = [*work.nodes.values(), *work.merge.values()]
    found = {row["project_id"] for label_rows in rows for row in label_rows}
    keys = [*(update.key for update in work.node_updates), *(key for _, key in work.node_deletes)]
    keys += [*(edge.source for edge in work.edges), *(match.source for match, _ in work.edge_updates if match.source)]
    return found.union(map(project_of, keys))


def owner_of_chunk(key: str) -> str:
    """Key of the memory that a chunk is part of."""
    return key.rpartition("#")[0]


def hangs_on(edge: EdgeRow, memories: Container[str]) -> bool:
    """Whether an edge speaks of one of these memories (node keys)."""
    if edge.type == "RELATES_TO":
        stated_by = edge.properties["memory_id"]
        return stated_by is not None and node_key(project_of(edge.source), stated_by) in memories
    ends = ((edge.source_label, edge.source), (edge.target_label, edge.target))
    return any(label == "Memory" and key in memories for label, key in ends)
