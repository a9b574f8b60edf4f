"""Lessons after an import: where a store has outcomes that the file has not, its lessons are counted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

from alma_graph.backends.protocol import EdgeRow
from alma_graph.enums import MemoryKind
from alma_graph.ingest.recounting import recount_lessons
from alma_graph.store import Store
from alma_graph.transfer.lines import Node

_LEARNING = (MemoryKind.OUTCOME, MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN)


class Outcomes:
    """Counts the outcomes of each project of a file as they pass; a project with lessons only has none."""

    def __init__(self) -> None:
        self.by_project: Counter[str] = Counter()

    def watch(self, records: Iterator[Node | EdgeRow]) -> Iterator[Node | EdgeRow]:
        """The records, unchanged."""
        for record in records:
            if not isinstance(record, EdgeRow) and record[0] == "Memory" and record[1]["kind"] in _LEARNING:
                self.by_project[record[1]["project_id"]] += record[1]["kind"] == MemoryKind.OUTCOME
            yield record


def require_embedder(store: Store) -> None:
    """Raises an AlmaGraphError where strategies may have to be compared afterwards, and the store's embedder cannot be
    made here."""
    if any(row["kind"] == MemoryKind.OUTCOME for row in store.backend.nodes("Memory", columns=("kind",))):
        _ = store.encoder


def recount(store: Store, outcomes: Outcomes, unsettled: Container[str]) -> list[str]:
    """Makes the lessons true again of every project that is `unsettled`, or whose outcomes are not just those of the
    file; names these projects."""
    done = []
    for project_id, count in sorted(outcomes.by_project.items()):
        if project_id not in unsettled:
            rows = store.backend.nodes("Memory", project_id=project_id, columns=("kind",))
            if sum(row["kind"] == MemoryKind.OUTCOME for row in rows) == count:
                continue
        recount_lessons(store, project_id, {})
        done.append(project_id)
    return done
