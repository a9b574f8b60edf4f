"""Reads the catalogue's files: a header of comments that declares a query, then its Cypher.

    // name: thin-evidence
    // One or more lines that say what the rows mean.
    // parameters: max_supports: int = 3, agent: text
    // returns: strategy, supports

A parameter without a default must be given. Types: int (never negative: counts and limits), float, bool, text, time.
The format follows the idea of aiosql: queries live in files, and the comment is the documentation.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from alma_graph.clock import to_utc
from alma_graph.errors import ConfigError, InvalidInputError, shown
from alma_graph.text import checked

PARAMETER_TYPES = ("int", "float", "bool", "text", "time")
RESERVED_PARAMETER = "project_id"
"""Always bound by the store; a query may use it and none may declare it."""

_PARAMETER = re.compile(r"(?P<name>[a-z][a-z0-9_]*)\s*:\s*(?P<type>[a-z]+)(?:\s*=\s*(?P<default>.+))?")
_USED_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_COMMENT = re.compile(r"//[^\n]*")
_LITERAL = re.compile(r"'[^']*'")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """One declared parameter of a named query; `default` is meaningless where it is `required`."""

    name: str
    type: str
    required: bool
    default: Any = None

    def check(self, value: object, query: str) -> Any:
        """The value as the engine takes it; text is read as the declared type, as a command line gives it.

        Raises:
            InvalidInputError: the value is not of the declared type.
        """
        reader = _READERS[self.type]
        try:
            return reader(value)
        except (InvalidInputError, TypeError, ValueError, OverflowError):
            raise InvalidInputError(
                f"query {query!r}: parameter {self.name}={shown(value)} is not {_DESCRIPTIONS[self.type]}"
            ) from None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + ("" if self.required else f" = {json.dumps(self.default)}")


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """One query of the catalogue; `returns` are its columns in order."""

    name: str
    description: str
    statement: str
    parameters: tuple[QueryParameter, ...]
    returns: tuple[str, ...]

    def bind(self, given: dict[str, Any]) -> dict[str, Any]:
        """All declared parameters with their values, defaults filled in; the project is bound by the store.

        Raises:
            InvalidInputError: a parameter is unknown, missing, or not of its type.
        """
        declared = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in declared:
                known = ", ".join(str(parameter) for parameter in self.parameters) or "none"
                raise InvalidInputError(f"query {self.name!r} has no parameter {name!r}; it takes: {known}")
        bound: dict[str, Any] = {}
        for name, parameter in declared.items():
            if given.get(name) is not None:
                bound[name] = parameter.check(given[name], self.name)
            elif parameter.required:
                raise InvalidInputError(f"query {self.name!r} needs {name} ({parameter.type}); give {name}=...")
            else:
                bound[name] = parameter.default
        return bound

    @property
    def signature(self) -> str:
        """The call as a reader writes it: `thin-evidence(max_supports: int = 3)`."""
        return f"{self.name}({', '.join(str(parameter) for parameter in self.parameters)})"


def _whole(value: object) -> int:
    if isinstance(value, str):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError
    return value


def _number(value: object) -> float:
    if isinstance(value, str):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _boolean(value: object) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False, "yes": True, "no": False}.get(value.strip().lower())
    if not isinstance(value, bool):
        raise ValueError
    return value


def _words(value: object) -> str:
    return checked(value, "parameter", blank=True)


def _moment(value: object) -> datetime:
    if isinstance(value, (str, datetime)):
        return to_utc(value)
    raise ValueError


_READERS = {"int": _whole, "float": _number, "bool": _boolean, "text": _words, "time": _moment}
_DESCRIPTIONS = {
    "int": "a whole number of at least 0",
    "float": "a finite number",
    "bool": "true or false",
    "text": "text",
    "time": "a time (write e.g. 2026-05-01T12:00:00Z)",
}


def _split_parameters(line: str) -> list[str]:
    """Parts between commas that stand outside quotes."""
    parts, start, quoted = [], 0, False
    for at, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            parts.append(line[start:at])
            start = at + 1
    parts.append(line[start:])
    return [part.strip() for part in parts if part.strip()]


def _parse_parameter(part: str, source: str) -> QueryParameter:
    match = _PARAMETER.fullmatch(part)
    if match is None or match["type"] not in PARAMETER_TYPES:
        raise ConfigError(
            f"{source}: parameter {part!r} does not read as 'name: type = default'; types: {', '.join(PARAMETER_TYPES)}"
        )
    if match["name"] == RESERVED_PARAMETER:
        raise ConfigError(f"{source}: {RESERVED_PARAMETER} is always bound and is not declared")
    if match["default"] is None:
        return QueryParameter(match["name"], match["type"], required=True)
    parameter = QueryParameter(match["name"], match["type"], required=False)
    try:
        default = parameter.check(json.loads(match["default"]), source)
    except ValueError as error:
        raise ConfigError(f"{source}: the default of {part!r} does not fit: {error}") from None
    return QueryParameter(parameter.name, parameter.type, required=False, default=default)


def parse_query(text: str, source: str) -> NamedQuery:
    """The query of one file; `source` is its name, for errors.

    Raises:
        ConfigError: the header is incomplete, or it and the statement disagree about the parameters.
    """
    fields: dict[str, str] = {}
    description: list[str] = []
    lines = text.splitlines()
    body_at = next((at for at, line in enumerate(lines) if not line.startswith("//")), len(lines))
    for line in lines[:body_at]:
        comment = line.removeprefix("//").strip()
        key, colon, value = comment.partition(":")
        if colon and key in ("name", "parameters", "returns"):
            fields[key] = value.strip()
        elif comment:
            description.append(comment)
    for key in ("name", "parameters", "returns"):
        if key not in fields:
            raise ConfigError(f"{source}: the header has no '// {key}:' line")
    if not description:
        raise ConfigError(f"{source}: the header does not say what the query is for")
    name = fields["name"]
    if _NAME.fullmatch(name) is None:
        raise ConfigError(f"{source}: name {name!r} is not lower-case words joined by '-'")
    parameters = tuple(_parse_parameter(part, source) for part in _split_parameters(fields["parameters"]))
    returns = tuple(part.strip() for part in fields["returns"].split(",") if part.strip())
    statement = "\n".join(lines[body_at:]).strip()
    used = set(_USED_PARAMETER.findall(_COMMENT.sub("", _LITERAL.sub("''", statement))))
    declared = {parameter.name for parameter in parameters}
    if used - {RESERVED_PARAMETER} != declared:
        odd = ", ".join(sorted((used - {RESERVED_PARAMETER}) ^ declared))
        raise ConfigError(f"{source}: header and statement disagree about the parameters {odd}")
    if RESERVED_PARAMETER not in used:
        raise ConfigError(f"{source}: the statement does not filter by ${RESERVED_PARAMETER}")
    return NamedQuery(name, " ".join(description), statement, parameters, returns)


@cache
def _catalogue() -> tuple[NamedQuery, ...]:
    queries = []
    for entry in files("alma_graph.queries").iterdir():
        if entry.name.endswith(".cypher"):
            query = parse_query(entry.read_text(encoding="utf-8"), entry.name)
            if entry.name != f"{query.name}.cypher":
                raise ConfigError(f"{entry.name}: the file of query {query.name!r} must be {query.name}.cypher")
            queries.append(query)
    return tuple(sorted(queries, key=lambda query: query.name))


def load_catalogue() -> dict[str, NamedQuery]:
    """The packaged queries by name, in the order of their names."""
    return {query.name: query for query in _catalogue()}
