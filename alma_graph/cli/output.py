"""What commands print: plain values for JSON, tables and lines for people. Nothing here fails on a narrow console."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from alma_graph.model import Memory
    from alma_graph.results import Table
    from alma_graph.retrieval.slice import PathNode

PIPED_WIDTH = 120
"""Columns of a table where the output is no terminal."""

_CONTROLS = (
    {code: "?" for code in range(32) if chr(code) not in "\n\t"} | {127: "?"} | dict.fromkeys(range(128, 160), "?")
)


def console(*, err: bool = False) -> Console:
    """A console on stdout or stderr as it is now; ASCII boxes where the encoding is not UTF-8."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def clean(text: object) -> str:
    """Text without control characters, which could steer a terminal."""
    return str(text).translate(_CONTROLS)


def say(line: object = "") -> None:
    """One line on stdout, never wrapped."""
    print(clean(line))


def note(line: object) -> None:
    """One line on stderr."""
    print(clean(line), file=sys.stderr, flush=True)


def note_unknown_project(project: str, known: Sequence[str]) -> None:
    """Says on stderr that the store holds nothing of a project, and what projects it has; nothing where it has none."""
    if known and project not in known:
        some = ", ".join(known[:10]) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
        note(f"warning: the store has no project {project!r}; its projects are {some}")


def plain(value: Any) -> Any:
    """A value as JSON takes it: memories with their text, times as ISO 8601, tuples as lists."""
    if hasattr(value, "own_fields"):
        return memory_record(value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    item = getattr(value, "item", None)  # a numpy scalar's
    return plain(item()) if callable(item) else str(value)


def memory_record(memory: Memory) -> dict[str, Any]:
    """A memory as a JSON object: its text, and every field that is not absent."""
    record: dict[str, Any] = {"id": memory.id, "kind": str(memory.kind), "text": memory.text}
    fields = memory.model_dump(exclude_none=True)
    fields.pop("content", None)  # an observation's text, which is there already
    return record | {name: plain(value) for name, value in fields.items() if name not in record}


def print_json(value: Any) -> None:
    """JSON on stdout; escaped to ASCII where the encoding is not UTF-8, so that nothing is lost."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    print(json.dumps(plain(value), ensure_ascii=not encoding.startswith("utf"), indent=2))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """A table on stdout; long cells wrap."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    out = console()
    shape = box.ASCII if out.options.ascii_only else box.SIMPLE
    table = RichTable(title=title, title_justify="left", box=shape, show_lines=False, pad_edge=False)
    for name in columns:
        whole = name.endswith("_id") and out.width >= PIPED_WIDTH  # an id that is folded cannot be copied
        table.add_column(Text(clean(name)), overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    out.print(table)


def print_cypher_table(table: Table) -> None:
    """A query's rows on stdout, and how many there are."""
    if table.rows:
        print_table(table.columns, table.rows)
    say(f"{len(table)} row{'' if len(table) == 1 else 's'}")


def cell(value: Any) -> str:
    """A value as a person reads it in a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, (dict, list, tuple)):
        return clean(json.dumps(plain(value), ensure_ascii=False))
    return clean(value)


def day(value: datetime | None) -> str:
    """The date of a time; empty where there is none."""
    return "" if value is None else value.strftime("%Y-%m-%d")


def shorten(text: str, width: int) -> str:
    """One line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."


def one_line(memory: Memory) -> str:
    """A memory's text in one line, its lines joined by `|`."""
    return " | ".join(" ".join(line.split()) for line in memory.text.splitlines() if line.strip())


def path_line(path: Sequence[PathNode], get: Callable[[str], Memory]) -> str:
    """The walk that led to a hit, in one line; memories on the way are told by the first words of their text."""
    steps = []
    for node in path:
        name = repr(clean(shorten(one_line(get(node.name)), 48) if node.label == "Memory" else node.name))
        steps.append(f"-{node.edge}- {name}" if node.edge else f"{node.label.lower()} {name}")
    return " ".join(steps)


def memory_line(memory: Memory, width: int = 160) -> str:
    """A memory in one line: kind, text, who, when, id."""
    about = [str(memory.kind).replace("_", " ")]
    if memory.agent:
        about.append(memory.agent)
    if memory.valid_from is not None:
        about.append(day(memory.valid_from))
    if memory.status != "active":
        about.append(str(memory.status))
    return f"{shorten(one_line(memory), width)}  ({', '.join(about)}; {memory.id})"


class Progress:
    """A line on stderr that tells how far long work is: in place on a terminal, else every few seconds."""

    EVERY_SECONDS = 2.0

    def __init__(self, what: str) -> None:
        self._what = what
        self._in_place = sys.stderr.isatty()
        self._last = 0.0
        self._started = time.monotonic()

    def tell(self, text: str) -> None:
        """Shows the state of the work."""
        now = time.monotonic()
        line = f"{self._what}: {text}"
        if self._in_place:
            print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)
        elif now - self._last >= self.EVERY_SECONDS:
            self._last = now
            print(line, file=sys.stderr, flush=True)

    def done(self, text: str) -> None:
        """Shows the end of the work and the time it took."""
        seconds = time.monotonic() - self._started
        start = "\r" if self._in_place else ""
        print(f"{start}{self._what}: {text} in {seconds:.1f} s", file=sys.stderr, flush=True)
