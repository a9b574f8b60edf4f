"""A store from one engine to another, each engine in a process of its own: one process can load only one of two.

A server's driver stands beside either, so where its options are objects that cannot be sent to another process (a TLS
context, a resolver), its steps run here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alma_graph import errors
from alma_graph.arguments import callable_or_none, flag, path_text
from alma_graph.backends.bolt.settings import is_server
from alma_graph.backends.embedded.dialect import DIALECTS
from alma_graph.backends.embedded.durable import sync_file, sync_folder
from alma_graph.backends.embedded.files import choose_dialect, store_files
from alma_graph.errors import AlmaGraphError, BackendError, InvalidInputError, shown, without_secrets
from alma_graph.transfer import worker

StepProgress = Callable[[str, int, int], None]
"""Called with (step, done, total); the steps are "export", "import" and "verify"."""

_SERVER = "://"
_LAST_WORDS = 600


@dataclass(frozen=True, slots=True)
class EngineMigration:
    """What was copied.

    Attributes:
        source, target: locations; the source is as it was.
        nodes, edges: how many of each label and type.
        sha256: of the canonical exports, which are equal.
    """

    source: str
    target: str
    nodes: dict[str, int]
    edges: dict[str, int]
    sha256: str


def migrate_engine(
    location: str | os.PathLike[str],
    to: str,
    *,
    target: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: StepProgress | None = None,
    source_connection: Mapping[str, Any] | None = None,
    connection: Mapping[str, Any] | None = None,
) -> EngineMigration:
    """Copies a whole store to another engine and compares both, line by line; the source is only read.

    Args:
        location: the store: a path, ENGINE:PATH, or the URI of a server.
        to: "ladybug", "kuzu", or the URI of a server.
        target: the new file, which must not be there yet; the source's path with `.ENGINE` behind it, if left out.
        resume: go on with a copy to a server that was broken off; else its database must hold no memories.
        progress: called a few times a second.
        source_connection, connection: of the store that is read, and of the one that is written, as in `ALMA.open`.

    Raises:
        InvalidInputError: `to` names no engine, something is at the target already, or an option is wrong.
        BackendError: a process died, or the copy is not what was copied; a new file is removed then.
        AlmaGraphError: the other reasons for which a store cannot be opened.
    """
    source = path_text(location, "location")
    callable_or_none(progress, "progress", signature="(step, done, total)")
    flag(resume, "resume")
    final, part = _target(source, to, target)
    folder = None if part is None else Path(part.partition(":")[2]).parent
    here, there = dict(source_connection or {}), dict(connection or {})
    for place, options in ((source, here), (final, there)):
        _check_options(place, options)
    with tempfile.TemporaryDirectory(prefix=".migrate-", dir=folder) as scratch:
        if part is None and not resume:
            held = _step("count", final, there, None)
            if held:
                raise InvalidInputError(
                    f"{final} holds {held} memories already; choose an empty database, or go on with a copy that was "
                    "broken off with --resume (resume=True)"
                )
        file = str(Path(scratch) / "export.jsonl")
        written = _step("export", source, here, progress, path=file)
        place = final if part is None else part
        try:
            _step("import", place, there, progress, path=file)
            copied = _step("verify", place, there, progress)
            if copied != written:
                raise BackendError(
                    f"the copy at {final} is not what {source} holds ({_difference(written, copied)}); "
                    + ("empty the database and copy again" if part is None else "it was removed; copy again")
                )
            if part is not None:
                made, named = Path(part.partition(":")[2]), Path(final.partition(":")[2])
                sync_file(made)
                made.replace(named)
                sync_folder(named.parent)
        finally:
            if part is not None:
                for left in store_files(part.partition(":")[2]):
                    with suppress(FileNotFoundError):
                        left.unlink()
    return EngineMigration(source, final, written["nodes"], written["edges"], written["sha256"])


def _target(source: str, to: str, target: str | os.PathLike[str] | None) -> tuple[str, str | None]:
    """The location of the copy, and of the file that becomes it; None for a server."""
    if isinstance(to, str) and _SERVER in to:
        if target is not None:
            raise InvalidInputError(f"target={shown(target)}: a server needs none, its URI says where ({to})")
        return to, None
    if to not in DIALECTS:
        raise InvalidInputError(f"to={shown(to)} is no engine; give {', '.join(DIALECTS)}, or the URI of a server")
    if target is None:
        if _SERVER in source or source == ":memory:":
            raise InvalidInputError(f"target is left out, and {source} is no file to put the copy beside; name a file")
        scheme, colon, rest = source.partition(":")
        target = f"{rest if colon and scheme in DIALECTS else source}.{to}"
    path = os.path.realpath(os.path.expanduser(path_text(target, "target").removeprefix(f"{to}:")))
    if os.path.lexists(path):
        raise InvalidInputError(f"target={shown(path)} is there already; name another file, or move it away")
    choose_dialect(path, to, create=True)  # a folder that is not there, a log without its store
    part = f"{path}.{os.getpid()}.part"
    return f"{to}:{path}", f"{to}:{part}"


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    for group in ("nodes", "edges"):
        for name in {**one[group], **other[group]}:
            counts = one[group].get(name, 0), other[group].get(name, 0)
            if counts[0] != counts[1]:
                return f"{counts[0]} {name} became {counts[1]}"
    return "as many nodes and edges, with other properties"


def _step(
    step: str, location: str, connection: dict[str, Any], progress: StepProgress | None, *, path: str | None = None
) -> Any:
    """Runs one job in a child process, or here where its options cannot go there; its answer."""
    job = {"step": step, "location": location, "connection": connection, "path": path}
    if not _can_be_sent(connection):
        return worker.run(job, None if progress is None else lambda done, total: progress(step, done, total))
    root = str(Path(errors.__file__).resolve().parent.parent)
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "alma_graph.transfer.worker"]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": paths},
        )
        try:
            assert child.stdin is not None and child.stdout is not None
            with suppress(BrokenPipeError):
                child.stdin.write(json.dumps(job))
                child.stdin.close()
            for line in child.stdout:
                answer = _answer(line)
                if "progress" in answer and progress is not None:
                    progress(step, *answer["progress"])
                elif "result" in answer:
                    return answer["result"]
                elif "error" in answer:
                    raise _error(answer)
            code = child.wait()
        finally:
            if child.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=30)  # it is closing its store
            if child.poll() is None:
                child.kill()
                child.wait()
            if child.stdout is not None:
                child.stdout.close()
        complaints.seek(0)
        said = " ".join(complaints.read()[-_LAST_WORDS:].split())
    raise BackendError(
        f"{step} of {without_secrets(location)}: its process ended with code {code}: {said or 'it said nothing'}"
    )


def _check_options(location: str, options: Mapping[str, Any]) -> None:
    """Refuses what could not reach the process of an embedded engine."""
    for name, value in options.items():
        if not (is_server(location) or _can_be_sent(value)):
            raise InvalidInputError(
                f"{name}={shown(value)} cannot be given to the process that opens {location}; give text or a number"
            )


def _can_be_sent(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _answer(line: str) -> dict[str, Any]:
    """A line of the child's; what an engine prints by itself is no answer."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _error(answer: dict[str, Any]) -> AlmaGraphError:
    """The child's error as its own class."""
    cls = getattr(errors, answer["error"], BackendError)
    error: AlmaGraphError = cls.__new__(cls)
    error.args = (answer["message"],)
    for name, value in answer["attributes"].items():
        setattr(error, name, value)
    return error
