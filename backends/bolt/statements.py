"""Cypher made from the schema: the only place where statements of the store's own are built.

Labels, types and property names come from `backends.schema` alone; what a caller gave is always a bound parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from alma_graph.backends.bolt.values import FULL_KEY
from alma_graph.backends.protocol import EdgeMatch
from alma_graph.backends.schema import NODES, Column

KIND_LABELS = {
    "heuristic": "Heuristic",
    "outcome": "Outcome",
    "anti_pattern": "AntiPattern",
    "domain_knowledge": "DomainKnowledge",
    "user_preference": "UserPreference",
    "observation": "Observation",
}
"""The second label of a Memory, by its kind."""

FEED_SALT = "feed_salt"
"""Property of the Meta node that only a store's has."""

INDEXED = {"Memory": frozenset({"project_id", "id"}), "Entity": frozenset({"project_id"})}
INDEXED["Chunk"] = INDEXED["Entity"]
"""Properties of each label that an index for equality holds."""


def key_of(variable: str) -> str:
    """The whole key of a node."""
    return f"coalesce({variable}.`{FULL_KEY}`, {variable}.`key`)"


def wanted(variable: str, columns: Iterable[Column]) -> str:
    """What a statement returns for these columns, which may be asked for twice."""
    return ", ".join(
        f"{key_of(variable) if column.name == 'key' else f'{variable}.`{column.name}`'} AS c{number}"
        for number, column in enumerate(columns)
    )


def wanted_with_key(variable: str, columns: Iterable[Column]) -> str:
    """As `wanted`, behind the key."""
    return f"{key_of(variable)} AS node_key, {wanted(variable, columns)}"


def ours(*variables: str) -> str:
    """The condition that nodes are the store's: another program's under the same labels have no `key`."""
    return " AND ".join(f"{variable}.`key` IS NOT NULL" for variable in variables)


def in_project(variable: str, label: str, project_id: str | None) -> tuple[str, dict[str, Any]]:
    """WHERE clause and parameters that keep the store's nodes of a project; all of the store's for None."""
    if project_id is None:
        return f" WHERE {ours(variable)}", {}
    if not any(column.name == "project_id" for column in NODES[label].columns):
        return " WHERE false", {}
    return f" WHERE {variable}.`project_id` = $project AND {ours(variable)}", {"project": project_id}


def create_nodes(label: str, kind: str | None, set_vector: str | None) -> str:
    """Makes the nodes of `$rows`: maps with `properties` and, with `set_vector`, `vector`."""
    second = f":`{KIND_LABELS[kind]}`" if kind in KIND_LABELS else ""
    vector = f" WITH n, r {set_vector}" if set_vector else ""
    return f"UNWIND $rows AS r CREATE (n:`{label}`{second}) SET n = r.properties{vector}"


def update_nodes(label: str, set_vector: str | None) -> str:
    """Sets properties of the nodes of `$rows`: maps with `key`, `properties` and, with `set_vector`, `vector`."""
    vector = f" WITH n, r {set_vector}" if set_vector else ""
    return f"UNWIND $rows AS r MATCH (n:`{label}` {{`key`: r.key}}) SET n += r.properties{vector}"


def relabel(kind: str | None) -> str:
    """Gives the Memory nodes of `$keys` the second label of a kind, and no other."""
    second = f" SET n:`{KIND_LABELS[kind]}`" if kind in KIND_LABELS else ""
    others = "".join(f":`{name}`" for name in KIND_LABELS.values())
    return f"UNWIND $keys AS k MATCH (n:`Memory` {{`key`: k}}) REMOVE n{others}{second}"


def delete_nodes(label: str) -> str:
    """Deletes the nodes of `$keys` with every edge at them."""
    return f"UNWIND $keys AS k MATCH (n:`{label}` {{`key`: k}}) DETACH DELETE n"


DELETE_STAGED = "MATCH (c:`StagedChunk`) WHERE c.`owner` IN $keys DELETE c"
"""Deletes what an interrupted re-embedding staged of the memories of `$keys`."""


def create_edges(edge_type: str, source: str, target: str) -> str:
    """Makes the edges of `$rows`: maps with `source`, `target` and `properties`."""
    return (
        f"UNWIND $rows AS r MATCH (a:`{source}` {{`key`: r.source}}) MATCH (b:`{target}` {{`key`: r.target}}) "
        f"CREATE (a)-[e:`{edge_type}`]->(b) SET e = r.properties"
    )


def match_edges(match: EdgeMatch, pair: tuple[str, str]) -> str:
    """MATCH of the edges `e` from `a` to `b` that the maps of `$rows` (see `matched`) mean, all of one `shape`."""
    ends = {"a": ("source", match.source), "b": ("target", match.target)}
    found = {
        variable: f"({variable}:`{label}`" + (")" if key is None else f" {{`key`: r.`{name}`}})")
        for (variable, (name, key)), label in zip(ends.items(), pair, strict=True)
    }
    conditions = [ours(variable) for variable, (_, key) in ends.items() if key is None]
    conditions += [
        f"e.`{name}` IS NULL" if value is None else f"e.`{name}` = r.`w_{name}`" for name, value in match.where.items()
    ]
    condition = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"UNWIND $rows AS r MATCH {found['a']}-[e:`{match.type}`]->{found['b']}{condition}"


def matched(match: EdgeMatch, short: Callable[[str], str]) -> dict[str, Any]:
    """A match as a map of `$rows`. `short`: a key as it is stored."""
    ends = {"source": match.source, "target": match.target}
    row = {name: short(key) for name, key in ends.items() if key is not None}
    return row | {f"w_{name}": value for name, value in match.where.items() if value is not None}


def shape(match: EdgeMatch) -> tuple[Any, ...]:
    """What matches have in common that one statement serves. No edge is meant by two different ones of one shape, since
    they differ in a value that both compare."""
    parts = match.source is None, match.target is None
    where = sorted((name, value is None) for name, value in match.where.items())
    return match.type, match.source_label, match.target_label, *parts, *where


def edge_columns(columns: Sequence[Column]) -> str:
    """What a statement returns for an edge `e` from `a` to `b`."""
    ends = f"{key_of('a')} AS source_key, {key_of('b')} AS target_key"
    return "".join((ends, *(f", e.`{column.name}`" for column in columns)))
