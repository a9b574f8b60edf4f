"""Where a value stands in a row: paths such as `$.task.name`, and templates such as `{task_id}:{trial}`.

A path starts at `$` (the row), `$item` (an element of the list that the memory is made `each` of), `$previous` (the
element before it), `$index` (its number, from 0) or `$line` (the row's number in its file). Steps are `.name`,
`["any name"]`, `[0]`, `[-1]` and `[*]` (every element, as a list). What is not there is absent (None), as is null.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from alma_graph.errors import ConfigError, InvalidInputError

ROOTS = ("$", "$item", "$previous", "$index", "$line")
_PATH = re.compile(r"(\$[a-z]*)((?:\.[^.\[\]{}\s]+|\[-?\d+\]|\[\*\]|\[\"[^\"]*\"\])*)")
_STEP = re.compile(r"\.([^.\[\]{}\s]+)|\[(-?\d+)\]|(\[\*\])|\[\"([^\"]*)\"\]")
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Every:
    """The step `[*]`."""


EVERY = Every()
Step = str | int | Every


@dataclass(frozen=True, slots=True)
class Scope:
    """What paths of one memory can see. `item`, `previous` and `index` are None outside an `each`."""

    row: Any
    line: int
    item: Any = None
    previous: Any = None
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path."""

    source: str
    root: str
    steps: tuple[Step, ...]

    def read(self, scope: Scope) -> Any:
        """The value there; None where it is absent; a list without absent elements after a `[*]`."""
        value = {
            "$": scope.row,
            "$item": scope.item,
            "$previous": scope.previous,
            "$index": scope.index,
            "$line": scope.line,
        }[self.root]
        return _follow(value, self.steps)


def _follow(value: Any, steps: tuple[Step, ...]) -> Any:
    for at, step in enumerate(steps):
        if isinstance(step, Every):
            if not isinstance(value, list):
                return None
            found = (_follow(element, steps[at + 1 :]) for element in value)
            return [element for element in found if element is not None]
        if isinstance(step, int):
            inside = isinstance(value, list) and -len(value) <= step < len(value)
            value = value[step] if inside else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            return None
    return value


def parse_path(text: str) -> Path:
    """The path that `text` writes.

    Raises:
        ConfigError: it is none.
    """
    match = _PATH.fullmatch(text)
    if match is None or match[1] not in ROOTS:
        raise ConfigError(f"{text!r} is no path; write e.g. $.task.name, $.tools[*].name or one of {', '.join(ROOTS)}")
    steps: list[Step] = []
    for name, number, every, quoted in _STEP.findall(match[2]):
        steps.append(EVERY if every else int(number) if number else name or quoted)
    return Path(text, match[1], tuple(steps))


@dataclass(frozen=True, slots=True)
class Template:
    """Text with paths in braces; absent as a whole where one of them is absent or blank."""

    source: str
    parts: tuple[str | Path, ...]

    def read(self, scope: Scope) -> str | None:
        """The filled text.

        Raises:
            InvalidInputError: a path leads to a list or an object, which has no plain text.
        """
        words = []
        for part in self.parts:
            if isinstance(part, str):
                words.append(part)
                continue
            value = part.read(scope)
            if value is None or value == "":
                return None
            if isinstance(value, (list, dict)):
                raise InvalidInputError(f"{part.source} in {self.source!r} is {type(value).__name__}, not one value")
            words.append(plain_text(value))
        return "".join(words)


def plain_text(value: Any) -> str:
    """A JSON scalar as text: true and false as in JSON, whole floats without their `.0`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def parse_template(text: str) -> Template:
    """The template that `text` writes: `{a.b}` is `$.a.b`, `{$item.a}` as it stands, doubled braces are braces.

    Raises:
        ConfigError: a brace has no partner, or there is no path between two.
    """
    parts: list[str | Path] = []
    last = 0
    for match in _FIELD.finditer(text):
        parts.append(text[last : match.start()])
        last = match.end()
        if match[0] in ("{{", "}}"):
            parts.append(match[0][0])
        elif match[1] is None:
            raise ConfigError(
                f"{text!r} has a {match[0]!r} without its partner; write {match[0] * 2} for the sign itself"
            )
        else:
            inner = match[1].strip()
            parts.append(parse_path(inner if inner.startswith("$") else f"$.{inner}"))
    parts.append(text[last:])
    return Template(text, tuple(part for part in parts if part != ""))
