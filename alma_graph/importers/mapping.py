"""A field map: which memories a row becomes. See `docs/ingest.md` for the format, and `maps/` for the packaged ones."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any

from alma_graph.errors import ConfigError, InvalidInputError
from alma_graph.importers.paths import Path, Scope, parse_path
from alma_graph.importers.values import Value, is_blank, parse_value
from alma_graph.model import KINDS, Memory, MemoryKind, enum_of

TESTS = ("is", "is_not", "in", "present")
_MAP_KEYS = ("name", "description", "source", "memories")
_MEMORY_KEYS = ("kind", "each", "when", "fields", "fields_from")
_EVENTS = frozenset({MemoryKind.OUTCOME, MemoryKind.OBSERVATION})


@dataclass(frozen=True, slots=True)
class Draft:
    """One memory that a row became, ready for the store, and the line of the row."""

    line: int
    memory: Memory


@dataclass(frozen=True, slots=True)
class Condition:
    """One test on a value of the row."""

    value: Value
    test: str
    against: Any

    def holds(self, scope: Scope) -> bool:
        """Whether the row passes."""
        found = self.value.read(scope)
        match self.test:
            case "is":
                return _same(found, self.against)
            case "is_not":
                return not _same(found, self.against)
            case "in":
                return any(_same(found, choice) for choice in self.against)
            case _:
                return is_blank(found) is not self.against


def _same(found: Any, wanted: Any) -> bool:
    return isinstance(found, bool) is isinstance(wanted, bool) and bool(found == wanted)


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """How one kind of memory is made of a row, or of each element of a list in it."""

    kind: Value
    each: Path | None
    when: tuple[Condition, ...]
    fields: dict[str, Value]
    fields_from: Path | None

    def scopes(self, row: Any, line: int) -> Iterator[Scope]:
        """One scope for each memory that the row becomes."""
        whole = Scope(row, line)
        if self.each is None:
            scopes = iter((whole,))
        else:
            elements = self.each.read(whole)
            if elements is None:
                return
            if not isinstance(elements, list):
                raise InvalidInputError(f"{self.each.source} is no list")
            scopes = (
                Scope(row, line, element, elements[at - 1] if at else None, at) for at, element in enumerate(elements)
            )
        for scope in scopes:
            if all(condition.holds(scope) for condition in self.when):
                yield scope

    def given(self, scope: Scope, overrides: Mapping[str, Any]) -> tuple[MemoryKind, dict[str, Any]]:
        """Kind and fields of the memory; absent fields are left out."""
        try:
            kind = enum_of(MemoryKind)(self.kind.read(scope))
        except ValueError as error:
            raise InvalidInputError(f"kind: {error}") from None
        fields: dict[str, Any] = {}
        if self.fields_from is not None:
            whole = self.fields_from.read(scope)
            if not isinstance(whole, dict):
                raise InvalidInputError(f"{self.fields_from.source} is no object with fields")
            fields.update((name, value) for name, value in whole.items() if name != "kind")
        for name, value in self.fields.items():
            found = value.read(scope)
            if not is_blank(found):
                fields[name] = found
        fields.update(overrides)
        return kind, fields


class FieldMap:
    """A checked map. `drafts` turns a row into memories; it keeps count of equal rows, so use one object a file."""

    def __init__(self, name: str, description: str, source: str, memories: tuple[MemoryMap, ...]) -> None:
        self.name = name
        self.description = description
        self.source = source
        self.memories = memories
        self._copies: dict[bytes, int] = {}

    def drafts(self, row: Any, line: int, overrides: Mapping[str, Any] | None = None) -> list[Draft]:
        """The memories of one row; `overrides` are fields that every memory gets whatever the map says.

        An outcome or observation without an id gets one from its content (and, for the n-th equal one of the file, its
        number), so that the same file read twice makes the same memories. Of the other kinds the store itself knows an
        equal text of one owner.

        Raises:
            InvalidInputError: the row does not fit the map, or a memory's fields do not fit its kind.
        """
        drafts = []
        for spec in self.memories:
            for scope in spec.scopes(row, line):
                kind, fields = spec.given(scope, overrides or {})
                drafts.append(Draft(line, self._memory(kind, fields)))
        return drafts

    def _memory(self, kind: MemoryKind, fields: dict[str, Any]) -> Memory:
        if "occurred_at" in fields:
            fields["valid_from"] = fields.pop("occurred_at")
        if is_blank(fields.get("id")):
            fields.pop("id", None)
            if kind in _EVENTS or "created_at" in fields:
                fields["id"] = self._content_id(kind, fields)
        elif isinstance(fields["id"], int):
            fields["id"] = str(fields["id"])
        if kind is MemoryKind.OUTCOME and is_blank(fields.get("agent")):
            raise InvalidInputError("the outcome has no agent; name a field for it in the map, or set agent=NAME")
        return KINDS[kind](**fields)

    def _content_id(self, kind: MemoryKind, fields: dict[str, Any]) -> str:
        content = json.dumps([kind, fields], sort_keys=True, ensure_ascii=False, default=_iso)
        digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12)
        copies = self._copies[digest.digest()] = self._copies.get(digest.digest(), 0) + 1
        return f"{self.name}:{digest.hexdigest()}" + (f":{copies}" if copies > 1 else "")


def _iso(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else repr(value)


def packaged_maps() -> dict[str, FieldMap]:
    """Fresh copies of the maps that come with the package, by name."""
    return {name: parse_map(text, name) for name, text in _packaged_texts()}


@cache
def _packaged_texts() -> tuple[tuple[str, str], ...]:
    folder = files("alma_graph.importers") / "maps"
    found = [(entry.name, entry) for entry in folder.iterdir() if entry.name.endswith(".yaml")]
    return tuple((name.removesuffix(".yaml"), entry.read_text(encoding="utf-8")) for name, entry in sorted(found))


def load_map(name_or_path: str | os.PathLike[str]) -> FieldMap:
    """A packaged map by name, or one of your own by the path of its YAML file.

    Raises:
        ConfigError: there is none, or it is not well formed; the message says where.
    """
    name = os.fspath(name_or_path)
    packaged = dict(_packaged_texts())
    if name in packaged:
        return parse_map(packaged[name], name)
    path = FilePath(name)
    if not path.is_file():
        raise ConfigError(f"no map {name!r}: packaged are {', '.join(packaged)}; or give the path of a YAML file")
    try:
        return parse_map(path.read_text(encoding="utf-8"), path.stem)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the map {name!r} cannot be read: {error}") from None


def parse_map(text: str, name: str) -> FieldMap:
    """The map that a YAML text writes; `name` is its name where the text gives none.

    Raises:
        ConfigError: it is not well formed; the message says where.
    """
    import yaml

    try:
        spec = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"map {name}: no YAML: {error}") from None
    if not isinstance(spec, dict):
        raise ConfigError(f"map {name}: must be a mapping with {', '.join(_MAP_KEYS)}")
    _only(spec, _MAP_KEYS, f"map {name}")
    memories = spec.get("memories")
    if not isinstance(memories, list) or not memories:
        raise ConfigError(f"map {name}: memories must be a list with at least one entry")
    parsed = tuple(_parse_memory(entry, f"map {name}, memories[{at}]") for at, entry in enumerate(memories))
    described = " ".join(str(spec.get("description", "")).split())
    return FieldMap(str(spec.get("name", name)), described, " ".join(str(spec.get("source", "")).split()), parsed)


def _only(spec: dict[Any, Any], keys: tuple[str, ...], where: str) -> None:
    unknown = [str(key) for key in spec if key not in keys]
    if unknown:
        raise ConfigError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(keys)}")


def _parse_memory(spec: Any, where: str) -> MemoryMap:
    if not isinstance(spec, dict) or "kind" not in spec:
        raise ConfigError(f"{where}: must be a mapping with a kind")
    _only(spec, _MEMORY_KEYS, where)
    if "fields" not in spec and "fields_from" not in spec:
        raise ConfigError(f"{where}: needs fields, fields_from or both")
    fields = spec.get("fields", {})
    if not isinstance(fields, dict):
        raise ConfigError(f"{where}: fields must be a mapping")
    conditions = spec.get("when", [])
    if not isinstance(conditions, list):
        raise ConfigError(f"{where}: when must be a list of conditions, all of which must hold")
    return MemoryMap(
        kind=parse_value(spec["kind"], f"{where}.kind"),
        each=_parse_optional_path(spec.get("each"), f"{where}.each"),
        when=tuple(_parse_condition(entry, f"{where}.when[{at}]") for at, entry in enumerate(conditions)),
        fields={str(name): parse_value(value, f"{where}.fields.{name}") for name, value in fields.items()},
        fields_from=_parse_optional_path(spec.get("fields_from"), f"{where}.fields_from"),
    )


def _parse_optional_path(spec: Any, where: str) -> Path | None:
    if spec is None:
        return None
    try:
        return parse_path(str(spec))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _parse_condition(spec: Any, where: str) -> Condition:
    tests = [test for test in TESTS if isinstance(spec, dict) and test in spec]
    if len(tests) != 1:
        raise ConfigError(f"{where}: needs exactly one of {', '.join(TESTS)} beside its value")
    test = tests[0]
    against = spec[test]
    if test == "in" and not isinstance(against, list):
        raise ConfigError(f"{where}: in must be a list")
    if test == "present" and not isinstance(against, bool):
        raise ConfigError(f"{where}: present must be true or false")
    value = parse_value({key: inner for key, inner in spec.items() if key != test}, where)
    return Condition(value, test, against)
