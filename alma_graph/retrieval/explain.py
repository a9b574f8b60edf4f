"""How a hit was found: the walk through the graph, and the trace of a whole retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.dense import top_rows
from alma_graph.index.names import name_key
from alma_graph.index.project import ProjectIndex
from alma_graph.retrieval.arms import Request
from alma_graph.retrieval.filters import Mask
from alma_graph.retrieval.fusion import WEIGHTS, Fused
from alma_graph.retrieval.slice import PathNode

_LONGEST_PATH = 4
_TOP = 5


def path_of(index: ProjectIndex, fused: Fused, request: Request, row: int) -> tuple[PathNode, ...]:
    """The winning walk to a row: from the memory a spread began at, or from the query over an entity it names."""
    graph = fused.parts.get("graph")
    if fused.spread is not None and graph is not None and graph[row] > 0:
        nodes: list[PathNode] = [PathNode("", "Memory", index.ids[row])]
        at, seen = row, {row}
        for _ in range(_LONGEST_PATH):
            step = fused.spread.step(at)
            if step is None or step.source in seen:
                break
            nodes[-1] = PathNode(step.edge, nodes[-1].label, nodes[-1].name)
            if step.entity is not None:
                nodes.append(PathNode(step.edge, "Entity", index.entities.name(step.entity)))
            nodes.append(PathNode("", "Memory", index.ids[step.source]))
            at = step.source
            seen.add(at)
        return tuple(reversed(nodes))
    named = fused.raw.get("entity")
    if named is not None and named[row] > 0:
        codes = set(index.entities.mentioned_by(row)[0].tolist())
        entity = next((entity for entity in request.query.entities if entity.code in codes), None)
        if entity is not None:
            return (
                PathNode("", "Query", name_key(request.query.text)[:80]),
                PathNode("NAMES", "Entity", index.entities.name(entity.code)),
                PathNode("MENTIONS", "Memory", index.ids[row]),
            )
    return ()


def trace_of(
    index: ProjectIndex,
    request: Request,
    fused: Fused,
    *,
    allowed: Mask,
    eligible: npt.NDArray[np.int64],
    hits: Sequence[int],
) -> dict[str, Any]:
    """What each arm found and how many memories every step left.

    Returns:
        `counts`: memories in the project, after the filters, and above the floor. `query`: what was read from it.
        `arms`: name -> weight, its best memories with raw values, and the rank and raw value of every hit in it.
    """
    arms: dict[str, Any] = {}
    for name, values in fused.raw.items():
        best = [row for row in top_rows(values, allowed, _TOP, index.rows.ties).tolist() if values[row] > 0]
        sorted_values = np.sort(values[allowed])
        arms[name] = {
            "weight": WEIGHTS.get(name, 1.0),
            "best": [{"id": index.ids[row], "value": float(values[row])} for row in best],
            "hits": {
                index.ids[row]: {
                    "value": float(values[row]),
                    "rank": 1 + len(sorted_values) - int(np.searchsorted(sorted_values, values[row], side="right")),
                }
                for row in hits
            },
        }
    query = request.query
    return {
        "counts": {"memories": len(index), "allowed": int(allowed.sum()), "above_floor": len(eligible)},
        "query": {
            "terms": [concept.terms[0] for concept in query.concepts],
            "entities": [index.entities.name(entity.code) for entity in query.entities],
            "speakers": sorted(index.rows.speakers.names[code] for code in query.speakers),
            "date": None if query.date is None else [query.date.year, query.date.month, query.date.day],
            "role": query.role,
            "negated": query.negated,
        },
        "arms": arms,
    }
