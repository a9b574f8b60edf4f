"""The memories of a project one after another, in an order that holds while others write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.arguments import optional
from alma_graph.enums import read_enum
from alma_graph.errors import InvalidInputError, MemoryNotFoundError, shown
from alma_graph.index import ProjectIndex
from alma_graph.index.rows import NEVER, STATUSES, micros
from alma_graph.model import Memory, MemoryKind, Status
from alma_graph.reading.reader import Reader
from alma_graph.text import checked

_PAGE = 500
_TIMES = ("recorded_at", "valid_from")
_NUMBERS = ("confidence", "strength", "use_count")
ORDERS = (*_TIMES, *_NUMBERS, "id")
"""What a listing can be ordered by."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order of memories, ties by id.

    Attributes:
        by: one of `ORDERS`.
        falling: the newest, or the largest, first.
    """

    by: str
    falling: bool

    @classmethod
    def read(cls, text: object) -> Order:
        """From "recorded_at", or "recorded_at:asc". Times and numbers fall, ids rise unless it says otherwise.

        Raises:
            InvalidInputError: it is none.
        """
        by, colon, way = text.partition(":") if isinstance(text, str) else ("", "", "")
        if by not in ORDERS or (colon and way not in ("asc", "desc")):
            raise InvalidInputError(
                f"order={shown(text)} is not known; give one of {', '.join(ORDERS)}, with :asc or :desc behind it"
            )
        return cls(by, way == "desc" if colon else by != "id")

    @property
    def ids_fall(self) -> bool:
        """Whether the largest id comes first; where it is by something else, ids only break ties and rise."""
        return self.by == "id" and self.falling

    def places(self, index: ProjectIndex, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """A number for each row, that rises in this order; the same for all where it is by id."""
        if self.by == "id":
            return np.zeros(len(rows), dtype=np.int64)
        values = index.rows.column(self.by)[rows]
        if self.by in _TIMES:
            recorded = index.rows.column("recorded_at")[rows]
            values = np.where(values == NEVER, recorded, values)
        return self._rising(values)

    def place_of(self, memory: Memory) -> Any:
        """As `places`, of a memory as it was read."""
        if self.by == "id":
            return 0
        if self.by in _TIMES:
            time = memory.valid_from if self.by == "valid_from" else None
            return self._rising(np.array([micros(time or memory.created_at)]))[0]
        value = getattr(memory, self.by)
        kind = np.int64 if self.by == "use_count" else np.float32  # as the index keeps them
        return self._rising(np.array([np.nan if value is None else value], dtype=kind))[0]

    def _rising(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if np.issubdtype(values.dtype, np.floating):
            known = np.where(np.isnan(values), -np.inf, values).astype(np.float64)
            return -known if self.falling else known
        whole = values.astype(np.int64)
        return ~whole if self.falling else whole  # not the negative, which the smallest number lacks


def list_memories(
    reader: Reader,
    *,
    kind: object,
    agent: object,
    status: object,
    order: object,
    limit: object,
    after: object,
) -> Iterator[Memory]:
    """See `ALMA.memories`, whose words are checked at the call.

    What there is is settled at the call, too; memories are read as they are asked for, and those that were forgotten
    meanwhile, or have another status by then, are left out.
    """
    wanted_kind = None if kind is None else read_enum(MemoryKind, kind, "kind")
    wanted_status = None if status is None else read_enum(Status, status, "status")
    wanted_agent = optional(checked, agent, "agent")
    last = after if isinstance(after, Memory) else optional(checked, after, "after")
    chosen = Order.read(order)
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise InvalidInputError(f"limit={shown(limit)} is no number of memories; give an integer >= 0 or None")
    with reader.store.lock:
        index = reader.store.index(reader.project_id)
        rows = np.flatnonzero(_mask(index, wanted_kind, wanted_agent, wanted_status))
        places = chosen.places(index, rows)
        ids = [index.ids[row] for row in rows.tolist()]
        if last is not None:
            ids, places = _behind(chosen, ids, places, *_cursor(index, chosen, last))
        if limit is not None and 0 < limit < len(ids):
            near = places <= np.partition(places, limit - 1)[limit - 1]
            ids, places = [ids[at] for at in np.flatnonzero(near).tolist()], places[near]
        ordered = [name for _, name in sorted(zip(places.tolist(), ids, strict=True), reverse=chosen.ids_fall)]
    return _pages(reader, ordered[:limit], wanted_status)


def _mask(
    index: ProjectIndex, kind: MemoryKind | None, agent: str | None, status: Status | None
) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = index.rows.alive.copy()
    if kind is not None:
        mask &= index.kind_mask([kind])
    if status is not None:
        mask &= index.rows.column("status") == STATUSES.index(status)
    if agent is not None:
        code = index.rows.agents.get(agent)
        mask &= (index.rows.column("agent") == code) if code is not None else False
    return mask


def _cursor(index: ProjectIndex, order: Order, after: str | Memory) -> tuple[Any, str]:
    """Place and id of the memory that was the last; it may be gone, or of another status, by now.

    Raises:
        MemoryNotFoundError: only its id is given, and nothing is known of it any more.
    """
    if isinstance(after, Memory):
        return order.place_of(after), after.id
    row = index.rows.last_row(after)
    if row is None:
        raise MemoryNotFoundError(
            f"after={shown(after)} is no memory of this project; if it was forgotten, give the memory itself instead"
        )
    return order.places(index, np.array([row], dtype=np.int64))[0], after


def _behind(
    order: Order, ids: Sequence[str], places: npt.NDArray[Any], last: Any, last_id: str
) -> tuple[list[str], npt.NDArray[Any]]:
    """What comes after a place and an id."""
    later = places > last
    for at in np.flatnonzero(places == last).tolist():
        later[at] = ids[at] < last_id if order.ids_fall else ids[at] > last_id
    return [ids[at] for at in np.flatnonzero(later).tolist()], places[later]


def _pages(reader: Reader, ids: Sequence[str], status: Status | None) -> Iterator[Memory]:
    for start in range(0, len(ids), _PAGE):
        with reader.store.lock:
            reader.store.check_open()
            page = reader.store.memories(reader.project_id, ids[start : start + _PAGE])
        yield from (memory for memory in page if status is None or memory.status is status)
