"""The SQLite file of ALMA (`alma-memory` 0.x) into a store: its five kinds of memory, of every project in it.

Ids, times and texts are kept; vectors are made again by the store's embedder. What ALMA counted of a heuristic or an
anti-pattern is a number without outcomes behind it, so it is kept in the memory's metadata, under "alma", and not as
counts of ours, which follow from outcomes; the file's own outcomes are learned from. ALMA's preferences belong to no
project: each project gets them.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alma_graph.arguments import path_text
from alma_graph.clock import system_clock
from alma_graph.enums import KnowledgeSource, PreferenceSource, Result
from alma_graph.errors import AlmaGraphError, InvalidInputError
from alma_graph.importers.mapping import Draft
from alma_graph.importers.running import BATCH_SIZE, BatchWriter, ImportReport, Progress, Sink
from alma_graph.model import AntiPattern, DomainKnowledge, Heuristic, Memory, Outcome, UserPreference

Row = dict[str, Any]
OpenProject = Callable[[str], Sink]
"""Gives the part of the store that holds one project."""

DEFAULT_PROJECT = "default"
"""Where preferences go when the file has no project."""

_DERIVED = frozenset({"embeddings", "_schema_versions", "sqlite_sequence"})
"""Tables that hold nothing of their own."""

_SAYS_NOTHING = {"tenant_id": "default"}


@dataclass(slots=True)
class AlmaReport:
    """What was taken of an ALMA file.

    Attributes:
        projects: a report for each project; the lines of its errors are row numbers of the table that they name.
        not_taken: rows of the tables that hold something else, by table; empty ones are left out.
    """

    projects: dict[str, ImportReport] = field(default_factory=dict)
    not_taken: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Rows that made no memory, in all projects."""
        return sum(report.failed for report in self.projects.values())


def import_alma(
    path: str | os.PathLike[str], open_project: OpenProject, *, progress: Progress | None = None
) -> AlmaReport:
    """Stores the memories of an ALMA file; a second run adds nothing. The file is only read.

    Args:
        path: the SQLite file (`alma.db`).
        open_project: gives the store of a project, once for each project of the file.
        progress: called with the rows read and the memories handed to the store.

    Raises:
        InvalidInputError: the file is no SQLite database, or not ALMA's.
        StoreError: the store fails; what was written stays, and running it again goes on from there.
    """
    report = AlmaReport()
    with closing(_connect(path_text(path, "path"))) as database:
        tables = _tables(database)
        if not tables.keys() & _READERS.keys():
            raise InvalidInputError(
                f"{os.fspath(path)!r} has none of ALMA's tables ({', '.join(_READERS)}); give alma.db"
            )
        report.not_taken = {
            name: count for name, count in tables.items() if count and name not in _READERS and name not in _DERIVED
        }
        before = 0
        try:
            report.not_taken |= _without_project(database, tables)
            for project in _projects(database, tables):
                done = report.projects[project] = ImportReport()
                told = None if progress is None else _after(progress, before)
                _import_project(database, tables, project, open_project(project), done, told)
                before += done.rows
        except sqlite3.Error as error:
            raise InvalidInputError(
                f"{os.fspath(path)!r} is damaged, or of a version of ALMA that is not known here: {error}"
            ) from None
    return report


def _without_project(database: sqlite3.Connection, tables: Mapping[str, int]) -> dict[str, int]:
    """How many rows of each table name no project, which are not taken."""
    counts = {
        table: database.execute(f"SELECT count(*) FROM {table} WHERE project_id IS NULL").fetchone()[0]
        for table in _READERS
        if table in tables and table != "preferences"
    }
    return {f"{table} without a project": count for table, count in counts.items() if count}


def _after(progress: Progress, before: int) -> Progress:
    return lambda rows, handed: progress(before + rows, before + handed)


def _connect(path: str) -> sqlite3.Connection:
    file = Path(path).expanduser()
    if not file.is_file():
        raise InvalidInputError(f"there is no file {path!r}; give ALMA's SQLite file, such as alma.db")
    try:
        database = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
        database.row_factory = sqlite3.Row
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        database.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.Error as error:
        raise InvalidInputError(f"{path!r} is no SQLite database that can be read: {error}") from None
    return database


def _tables(database: sqlite3.Connection) -> dict[str, int]:
    """Names of all tables, and how many rows each has."""
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    quoted = {name: name.replace('"', '""') for name in names}
    return {name: database.execute(f'SELECT count(*) FROM "{quoted[name]}"').fetchone()[0] for name in names}


def _projects(database: sqlite3.Connection, tables: Mapping[str, int]) -> list[str]:
    found: set[str] = set()
    for table in _READERS:
        if table in tables and table != "preferences":
            asked = f"SELECT DISTINCT project_id FROM {table} WHERE project_id IS NOT NULL"
            found.update(str(row[0]) for row in database.execute(asked))
    if not found and tables.get("preferences"):
        found.add(DEFAULT_PROJECT)
    return sorted(found)


def _import_project(
    database: sqlite3.Connection,
    tables: Mapping[str, int],
    project: str,
    sink: Sink,
    report: ImportReport,
    progress: Progress | None,
) -> None:
    writer = BatchWriter(sink, report, system_clock())
    waiting: list[Draft] = []
    handed = 0
    for table, read in _READERS.items():
        if table not in tables:
            continue
        for number, row in _rows(database, table, project):
            report.rows += 1
            try:
                waiting.append(Draft(number, read(row)))
            except (AlmaGraphError, KeyError) as error:
                report.fail(number, f"{table} {row.get('id')!r}: {error}")
            if len(waiting) >= BATCH_SIZE:
                handed += _flush(writer, waiting)
                if progress is not None:
                    progress(report.rows, handed)
    handed += _flush(writer, waiting)
    if progress is not None:
        progress(report.rows, handed)


def _flush(writer: BatchWriter, waiting: list[Draft]) -> int:
    writer.write(waiting)
    count = len(waiting)
    waiting.clear()
    return count


def _rows(database: sqlite3.Connection, table: str, project: str) -> Iterator[tuple[int, Row]]:
    """Number and columns of the rows of a project, in the order in which they were written."""
    where = "" if table == "preferences" else " WHERE project_id = ?"
    parameters: Sequence[str] = () if table == "preferences" else (project,)
    for row in database.execute(f"SELECT rowid AS row_number, * FROM {table}{where} ORDER BY rowid", parameters):
        columns = dict(row)
        yield columns.pop("row_number"), columns


def _common(row: Row, taken: Sequence[str], kept: Sequence[str] = ()) -> Row:
    """Fields that every kind has; columns that are not `taken`, or are `kept`, stay in the metadata under "alma"."""
    known = {"id", "agent", "user_id", "project_id", "confidence", "metadata", *taken}
    left = {
        name: value
        for name, value in row.items()
        if (name not in known or name in kept) and value is not None and _SAYS_NOTHING.get(name) != value
    }
    fields: Row = {"id": str(row["id"]), "agent": row.get("agent") or None, "metadata": _metadata(row.get("metadata"))}
    confidence = row.get("confidence")
    if isinstance(confidence, (int, float)):
        fields["confidence"] = min(1.0, max(0.0, float(confidence)))
        if fields["confidence"] != confidence:
            left["confidence"] = confidence
    if left:
        fields["metadata"] = {**fields["metadata"], "alma": left}
    return fields


def _metadata(text: Any) -> Row:
    if not text:
        return {}
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return {"alma_metadata": str(text)}
    return found if isinstance(found, dict) else {"alma_metadata": found}


def _heuristic(row: Row) -> Memory:
    common = _common(row, ("condition", "strategy", "created_at"))
    return Heuristic(
        strategy=row["strategy"],
        context=row.get("condition") or "",
        created_at=row.get("created_at") or row.get("last_validated"),
        **common,
    )


def _outcome(row: Row) -> Memory:
    taken = ("task_type", "task_description", "success", "strategy_used", "duration_ms", "error_message")
    common = _common(row, (*taken, "user_feedback", "timestamp"))
    return Outcome(
        task=row["task_description"],
        outcome=Result.SUCCESS if row["success"] else Result.FAILURE,
        strategy_used=row.get("strategy_used") or "",
        task_type=row.get("task_type") or None,
        duration_ms=row.get("duration_ms"),
        error_message=row.get("error_message"),
        feedback=row.get("user_feedback"),
        occurred_at=row.get("timestamp"),
        created_at=row.get("timestamp"),
        **common,
    )


def _preference(row: Row) -> Memory:
    known = row.get("source") in list(PreferenceSource)
    source = PreferenceSource(row["source"]) if known else PreferenceSource.EXPLICIT_INSTRUCTION
    common = _common(row, ("category", "preference", "timestamp", "source"), () if known else ("source",))
    return UserPreference(
        user_id=row["user_id"],
        category=row.get("category") or "general",
        preference=row["preference"],
        source=source,
        created_at=row.get("timestamp"),
        **common,
    )


def _knowledge(row: Row) -> Memory:
    known = row.get("source") in list(KnowledgeSource)
    source = KnowledgeSource(row["source"]) if known else KnowledgeSource.USER_STATED
    common = _common(row, ("domain", "fact", "last_verified", "source"), () if known else ("source",))
    return DomainKnowledge(
        domain=row.get("domain") or "general",
        fact=row["fact"],
        source=source,
        created_at=row.get("last_verified"),
        **common,
    )


def _anti_pattern(row: Row) -> Memory:
    common = _common(row, ("pattern", "why_bad", "better_alternative", "created_at"))
    return AntiPattern(
        pattern=row["pattern"],
        why_bad=row.get("why_bad") or "",
        better_alternative=row.get("better_alternative") or "",
        created_at=row.get("created_at") or row.get("last_seen"),
        **common,
    )


_READERS: dict[str, Callable[[Row], Memory]] = {
    "outcomes": _outcome,
    "heuristics": _heuristic,
    "anti_patterns": _anti_pattern,
    "domain_knowledge": _knowledge,
    "preferences": _preference,
}
