"""The single checks: engine, schema, sequence, graph, embedder, derived arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from alma_graph.backends.inspection import Inspectable
from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import SCHEMA_VERSION
from alma_graph.backends.verify import Fault, FaultKind, of_nodes
from alma_graph.doctor.lessons import WrongLesson
from alma_graph.doctor.report import Check, problem, warning, well
from alma_graph.doctor.rules import Disorder
from alma_graph.doctor.scratch import is_scratch
from alma_graph.embedding import Encoder
from alma_graph.errors import AlmaGraphError
from alma_graph.index import ProjectIndex
from alma_graph.index.comparison import differences
from alma_graph.store import Store

FIX = "alma-graph doctor --fix"
REBUILD = "alma-graph doctor --rebuild"
RESTORE = "restore a backup"
_SAMPLE = 8
_SAME_MODEL = 0.99
"""Cosine of two encodings of one text by one model is above it, whatever the batch; another model's is far below."""
_LONGEST_SAMPLE = 4000

MENDABLE = frozenset(
    {
        FaultKind.NO_VECTOR,
        FaultKind.BAD_VECTOR,
        FaultKind.DANGLING_EDGE,
        FaultKind.ORPHAN_ENTITY,
        FaultKind.WRONG_OWNER,
    }
)
_SHOWN = 5


def check_engine(store: Store) -> list[Check]:
    """Engine, version and place, and what the backend says of itself."""
    backend = store.backend
    access = "read-only" if backend.read_only else "for writing"
    found = [well("engine", f"{backend.name} {backend.engine_version()}, {store.location}, open {access}")]
    if isinstance(backend, Inspectable):
        for seen in backend.inspect():
            found.append(Check(seen.name, seen.severity, seen.detail, seen.cure, "doctor --fix" in seen.cure))
    return found


def check_schema(store: Store) -> list[Check]:
    """Version of the schema, and the sequence that counts units of work."""
    meta = store.backend.meta()
    if meta is None:
        return [problem("schema", "the Meta node is missing", RESTORE)]
    version, sequence = meta["schema_version"], meta["sequence"]
    detail = f"version {version}, made by {meta['created_with']}"
    checks = [well("schema", detail)]
    if version != SCHEMA_VERSION:
        checks = [problem("schema", f"{detail}; this package's is {SCHEMA_VERSION}", "open the store once for writing")]
    if not isinstance(sequence, int) or sequence < 0:
        return [*checks, problem("sequence", f"{sequence!r} is no count of units of work", RESTORE)]
    if sequence != store.sequence:
        detail = (
            f"the store is at {sequence}, its derived arrays at {store.sequence}: another program wrote past the lock"
        )
        return [*checks, problem("sequence", detail, FIX, fixable=True)]
    return [*checks, well("sequence", f"{sequence} units of work")]


def check_graph(faults: Iterable[Fault]) -> list[Check]:
    """Keys, counts, vectors, edges and entities."""
    found = [
        problem("graph", str(fault), FIX if fault.kind in MENDABLE else RESTORE, fixable=fault.kind in MENDABLE)
        for fault in faults
    ]
    return found or [well("graph", "no dangling edge, no orphan, every vector is there and finite")]


def check_rules_of(found: Disorder) -> list[Check]:
    """Owners, walls between projects, relations, models, leftovers of an earlier doctor."""
    checks = [problem("memories", line, f"forget it, or {RESTORE}") for line in found.unreadable[:_SHOWN]]
    if len(found.unreadable) > _SHOWN:
        checks.append(problem("memories", f"{len(found.unreadable) - _SHOWN} more cannot be read", RESTORE))
    for label, keys in found.orphans.items():
        checks.append(problem("owners", f"{label} that no memory holds: {named(keys)}", FIX, fixable=True))
    if found.ownerless:
        text = "memories without the edge to their agent or user"
        keys = [row["id"] for row, _, _ in found.ownerless]
        checks.append(problem("owners", f"{text}: {named(keys)}", FIX, fixable=True))
    if found.projects:
        checks.append(problem("owners", f"projects without their node: {named(found.projects)}", FIX, fixable=True))
    if found.stale:
        text = f"{len(found.stale)} relations were stated by memories that are gone"
        checks.append(problem("relations", text, FIX, fixable=True))
    if found.crossing:
        text = "edges cross from one project to another"
        ends = [f"{edge.source} -> {edge.target}" for edge in found.crossing]
        checks.append(problem("projects", f"{text}: {named(ends)}", FIX, fixable=True))
    if found.circles:
        text = f"INHERITS_FROM runs in a circle over {named(found.circles)}"
        checks.append(problem("inheritance", text, "forget or relate anew what inherits from itself"))
    if found.scratch:
        text = f"{len(found.scratch)} scratch projects of an interrupted doctor"
        checks.append(problem("scratch", text, FIX, fixable=True))
    return checks or [well("memories", f"{found.memories} memories, each readable, with its owners, in its project")]


def check_lessons(wrong: Iterable[WrongLesson]) -> list[Check]:
    """Counts of heuristics and anti-patterns against their outcomes."""
    found = [problem("lessons", str(lesson), FIX, fixable=True) for lesson in wrong]
    return found or [well("lessons", "the counts of all follow from their outcomes")]


def check_embedder(store: Store) -> tuple[list[Check], list[Fault]]:
    """Whether the model here gives the vectors that are stored: a few texts are encoded again, past every cache."""
    meta = store.backend.meta() or {}
    stored = f"{meta.get('embedder')} (dimension {meta.get('dimension')}, revision {meta.get('embedder_revision')})"
    rows = _sample(store)
    try:
        encoder = Encoder(store.encoder.embedder, cache_size=0)
        encoded = encoder.encode([row["text"] for row in rows] or ["a round trip"], tokens=False)
    except AlmaGraphError as error:
        cure = "install what it names; until then retrieval answers from words, entities and the graph"
        return [problem("embedder", f"the store's is {stored}, which cannot run here: {error}", cure)], []
    pairs = zip(rows, encoded, strict=False)
    other = [row["key"] for row, again in pairs if _cosine(row["embedding"], again.vector) < _SAME_MODEL]
    if 2 * len(other) > len(rows):
        detail = f"{stored} gives {len(other)} of {len(rows)} stored texts other vectors than they were stored with"
        cure = "use the model that the store was made with, or run: alma-graph reembed"
        return [problem("embedder", detail, cure)], []
    faults = of_nodes(FaultKind.BAD_VECTOR, "Memory with a vector that is not its text's", "Memory", other)
    detail = f"{stored}; {len(rows) - len(other)} of {len(rows)} stored texts encoded again have the same vector"
    return [well("embedder", detail)], faults


def _cosine(stored: Any, encoded: Any) -> float:
    return float(np.dot(stored, encoded) / np.linalg.norm(stored))


def _sample(store: Store) -> list[Row]:
    """Key, text and vector of a few memories that have one, spread evenly over their keys."""
    found = store.backend.nodes("Memory", columns=("key", "project_id"))
    keys = [row["key"] for row in found if not is_scratch(row["project_id"])]
    step = max(1, len(keys) // _SAMPLE)
    rows = store.backend.nodes("Memory", keys=keys[::step][:_SAMPLE], columns=("key", "text", "embedding"))
    return [
        row
        for row in rows
        if row["text"] and len(row["text"]) <= _LONGEST_SAMPLE and row["embedding"] is not None
        if np.isfinite(row["embedding"]).all() and row["embedding"].any()
    ]


def check_index(store: Store) -> list[Check]:
    """The derived arrays of every project against the graph."""
    found: list[Check] = []
    wrong: list[str] = []
    compared = memories = 0
    for row in store.backend.nodes("Project", columns=("project_id",)):
        project_id = row["project_id"]
        kept = store.kept_index(project_id)
        try:
            fresh = ProjectIndex.load(store.backend, project_id)
        except AlmaGraphError as error:
            found.append(problem("index", f"project {project_id!r} cannot be indexed: {error}", f"{FIX}, or {RESTORE}"))
            continue
        memories += len(fresh)
        if kept is not None:
            compared += 1
            wrong += [f"project {project_id!r}: {line}" for line in differences(kept, fresh)]
        stored = store.backend.count("Memory", project_id=project_id)
        if len(fresh) != stored:
            wrong.append(f"project {project_id!r}: {len(fresh)} of {stored} memories can be indexed")
    if wrong:
        found.append(problem("index", f"differs from the graph: {named(wrong)}", REBUILD, fixable=True))
    return found or [
        well("index", f"{memories} memories, all indexed; arrays of {compared} projects in use equal the graph")
    ]


def unsteady() -> Check:
    """What is said where a writer never paused long enough."""
    cure = "ask again when less is written"
    return warning("state", "other processes wrote all the time, so the figures may mix several states", cure)


def named(items: list[str]) -> str:
    """The first few of some names, and how many more there are."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(map(repr, items[:_SHOWN])) + more
