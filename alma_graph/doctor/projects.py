"""Some projects of a store, looked at and mended by themselves: what an import of a damaged file needs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from alma_graph.backends.protocol import Backend, EdgeRow, Row
from alma_graph.backends.schema import NODES
from alma_graph.backends.verify import graph_faults
from alma_graph.doctor.lessons import wrong_lessons
from alma_graph.doctor.repairs import mend
from alma_graph.doctor.rules import check_rules
from alma_graph.ingest.writer import Writer
from alma_graph.store import Store


def mend_projects(store: Store, projects: Collection[str]) -> list[str]:
    """Mends what the rest of the graph tells of these projects, and reads no other; one line for each thing done, and
    for each that could not be. The store's lock is held meanwhile.

    Where another process writes meanwhile, the rest is left for a visit of the doctor, and a line says so.
    """
    wanted = sorted(projects)
    if not wanted:
        return []
    with store.lock:
        with store.one_state():
            sequence = store.backend.sequence()
            seen = _Projects(store.backend, wanted)
            faults, disorder, lessons = graph_faults(seen), check_rules(seen), wrong_lessons(seen)
        return mend(Writer(store, wanted[0], {}), sequence, faults, disorder, lessons, leftovers=False)


class _Projects:
    """What a backend holds of some projects (an edge is its source's), and the nodes that belong to none."""

    def __init__(self, backend: Backend, projects: Collection[str]) -> None:
        self._backend = backend
        self._projects = projects

    def meta(self) -> Row | None:
        """The Meta row."""
        return self._backend.meta()

    def nodes(self, label: str, *, columns: Any = None) -> list[Row]:
        """Rows of a label."""
        if not _has_project(label):
            return self._backend.nodes(label, columns=columns)
        return [row for name in self._projects for row in self._backend.nodes(label, project_id=name, columns=columns)]

    def edges(self, type: str) -> list[EdgeRow]:
        """Edges of a type."""
        return [edge for name in self._projects for edge in self._backend.edges(type, project_id=name)]

    def count(self, label_or_type: str) -> int:
        """How many there are."""
        if label_or_type in NODES and not _has_project(label_or_type):
            return self._backend.count(label_or_type)
        return sum(self._backend.count(label_or_type, project_id=name) for name in self._projects)


def _has_project(label: str) -> bool:
    return any(column.name == "project_id" for column in NODES[label].columns)
