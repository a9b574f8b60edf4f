"""Which memories a query may see at all: always applied before anything is ranked or cut."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from alma_graph.backends.candidates import Wanted
from alma_graph.clock import to_micros
from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import KINDS, NEVER, STATUSES
from alma_graph.model import MemoryKind, Status

Mask = npt.NDArray[np.bool_]
_FEW = 16


@dataclass(frozen=True, slots=True)
class Filters:
    """What a caller may and wants to see.

    Attributes:
        kinds: memory kinds; None is all six.
        readable: agents whose memories may be read; None reads the whole project. Memories without an agent may always
            be read.
        user_id: memories about other users are left out, and this user's preferences are let in, whoever learned them.
            Where it is None and `readable` is given, no user's preferences are read.
        as_of: the valid time asked for: `valid_from <= as_of < valid_to`, an absent end being open. Superseded memories
            that held then come back; what was retracted does not.
        since, until: bounds, both inclusive, of the time a memory is from (`valid_from`, else `recorded_at`).
        include_superseded: also memories that no longer hold (superseded, archived, past their `valid_to`). Retracted
            ones stay out.
    """

    kinds: Collection[str] | None = None
    readable: Collection[str] | None = None
    user_id: str | None = None
    as_of: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_superseded: bool = False

    def mask(self, index: ProjectIndex, now: int) -> Mask:
        """Which rows pass, at a time in microseconds."""
        allowed = index.rows.alive & self._status(index, now) & self._readable(index)
        if self.kinds is not None:
            allowed &= index.kind_mask(self.kinds)
        if self.since is not None or self.until is not None:
            columns = index.rows
            moment = columns.column("valid_from")
            moment = np.where(moment == NEVER, columns.column("recorded_at"), moment)
            if self.since is not None:
                allowed &= moment >= to_micros(self.since)
            if self.until is not None:
                allowed &= (moment <= to_micros(self.until)) & (moment != NEVER)
        return allowed

    def wanted(self, now: datetime) -> Wanted:
        """The same for an engine that finds candidates itself."""
        statuses = {Status.ACTIVE}
        if self.include_superseded:
            statuses = set(Status) - {Status.RETRACTED}
        elif self.as_of is not None:
            statuses.add(Status.SUPERSEDED)
        return Wanted(
            kinds=self.kinds,
            statuses=statuses,
            agents=self.readable,
            user_id=self.user_id,
            begun_by=self.as_of,
            over_after=self.as_of if self.as_of is not None or self.include_superseded else now,
            since=self.since,
            until=self.until,
        )

    def _status(self, index: ProjectIndex, now: int) -> Mask:
        status = index.rows.column("status")
        start, end = index.rows.column("valid_from"), index.rows.column("valid_to")
        retracted = status == STATUSES.index(Status.RETRACTED)
        if self.as_of is not None:
            moment = to_micros(self.as_of)
            held: Mask = (start <= moment) & ((end == NEVER) | (end > moment))  # NEVER lies before every time
            wanted: Mask = np.isin(status, [STATUSES.index(Status.ACTIVE), STATUSES.index(Status.SUPERSEDED)])
            return held & (~retracted if self.include_superseded else wanted)
        if self.include_superseded:
            return np.asarray(~retracted)
        current: Mask = (status == STATUSES.index(Status.ACTIVE)) & ((end == NEVER) | (end > now))
        return current

    def _readable(self, index: ProjectIndex) -> Mask:
        rows = index.rows
        user = rows.column("user")
        preference = rows.column("kind") == KINDS.index(MemoryKind.USER_PREFERENCE)
        if self.readable is None:
            readable = np.ones(len(rows), dtype=np.bool_)
        else:
            codes = [code for name in self.readable if (code := rows.agents.get(name)) is not None]
            agents = rows.column("agent")
            if len(codes) <= _FEW:  # a comparison each is quicker than a search
                readable = agents == -1
                for code in codes:
                    readable |= agents == code
            else:
                readable = np.isin(agents, [*codes, -1])
            if self.user_id is None:
                readable &= ~preference
        if self.user_id is not None:
            code = rows.users.get(self.user_id)
            mine = user == code if code is not None else np.zeros(len(rows), dtype=np.bool_)
            readable = (readable & ((user == -1) | mine)) | (preference & mine)
        return readable
