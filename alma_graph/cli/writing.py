"""Commands that write: `learn`, `observe`, `ingest`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alma_graph.cli.options import (
    StoreChoice,
    json_object,
    json_option,
    json_or_text,
    key_values,
    with_store,
    words_or_stdin,
)
from alma_graph.cli.output import Progress, memory_line, note, plain, print_json, say
from alma_graph.errors import InvalidInputError

if TYPE_CHECKING:
    from alma_graph.alma import ALMA
    from alma_graph.importers import FieldMap, ImportReport
    from alma_graph.model import Memory
    from alma_graph.results import Explanation

SHOWN_ERRORS = 20


@click.command("learn")
@with_store
@click.option("--agent", required=True, help="Who did the task.")
@click.option("--task", required=True, help="What was to be done.")
@click.option("--outcome", required=True, help="success or failure.")
@click.option("--strategy", "strategy_used", default="", help="How it was done; without one, no lesson forms.")
@click.option("--task-type", help="The sort of task, such as deploy.")
@click.option("--duration-ms", type=int, help="How long it took, in milliseconds.")
@click.option("--error", "error_message", help="The error of a failure.")
@click.option("--feedback", help="What was said about it.")
@click.option("--session", "session_id", help="The session it belongs to.")
@click.option("--occurred-at", help="When, in ISO 8601 (now, where it is left out).")
@click.option("--metadata", help="A JSON object to keep with it.")
@click.option("--id", "memory_id", help="An id of your own: the same id and fields twice is stored once.")
@json_option
def learn_command(
    choice: StoreChoice, *, memory_id: str | None, metadata: str | None, as_json: bool, **given: Any
) -> None:
    """Record how a task ended; say what the store learned from it."""
    extra = json_object(metadata, "--metadata")
    with choice.open(create=True) as alma:
        stored = alma.learn(id=memory_id, metadata=extra, **given)
        _print_stored(alma, stored, as_json)


@click.command("observe")
@with_store
@click.argument("text", nargs=-1, required=True)
@click.option("--session", "session_id", required=True, help="The session: a chat, a run, a workflow.")
@click.option("--agent", help="Who observed it.")
@click.option("--speaker", help="Who said it.")
@click.option("--occurred-at", help="When, in ISO 8601 (now, where it is left out).")
@click.option("--metadata", help="A JSON object to keep with it.")
@click.option("--id", "memory_id", help="An id of your own: the same id and fields twice is stored once.")
@json_option
def observe_command(
    choice: StoreChoice,
    *,
    text: tuple[str, ...],
    memory_id: str | None,
    metadata: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Record a raw turn of a session (TEXT, or - for stdin)."""
    words = words_or_stdin(text)
    extra = json_object(metadata, "--metadata")
    with choice.open(create=True) as alma:
        stored = alma.observe(text=words, id=memory_id, metadata=extra, **given)
        _print_stored(alma, stored, as_json)


def formed(explanation: Explanation) -> list[tuple[str, Memory]]:
    """What a new memory supports, contradicts and gave rise to, with the word for each."""
    groups = (
        ("supports", explanation.supports),
        ("contradicts", explanation.contradicts),
        ("contradicted by", explanation.contradicted_by),
        ("gave rise to", explanation.derived),
    )
    return [(word, link.memory) for word, links in groups for link in links]


def _print_stored(alma: ALMA, stored: Memory, as_json: bool) -> None:
    links = formed(alma.why(stored.id))
    if as_json:
        print_json({"stored": stored, "formed": [{"relation": word, "memory": memory} for word, memory in links]})
        return
    say(f"stored {memory_line(stored)}")
    for word, memory in links:
        confidence = "" if memory.confidence is None else f", confidence {memory.confidence:.2f}"
        say(f"  {word}: {memory_line(memory)}{confidence}")


@click.command("ingest")
@with_store
@click.argument("file", required=False)
@click.option("--map", "map_name", metavar="MAP", help="A packaged map by name, or the path of a YAML file.")
@click.option("--list-maps", is_flag=True, help="Say which maps are packaged, and stop.")
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "json", "csv"]), help="By the file's ending, if left out."
)
@click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only rows with this value; may be repeated.")
@click.option("--limit", type=int, help="At most so many rows.")
@click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE", help="A field that every memory gets.")
@click.option(
    "--on-error",
    type=click.Choice(["continue", "stop"]),
    default="continue",
    show_default=True,
    help="After a bad line: leave it out and go on, or stop there.",
)
@json_option
def ingest_command(
    choice: StoreChoice,
    *,
    file: str | None,
    map_name: str | None,
    list_maps: bool,
    form: str | None,
    where: tuple[str, ...],
    limit: int | None,
    settings: tuple[str, ...],
    on_error: str,
    as_json: bool,
) -> int:
    """Turn the rows of FILE (JSON Lines, a JSON array, CSV; - is stdin) into memories, by a map.

    A second run of the same file adds nothing. Bad lines are reported on stderr with their numbers; the exit code is 2
    when there were any.
    """
    from alma_graph.importers import load_map, packaged_maps

    if list_maps:
        _print_maps(list(packaged_maps().values()), as_json)
        return 0
    if file is None or map_name is None:
        raise InvalidInputError(
            "give FILE and --map MAP; --list-maps shows the packaged ones, docs/ingest.md the format"
        )
    field_map = load_map(map_name)
    filters = key_values(where, "--where")
    overrides = {name: json_or_text(value) for name, value in key_values(settings, "--set").items()}
    if file != "-" and not Path(file).is_file():
        raise InvalidInputError(f"there is no file {file!r}")
    with choice.open(create=True) as alma:
        report = _ingest(
            alma, file, field_map, form, where=filters, limit=limit, overrides=overrides, on_error=on_error
        )
        _print_report(report, file, as_json)
    return 2 if report.failed else 0


def _ingest(
    alma: ALMA, file: str, field_map: FieldMap, form: str | None, *, on_error: str, **options: Any
) -> ImportReport:
    from alma_graph.importers import import_rows, read_rows
    from alma_graph.importers.reading import guess_format

    progress = Progress("ingest")
    with ExitStack() as stack:
        stream = sys.stdin.buffer if file == "-" else stack.enter_context(Path(file).open("rb"))
        rows = read_rows(stream, form or ("jsonl" if file == "-" else guess_format(Path(file))))
        report = import_rows(
            alma,
            rows,
            field_map,
            stop_on_error=on_error == "stop",
            progress=lambda read, handed: progress.tell(f"{read} rows, {handed} memories"),
            **options,
        )
    progress.done(f"{report.rows} rows, {sum(report.written.values()) + sum(report.present.values())} memories")
    return report


def _print_maps(maps: Sequence[FieldMap], as_json: bool) -> None:
    if as_json:
        print_json([{"name": item.name, "description": item.description, "source": item.source} for item in maps])
        return
    for item in maps:
        say(f"{item.name}: {item.description}" + (f" From {item.source}." if item.source else ""))


def _print_report(report: ImportReport, file: str, as_json: bool) -> None:
    for error in report.errors[:SHOWN_ERRORS]:
        note(f"{file}: {error}")
    if report.failed > SHOWN_ERRORS:
        note(f"{file}: {report.failed - SHOWN_ERRORS} more bad lines")
    if as_json:
        print_json(plain(report))
        return
    for word, counts in (("written", report.written), ("already there", report.present)):
        kinds = ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in sorted(counts.items()))
        say(f"{word}: {sum(counts.values())}" + (f" ({kinds})" if kinds else ""))
    if report.without_memory:
        say(f"rows that the map leaves out: {report.without_memory}")
    if report.failed:
        say(f"bad lines: {report.failed}")
