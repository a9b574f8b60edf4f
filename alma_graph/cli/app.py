"""The command group: its commands, and how errors and consoles are treated.

Exit codes: 0 well; 1 something is wrong with the store, the engine or the installation (and `doctor` found problems);
2 the input cannot be taken; 130 interrupted. An error is one line on stderr, `error: ...`; what a command prints goes
to stdout, and with --json that is JSON and nothing else.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from alma_graph.errors import (
    AlmaGraphError,
    CypherError,
    IdConflictError,
    InvalidInputError,
    MemoryNotFoundError,
    ReadOnlyError,
)

EXIT_STORE = 1
EXIT_INPUT = 2
EXIT_INTERRUPTED = 130
STDOUT = "stdout"
BAD_INPUT = (InvalidInputError, IdConflictError, MemoryNotFoundError, ReadOnlyError, CypherError)
"""What the caller can put right by asking otherwise; every other error is the store's or the installation's."""

COMMANDS = {
    "init": ("storing", "Make a store here and remember it in .alma/config.yaml."),
    "demo": ("demo", "Tell the whole story on a small example, in ./alma-demo/."),
    "learn": ("writing", "Record how a task ended, and learn from it."),
    "observe": ("writing", "Record a raw turn of a session."),
    "ingest": ("writing", "Turn the rows of a file into memories, by a map."),
    "retrieve": ("reading", "Find the memories that fit a task or question."),
    "contradictions": ("reading", "List what cannot both hold, with the evidence."),
    "why": ("reading", "Explain why the store holds a memory."),
    "cypher": ("reading", "Run one reading Cypher statement."),
    "query": ("reading", "Run a query of the catalogue, or list them."),
    "stats": ("storing", "Say what the project holds."),
    "doctor": ("storing", "Check a store; exit code 1 when something is wrong."),
    "backup": ("maintaining", "Copy a store into a new file, also while it is open."),
    "migrate": ("maintaining", "Bring a store of an older version to the present schema."),
    "reembed": ("maintaining", "Give all memories vectors of another embedder."),
    "export": ("moving", "Write a store to a file of JSON lines."),
    "import": ("moving", "Write such a file into a store."),
    "migrate-engine": ("moving", "Copy a store to another engine."),
    "import-alma": ("moving", "Take the memories of ALMA's SQLite file."),
    "models": ("storing", "Fetch the default model."),
}
"""Each command with the module it is in, so that `--help` loads none of them, and its one line of help."""


class AlmaGroup(click.Group):
    """Loads commands when they are called; prints an error as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"alma_graph.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in COMMANDS.items()])

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """Runs the command line and exits."""
        if not prepare_streams():
            sys.exit(_fail("stdout is closed; send it somewhere, e.g. >/dev/null (nothing was done)", EXIT_STORE))
        extra["standalone_mode"] = False
        sys.exit(self._run(args, prog_name, extra))

    def _run(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> int:
        try:
            result = super().main(args, prog_name, **extra)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help() if error.ctx else str(error))
            return EXIT_INPUT
        except click.ClickException as error:
            hint = (
                f" (see {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
            )
            return _fail(error.format_message() + hint, error.exit_code if error.exit_code != 1 else EXIT_INPUT)
        except (click.Abort, KeyboardInterrupt):
            return _fail("interrupted", EXIT_INTERRUPTED)
        except AlmaGraphError as error:
            return _fail(str(error), EXIT_INPUT if isinstance(error, BAD_INPUT) else EXIT_STORE)
        except BrokenPipeError:  # the reader of our output has gone (`| head`): nothing is wrong
            _drop_stdout()
            return 0
        except OSError as error:
            if error.filename == STDOUT:
                _drop_stdout()  # or the interpreter's end would fail once more
            return _fail(f"{error.filename or 'file'}: {error.strerror or error}", EXIT_STORE)
        return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    click.echo("error: " + " ".join(message.split()), err=True)
    return code


def _drop_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Stdout(io.TextIOWrapper):
    """stdout whose errors name it."""

    def write(self, text: str, /) -> int:
        with _named():
            return super().write(text)

    def flush(self) -> None:
        with _named():
            super().flush()


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = STDOUT
        raise


def prepare_streams() -> bool:
    """Makes stdout and stderr write `?` for what their encoding lacks, rather than fail; whether there is a stdout.

    The number of a closed stream is taken, or the next file opened, which may be the store, would get it, and with it
    whatever a library prints.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        through, encoding = sys.stdout.write_through, sys.stdout.encoding
        lines = sys.stdout.line_buffering
        sys.stdout = _Stdout(sys.stdout.detach(), encoding, line_buffering=lines, write_through=through)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    return "stdout" not in closed


@click.command(cls=AlmaGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--store", metavar="PATH", help="The store, for every command (each takes it too).")
@click.option("--project", metavar="NAME", help="The project, for every command (each takes it too).")
@click.option("--embedder", metavar="NAME", help="The embedder of a new store (each command takes it too).")
@click.version_option(package_name="alma_graph", prog_name="alma-graph")
def cli(store: str | None, project: str | None, embedder: str | None) -> None:
    """A knowledge graph of what agents learned: what worked, what failed, what supports it, what contradicts it.

    The store is --store, else ALMA_GRAPH_STORE, else the one that `alma-graph init` made in this folder; the project
    --project, else ALMA_GRAPH_PROJECT, else "default".
    """


def main() -> None:
    """Entry point of the `alma-graph` script."""
    cli.main(prog_name="alma-graph")
