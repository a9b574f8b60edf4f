"""Is the store well? Each check is done for real: the graph is read, a memory goes in, is found and is removed."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from alma_graph.backends.protocol import UnitOfWork
from alma_graph.backends.schema import SCHEMA_VERSION, node_key
from alma_graph.codec import memory_to_row
from alma_graph.errors import AlmaGraphError
from alma_graph.model import DomainKnowledge
from alma_graph.store import Store


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All checks of one visit."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check held."""
        return all(check.ok for check in self.checks)

    def __str__(self) -> str:
        return "\n".join(f"{'ok  ' if check.ok else 'BAD '} {check.name}: {check.detail}" for check in self.checks)


def examine(store: Store) -> DoctorReport:
    """Looks at the engine, the schema, the embedder, the graph and, where the store may be written, at a round trip."""
    with store.lock:
        store.check_open()
        return DoctorReport(
            (
                _engine(store),
                _schema(store),
                _embedder(store),
                _graph(store),
                _index(store),
                *([] if store.backend.read_only else [_round_trip(store)]),
            )
        )


def _engine(store: Store) -> Check:
    backend = store.backend
    size = backend.size_bytes()
    return Check("engine", True, f"{backend.name} {backend.engine_version()}, {size:,} bytes at {store.location}")


def _schema(store: Store) -> Check:
    meta = store.backend.meta()
    if meta is None:
        return Check("schema", False, "the Meta node is missing")
    found = int(meta["schema_version"])
    detail = f"version {found}, this package's is {SCHEMA_VERSION}; made by {meta['created_with']}"
    return Check("schema", found == SCHEMA_VERSION, detail)


def _embedder(store: Store) -> Check:
    meta = store.backend.meta() or {}
    stored = f"{meta.get('embedder')} (dimension {meta.get('dimension')})"
    try:
        encoder = store.encoder
        vector = encoder.encode_query("a round trip of the doctor")
    except AlmaGraphError as error:
        return Check("embedder", False, f"the store's is {stored}, which cannot run here: {error}")
    well = bool(np.isfinite(vector).all()) and len(vector) == meta.get("dimension")
    return Check("embedder", well, f"{stored}, runs here")


def _graph(store: Store) -> Check:
    problems = store.backend.verify()
    if not problems:
        return Check("graph", True, "no dangling edge, no orphan, no bad vector")
    shown = "; ".join(problems[:5])
    return Check("graph", False, f"{len(problems)} problems: {shown}")


def _index(store: Store) -> Check:
    """The derived arrays hold what the graph holds."""
    bad: list[str] = []
    total = 0
    for row in store.backend.nodes("Project", columns=("project_id",)):
        project_id = row["project_id"]
        indexed, stored = len(store.index(project_id)), store.backend.count("Memory", project_id=project_id)
        total += stored
        if indexed != stored:
            bad.append(f"project {project_id!r}: {indexed} of {stored} memories")
            store.drop_index(project_id)
    return Check("index", not bad, "; ".join(bad) or f"{total} memories, all indexed")


def _round_trip(store: Store) -> Check:
    """Writes a memory into a project of its own, finds it by its vector, and removes it."""
    project_id = f"doctor-{uuid4()}"
    try:
        fact = "a round trip of the doctor"
        memory = DomainKnowledge(
            id="probe", project_id=project_id, domain="doctor", fact=fact, created_at=store.clock()
        )
        vector = np.zeros(int((store.backend.meta() or {})["dimension"]), dtype=np.float32)
        vector[0] = 1.0
        work = UnitOfWork()
        work.add_node("Memory", {**memory_to_row(memory), "embedding": vector})
        store.transact(lambda: store.commit(project_id, work))
        rows, _ = store.index(project_id).nearest(vector, 1)
        found = [store.index(project_id).ids[row] for row in rows]
        read_back = store.memory(project_id, "probe")
        gone = UnitOfWork(node_deletes=[("Memory", node_key(project_id, "probe"))])
        store.transact(lambda: store.commit(project_id, gone))
        left = store.backend.count("Memory", project_id=project_id)
    except AlmaGraphError as error:
        return Check("round trip", False, str(error))
    finally:
        store.drop_index(project_id)
    well = found == ["probe"] and read_back.text == memory.text and left == 0
    return Check("round trip", well, "written, found and removed" if well else f"found {found}, left {left}")
