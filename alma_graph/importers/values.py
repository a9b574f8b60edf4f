"""How a field gets its value: a constant, a path, a template, or a mapping with one source and some steps.

    agent: support-bot                      a constant
    task: $.instruction                     a path
    id: "run:{task_id}:{trial}"             a template
    outcome: {path: $.reward, values: {1.0: success, 0.0: failure}}

Sources (exactly one): `path`, `text` (a template), `value` (a constant), `first` (of several, the first that is there),
`parts` (several, absent ones left out; with `join` one text), `object` (a mapping of fields).
Steps, always applied in this order: `keep` / `drop` (elements of a list), `unique`, `sort`, `pick` (first or last),
`values` (a table; a value that is not in it is an error unless `others` is keep or absent), `join`, `time` (a format of
strptime, or iso, epoch, epoch_ms; a time without a zone is UTC), `default` (where nothing is there).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from alma_graph.clock import to_utc
from alma_graph.errors import ConfigError, InvalidInputError
from alma_graph.importers.paths import Scope, parse_path, parse_template, plain_text

SOURCES = ("path", "text", "value", "first", "parts", "object")
STEPS = ("keep", "drop", "unique", "sort", "pick", "values", "others", "join", "time", "default")

Transform = Callable[[Any], Any]


class Value(Protocol):
    """Anything that reads a value from a scope; absent is None."""

    def read(self, scope: Scope) -> Any:
        """The value; raises InvalidInputError where the row does not fit."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value for every row."""

    value: Any

    def read(self, scope: Scope) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class FirstOf:
    """The first of several values that is there."""

    choices: tuple[Value, ...]

    def read(self, scope: Scope) -> Any:
        return next((value for choice in self.choices if not is_blank(value := choice.read(scope))), None)


@dataclass(frozen=True, slots=True)
class Parts:
    """Several values as a list, absent ones left out."""

    parts: tuple[Value, ...]

    def read(self, scope: Scope) -> Any:
        return [value for part in self.parts if not is_blank(value := part.read(scope))]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """An object with the fields that are there."""

    fields: dict[str, Value]

    def read(self, scope: Scope) -> Any:
        return {name: found for name, value in self.fields.items() if (found := value.read(scope)) is not None}


@dataclass(frozen=True, slots=True)
class Transformed:
    """A source with its steps."""

    source: Value
    steps: tuple[Transform, ...]
    default: Any

    def read(self, scope: Scope) -> Any:
        value = self.source.read(scope)
        if not is_blank(value):
            for step in self.steps:
                value = step(value)
                if is_blank(value):
                    break
        return self.default if is_blank(value) else value


def is_blank(value: Any) -> bool:
    """Whether nothing is there: null, blank text, an empty list or object."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})


def parse_value(spec: Any, where: str) -> Value:
    """The value that a map's entry writes; `where` names the entry in errors.

    Raises:
        ConfigError: it has no source, two, or an unknown key.
    """
    if isinstance(spec, str):
        return _parse_text(spec, where)
    if not isinstance(spec, dict):
        return Constant(spec)
    sources = [key for key in SOURCES if key in spec]
    unknown = [str(key) for key in spec if key not in SOURCES and key not in STEPS]
    if len(sources) != 1 or unknown:
        wrong = f"unknown {', '.join(unknown)}" if unknown else f"{len(sources)} sources"
        raise ConfigError(f"{where}: {wrong}; give one of {', '.join(SOURCES)} and steps among {', '.join(STEPS)}")
    source = _parse_source(sources[0], spec[sources[0]], where)
    steps = _parse_steps(spec, where)
    return Transformed(source, tuple(steps), spec.get("default"))


def _parse_text(text: str, where: str) -> Value:
    try:
        if text.startswith("$"):
            return parse_path(text)
        return parse_template(text) if "{" in text or "}" in text else Constant(text)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _parse_source(kind: str, spec: Any, where: str) -> Value:
    if kind == "value":
        return Constant(spec)
    if kind in ("path", "text"):
        if not isinstance(spec, str):
            raise ConfigError(f"{where}: {kind} {spec!r} must be text")
        try:
            return parse_path(spec) if kind == "path" else parse_template(spec)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
    if kind == "object":
        if not isinstance(spec, dict):
            raise ConfigError(f"{where}: object must be a mapping of fields")
        return ObjectOf({str(name): parse_value(inner, f"{where}.{name}") for name, inner in spec.items()})
    if not isinstance(spec, list) or not spec:
        raise ConfigError(f"{where}: {kind} must be a list of values")
    inner_values = tuple(parse_value(inner, f"{where}.{kind}[{at}]") for at, inner in enumerate(spec))
    return FirstOf(inner_values) if kind == "first" else Parts(inner_values)


def _parse_steps(spec: dict[str, Any], where: str) -> list[Transform]:
    steps: list[Transform] = []
    for key, wanted in (("keep", True), ("drop", False)):
        if key in spec:
            steps.append(_filter(_listed(spec[key], f"{where}.{key}"), wanted))
    if spec.get("unique"):
        steps.append(_unique)
    if spec.get("sort"):
        steps.append(_sort)
    if "pick" in spec:
        if spec["pick"] not in ("first", "last"):
            raise ConfigError(f"{where}: pick {spec['pick']!r} must be first or last")
        steps.append(_pick_first if spec["pick"] == "first" else _pick_last)
    if "values" in spec:
        steps.append(_table(spec["values"], spec.get("others", "error"), where))
    elif "others" in spec:
        raise ConfigError(f"{where}: others has no meaning without values")
    if "join" in spec:
        steps.append(_join(str(spec["join"])))
    if "time" in spec:
        steps.append(_time(str(spec["time"])))
    return steps


def _listed(spec: Any, where: str) -> list[Any]:
    if not isinstance(spec, list):
        raise ConfigError(f"{where} must be a list")
    return spec


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _filter(listed: list[Any], wanted: bool) -> Transform:
    return lambda value: [element for element in _as_list(value) if (element in listed) is wanted]


def _unique(value: Any) -> Any:
    seen: list[Any] = []
    for element in _as_list(value):
        if element not in seen:
            seen.append(element)
    return seen


def _sort(value: Any) -> Any:
    return sorted(_as_list(value), key=plain_text)


def _pick_first(value: Any) -> Any:
    return next(iter(_as_list(value)), None)


def _pick_last(value: Any) -> Any:
    return next(reversed(_as_list(value)), None)


def _key(value: Any) -> tuple[bool, Any]:
    return (isinstance(value, bool), value)  # so that true is not the number 1


def _table(spec: Any, others: str, where: str) -> Transform:
    if not isinstance(spec, dict) or others not in ("error", "keep", "absent"):
        raise ConfigError(f"{where}: values must be a mapping, and others one of error, keep, absent")
    table = {_key(key): value for key, value in spec.items()}

    def look_up(value: Any) -> Any:
        if isinstance(value, (list, dict)):
            raise InvalidInputError(f"{where}: {value!r} is no single value")
        if _key(value) in table:
            return table[_key(value)]
        if others == "error":
            known = ", ".join(repr(key) for key in spec)
            raise InvalidInputError(f"{where}: the value {value!r} is not in the map's table ({known})")
        return value if others == "keep" else None

    def translate(value: Any) -> Any:
        if isinstance(value, list):
            return [found for element in value if (found := look_up(element)) is not None]
        return look_up(value)

    return translate


def _join(separator: str) -> Transform:
    return lambda value: separator.join(plain_text(element) for element in _as_list(value))


def _time(form: str) -> Transform:
    def read(value: Any) -> datetime:
        if form == "iso":
            return to_utc(str(value))
        if form in ("epoch", "epoch_ms"):
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise InvalidInputError(f"the time {value!r} is no number of seconds ({form})") from None
            return to_utc(number / 1000 if form == "epoch_ms" else number)
        try:
            moment = datetime.strptime(str(value), form)
        except ValueError:
            raise InvalidInputError(f"the time {value!r} is not written as {form!r}") from None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)

    return read
