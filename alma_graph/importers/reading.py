"""Rows of a file, one at a time, with their line numbers: JSON Lines, a JSON array, or CSV with a header."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from alma_graph.errors import InvalidInputError

FORMATS = ("jsonl", "json", "csv")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row, or why it could not be read. `line` counts from 1 (in a JSON array: the element)."""

    line: int
    value: Any = None
    problem: str | None = None


def guess_format(path: Path) -> str:
    """The format by the file's ending: .json and .csv are what they say, anything else is JSON Lines."""
    ending = path.suffix.lower().removeprefix(".")
    return ending if ending in ("json", "csv") else "jsonl"


def read_rows(stream: IO[bytes], form: str = "jsonl") -> Iterator[SourceRow]:
    """Rows of a binary stream in UTF-8, in order; a bad line comes as a row with a `problem`, and reading goes on.

    Raises:
        InvalidInputError: the format is unknown, or the file as a whole is none of it.
    """
    if form not in FORMATS:
        raise InvalidInputError(f"format={form!r} is not known; give one of {', '.join(FORMATS)}")
    if form == "jsonl":
        return _json_lines(stream)
    return _json_array(stream) if form == "json" else _csv(stream)


def _decode(raw: bytes) -> str:
    try:
        return raw.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"no UTF-8 at byte {error.start}") from None


def _json_lines(stream: Iterable[bytes]) -> Iterator[SourceRow]:
    for line, raw in enumerate(stream, 1):
        try:
            text = _decode(raw).strip()
            if text:
                yield SourceRow(line, json.loads(text))
        except (InvalidInputError, json.JSONDecodeError, RecursionError) as error:
            yield SourceRow(line, problem=f"no JSON: {error}")


def _json_array(stream: IO[bytes]) -> Iterator[SourceRow]:
    try:
        whole = json.loads(_decode(stream.read()))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInputError(f"the file is no JSON: {error}; JSON Lines need --format jsonl") from None
    if not isinstance(whole, list):
        raise InvalidInputError(f"the file is a JSON {type(whole).__name__}, not an array of rows")
    for line, value in enumerate(whole, 1):
        yield SourceRow(line, value)


def _csv(stream: IO[bytes]) -> Iterator[SourceRow]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    reader = csv.DictReader(text, strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                yield SourceRow(reader.line_num, problem=f"has another number of cells than the header ({len(row)})")
            else:
                yield SourceRow(reader.line_num, dict(row))
    except (csv.Error, UnicodeDecodeError) as error:
        yield SourceRow(reader.line_num + 1, problem=f"no CSV from here on: {error}")
    finally:
        text.detach()
