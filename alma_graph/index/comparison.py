"""Whether two indexes of a project say the same, whatever way they came about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.project import ProjectIndex

_NUMBERS = (
    *("kind", "status", "result", "position", "valid_from", "valid_to", "recorded_at"),
    *("confidence", "strength", "successes", "occurrences", "use_count"),
)
_TOLERANCE = 1e-5

Rows = npt.NDArray[np.int64]


def differences(kept: ProjectIndex, fresh: ProjectIndex) -> list[str]:
    """What differs, one line each; empty where both answer every question alike.

    Args:
        kept: kept current by every unit of work.
        fresh: read from the graph just now.
    """
    ids = [_ids(index) for index in (kept, fresh)]
    if ids[0].keys() != ids[1].keys():
        lost, gone = sorted(ids[1].keys() - ids[0].keys()), sorted(ids[0].keys() - ids[1].keys())
        return [*(f"{name!r} is missing" for name in lost), *(f"{name!r} is gone from the graph" for name in gone)]
    names = sorted(ids[0])
    rows = [np.array([own[name] for name in names], dtype=np.int64) for own in ids]
    return [
        f"{what} of {names[int(np.flatnonzero(wrong)[0])]!r} and {int(wrong.sum()) - 1} others"
        for what, wrong in _compared(kept, rows[0], fresh, rows[1])
        if wrong.any()
    ]


def _ids(index: ProjectIndex) -> dict[str, int]:
    return {index.ids[row]: int(row) for row in np.flatnonzero(index.rows.alive)}


def _compared(kept: ProjectIndex, old: Rows, fresh: ProjectIndex, new: Rows) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """Each part with the memories in which it differs."""
    found: list[tuple[str, npt.NDArray[np.bool_]]] = []
    for name in _NUMBERS:
        left, right = kept.rows.column(name)[old], fresh.rows.column(name)[new]
        same = left == right
        if left.dtype.kind == "f":
            same |= np.isnan(left) & np.isnan(right)
        found.append((name, ~same))
    for name, read in _NAMES.items():
        pairs = zip(old.tolist(), new.tolist(), strict=True)
        found.append((name, np.array([read(kept, a) != read(fresh, b) for a, b in pairs], dtype=np.bool_)))
    vectors = np.abs(kept.dense.vectors[old] - fresh.dense.vectors[new]).max(axis=1, initial=0.0) > _TOLERANCE
    found.append(("vector", vectors | (kept.dense.present[old] != fresh.dense.present[new])))
    found.append(("words", kept.lexical.lengths[old] != fresh.lexical.lengths[new]))
    return found


def _mentions(index: ProjectIndex, row: int) -> list[str]:
    codes, weights = index.entities.mentioned_by(row)
    return sorted({index.entities.key(int(code)) for code in codes[weights > 0]})


def _edges(index: ProjectIndex, row: int) -> list[tuple[Any, ...]]:
    return sorted(
        (edge.type, index.ids[edge.target], edge.weight, str(edge.disposition), edge.retired, str(edge.id))
        for edge in index.edges.outgoing(row)
    )


def _neighbours(index: ProjectIndex, row: int) -> list[str]:
    return [index.ids[turn] for turn in index.context.window(row, 1)]


_NAMES: dict[str, Callable[[ProjectIndex, int], Any]] = {
    "text hash": lambda index, row: index.rows.hashes[row],
    "owner": lambda index, row: index.owner(row),
    "session": lambda index, row: index.rows.sessions.name(int(index.rows.column("session")[row])),
    "speaker": lambda index, row: index.rows.speakers.name(int(index.rows.column("speaker")[row])),
    "entities": _mentions,
    "edges": _edges,
    "neighbouring turns": _neighbours,
}
"""What is compared memory by memory."""
