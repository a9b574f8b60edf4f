"""The project in which the doctor tries a round trip: it leaves nothing of it, and knows one that a crash left."""

from __future__ import annotations

import re
from uuid import uuid4

import numpy as np

from alma_graph.backends.protocol import UnitOfWork
from alma_graph.backends.schema import NODES, node_key
from alma_graph.codec import memory_to_row
from alma_graph.doctor.report import Check, problem, well
from alma_graph.errors import AlmaGraphError
from alma_graph.model import DomainKnowledge
from alma_graph.store import Store

_NAME = re.compile(r"doctor-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_PROBE = "probe"


def is_scratch(project_id: object) -> bool:
    """Whether a project's name is one that only the doctor makes."""
    return isinstance(project_id, str) and _NAME.fullmatch(project_id) is not None


def round_trip(store: Store) -> Check:
    """Writes a memory into a project of its own, finds it by its vector, reads it back, and removes it."""
    project_id = f"doctor-{uuid4()}"
    try:
        memory = DomainKnowledge(
            id=_PROBE, project_id=project_id, domain="doctor", fact="a round trip", created_at=store.clock()
        )
        vector = np.zeros(int((store.backend.meta() or {})["dimension"]), dtype=np.float32)
        vector[0] = 1.0
        work = UnitOfWork()
        work.add_node("Memory", {**memory_to_row(memory), "embedding": vector})
        before = store.backend.sequence()
        store.transact(lambda: store.commit(project_id, work))
        try:
            with store.one_state():
                index = store.index(project_id)
                rows, _ = index.nearest(vector, 1)
                found = [index.ids[row] for row in rows]
                read_back = store.memory(project_id, _PROBE)
        finally:
            gone = UnitOfWork(node_deletes=[("Memory", node_key(project_id, _PROBE))])
            store.transact(lambda: store.commit(project_id, gone))
        left = left_of(store, project_id)
        after = store.backend.sequence()
    except AlmaGraphError as error:
        return problem("round trip", str(error), "see the other findings; if there are none, restore a backup")
    finally:
        store.drop_index(project_id)
    if found != [_PROBE] or read_back.text != memory.text:
        return problem("round trip", f"wrote {_PROBE!r}, found {found}", "alma-graph doctor --rebuild")
    if left or after < before + 2:
        detail = f"{left} nodes are left of it, and two writes moved the sequence from {before} to {after}"
        return problem("round trip", detail, "alma-graph doctor --fix", fixable=True)
    return well("round trip", "written, found and removed")


def left_of(store: Store, project_id: str) -> int:
    """How many nodes a project has, of any label."""
    return sum(store.backend.count(label, project_id=project_id) for label in NODES if label != "Meta")
