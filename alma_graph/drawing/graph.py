"""The stored graph of one project as a networkx graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from alma_graph.arguments import listed
from alma_graph.backends.protocol import Backend, EdgeRow, Row
from alma_graph.backends.schema import EDGES, NODES, node_key
from alma_graph.drawing.options import centres_of, check_values
from alma_graph.errors import InvalidInputError, MemoryNotFoundError, shown
from alma_graph.model import EdgeType, MemoryKind, enum_of

if TYPE_CHECKING:
    import networkx

NodeId = str | tuple[str, str]
"""A memory is its id; any other node is (label, id), so that an agent never meets a memory of the same name."""

_UNREAD = {"embedding", "token_embeddings", "content_hash", "claims", "retired_state"}
_JSON_COLUMNS = {"data", "metadata", "evidence"}

# How much an edge says for keeping its ends when there is room for only some nodes.
_WEIGHT = {
    EdgeType.CONTRADICTS: 4.0,
    EdgeType.SUPPORTS: 2.0,
    EdgeType.INHERITS_FROM: 2.0,
    EdgeType.MENTIONS: 1.0,
    EdgeType.RELATES_TO: 0.5,
}
_PASSED_NEVER = {"Agent", "User", "Session"}
_KIND_WEIGHT: dict[Any, float] = {MemoryKind.HEURISTIC: 6.0, MemoryKind.ANTI_PATTERN: 6.0}


def to_networkx(
    backend: Backend,
    project_id: str,
    *,
    kinds: Iterable[MemoryKind | str] | None = None,
    limit: int | None = None,
    around: str | Sequence[str] | None = None,
    hops: int = 1,
    include_entities: bool = True,
    include_agents: bool = True,
) -> networkx.MultiDiGraph:
    """The graph of one project.

    Nodes: a memory is its id; an entity, agent, user or session is the pair (label, id). Attributes are the stored
    properties that are not None (times aware, JSON parsed, no vectors), the fields of the memory's kind
    (`success_count`, `strategy`, ...) among them, and `label`. Edges are keyed by their type; where one pair has
    several of a type, the further ones are "TYPE:2", "TYPE:3". Every edge has `type` beside its properties.

    Args:
        kinds: kinds of memory to keep; None keeps all.
        limit: at most so many nodes: the nearest to `around`, or else those with the most telling edges.
        around: id or ids of memories; keeps what lies within `hops` edges of them (agents, users and sessions are
            reached, but not passed through).
        include_entities: entities with MENTIONS and RELATES_TO.
        include_agents: agents, users and sessions with LEARNED, ABOUT, PART_OF and INHERITS_FROM between agents.

    Returns:
        A MultiDiGraph; `graph.graph` has `project_id` and `total_nodes`, the number of nodes before `limit`.

    Raises:
        InvalidInputError: an unknown kind, a limit below 1, hops below 0.
        MemoryNotFoundError: a memory of `around` is not in the project.
    """
    import networkx as nx

    wanted = _kinds(kinds)
    check_values(limit=limit, hops=hops, include_entities=include_entities, include_agents=include_agents)
    centres = centres_of(around)

    graph = nx.MultiDiGraph(project_id=project_id)
    labels = ["Memory"]
    labels += ["Entity"] if include_entities else []
    labels += ["Agent", "User", "Session"] if include_agents else []
    by_key: dict[str, dict[str, NodeId]] = {}
    for label in labels:
        columns = [column.name for column in NODES[label].columns if column.name not in _UNREAD]
        by_key[label] = {}
        for row in backend.nodes(label, project_id=project_id, columns=columns):
            if label == "Memory" and wanted is not None and row["kind"] not in wanted and row["id"] not in centres:
                continue
            node = _node_id(label, project_id, row)
            by_key[label][row["key"]] = node
            graph.add_node(node, **_attributes(label, row))
    for type_name, spec in EDGES.items():
        pairs = [pair for pair in spec.pairs if pair[0] in by_key and pair[1] in by_key]
        if pairs:
            for edge in sorted(backend.edges(type_name, project_id=project_id), key=_edge_order):
                _add_edge(graph, edge, pairs, by_key)

    if centres:
        for centre in centres:
            if centre not in graph:
                raise MemoryNotFoundError(f"around={shown(centre)}: no memory with this id in project {project_id!r}")
        order = _near(graph, centres, hops)
        graph = graph.subgraph(order).copy()
    else:
        order = _telling(graph) if limit is not None else []
    graph.graph["total_nodes"] = graph.number_of_nodes()
    if limit is not None and graph.number_of_nodes() > limit:
        graph = graph.subgraph(order[:limit]).copy()
    return graph


def node_order(graph: networkx.MultiDiGraph) -> list[NodeId]:
    """The nodes in one order that does not depend on how the graph was put together."""
    return sorted(graph.nodes, key=_sort_key)


def edge_order(graph: networkx.MultiDiGraph) -> list[tuple[NodeId, NodeId, str, dict[str, Any]]]:
    """The edges (source, target, key, attributes) in one order, however the graph was put together."""
    return sorted(
        graph.edges(keys=True, data=True), key=lambda edge: (_sort_key(edge[0]), _sort_key(edge[1]), str(edge[2]))
    )


def _sort_key(node: Any) -> tuple[str, str]:
    return ("", node) if isinstance(node, str) else (str(node[0]), str(node[1]))


def _kinds(kinds: Iterable[MemoryKind | str] | None) -> set[MemoryKind] | None:
    if kinds is None:
        return None
    read = enum_of(MemoryKind)
    try:
        return {read(kind) for kind in ([kinds] if isinstance(kinds, str) else listed(kinds, "kinds", of="kinds"))}
    except ValueError as error:
        raise InvalidInputError(f"kinds: {error}") from None


def _node_id(label: str, project_id: str, row: Row) -> NodeId:
    if label == "Memory":
        return str(row["id"])
    return label, str(row["key"]).removeprefix(node_key(project_id, ""))


def _attributes(label: str, row: Row) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name, value in row.items():
        if value is not None:
            attributes[name] = _parsed(value) if name in _JSON_COLUMNS else value
    own = attributes.pop("data", None)
    if isinstance(own, dict):
        attributes = {name: value for name, value in own.items() if value is not None} | attributes
    attributes["label"] = label
    return attributes


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _edge_order(row: EdgeRow) -> tuple[str, str, str]:
    return row.source, row.target, json.dumps(row.properties, sort_keys=True, default=str)


def _add_edge(
    graph: networkx.MultiDiGraph,
    row: EdgeRow,
    pairs: Sequence[tuple[str, str]],
    by_key: dict[str, dict[str, NodeId]],
) -> None:
    for source_label, target_label in pairs:
        if row.source_label not in (None, source_label) or row.target_label not in (None, target_label):
            continue
        source = by_key[source_label].get(row.source)
        target = by_key[target_label].get(row.target)
        if source is None or target is None:
            continue
        attributes = {
            name: _parsed(value) if name in _JSON_COLUMNS else value
            for name, value in row.properties.items()
            if value is not None
        }
        # MENTIONS has a property "type" of its own: the type of the entity in that place.
        if "type" in attributes:
            attributes["entity_type"] = attributes.pop("type")
        before = sum(1 for key in graph.get_edge_data(source, target, default={}) if str(key).split(":")[0] == row.type)
        key = row.type if before == 0 else f"{row.type}:{before + 1}"
        graph.add_edge(source, target, key=key, **attributes, type=row.type)
        return


def _near(graph: networkx.MultiDiGraph, centres: Sequence[str], hops: int) -> list[NodeId]:
    """The nodes within `hops` edges of the centres, direction aside, the nearest first."""
    found: dict[NodeId, None] = dict.fromkeys(centres)
    frontier: list[NodeId] = list(found)
    for _ in range(hops):
        # Whoever learned it is shown, but is no way on to all else that they learned.
        passed = [node for node in frontier if graph.nodes[node]["label"] not in _PASSED_NEVER]
        reached = {other for node in passed for other in (*graph.successors(node), *graph.predecessors(node))}
        frontier = sorted(reached.difference(found), key=_sort_key)
        found.update(dict.fromkeys(frontier))
    return list(found)


def _telling(graph: networkx.MultiDiGraph) -> list[NodeId]:
    """All nodes, those with the most telling edges first; ties by id."""
    weight = {node: _KIND_WEIGHT.get(graph.nodes[node].get("kind"), 0.0) for node in graph}
    for source, target, type_name in graph.edges(data="type"):
        for node in (source, target):
            weight[node] += _WEIGHT.get(type_name, 0.02)
    return sorted(graph.nodes, key=lambda node: (-weight[node], _sort_key(node)))
