"""Counts of a project, and what its store is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from alma_graph.backends.protocol import Backend
from alma_graph.backends.schema import EDGES
from alma_graph.errors import StoreCorruptError

if TYPE_CHECKING:
    from alma_graph.reading.reader import Reader


@dataclass(frozen=True, slots=True)
class Stats:
    """What a project holds.

    Attributes:
        memories: all of them, whatever their status.
        by_kind, by_status, by_agent: how many of each.
        nodes: memories, entities, agents, users and sessions: those that `to_networkx` gives and `to_html` shows.
        edges: by type, those that there are.
        size_bytes: the whole store on disk, all projects; 0 in memory, None on a server, which does not say.
    """

    project_id: str
    memories: int
    by_kind: dict[str, int]
    by_status: dict[str, int]
    by_agent: dict[str, int]
    entities: int
    sessions: int
    nodes: int
    edges: dict[str, int]
    engine: str
    engine_version: str
    schema_version: int
    embedder: str
    dimension: int
    size_bytes: int | None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


def count(reader: Reader) -> Stats:
    """Counts by reading the graph; neither vectors nor models are loaded."""
    store = reader.store
    with store.one_state():
        store.check_open()
        return count_in(store.backend, reader.project_id)


def count_in(backend: Backend, project_id: str) -> Stats:
    """As `count`, of a bare backend: nothing else of the package needs to be loaded for it.

    Raises:
        StoreCorruptError: the store has no Meta node.
    """
    meta = backend.meta()
    if meta is None:
        raise StoreCorruptError(f"the store {backend.path!r} has no Meta node; run: alma-graph doctor")
    found = backend.tally("Memory", ("kind", "status", "agent"), project_id=project_id)
    memories = sum(found.values())
    labels = {label: backend.count(label, project_id=project_id) for label in ("Entity", "Agent", "User", "Session")}
    edges = {name: number for name in EDGES if (number := backend.count(name, project_id=project_id))}
    return Stats(
        project_id=project_id,
        memories=memories,
        by_kind=_by_one(found, 0),
        by_status=_by_one(found, 1),
        by_agent=_by_one(found, 2),
        entities=labels["Entity"],
        sessions=labels["Session"],
        nodes=memories + sum(labels.values()),
        edges=edges,
        engine=backend.name,
        engine_version=backend.engine_version(),
        schema_version=int(meta["schema_version"]),
        embedder=meta["embedder"],
        dimension=int(meta["dimension"]),
        size_bytes=None if backend.capabilities.server else backend.size_bytes(),
    )


def _by_one(found: Mapping[tuple[Any, ...], int], position: int) -> dict[str, int]:
    """Counts by one of the values, in its order; what has none is left out."""
    counts: Counter[str] = Counter()
    for values, number in found.items():
        if values[position] is not None:
            counts[values[position]] += number
    return dict(sorted(counts.items()))
