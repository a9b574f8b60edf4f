"""What a backend does: a handful of graph operations. It knows nothing of learning, belief or retrieval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

Row = dict[str, Any]
"""Properties by name. Times are aware UTC datetimes, vectors one-dimensional float32 arrays, absent is None."""


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One edge; `source` and `target` are the nodes' keys. The labels matter only where a type joins several pairs."""

    type: str
    source: str
    target: str
    properties: Row = field(default_factory=dict)
    source_label: str | None = None
    target_label: str | None = None


@dataclass(frozen=True, slots=True)
class NodeUpdate:
    """New values for some properties of an existing node (never its key)."""

    label: str
    key: str
    values: Row


@dataclass(frozen=True, slots=True)
class EdgeMatch:
    """Edges of one type; every part that is given must match. `where` compares properties for equality.

    Nodes of two labels may have equal keys (an agent and a memory of one name), so a match of a type that joins several
    pairs of labels names the labels of its ends.
    """

    type: str
    source: str | None = None
    target: str | None = None
    where: Row = field(default_factory=dict)
    source_label: str | None = None
    target_label: str | None = None


@dataclass(slots=True)
class UnitOfWork:
    """All of one write: applied in one transaction, or not at all.

    Order of application: edge deletions, node deletions (with every edge at them), new nodes, node updates, edge
    updates, new edges. A node in `nodes` whose key exists already is an error, except for labels in `merge`, whose
    existing nodes are kept as they are (Entity, Agent, User, Project, Session: made on first mention).
    """

    nodes: dict[str, list[Row]] = field(default_factory=dict)
    merge: dict[str, list[Row]] = field(default_factory=dict)
    edges: list[EdgeRow] = field(default_factory=list)
    node_updates: list[NodeUpdate] = field(default_factory=list)
    edge_updates: list[tuple[EdgeMatch, Row]] = field(default_factory=list)
    node_deletes: list[tuple[str, str]] = field(default_factory=list)
    edge_deletes: list[EdgeMatch] = field(default_factory=list)

    def add_node(self, label: str, row: Row) -> None:
        """Adds a node that must be new."""
        self.nodes.setdefault(label, []).append(row)

    def merge_node(self, label: str, row: Row) -> None:
        """Adds a node that is kept as it is where its key exists."""
        self.merge.setdefault(label, []).append(row)

    def __bool__(self) -> bool:
        return any(
            (
                self.nodes,
                self.merge,
                self.edges,
                self.node_updates,
                self.edge_updates,
                self.node_deletes,
                self.edge_deletes,
            )
        )


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one engine can do, so that nothing above asks for an engine's name.

    Attributes:
        cypher: runs Cypher of a caller.
        durable: keeps the data after close.
        shared_readers: other processes may read while one writes.
        shared_writers: other processes may write too, so that a unit of work must name the sequence it was made from.
        server: the store lies on a server: there is no file, and nothing says how many bytes it has.
    """

    cypher: bool
    durable: bool
    shared_readers: bool
    shared_writers: bool = False
    server: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a Cypher query, in order; times aware, nodes and edges as dicts without the engine's internal ids."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@runtime_checkable
class Backend(Protocol):
    """A graph store. Threads may share one; writes are serialised inside. Every method raises `StoreClosedError`
    after `close`, and `BackendError` (with nothing applied) where the engine fails."""

    name: str
    """The engine: "memory", "ladybug", "kuzu", "neo4j"."""
    path: str | None
    capabilities: Capabilities
    read_only: bool

    def engine_version(self) -> str:
        """Version of the engine's library."""
        ...

    def meta(self) -> Row | None:
        """The one Meta row; None where the store is new and nothing was written."""
        ...

    def initialise(self, *, dimension: int, embedder: str, embedder_revision: str | None, created_with: str) -> None:
        """Makes the schema and the Meta node; called once, before the first write. `dimension` holds from then on."""
        ...

    def write(self, work: UnitOfWork, *, expected: int | None = None) -> None:
        """Applies the unit of work in one transaction and raises Meta.sequence by one. Durable on return.

        Raises:
            StoreChangedError: `expected` is given and is not Meta.sequence; nothing was applied.
        """
        ...

    def sequence(self) -> int:
        """Meta.sequence as stored now; 0 for a new store."""
        ...

    def nodes(
        self,
        label: str,
        *,
        keys: Sequence[str] | None = None,
        project_id: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> list[Row]:
        """Rows of one label. With `keys`: the rows found, in the order of the keys; absent keys are left out.
        Otherwise all (of one project), in the order of their keys."""
        ...

    def vectors(self, label: str, *, project_id: str) -> tuple[list[str], Any]:
        """Keys and vectors, (n, dimension) float32 C-contiguous, of the nodes of a label that have one, by key."""
        ...

    def edges(
        self,
        type: str,
        *,
        project_id: str | None = None,
        sources: Sequence[str] | None = None,
        targets: Sequence[str] | None = None,
    ) -> list[EdgeRow]:
        """Edges of one type, of a project (their source's) or at the given ends; in the order (source, target)."""
        ...

    def count(self, label_or_type: str, *, project_id: str | None = None) -> int:
        """How many nodes of a label or edges of a type there are."""
        ...

    def run(self, statement: str, parameters: Mapping[str, Any]) -> Result:
        """Runs one read-only Cypher statement of a caller.

        Raises:
            ReadOnlyError: it is not one reading statement, by construction: see `backends.readonly`.
            CypherError: the engine refused it.
            UnsupportedError: the engine has no Cypher.
        """
        ...

    def tally(self, label: str, columns: Sequence[str], *, project_id: str) -> dict[tuple[Any, ...], int]:
        """How many nodes of a label a project has for each combination of values of these properties; only those that
        are there, in no order."""
        ...

    def checkpoint(self) -> None:
        """Folds the log into the main file where the engine has one; safe at any time outside a write."""
        ...

    def verify(self) -> list[str]:
        """Problems in the structures and the graph (dangling edges, bad vectors); empty means none found."""
        ...

    def size_bytes(self) -> int:
        """Bytes on disk, of all files of the store; 0 in memory and on a server."""
        ...

    def close(self) -> None:
        """Closes the handle; the last handle of a path closes the engine and frees its lock. Idempotent."""
        ...


def chunked(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """The items in runs of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
