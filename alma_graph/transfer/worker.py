"""One step of a copy in a process of its own: `python -m alma_graph.transfer.worker`, a job as JSON on stdin.

It answers with JSON lines on stdout: `{"progress": [done, total]}` any number of times, then `{"result": ...}` or
`{"error": CLASS, "message": ..., "attributes": {...}}`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from alma_graph.errors import AlmaGraphError

Progress = Callable[[int, int], None]

_EVERY = 0.2
"""Seconds between two reports of progress."""


class _Reporter:
    """Tells how far the work is, not too often."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done >= total or now - self._last >= _EVERY:
            self._last = now
            answer({"progress": [done, total]})


def answer(message: dict[str, Any]) -> None:
    """One line on stdout."""
    print(json.dumps(message), flush=True)


def run(job: dict[str, Any], report: Progress | None = None) -> Any:
    """What the job asks for: to "export" a location to a path, to "import" a path into it, to "verify" it (counts and
    checksum of what an export would hold), or to "count" its memories; `report` is called with (done, total)."""
    from alma_graph.backends import open_backend
    from alma_graph.transfer.exporting import ExportSummary, export_backend, export_file
    from alma_graph.transfer.importing import import_file
    from alma_graph.transfer.lines import Trailer

    location, connection = job["location"], job["connection"]
    if job["step"] == "import":
        import_file(job["path"], location, progress=report, **connection)
        return None
    reads = job["step"] != "count"  # where nothing is yet, an empty database, the copy is made next
    backend = open_backend(location, read_only=reads, create=not reads, **connection)
    try:
        if job["step"] == "count":
            return backend.count("Memory") if backend.meta() is not None else 0
        made: ExportSummary | Trailer
        if job["step"] == "export":
            made = export_file(backend, job["path"], progress=report)
        else:
            made = export_backend(backend, None, progress=report)
        return {"nodes": dict(made.nodes), "edges": dict(made.edges), "sha256": made.sha256}
    finally:
        backend.close()


def main() -> int:
    """Does the job on stdin."""
    try:
        answer({"result": run(json.load(sys.stdin), _Reporter())})
    except AlmaGraphError as error:
        attributes = {name: value for name, value in vars(error).items() if isinstance(value, (str, int))}
        answer({"error": type(error).__name__, "message": str(error), "attributes": attributes})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
