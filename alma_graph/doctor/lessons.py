"""Whether what lessons say of themselves follows from the outcomes that support and contradict them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.verify import Readable
from alma_graph.codec import row_to_memory
from alma_graph.errors import StoreCorruptError
from alma_graph.ingest.lessons import is_formed
from alma_graph.model import AntiPattern, Heuristic, Memory, Status
from alma_graph.store.store import MEMORY_COLUMNS


@dataclass(frozen=True, slots=True)
class WrongLesson:
    """A lesson whose counts are not those of its outcomes' edges; retracted outcomes keep theirs and do not count.

    Attributes:
        lesson: the memory as it is stored.
        supports, contradicts: ids of the outcomes whose edges there are, sorted.
    """

    lesson: Heuristic | AntiPattern
    supports: tuple[str, ...]
    contradicts: tuple[str, ...]

    def __str__(self) -> str:
        found = f"{len(self.supports)} supporting and {len(self.contradicts)} contradicting outcomes"
        return f"{self.lesson.id!r} counts {_counted(self.lesson)}, and has {found}"


def wrong_lessons(backend: Readable) -> list[WrongLesson]:
    """Formed lessons that miscount; in the order of their keys. Archived ones say what they once counted."""
    rows = {row["key"]: row for row in backend.nodes("Memory", columns=MEMORY_COLUMNS)}
    counted = (row for row in rows.values() if row["kind"] == "outcome" and row["status"] == Status.ACTIVE)
    outcomes = {row["key"]: str(row["id"]) for row in counted}
    supports = _by_target(backend.edges("SUPPORTS"), outcomes)
    contradicts = _by_target(backend.edges("CONTRADICTS"), outcomes)
    wrong = []
    for key, row in rows.items():
        lesson = _formed(row)
        if lesson is None:
            continue
        found = WrongLesson(lesson, supports.get(key, ()), contradicts.get(key, ()))
        if not _agrees(found):
            wrong.append(found)
    return wrong


def _formed(row: Row) -> Heuristic | AntiPattern | None:
    if row["kind"] not in ("heuristic", "anti_pattern") or row["status"] == Status.ARCHIVED:
        return None
    try:
        memory: Memory = row_to_memory(row)
    except StoreCorruptError:  # told elsewhere
        return None
    return memory if is_formed(memory) and isinstance(memory, (Heuristic, AntiPattern)) else None


def _by_target(edges: Iterable[EdgeRow], outcomes: dict[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for edge in edges:
        if edge.source in outcomes and edge.properties["origin"] == "learning":
            found.setdefault(edge.target, []).append(outcomes[edge.source])
    return {target: tuple(sorted(ids)) for target, ids in found.items()}


def _agrees(found: WrongLesson) -> bool:
    lesson = found.lesson
    occurrences = len(found.supports) + len(found.contradicts)
    if isinstance(lesson, AntiPattern):
        return lesson.occurrence_count == occurrences and lesson.success_count == len(found.contradicts)
    same = lesson.success_count == len(found.supports) and lesson.occurrence_count == occurrences
    return same and tuple(sorted(lesson.supporting_outcomes)) == found.supports


def _counted(lesson: Heuristic | AntiPattern) -> str:
    return f"{lesson.success_count} successes of {lesson.occurrence_count}"
