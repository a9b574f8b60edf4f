"""A file into a store: read in full and checked, then written in units of work, nodes before edges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from alma_graph.arguments import callable_or_none, flag, path_text
from alma_graph.clock import Clock, system_clock
from alma_graph.doctor import mend_projects
from alma_graph.enums import read_enum
from alma_graph.errors import InvalidInputError
from alma_graph.extraction import create_extractor
from alma_graph.ingest.writer import Progress
from alma_graph.store import Store, open_store
from alma_graph.transfer.adopting import adopt_embedder, prepare
from alma_graph.transfer.files import Source
from alma_graph.transfer.lines import Header
from alma_graph.transfer.reading import Findings, read_export
from alma_graph.transfer.recounting import Outcomes, recount, require_embedder
from alma_graph.transfer.summary import ImportSummary
from alma_graph.transfer.writing import GraphWriter, refuse_conflicts

_TALLIES = ("written", "present", "merged", "kept", "left_out")


class OnConflict(StrEnum):
    """What becomes of a node or an edge of the file that the store has with other properties."""

    SKIP = "skip"
    MERGE = "merge"
    ERROR = "error"


def import_file(
    path: str | os.PathLike[str],
    into: str | os.PathLike[str] | Store,
    *,
    on_conflict: str = OnConflict.SKIP,
    salvage: bool = False,
    progress: Progress | None = None,
    clock: Clock = system_clock,
    lock_timeout: float = 5.0,
    **connection: Any,
) -> ImportSummary:
    """Writes an export into an open store, or into the one at a location, which is made where there is none.

    The whole file is read and checked before the first unit is written. Run again, an import that was broken off goes
    on where it stopped.

    Args:
        path: plain or gzip; "-" is stdin.
        on_conflict: see `OnConflict`; what is equal is never written again.
        salvage: take the readable lines of a damaged file.
        progress: called with (done, total) lines after each transaction.
        lock_timeout, connection: of a location, as in `ALMA.open`; an open store has its own.

    Raises:
        InvalidInputError: no export, or (without `salvage`) a damaged one; names the line. Nothing was written.
        StoreVersionError: written by a newer format or schema; has both versions.
        EmbedderMismatchError: the store has vectors of another embedder.
        IdConflictError: with `OnConflict.ERROR`, the store has something with other properties. Nothing was written.
    """
    wanted = read_enum(OnConflict, on_conflict, "on_conflict")
    flag(salvage, "salvage")
    callable_or_none(progress, "progress", signature="(done, total)")
    with Source(path) as source:
        findings = _checked(source, salvage=salvage)
        given = {name: value for name, value in connection.items() if value is not None}
        with _opened(into, findings.header, clock, lock_timeout, given) as store:
            return _import(source, findings, store, wanted, progress)


def _checked(source: Source, *, salvage: bool) -> Findings:
    found: list[Findings] = []
    with source.open() as stream:
        for _ in read_export(stream, source.name, found):
            pass
    findings = found[0]
    if findings.failed and not salvage:
        more = f" (and {findings.failed - 1} more)" if findings.failed > 1 else ""
        raise InvalidInputError(
            f"{source.name}, {findings.problems[0]}{more}; nothing was written: take another copy of the file, or "
            "import what can be read of it with --salvage (salvage=True)"
        )
    return findings


@contextmanager
def _opened(
    into: str | os.PathLike[str] | Store, header: Header, clock: Clock, lock_timeout: float, connection: dict[str, Any]
) -> Iterator[Store]:
    if isinstance(into, Store):
        if connection:
            raise InvalidInputError(f"{next(iter(connection))}=: into is open already; give it where it is opened")
        yield into
        return
    location = path_text(into, "into")
    if location == ":memory:":
        raise InvalidInputError("into=':memory:' would be gone at once; open it, and give the open store: into=alma")
    prepare(location, header, lock_timeout=lock_timeout, connection=connection)
    store = open_store(
        location,
        embedder=None,
        extractor=create_extractor("spacy"),
        clock=clock,
        read_only=False,
        create=False,
        lock_timeout=lock_timeout,
        connection=connection,
    )
    try:
        yield store
    finally:
        store.release()


def _import(
    source: Source, findings: Findings, store: Store, on_conflict: OnConflict, progress: Progress | None
) -> ImportSummary:
    store.check_writable()
    adopt_embedder(store, findings.header)
    if on_conflict is OnConflict.ERROR:
        with source.open() as stream:
            refuse_conflicts(store, read_export(stream, source.name, []))
    require_embedder(store)
    outcomes = Outcomes()
    writer = GraphWriter(store, merge=on_conflict is OnConflict.MERGE, total=findings.lines, progress=progress)
    with source.open() as stream:
        writer.write(outcomes.watch(read_export(stream, source.name, [])))
    writer.clean(whole=not findings.failed)
    unsettled = outcomes.by_project.keys() if findings.failed else writer.unsettled
    recounted = recount(store, outcomes, unsettled)
    mended = mend_projects(store, writer.projects) if findings.failed else []
    return ImportSummary(
        path=source.path,
        **{name: {key: n for key, n in sorted(getattr(writer.tally, name).items()) if n} for name in _TALLIES},
        problems=tuple(findings.problems),
        failed=findings.failed,
        recounted=tuple(recounted),
        mended=tuple(mended),
    )
