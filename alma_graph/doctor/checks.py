"""The single checks: engine, schema, sequence, graph, embedder, derived arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from alma_graph.backends.inspection import Inspectable
from alma_graph.backends.schema import SCHEMA_VERSION
from alma_graph.backends.verify import Fault, FaultKind
from alma_graph.doctor.lessons import WrongLesson
from alma_graph.doctor.report import Check, problem, warning, well
from alma_graph.doctor.rules import Disorder
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
            found.append(Check(seen.name, seen.severity, seen.detail, seen.cure, "--fix" in seen.cure))
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


def check_embedder(store: Store) -> list[Check]:
    """Whether the model here gives the vectors that are stored: a few texts are encoded again, past every cache."""
    meta = store.backend.meta() or {}
    stored = f"{meta.get('embedder')} (dimension {meta.get('dimension')}, revision {meta.get('embedder_revision')})"
    try:
        encoder = Encoder(store.encoder.embedder, cache_size=0)
        texts, vectors = _sample(store)
        encoded = encoder.encode(texts or ["a round trip"], tokens=False)
    except AlmaGraphError as error:
        cure = "install what it names; until then retrieval answers from words, entities and the graph"
        return [problem("embedder", f"the store's is {stored}, which cannot run here: {error}", cure)]
    cosines = [float(np.dot(again.vector, vector)) for again, vector in zip(encoded, vectors, strict=False)]
    if cosines and min(cosines) < _SAME_MODEL:
        detail = f"{stored} encodes stored texts otherwise than when they were stored (cosine {min(cosines):.3f})"
        return [problem("embedder", detail, "use the model that the store was made with, or run: alma-graph reembed")]
    return [well("embedder", f"{stored}; {len(cosines)} stored texts encoded again, the same vectors")]


def _sample(store: Store) -> tuple[list[str], list[np.ndarray]]:
    """Texts and unit vectors of a few memories, spread evenly over their keys."""
    keys = [row["key"] for row in store.backend.nodes("Memory", columns=("key",))]
    step = max(1, len(keys) // _SAMPLE)
    rows = store.backend.nodes("Memory", keys=keys[::step][:_SAMPLE], columns=("text", "embedding"))
    texts, vectors = [], []
    for row in rows:
        vector, text = row["embedding"], row["text"]
        if vector is None or not text or len(text) > _LONGEST_SAMPLE:
            continue
        length = float(np.linalg.norm(vector))
        if np.isfinite(length) and length > 0:
            texts.append(text)
            vectors.append(vector / length)
    return texts, vectors


def check_index(store: Store) -> list[Check]:
    """The derived arrays of every project against the graph."""
    wrong: list[str] = []
    compared = memories = 0
    for row in store.backend.nodes("Project", columns=("project_id",)):
        project_id = row["project_id"]
        kept = store.kept_index(project_id)
        fresh = ProjectIndex.load(store.backend, project_id)
        memories += len(fresh)
        if kept is not None:
            compared += 1
            wrong += [f"project {project_id!r}: {line}" for line in differences(kept, fresh)]
        stored = store.backend.count("Memory", project_id=project_id)
        if len(fresh) != stored:
            wrong.append(f"project {project_id!r}: {len(fresh)} of {stored} memories can be indexed")
    if wrong:
        return [problem("index", f"differs from the graph: {named(wrong)}", REBUILD, fixable=True)]
    return [well("index", f"{memories} memories, all indexed; arrays of {compared} projects in use equal the graph")]


def unsteady() -> Check:
    """What is said where a writer never paused long enough."""
    cure = "ask again when less is written"
    return warning("state", "other processes wrote all the time, so the figures may mix several states", cure)


def named(items: list[str]) -> str:
    """The first few of some names, and how many more there are."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(map(repr, items[:_SHOWN])) + more
