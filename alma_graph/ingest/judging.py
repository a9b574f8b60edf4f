"""New memories against the ones they may concern: SUPPORTS and CONTRADICTS edges with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alma_graph.backends.protocol import EdgeRow, UnitOfWork
from alma_graph.beliefs import Claims, Judgement, limit_for, select
from alma_graph.codec import compact_json, row_to_memory
from alma_graph.ids import formed_id
from alma_graph.index import ProjectIndex
from alma_graph.ingest.reading_text import JUDGED
from alma_graph.model import Disposition, Memory, MemoryKind
from alma_graph.store import Store
from alma_graph.store.sides import JudgedSide, judged_side

NEAR = 0.35
"""Cosine from which a memory that shares no entity is still worth judging."""

TURN_CANDIDATES = 10
"""The same for a turn of an episode: there are many, each says several things, and few of them are to be believed."""

MAX_SUPPORTS = 5
MAX_CONTRADICTIONS = 10


@dataclass(frozen=True, slots=True)
class Subject:
    """A memory that is about to be written, with what was read out of its text."""

    memory: Memory
    key: str
    vector: NDArray[np.float32]
    claims: Claims | None
    entities: tuple[str, ...]


class Judge:
    """Judges the memories of one unit of work, against the store and against each other."""

    def __init__(self, store: Store, index: ProjectIndex, work: UnitOfWork) -> None:
        self._store = store
        self._index = index
        self._work = work
        self._earlier: list[Subject] = []

    def judge(self, subject: Subject) -> None:
        """Adds the edges between this memory and those that it supports or contradicts."""
        if subject.claims is None or subject.memory.kind not in JUDGED:
            return
        mine = judged_side(subject.memory, subject.key, subject.claims)
        found: list[tuple[float, str, EdgeRow]] = []
        for other in self._candidates(subject):
            newer, older = (mine, other) if mine.moments >= other.moments else (other, mine)
            judgement = self._store.detector.judge(newer.side, older.side)
            if judgement is not None:
                found.append((-judgement.score, other.key, _edge(subject.memory, newer, older, judgement)))
        found.sort(key=lambda item: item[:2])
        edges = [edge for _, _, edge in found]
        self._work.edges.extend([edge for edge in edges if edge.type == "CONTRADICTS"][:MAX_CONTRADICTIONS])
        self._work.edges.extend([edge for edge in edges if edge.type == "SUPPORTS"][:MAX_SUPPORTS])
        self._earlier.append(subject)
        self._store.keep_side(mine)

    def _candidates(self, subject: Subject) -> list[JudgedSide]:
        """The memories worth judging, stored ones and those of this unit, in a fixed order."""
        limit = limit_for(subject.memory.text)
        if subject.memory.kind is MemoryKind.OBSERVATION:
            limit = min(limit, TURN_CANDIDATES)
        near, shared = self._stored(subject, limit)
        mine = set(subject.entities)
        for other in self._earlier:
            cosine, common = float(np.dot(subject.vector, other.vector)), len(mine.intersection(other.entities))
            if common or cosine >= NEAR:
                near[other.key], shared[other.key] = cosine, common
        keys = sorted(near)
        chosen = select(keys, [near[key] for key in keys], [shared[key] for key in keys], limit)
        return self._sides(chosen)

    def _stored(self, subject: Subject, limit: int) -> tuple[dict[str, float], dict[str, int]]:
        """Cosine and number of shared entities of the most promising stored memories, by key."""
        index = self._index
        mask = index.active() & index.kind_mask(JUDGED)
        rows, cosines = index.nearest(subject.vector, limit, mask=mask)
        near = {int(row): float(cosine) for row, cosine in zip(rows, cosines, strict=True) if cosine >= NEAR}
        sharing, counts = index.sharing(subject.entities)
        shared = {int(row): int(count) for row, count in zip(sharing, counts, strict=True) if mask[row]}
        missing = np.array(sorted(shared.keys() - near.keys()), dtype=np.int64)
        if len(missing):
            near.update(zip(missing.tolist(), index.cosines(subject.vector, missing).tolist(), strict=True))
        keys = index.keys
        return (
            {keys[row]: cosine for row, cosine in near.items()},
            {keys[row]: shared.get(row, 0) for row in near},
        )

    def _sides(self, keys: Sequence[str]) -> list[JudgedSide]:
        """The memories as the detector sees them; those whose text claims nothing are left out."""
        known = {key: side for key in keys if (side := self._store.kept_side(key)) is not None}
        missing = [key for key in keys if key not in known]
        if missing:
            for row in self._store.memory_rows(missing, claims=True):
                if row["claims"]:
                    side = judged_side(row_to_memory(row), row["key"], Claims.from_json(row["claims"]))
                    known[side.key] = side
                    self._store.keep_side(side)
        return [known[key] for key in keys if key in known]


def contradiction_id(project_id: str, newer_id: str, older_id: str) -> str:
    """The id of the one CONTRADICTS edge between two memories."""
    return formed_id(project_id, "contradiction", newer_id, older_id)


def _edge(memory: Memory, newer: JudgedSide, older: JudgedSide, judgement: Judgement) -> EdgeRow:
    ids = {"newer": newer.memory_id, "older": older.memory_id}
    spans = [
        {"memory_id": ids[span.side], "start": span.start, "end": span.end, "text": span.text}
        for span in judgement.evidence
    ]
    properties = {"origin": "detector", "evidence": compact_json(spans), "recorded_at": memory.created_at}
    if judgement.relation == "supports":
        return EdgeRow("SUPPORTS", newer.key, older.key, {**properties, "weight": judgement.score})
    return EdgeRow(
        "CONTRADICTS",
        newer.key,
        older.key,
        {
            **properties,
            "id": contradiction_id(memory.project_id, newer.memory_id, older.memory_id),
            "signal": judgement.signal,
            "disposition": str(Disposition.OPEN),
            "score": judgement.score,
        },
    )
