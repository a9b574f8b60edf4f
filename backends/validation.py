"""A unit of work, checked in full before any engine sees it.

What comes out can be applied without a reason to fail: every column exists and has its type, every key is new where it
must be and present where it must be, every edge has both ends. The same code serves every backend, so that the same
input gives the same error everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from alma_graph.backends.protocol import EdgeMatch, EdgeRow, NodeUpdate, Row, UnitOfWork
from alma_graph.backends.schema import META_KEY, EdgeSpec
from alma_graph.backends.values import clean_key, clean_properties, edge_spec, node_spec
from alma_graph.errors import InvalidInputError, StoreChangedError

ExistingKeys = Callable[[str, Sequence[str]], set[str]]
"""Which of the keys the store has now, for one label."""

_OWNED_META = ("key", "sequence", "schema_version", "dimension", "created_at")


@dataclass(slots=True)
class CheckedWork:
    """A unit of work that can be applied as it stands; `nodes` are full rows, all of them new."""

    nodes: dict[str, list[Row]] = field(default_factory=dict)
    node_updates: list[NodeUpdate] = field(default_factory=list)
    node_deletes: list[tuple[str, str]] = field(default_factory=list)
    edges: list[EdgeRow] = field(default_factory=list)
    edge_updates: list[tuple[EdgeMatch, Row]] = field(default_factory=list)
    edge_deletes: list[EdgeMatch] = field(default_factory=list)


def check_work(work: UnitOfWork, *, dimension: int, existing: ExistingKeys) -> CheckedWork:
    """Checks a unit of work against the schema and the store.

    Raises:
        InvalidInputError: a label, property, type, key or edge end is wrong; the message names it.
        EmbeddingError: a vector has the wrong dimension, is not finite or is zero.
    """
    new = {label: _rows(label, rows, dimension) for label, rows in work.nodes.items() if rows}
    merged = {label: _rows(label, rows, dimension) for label, rows in work.merge.items() if rows}
    updates = [_update(update, dimension) for update in work.node_updates]
    deletes = list(
        dict.fromkeys((node_spec(label).label, clean_key(key, f"{label}.key")) for label, key in work.node_deletes)
    )
    edges = [_edge(edge, dimension) for edge in work.edges]

    stored = _Stored(existing)
    for label, rows in (*new.items(), *merged.items()):
        stored.want(label, (row["key"] for row in rows))
    for update in updates:
        stored.want(update.label, (update.key,))
    for label, key in deletes:
        if label == "Meta":
            raise InvalidInputError("the Meta node cannot be deleted; delete the store's file instead")
        stored.want(label, (key,))
    for edge in edges:
        for source_label, target_label in _pairs(edge):
            stored.want(source_label, (edge.source,))
            stored.want(target_label, (edge.target,))
    stored.load()

    checked = CheckedWork()
    checked.node_deletes = [(label, key) for label, key in deletes if stored.has(label, key)]
    for label, key in checked.node_deletes:
        stored.remove(label, key)
    for label, rows in new.items():
        for row in rows:
            if stored.has(label, row["key"]):
                raise InvalidInputError(f"{label} {row['key']!r} exists already; update it, or give another key")
            stored.add(label, row["key"])
        checked.nodes[label] = rows
    for label, rows in merged.items():
        for row in rows:
            if not stored.has(label, row["key"]):
                stored.add(label, row["key"])
                checked.nodes.setdefault(label, []).append(row)
    for update in updates:
        if not stored.has(update.label, update.key):
            raise InvalidInputError(f"{update.label} {update.key!r} does not exist, so it cannot be updated")
    checked.node_updates = [update for update in updates if update.values]
    checked.edges = [_placed(edge, stored) for edge in edges]
    checked.edge_deletes = [_match(match, dimension) for match in work.edge_deletes]
    checked.edge_updates = [
        (_match(match, dimension), clean_properties(edge_spec(match.type).columns, values, match.type, dimension))
        for match, values in work.edge_updates
        if values
    ]
    return checked


def check_sequence(found: int, expected: int | None) -> None:
    """Raises StoreChangedError where the store is not as the unit of work was made for."""
    if expected is not None and found != expected:
        raise StoreChangedError(
            f"the store's sequence is {found} and not {expected}: another writer was faster; read again, and try again"
        )


class _Stored:
    """The keys that exist at the point of the unit's application that is being checked."""

    def __init__(self, existing: ExistingKeys) -> None:
        self._existing = existing
        self._wanted: dict[str, dict[str, None]] = {}
        self._present: dict[str, set[str]] = {}

    def want(self, label: str, keys: Iterable[str]) -> None:
        self._wanted.setdefault(label, {}).update(dict.fromkeys(keys))

    def load(self) -> None:
        for label, keys in self._wanted.items():
            self._present[label] = set(self._existing(label, list(keys)))

    def has(self, label: str, key: str) -> bool:
        return key in self._present.get(label, ())

    def add(self, label: str, key: str) -> None:
        self._present.setdefault(label, set()).add(key)

    def remove(self, label: str, key: str) -> None:
        self._present[label].discard(key)


def _rows(label: str, rows: list[Row], dimension: int) -> list[Row]:
    spec = node_spec(label)
    if label == "Meta":
        raise InvalidInputError("the Meta node is made by initialise(); a unit of work may only update it")
    full: list[Row] = []
    for row in rows:
        if "key" not in row:
            raise InvalidInputError(f"a {label} row has no key: {sorted(row)}; every node needs one")
        clean_key(row["key"], f"{label}.key")
        given = clean_properties(spec.columns, row, label, dimension)
        full.append({column.name: given.get(column.name) for column in spec.columns})
    return full


def _update(update: NodeUpdate, dimension: int) -> NodeUpdate:
    spec = node_spec(update.label)
    key = clean_key(update.key, f"{update.label}.key")
    forbidden: tuple[str, ...] = ("key",)
    if update.label == "Meta":
        forbidden = _OWNED_META
        if key != META_KEY:
            raise InvalidInputError(f"Meta.key={key!r} is unknown; the one Meta node is {META_KEY!r}")
    for name in forbidden:
        if name in update.values:
            raise InvalidInputError(f"{update.label}.{name} cannot be updated; it is fixed when the node is made")
    return NodeUpdate(update.label, key, clean_properties(spec.columns, update.values, update.label, dimension))


def _edge(edge: EdgeRow, dimension: int) -> EdgeRow:
    spec = edge_spec(edge.type)
    source = clean_key(edge.source, f"{edge.type}.source")
    target = clean_key(edge.target, f"{edge.type}.target")
    given = clean_properties(spec.columns, edge.properties, edge.type, dimension)
    properties = {column.name: given.get(column.name) for column in spec.columns}
    _check_labels(spec, edge)
    return EdgeRow(edge.type, source, target, properties, edge.source_label, edge.target_label)


def _check_labels(spec: EdgeSpec, given: EdgeRow | EdgeMatch) -> None:
    if not pairs_of(spec, given.source_label, given.target_label):
        joins = ", ".join(f"{left} -> {right}" for left, right in spec.pairs)
        raise InvalidInputError(
            f"{given.type} does not join {given.source_label!r} to {given.target_label!r}; it joins {joins}"
        )


def _pairs(edge: EdgeRow) -> list[tuple[str, str]]:
    return pairs_of(edge_spec(edge.type), edge.source_label, edge.target_label)


def pairs_of(spec: EdgeSpec, source_label: str | None, target_label: str | None) -> list[tuple[str, str]]:
    """The pairs of labels of an edge type that agree with the labels given."""
    return [
        (left, right) for left, right in spec.pairs if source_label in (None, left) and target_label in (None, right)
    ]


def _placed(edge: EdgeRow, stored: _Stored) -> EdgeRow:
    """The edge with its labels: the one pair of labels whose two ends exist."""
    candidates = _pairs(edge)
    pairs = [
        (left, right) for left, right in candidates if stored.has(left, edge.source) and stored.has(right, edge.target)
    ]
    if len(pairs) > 1:
        raise InvalidInputError(
            f"{edge.type} {edge.source!r} -> {edge.target!r} could join {pairs}; give source_label and target_label"
        )
    if not pairs:
        left, right = candidates[0]
        missing = edge.source if not any(stored.has(left, edge.source) for left, _ in candidates) else edge.target
        label = left if missing == edge.source else right
        raise InvalidInputError(
            f"{edge.type} {edge.source!r} -> {edge.target!r}: there is no {label} {missing!r}; write it first or "
            "in the "
            "same unit of work"
        )
    return EdgeRow(edge.type, edge.source, edge.target, edge.properties, *pairs[0])


def _match(match: EdgeMatch, dimension: int) -> EdgeMatch:
    spec = edge_spec(match.type)
    source = None if match.source is None else clean_key(match.source, f"{match.type}.source")
    target = None if match.target is None else clean_key(match.target, f"{match.type}.target")
    _check_labels(spec, match)
    where = clean_properties(spec.columns, match.where, match.type, dimension)
    return EdgeMatch(match.type, source, target, where, match.source_label, match.target_label)
