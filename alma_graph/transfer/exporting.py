"""A store to a file: canonical lines, a batch of nodes or edges in memory at a time."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import IO

from alma_graph.backends.inspection import Snapshots
from alma_graph.backends.protocol import Backend, chunked
from alma_graph.backends.schema import EDGES, NODES
from alma_graph.errors import InvalidInputError, StoreChangedError
from alma_graph.text import checked_name
from alma_graph.transfer.files import compressed, writing
from alma_graph.transfer.lines import Header, Trailer, edge_line, node_line

Progress = Callable[[int, int], None]
"""Called with (done, total), nodes and edges together."""

EXPORTED = tuple(label for label in NODES if label != "Meta")
"""Labels in the order of an export."""

_NODE_BATCH = 1_000
_EDGES_AT_ONCE = 50_000
_SOURCE_BATCH = 5_000
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written.

    Attributes:
        path: the file; "-" is stdout.
        nodes, edges: how many of each label and type; absent ones are left out.
        sha256: over the header (but `created_with`) and all lines: equal for equal graphs on every engine.
        project_id: the one project; None is the whole store.
    """

    path: str
    nodes: dict[str, int]
    edges: dict[str, int]
    sha256: str
    project_id: str | None


def export_file(
    backend: Backend,
    path: str | os.PathLike[str],
    *,
    project_id: str | None = None,
    progress: Progress | None = None,
    lock: AbstractContextManager[object] | None = None,
) -> ExportSummary:
    """Writes the store, or one project of it, to a file; the file is there when it is complete, or not at all.

    Args:
        path: `.gz` is compressed; "-" is stdout.
        lock: held in the last attempt, so that writers of this process wait; where the store changes meanwhile, the
            first attempts are thrown away and made again.

    Raises:
        InvalidInputError: the store holds nothing yet, has no such project, or no file can be made there.
        StoreChangedError: another process writes all the time.
    """
    with writing(path) as stream:
        for attempt in range(_ATTEMPTS):
            stream.seek(0)
            stream.truncate()
            last = attempt == _ATTEMPTS - 1
            with lock if lock is not None and last else nullcontext(), _one_state(backend):
                before = backend.sequence()
                with compressed(stream, path) as lines:
                    made = export_backend(backend, lines, project_id=project_id, progress=progress)
                unchanged = backend.sequence() == before
            if unchanged:
                return ExportSummary(os.fspath(path), dict(made.nodes), dict(made.edges), made.sha256, project_id)
        raise StoreChangedError(
            f"another process wrote to the store during each of {_ATTEMPTS} exports; export while it is idle"
        )


def export_backend(
    backend: Backend, stream: IO[bytes] | None, *, project_id: str | None = None, progress: Progress | None = None
) -> Trailer:
    """Writes header, nodes, edges and trailer to a stream; with None, only counts and digests what it would write."""
    if project_id is not None:
        checked_name(project_id, "project_id")
    header = header_of(backend, project_id)
    digest = hashlib.sha256(header.digested())
    if stream is not None:
        stream.write(header.line())
    total = sum(backend.count(name, project_id=project_id) for name in (*EXPORTED, *EDGES))
    counts: Counter[str] = Counter()
    done = 0
    for name, lines in _batches(backend, project_id):
        block = b"".join(lines)
        digest.update(block)
        if stream is not None:
            stream.write(block)
        counts[name] += len(lines)
        done += len(lines)
        if progress is not None:
            progress(done, max(done, total))
    nodes = {label: counts[label] for label in EXPORTED if counts[label]}
    edges = {type_: counts[type_] for type_ in EDGES if counts[type_]}
    trailer = Trailer(nodes, edges, digest.hexdigest())
    if stream is not None:
        stream.write(trailer.line())
    return trailer


def header_of(backend: Backend, project_id: str | None) -> Header:
    """The header of an export of this store.

    Raises:
        InvalidInputError: the store holds nothing yet, or has no such project.
    """
    meta = backend.meta()
    if meta is None:
        raise InvalidInputError(f"{backend.path!r} holds no store yet; there is nothing to export")
    if project_id is not None and not backend.count("Project", project_id=project_id):
        raise InvalidInputError(f"project_id={project_id!r}: the store has no such project; leave it out for all")
    try:
        package = version("alma_graph")
    except PackageNotFoundError:
        package = "0+unknown"
    return Header(
        schema_version=int(meta["schema_version"]),
        embedder=meta["embedder"],
        embedder_revision=meta["embedder_revision"],
        dimension=int(meta["dimension"]),
        project_id=project_id,
        created_with=f"alma_graph {package} on {backend.name} {backend.engine_version()}",
    )


def _one_state(backend: Backend) -> AbstractContextManager[object]:
    """One committed state for all reads inside, where the engine can hold one beside a writer."""
    return backend.one_state() if isinstance(backend, Snapshots) else nullcontext()


def _batches(backend: Backend, project_id: str | None) -> Iterator[tuple[str, list[bytes]]]:
    """Label or type, and some lines of it, in the order of the file."""
    sources: dict[str, list[str]] = {}
    for label in EXPORTED:
        keys = sources[label] = [row["key"] for row in backend.nodes(label, project_id=project_id, columns=("key",))]
        for part in chunked(keys, _NODE_BATCH):
            yield label, [node_line(label, row) for row in backend.nodes(label, keys=part)]
    for type_, spec in EDGES.items():
        if backend.count(type_, project_id=project_id) <= _EDGES_AT_ONCE:
            yield type_, list(map(edge_line, backend.edges(type_, project_id=project_id)))
            continue
        starts = sorted({key for label, _ in spec.pairs for key in sources[label]})
        for part in _parts(starts, _SOURCE_BATCH):
            yield type_, list(map(edge_line, backend.edges(type_, project_id=project_id, sources=part)))


def _parts(keys: list[str], size: int) -> Iterable[list[str]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))
