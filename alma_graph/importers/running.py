"""Runs a map over a file into a store, in batches; says what was written, what was there, and which lines were bad."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path as FilePath
from typing import Any, Protocol

from alma_graph.clock import system_clock
from alma_graph.errors import AlmaGraphError, InvalidInputError, MemoryNotFoundError, StoreError
from alma_graph.importers.mapping import Draft, FieldMap
from alma_graph.importers.paths import Path, Scope, parse_path, plain_text
from alma_graph.importers.reading import SourceRow, guess_format, read_rows
from alma_graph.model import Memory

BATCH_SIZE = 256
MAX_KEPT_ERRORS = 1000

Progress = Callable[[int, int], None]
"""Told the rows read and the memories handed to the store so far."""


class Sink(Protocol):
    """The part of ALMA that is needed here."""

    def add_batch(self, memories: Iterable[Memory]) -> Sequence[Memory]:
        """Stores memories of any kind; returns them as stored, in order."""
        ...

    def get(self, memory_id: str) -> Memory:
        """The stored memory; raises MemoryNotFoundError."""
        ...


@dataclass(frozen=True, slots=True)
class RowError:
    """A line that made no memory, and why."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(slots=True)
class ImportReport:
    """What an import did.

    Attributes:
        rows: rows read that passed the filters.
        without_memory: rows that the map's conditions left out.
        written, present: memories by kind that are new, and that the store had already.
        errors: bad lines, at most the first thousand; `failed` is their true number.
    """

    rows: int = 0
    without_memory: int = 0
    failed: int = 0
    written: Counter[str] = field(default_factory=Counter)
    present: Counter[str] = field(default_factory=Counter)
    errors: list[RowError] = field(default_factory=list)

    def fail(self, line: int, message: str) -> None:
        """Counts a bad line."""
        self.failed += 1
        if len(self.errors) < MAX_KEPT_ERRORS:
            self.errors.append(RowError(line, message))


class BatchWriter:
    """Hands drafts to the store, and finds the one to blame where a batch is refused."""

    def __init__(self, sink: Sink, report: ImportReport, started: datetime) -> None:
        self._sink = sink
        self._report = report
        self._started = started
        self._seen: set[str] = set()

    def write(self, drafts: Sequence[Draft]) -> None:
        """Stores the drafts; those that the store refuses are counted as failed.

        Raises:
            StoreError: the store itself fails; what earlier batches wrote stays.
        """
        if not drafts:
            return
        known = {draft.memory.id for draft in drafts if draft.memory.id and self._is_stored(draft.memory.id)}
        try:
            stored = self._sink.add_batch([draft.memory for draft in drafts])
        except StoreError:
            raise
        except AlmaGraphError as error:
            if len(drafts) == 1:
                self._report.fail(drafts[0].line, str(error))
                return
            for draft in drafts:  # nothing of the batch was written: one by one, the good ones go in
                self.write([draft])
            return
        for draft, memory in zip(drafts, stored, strict=True):
            there = memory.id in self._seen or memory.id in known or self._is_older(draft.memory, memory)
            self._seen.add(memory.id)
            (self._report.present if there else self._report.written)[str(memory.kind)] += 1

    def _is_stored(self, memory_id: str) -> bool:
        try:
            self._sink.get(memory_id)
        except MemoryNotFoundError:
            return False
        return True

    def _is_older(self, given: Memory, stored: Memory) -> bool:
        """Whether a memory that was given no id came back as one from before this run (an equal text)."""
        return not given.id and stored.created_at is not None and stored.created_at < self._started


def _matches(row: Any, filters: Sequence[tuple[Path, str]]) -> bool:
    for path, wanted in filters:
        found = path.read(Scope(row, 0))
        if found is None or isinstance(found, (list, dict)) or plain_text(found) != wanted:
            return False
    return True


def import_rows(
    sink: Sink,
    rows: Iterable[SourceRow],
    field_map: FieldMap,
    *,
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    stop_on_error: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Turns rows into memories and stores them, some hundreds to a batch, in the order of the rows.

    Args:
        where: only rows that have these values; keys are paths without their `$.`, values are compared as text.
        limit: at most so many rows (of those that pass `where`).
        overrides: fields that every memory gets, whatever the map says.
        stop_on_error: nothing that follows the first bad line is stored; otherwise bad lines are counted and left out.
        progress: called after each batch.

    Raises:
        StoreError: the store fails; what was written stays, and running it again goes on from there.
        InvalidInputError: `where` or `limit` cannot be understood.
    """
    if limit is not None and limit < 1:
        raise InvalidInputError(f"limit={limit} must be at least 1")
    filters = [(parse_path(key if key.startswith("$") else f"$.{key}"), value) for key, value in (where or {}).items()]
    report = ImportReport()
    writer = BatchWriter(sink, report, system_clock())
    waiting: list[Draft] = []
    handed = 0

    def flush() -> None:
        nonlocal handed
        writer.write(waiting)
        handed += len(waiting)
        waiting.clear()
        if progress is not None:
            progress(report.rows, handed)

    for row in rows:
        if row.problem is None and not _matches(row.value, filters):
            continue
        if limit is not None and report.rows >= limit:
            break
        report.rows += 1
        if row.problem is not None:
            report.fail(row.line, row.problem)
        else:
            try:
                drafts = field_map.drafts(row.value, row.line, overrides)
            except InvalidInputError as error:
                report.fail(row.line, str(error))
            else:
                report.without_memory += not drafts
                waiting.extend(drafts)
        if len(waiting) >= BATCH_SIZE or (stop_on_error and report.failed):
            flush()
        if stop_on_error and report.failed:
            break
    flush()
    return report


def import_file(
    sink: Sink,
    path: str | os.PathLike[str],
    field_map: FieldMap,
    *,
    form: str | None = None,
    **options: Any,
) -> ImportReport:
    """As `import_rows`, from a file; `form` is "jsonl", "json" or "csv" (by the file's ending, where it is left out).

    Raises:
        InvalidInputError: the file cannot be read.
    """
    source = FilePath(path)
    try:
        with source.open("rb") as stream:
            return import_rows(sink, read_rows(stream, form or guess_format(source)), field_map, **options)
    except OSError as error:
        raise InvalidInputError(f"the file {os.fspath(path)!r} cannot be read: {error.strerror}") from error
