"""The plain properties of all memories of a project, as columns."""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.backends.protocol import Row
from alma_graph.clock import to_micros
from alma_graph.index.columns import Codes, Column, tie
from alma_graph.index.speech import question_share
from alma_graph.model import MemoryKind, Result, Status

NEVER = np.iinfo(np.int64).min
"""Stands for an absent time."""

KINDS = tuple(MemoryKind)
STATUSES = tuple(Status)
_KIND_CODE = {str(kind): code for code, kind in enumerate(KINDS)}
_STATUS_CODE = {str(status): code for code, status in enumerate(STATUSES)}

UNKNOWN, FAILED, SUCCEEDED = -1, 0, 1
"""How an outcome ended; UNKNOWN for other kinds."""


class MemoryRows:
    """One row a memory. Row numbers stay; the row of a removed memory is marked, never used again."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.ids: list[str] = []
        self.hashes: list[str] = []
        self.agents = Codes()
        self.users = Codes()
        self.categories = Codes()
        self.sessions = Codes()
        self.speakers = Codes()
        self._row_of_key: dict[str, int] = {}
        self._row_of_id: dict[str, int] = {}
        self._rows_of_hash: dict[str, list[int]] = {}
        self._columns = {
            **{name: Column(np.int8) for name in ("kind", "status", "result")},
            **{name: Column(np.int32) for name in ("agent", "user", "category", "session", "speaker", "position")},
            **{name: Column(np.int64) for name in ("valid_from", "valid_to", "recorded_at")},
            **{name: Column(np.float32) for name in ("confidence", "strength", "questions")},
            **{name: Column(np.int32) for name in ("successes", "occurrences", "use_count")},
            "alive": Column(np.bool_),
            "tie": Column(np.uint64),
        }
        self._plain: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
            ("status", "status", lambda status: _STATUS_CODE[str(status or Status.ACTIVE)]),
            ("agent", "agent", self.agents.add),
            ("user", "user_id", self.users.add),
            ("category", "category", self.categories.add),
            ("valid_from", "valid_from", micros),
            ("valid_to", "valid_to", micros),
            ("recorded_at", "recorded_at", micros),
            ("confidence", "confidence", lambda value: np.nan if value is None else value),
            ("strength", "strength", lambda value: 1.0 if value is None else value),
            ("use_count", "use_count", lambda value: value or 0),
        )

    def __len__(self) -> int:
        return len(self.keys)

    def column(self, name: str) -> npt.NDArray[Any]:
        """One property of all rows. `confidence` is NaN where absent, times are `NEVER`, codes -1."""
        return self._columns[name].view

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Which rows were not removed."""
        return self._columns["alive"].view

    @property
    def ties(self) -> npt.NDArray[np.uint64]:
        """The order of rows that are equal otherwise; it follows from their ids."""
        return self._columns["tie"].view

    @property
    def count(self) -> int:
        """Memories that are there."""
        return len(self._row_of_key)

    def row(self, memory_id: str) -> int | None:
        """The row of a memory id."""
        return self._row_of_id.get(memory_id)

    def last_row(self, memory_id: str) -> int | None:
        """The row of a memory id, or the row that a removed one had; None for an id that was never seen."""
        row = self.row(memory_id)
        if row is not None:
            return row
        return next((at for at in range(len(self.ids) - 1, -1, -1) if self.ids[at] == memory_id), None)

    def row_of_key(self, key: str) -> int | None:
        """The row of a node key."""
        return self._row_of_key.get(key)

    def by_hash(self, content_hash: str) -> Sequence[int]:
        """Rows with this content hash, ascending."""
        return self._rows_of_hash.get(content_hash, ())

    def extend(self, rows: Sequence[Row]) -> list[int]:
        """Adds Memory nodes; their row numbers."""
        first = len(self.keys)
        for offset, row in enumerate(rows):
            self.keys.append(row["key"])
            self.ids.append(row["id"])
            self.hashes.append(row.get("content_hash") or "")
            self._row_of_key[row["key"]] = self._row_of_id[row["id"]] = first + offset
            self._note_hash(first + offset)
        for name, source, read in self._plain:
            self._extend(name, [read(row.get(source)) for row in rows])
        self._extend("kind", [_KIND_CODE[str(row["kind"])] for row in rows])
        self._extend("questions", [question_share(row["text"]) for row in rows])
        own = [self._own_values(row.get("data")) for row in rows]
        for name in own[0] if own else ():
            self._extend(name, [values[name] for values in own])
        self._extend("position", [-1] * len(rows))
        self._extend("alive", [True] * len(rows))
        self._extend("tie", [tie(row["id"]) for row in rows])
        return list(range(first, len(self.keys)))

    def update(self, row: int, values: Row) -> None:
        """Sets the columns that follow from some properties of the node; the others stay."""
        if "content_hash" in values:
            self._forget_hash(row)
            self.hashes[row] = values["content_hash"] or ""
            self._note_hash(row)
        for name, value in self._values(values).items():
            self._columns[name].view[row] = value

    def set(self, row: int, name: str, value: Any) -> None:
        """Sets one property."""
        self._columns[name].view[row] = value

    def remove(self, row: int) -> None:
        """Marks a row as gone."""
        self._forget_hash(row)
        del self._row_of_key[self.keys[row]]
        del self._row_of_id[self.ids[row]]
        self._columns["alive"].view[row] = False

    def _values(self, row: Row) -> dict[str, Any]:
        """Values of the columns that follow from the properties given."""
        values: dict[str, Any] = {name: read(row[source]) for name, source, read in self._plain if source in row}
        if "kind" in row:
            values["kind"] = _KIND_CODE[str(row["kind"])]
        if "data" in row:
            values.update(self._own_values(row["data"]))
        if "text" in row:
            values["questions"] = question_share(row["text"])
        return values

    def _own_values(self, data: str | None) -> dict[str, Any]:
        """Values of the columns that follow from the fields of the kind."""
        try:
            fields = json.loads(data or "{}")
        except ValueError:  # one damaged memory must not keep the others from being found; the doctor names it
            fields = {}
        result = fields.get("outcome")
        return {
            "result": UNKNOWN if result is None else SUCCEEDED if result == Result.SUCCESS else FAILED,
            "session": self.sessions.add(fields.get("session_id")),
            "speaker": self.speakers.add(fields.get("speaker")),
            "successes": fields.get("success_count") or 0,
            "occurrences": fields.get("occurrence_count") or 0,
        }

    def _extend(self, name: str, values: Sequence[Any]) -> None:
        column = self._columns[name]
        column.extend(np.array(values, dtype=column.view.dtype))

    def _note_hash(self, row: int) -> None:
        known = self._rows_of_hash.setdefault(self.hashes[row], [])
        if not known or known[-1] < row:  # nearly always: many rows may have one text, and none is sorted in
            known.append(row)
        elif row not in known:
            insort(known, row)

    def _forget_hash(self, row: int) -> None:
        known = self._rows_of_hash.get(self.hashes[row], [])
        if row in known:
            known.remove(row)
        if not known:
            self._rows_of_hash.pop(self.hashes[row], None)


def micros(value: datetime | None) -> int:
    """A time as microseconds since 1970, `NEVER` for None."""
    return int(NEVER) if value is None else to_micros(value)
