"""Lessons after an import: where a store has outcomes that the file has not, its lessons are counted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from alma_graph.backends.protocol import EdgeRow
from alma_graph.enums import MemoryKind
from alma_graph.ingest.recounting import recount_lessons
from alma_graph.store import Store
from alma_graph.transfer.lines import Node


class Outcomes:
    """Counts the outcomes and lessons of each project of a file, as they pass."""

    def __init__(self) -> None:
        self.by_project: Counter[str] = Counter()

    def watch(self, records: Iterator[Node | EdgeRow]) -> Iterator[Node | EdgeRow]:
        """The records, unchanged."""
        for record in records:
            if not isinstance(record, EdgeRow) and record[0] == "Memory" and record[1]["kind"] == MemoryKind.OUTCOME:
                self.by_project[record[1]["project_id"]] += 1
            yield record


def recount(store: Store, outcomes: Outcomes) -> list[str]:
    """Makes the lessons of every project true again whose outcomes are not just those of the file; names them."""
    done = []
    for project_id, count in sorted(outcomes.by_project.items()):
        rows = store.backend.nodes("Memory", project_id=project_id, columns=("kind",))
        if sum(row["kind"] == MemoryKind.OUTCOME for row in rows) != count:
            recount_lessons(store, project_id, {})
            done.append(project_id)
    return done
