"""What mends each kind of damage: one transaction a kind (vectors: each few hundred), a line that says what was done.

Only what follows from the rest of the graph is mended: nothing that a caller stated is changed or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from alma_graph.backends.inspection import Inspectable
from alma_graph.backends.protocol import Backend, EdgeMatch, EdgeRow, NodeUpdate, Row, UnitOfWork, chunked
from alma_graph.backends.schema import NODES, node_key
from alma_graph.backends.verify import Fault, FaultKind
from alma_graph.codec import memory_to_row
from alma_graph.doctor.lessons import WrongLesson
from alma_graph.doctor.rules import Disorder
from alma_graph.errors import AlmaGraphError, StoreChangedError
from alma_graph.ingest.recounting import recount_lessons
from alma_graph.ingest.writer import Writer
from alma_graph.model import AntiPattern, Memory
from alma_graph.store import Store

_UNIT = 200
_VECTORS = (FaultKind.NO_VECTOR, FaultKind.BAD_VECTOR)
_EDGES = (FaultKind.DANGLING_EDGE, FaultKind.WRONG_OWNER)


def mend(
    writer: Writer,
    sequence: int,
    faults: Sequence[Fault],
    disorder: Disorder,
    lessons: Sequence[WrongLesson],
    *,
    leftovers: bool = True,
) -> list[str]:
    """Mends what can be mended; one line for each thing done, and for each that could not be.

    Scratch projects and edges go first, then what nothing holds any more, then what is missing. Where another process
    writes after `sequence`, that of the look, the rest is left for the next visit. With `leftovers`, what a crash left
    beside the store goes, too.
    """
    store = writer.store
    turn = Turn(store, sequence)
    repairs: list[tuple[str, Callable[[], list[str]]]] = [
        ("leftovers", lambda: _tidy(store.backend) if leftovers else []),
        ("scratch projects", lambda: _remove_scratch(turn, disorder.scratch)),
        ("edges", lambda: _remove_edges(turn, faults, disorder)),
        ("orphans", lambda: _remove_orphans(turn, faults, disorder)),
        ("owners", lambda: _add_owners(turn, disorder)),
        ("vectors", lambda: _encode_anew(turn, faults)),
        ("lessons", lambda: _count_anew(turn, writer, lessons)),
    ]
    done: list[str] = []
    for name, repair in repairs:
        try:
            done += repair()
        except StoreChangedError:
            return [*done, f"{name} were left as they are, since another process wrote meanwhile: run it again"]
        except AlmaGraphError as error:
            done.append(f"{name} could not be mended: {error}")
    return done


def _tidy(backend: Backend) -> list[str]:
    return backend.tidy() if isinstance(backend, Inspectable) else []


def rebuild_arrays(store: Store) -> list[str]:
    """Drops everything that is kept in memory of the graph, and reads it anew."""
    store.shared.clear()
    store.shared.sequence = store.backend.sequence()
    projects = [row["project_id"] for row in store.backend.nodes("Project", columns=("project_id",))]
    memories = sum(len(store.index(project_id)) for project_id in projects)
    return [f"read the arrays of {len(projects)} projects anew, {memories} memories"]


class Turn:
    """The commits of one visit, each refused (`StoreChangedError`) once anybody else wrote since the look that it is
    made from: a node that nothing held then may be held now.

    Args:
        store: whose lock the caller holds.
        sequence: of the state that was looked at.
    """

    def __init__(self, store: Store, sequence: int) -> None:
        self.store = store
        self._sequence = sequence

    def commit(self, work: UnitOfWork) -> None:
        """Writes, where there is anything to write."""
        if work:
            self.store.rewrite(work, self._sequence)
            self._sequence += 1

    def count_own(self) -> None:
        """One unit of work of this visit was committed otherwise."""
        self._sequence += 1


def _remove_scratch(turn: Turn, projects: Sequence[str]) -> list[str]:
    work = UnitOfWork()
    for project_id in projects:
        for label in NODES:
            if label != "Meta":
                rows = turn.store.backend.nodes(label, project_id=project_id, columns=("key",))
                work.node_deletes += [(label, row["key"]) for row in rows]
    turn.commit(work)
    return [f"removed {len(projects)} scratch projects with {len(work.node_deletes)} nodes"] if work else []


def _remove_edges(turn: Turn, faults: Iterable[Fault], disorder: Disorder) -> list[str]:
    """Edges that cannot stand: without an end, from another's agent, across projects, or stated by nothing."""
    wrong = [edge for fault in faults if fault.kind in _EDGES for edge in fault.edges]
    work = UnitOfWork()
    ends = {(e.type, e.source, e.target, e.source_label, e.target_label) for e in (*wrong, *disorder.crossing)}
    for type_, source, target, source_label, target_label in sorted(ends, key=repr):
        match = EdgeMatch(type_, source, target, source_label=source_label, target_label=target_label)
        work.edge_deletes.append(match)
    for edge in disorder.stale:
        stated = {"memory_id": edge.properties["memory_id"]}
        work.edge_deletes.append(EdgeMatch(edge.type, edge.source, edge.target, stated))
    turn.commit(work)
    return [f"removed {len(work.edge_deletes)} edges that cannot stand"] if work else []


def _remove_orphans(turn: Turn, faults: Iterable[Fault], disorder: Disorder) -> list[str]:
    """Nodes that nothing holds: as the graph is now, since edges may just have gone."""
    scratch = set(disorder.scratch)
    orphans = {label: list(keys) for label, keys in disorder.orphans.items()}
    entities = {key for fault in faults if fault.kind is FaultKind.ORPHAN_ENTITY for key in fault.keys}
    gone = [edge for fault in faults if fault.kind in _EDGES for edge in fault.edges]
    ends = {end for edge in (*gone, *disorder.stale, *disorder.crossing) for end in (edge.source, edge.target)}
    rows = turn.store.backend.nodes("Entity", keys=sorted(entities | ends), columns=("key", "project_id"))
    candidates = [row["key"] for row in rows if row["project_id"] not in scratch]
    orphans["Entity"] = _unheld(turn.store.backend, candidates)
    work = UnitOfWork()
    lines = []
    for label, keys in orphans.items():
        there = [row["key"] for row in turn.store.backend.nodes(label, keys=keys, columns=("key",))]
        work.node_deletes += [(label, key) for key in there]
        if there:
            lines.append(f"removed {len(there)} {label} nodes that nothing holds")
    turn.commit(work)
    return lines


def _unheld(backend: Backend, entities: Sequence[str]) -> list[str]:
    if not entities:
        return []
    held = {edge.target for edge in backend.edges("MENTIONS", targets=entities)}
    held |= {edge.source for edge in backend.edges("RELATES_TO", sources=entities)}
    held |= {edge.target for edge in backend.edges("RELATES_TO", targets=entities)}
    return [key for key in entities if key not in held]


def _add_owners(turn: Turn, disorder: Disorder) -> list[str]:
    """The Project node and the edges to agents and users that memories name."""
    work = UnitOfWork()
    now = turn.store.clock()
    for project_id in disorder.projects:
        node = {"key": node_key(project_id, ""), "project_id": project_id, "created_at": now}
        work.merge_node("Project", node)
    for row, label, type_ in disorder.ownerless:
        name = row["agent"] if label == "Agent" else row["user_id"]
        owner = node_key(row["project_id"], name)
        work.merge_node(label, {"key": owner, "id": name, "project_id": row["project_id"]})
        ends = (owner, row["key"]) if label == "Agent" else (row["key"], owner)
        work.edges.append(EdgeRow(type_, *ends))
    turn.commit(work)
    lines = [f"made the node of {len(disorder.projects)} projects"] if disorder.projects else []
    return [*lines, *([f"joined {len(work.edges)} memories to their agent or user"] if work.edges else [])]


def _encode_anew(turn: Turn, faults: Iterable[Fault]) -> list[str]:
    """Vectors of memories and of their chunks, made from the texts as when they were stored."""
    store, backend = turn.store, turn.store.backend
    bad = [fault for fault in faults if fault.kind in _VECTORS]
    chunks = {key for fault in bad if fault.where == "Chunk" for key in fault.keys}
    wanted = {key for fault in bad if fault.where == "Memory" for key in fault.keys}
    owners = {edge.target: edge.source for edge in backend.edges("HAS_CHUNK", targets=sorted(chunks))} if chunks else {}
    memories = sorted({*wanted, *owners.values()})
    updated = 0
    for part in chunked(memories, _UNIT):
        rows = backend.nodes("Memory", keys=part, columns=("key", "text"))
        encoded = store.encoder.encode([row["text"] or "" for row in rows])
        work = UnitOfWork()
        for row, made in zip(rows, encoded, strict=True):
            if row["key"] in wanted:
                values = {"embedding": made.vector, "token_embeddings": made.token_embeddings}
                work.node_updates.append(NodeUpdate("Memory", row["key"], values))
            for position, chunk in enumerate(made.chunks):
                key = f"{row['key']}#{position}"
                if key in chunks:
                    work.node_updates.append(NodeUpdate("Chunk", key, {"embedding": chunk.vector}))
        turn.commit(work)
        updated += len(work.node_updates)
    return [f"encoded {updated} texts anew"] if updated else []


def _count_anew(turn: Turn, writer: Writer, wrong: Sequence[WrongLesson]) -> list[str]:
    """Lessons as their outcomes teach them; one that no outcomes of its own teach counts the edges that it has."""
    store = writer.store
    lines: list[str] = []
    for project_id in sorted({str(item.lesson.project_id) for item in wrong}):
        mine = [item for item in wrong if item.lesson.project_id == project_id]
        scopes = writer.scopes if project_id == writer.project_id else {}
        recounted = recount_lessons(store, project_id, scopes, only={item.lesson.id for item in mine})
        if recounted.changed:
            turn.count_own()
        rest = [item for item in mine if item.lesson.id not in recounted.taught]
        updates = [NodeUpdate("Memory", *_as_its_edges(item)) for item in rest]
        turn.commit(UnitOfWork(node_updates=updates))
        lines.append(f"project {project_id!r}: counted {len(mine)} lessons anew")
    return lines


def _as_its_edges(item: WrongLesson) -> tuple[str, Row]:
    """Key of the lesson's node, and its data with the counts of its edges."""
    occurrences = len(item.supports) + len(item.contradicts)
    if isinstance(item.lesson, AntiPattern):
        changes: Row = {"success_count": len(item.contradicts), "occurrence_count": occurrences}
    else:
        changes = {
            "success_count": len(item.supports),
            "occurrence_count": occurrences,
            "supporting_outcomes": item.supports,
        }
    memory: Memory = item.lesson.model_copy(update=changes)
    row = memory_to_row(memory)
    return row["key"], {"data": row["data"]}
