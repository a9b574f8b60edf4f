"""Commands that move data: `export`, `import`, `migrate-engine`, `import-alma`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from alma_graph.cli.options import connection_options, json_option, local_path
from alma_graph.cli.output import Progress, note, plain, print_json, say
from alma_graph.errors import InvalidInputError

if TYPE_CHECKING:
    from alma_graph.transfer import ImportSummary

SHOWN_PROBLEMS = 20

_WORDS = (
    ("written", "written"),
    ("present", "already there"),
    ("merged", "merged"),
    ("kept", "there with other properties, kept"),
    ("left_out", "left out with a memory that was kept"),
)


@click.command("export")
@click.argument("store")
@click.argument("file")
@click.option("--project", metavar="NAME", help="Only this project; all of the store, where it is left out.")
@click.option("--raw", is_flag=True, help="As the engine has it, also of a store that this version cannot open.")
@connection_options
@json_option
def export_command(
    *, store: str, file: str, project: str | None, raw: bool, connection: dict[str, Any], as_json: bool
) -> int:
    """Write the whole STORE to FILE as JSON lines (FILE.gz is compressed, - is stdout).

    Equal graphs give equal lines on every engine; only the header says which one it was. With -, --json prints its
    report to stderr, since stdout is the export. With --raw, each line is a node or an edge with all that the engine
    holds of it, whatever version made the store; `import` does not read that. Of a damaged store it has what can be
    read; what cannot is named on stderr, and the exit code is 1.
    """
    if raw:
        if connection:
            raise InvalidInputError(f"--{next(iter(connection))} and --raw do not go together: a file has no users")
        return _export_raw(store, file, project, as_json)
    from alma_graph.backends import open_backend
    from alma_graph.transfer import export_file

    progress = Progress("export")
    backend = open_backend(store, read_only=True, create=False, **connection)
    try:
        made = export_file(
            backend, file, project_id=project, progress=lambda done, total: progress.tell(f"{done} of {total}")
        )
    finally:
        backend.close()
    progress.done(f"{sum(made.nodes.values())} nodes, {sum(made.edges.values())} edges")
    if file == "-":
        note(json.dumps(plain(made)) if as_json else f"SHA-256 {made.sha256}")
    elif as_json:
        print_json(made)
    else:
        say(f"wrote {file}: {_counted(made.nodes)}; {_counted(made.edges)}")
        say(f"SHA-256 of the graph: {made.sha256}")
    return 0


def _export_raw(store: str, file: str, project: str | None, as_json: bool) -> int:
    from alma_graph.transfer.raw import raw_export

    if project is not None:
        raise InvalidInputError(
            f"--project {project!r} and --raw do not go together; a raw export is of the whole file"
        )
    unread: list[str] = []

    def tell(line: str) -> None:
        unread.append(line)
        note(f"damaged: {line}")

    lines = raw_export(store, file, unread=tell)
    if file == "-":
        note(f"{lines} lines")
    elif as_json:
        print_json({"file": file, "lines": lines, "unread": unread})
    else:
        say(f"wrote {file}: {lines} lines, as the engine has them")
    return 1 if unread else 0


@click.command("import")
@click.argument("file")
@click.argument("store")
@click.option(
    "--on-conflict",
    type=click.Choice(["skip", "merge", "error"]),
    default="skip",
    show_default=True,
    help="What the store has with other properties: keep it, unite both, or write nothing.",
)
@click.option("--salvage", is_flag=True, help="Take the readable lines of a damaged file.")
@connection_options
@json_option
def import_command(
    *, file: str, store: str, on_conflict: str, salvage: bool, connection: dict[str, Any], as_json: bool
) -> int:
    """Write the export FILE (- is stdin) into STORE, which is made where there is none.

    The whole file is checked before anything is written. Run again, it goes on where it was broken off; what is there
    is not written twice. With --salvage, the lines that could not be read are named and the exit code is 2.
    """
    from alma_graph.transfer import import_file

    progress = Progress("import")
    summary = import_file(
        file,
        store,
        on_conflict=on_conflict,
        salvage=salvage,
        progress=lambda done, total: progress.tell(f"{done} of {total} lines"),
        **connection,
    )
    progress.done(f"{sum(summary.written.values())} new")
    for problem in summary.problems[:SHOWN_PROBLEMS]:
        note(f"{file}: {problem}")
    if summary.failed > SHOWN_PROBLEMS:
        note(f"{file}: {summary.failed - SHOWN_PROBLEMS} more lines that could not be taken")
    if as_json:
        print_json(summary)
    else:
        _print_summary(summary)
    return 2 if summary.failed else 0


@click.command("migrate-engine")
@click.argument("store")
@click.option("--to", "engine", required=True, metavar="ENGINE", help="ladybug, kuzu, or the URI of a server.")
@click.option("--target", metavar="PATH", help="The new file; STORE.ENGINE, where it is left out.")
@click.option("--resume", is_flag=True, help="Go on with a copy to a server that was broken off.")
@connection_options
@json_option
def migrate_engine_command(
    *, store: str, engine: str, target: str | None, resume: bool, connection: dict[str, Any], as_json: bool
) -> None:
    """Copy STORE to another engine, without loss; STORE itself stays as it is.

    Each engine runs in a process of its own, and both stores are compared line by line at the end. The options of a
    server are those of the one that is read or written; where both are servers, of the one that is written.
    """
    from alma_graph.backends.embedded.dialect import DIALECTS
    from alma_graph.transfer.engines import migrate_engine

    reads_server = local_path(store) is None and engine in DIALECTS
    progress = Progress("migrate-engine")
    made = migrate_engine(
        store,
        engine,
        target=target,
        resume=resume,
        progress=lambda step, done, total: progress.tell(f"{step} {done} of {total}"),
        source_connection=connection if reads_server else None,
        connection=None if reads_server else connection,
    )
    progress.done(f"{sum(made.nodes.values())} nodes, {sum(made.edges.values())} edges, verified")
    if as_json:
        print_json(made)
        return
    say(f"copied {made.source} to {made.target}: {_counted(made.nodes)}; {_counted(made.edges)}")
    say(f"both hold the same: SHA-256 {made.sha256}")


@click.command("import-alma")
@click.argument("file")
@click.argument("store")
@click.option("--embedder", metavar="NAME", help="For a new store: all-MiniLM-L6-v2 (the default), hashing, ...")
@connection_options
@json_option
def import_alma_command(
    *, file: str, store: str, embedder: str | None, connection: dict[str, Any], as_json: bool
) -> int:
    """Take the memories of ALMA's SQLite FILE (alma.db) into STORE, every project of it.

    Ids and times are kept, vectors are made anew, outcomes are learned from. A second run adds nothing. Rows that could
    not be taken are named on stderr, and the exit code is 2 when there were any.
    """
    from alma_graph.alma import ALMA
    from alma_graph.importers import import_alma

    progress = Progress("import-alma")
    with ExitStack() as stores:
        report = import_alma(
            file,
            lambda project: stores.enter_context(ALMA.open(store, project_id=project, embedder=embedder, **connection)),
            progress=lambda read, handed: progress.tell(f"{read} rows, {handed} memories"),
        )
    progress.done(f"{len(report.projects)} projects")
    for project, done in report.projects.items():
        for error in done.errors[:SHOWN_PROBLEMS]:
            note(f"{file}, project {project}: {error}")
    if as_json:
        print_json(report)
        return 2 if report.failed else 0
    for project, done in report.projects.items():
        words = f"written {_counted(done.written)}; already there {_counted(done.present)}"
        say(f"project {project}: {words}" + (f"; not taken {done.failed}" if done.failed else ""))
    if report.not_taken:
        say(f"tables that hold something else, not taken: {_counted(report.not_taken)}")
    return 2 if report.failed else 0


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def _print_summary(summary: ImportSummary) -> None:
    for name, words in _WORDS:
        counts = getattr(summary, name)
        if counts or name == "written":
            say(f"{words}: {_counted(counts)}")
    if summary.failed:
        say(f"lines that could not be taken: {summary.failed}")
    if summary.recounted:
        say(f"lessons counted anew: {', '.join(summary.recounted)}")
    for line in summary.mended:
        say(f"made again of what the file had lost: {line}")
