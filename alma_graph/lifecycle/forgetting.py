"""Removing memories so that no trace of them is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.arguments import flag, listed, moment, number, optional
from alma_graph.backends.protocol import chunked
from alma_graph.backends.schema import node_key
from alma_graph.clock import Clock, to_micros
from alma_graph.enums import read_enum
from alma_graph.errors import InvalidInputError, MemoryNotFoundError, shown
from alma_graph.index import ProjectIndex
from alma_graph.ingest.pruning import prune
from alma_graph.ingest.unit import Unit
from alma_graph.ingest.writer import UNIT_SIZE, Writer
from alma_graph.model import Memory, MemoryKind
from alma_graph.results import ForgetReport
from alma_graph.text import checked


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which memories to forget; all that are given must hold. Memories of every status count.

    Attributes:
        ids: only these.
        kind, agent: only of this kind or agent.
        older_than: only what was recorded before.
        below_confidence: only what has a confidence, and one below this.
    """

    ids: tuple[str, ...] | None = None
    kind: MemoryKind | None = None
    agent: str | None = None
    older_than: datetime | None = None
    below_confidence: float | None = None


def _read(memory_id: object, given: Mapping[str, Any], clock: Clock) -> Criteria:
    """The criteria of a call: one memory, or what the keywords say.

    Raises:
        InvalidInputError: nothing is named, one memory and criteria, or a value that is none.
    """
    wanted = {name: value for name, value in given.items() if value is not None}
    if memory_id is not None:
        if wanted:
            raise InvalidInputError(
                f"memory_id={shown(memory_id)} and {next(iter(wanted))}= together; give one of them"
            )
        return Criteria(ids=(checked(memory_id, "memory_id"),))
    if not wanted:
        raise InvalidInputError("nothing says what to forget; give memory_id=, or a criterion such as agent=")
    if "older_than" in wanted and "older_than_days" in wanted:
        raise InvalidInputError("older_than and older_than_days say the same; give one of them")
    before = moment(wanted.get("older_than"), "older_than")
    ago = optional(partial(_days_ago, clock()), wanted.get("older_than_days"), "older_than_days")
    ids = optional(_ids, wanted.get("ids"), "ids")
    return Criteria(
        ids=ids,
        kind=None if "kind" not in wanted else read_enum(MemoryKind, wanted["kind"], "kind"),
        agent=optional(checked, wanted.get("agent"), "agent"),
        older_than=before if ago is None else ago,
        below_confidence=optional(partial(number, above=0.0), wanted.get("below_confidence"), "below_confidence"),
    )


def _ids(value: object, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(checked(item, f"{name}[{at}]") for at, item in enumerate(listed(value, name, of="ids"))))


def _days_ago(now: datetime, value: object, name: str) -> datetime:
    days = number(value, name, above=0, or_equal=True)
    try:
        return now - timedelta(days=days)
    except OverflowError:
        raise InvalidInputError(f"{name}={shown(value)} is before the calendar begins; give fewer days") from None


def forget(writer: Writer, memory_id: str | None = None, *, dry_run: bool = False, **criteria: Any) -> ForgetReport:
    """Removes memories with their edges, chunks, the entities, spellings and sessions that only they had, and what
    lessons counted of them, some hundreds to a transaction. A lesson may be forgotten too; its outcomes stay, and the
    next one like them forms it again. See `ALMA.forget`.

    Raises:
        MemoryNotFoundError: the project has no memory with one of the ids; nothing was removed.
    """
    store, project_id = writer.store, writer.project_id
    wanted = _read(memory_id, criteria, store.clock)
    if not flag(dry_run, "dry_run"):
        store.check_writable()
    with store.lock:
        index = store.index(project_id)
        for name in wanted.ids or ():
            if index.row(name) is None:
                raise MemoryNotFoundError(f"no memory has the id {shown(name)} in project {project_id!r}")
        rows = np.flatnonzero(_mask(index, wanted)).tolist()
        lessons = index.kind_mask((MemoryKind.HEURISTIC, MemoryKind.ANTI_PATTERN))
        # outcomes before lessons, which may go with them
        chosen = [index.ids[row] for row in sorted(rows, key=lambda row: (bool(lessons[row]), index.ids[row]))]
        kinds = {index.ids[row]: bool(lessons[row]) for row in rows}
    if not dry_run:
        for group in (False, True):
            for part in chunked([name for name in chosen if kinds[name] is group], UNIT_SIZE):
                _remove(writer, part)
    return ForgetReport(tuple(sorted(chosen)), dry_run)


def _mask(index: ProjectIndex, criteria: Criteria) -> npt.NDArray[np.bool_]:
    rows = index.rows
    mask: npt.NDArray[np.bool_] = rows.alive.copy()
    if criteria.ids is not None:
        named = [row for name in criteria.ids if (row := index.row(name)) is not None]
        wanted = np.zeros(len(mask), dtype=np.bool_)
        wanted[named] = True
        mask &= wanted
    if criteria.kind is not None:
        mask &= index.kind_mask([criteria.kind])
    if criteria.agent is not None:
        code = rows.agents.get(criteria.agent)
        mask &= (rows.column("agent") == code) if code is not None else False
    if criteria.older_than is not None:
        mask &= rows.column("recorded_at") < to_micros(criteria.older_than)
    if criteria.below_confidence is not None:
        mask &= rows.column("confidence") < criteria.below_confidence  # NaN, which is none, is below nothing
    return mask


def _remove(writer: Writer, memory_ids: Sequence[str]) -> None:
    """Removes these in one transaction; those that are gone already are passed over."""
    store, project_id = writer.store, writer.project_id

    def remove() -> list[Memory]:
        found = store.memories(project_id, memory_ids)
        if not found:
            return []
        unit = Unit(store, project_id)
        unit.work.node_deletes.extend(("Memory", node_key(project_id, memory.id)) for memory in found)
        learned = [memory.id for memory in found if memory.kind is MemoryKind.OUTCOME]
        with writer.lessons.forgetting(learned, unit):
            work = unit.finish()
            prune(work, store.backend, unit.index)
            store.commit(project_id, work)
        return found

    store.forget_memories(project_id, store.transact(remove))
