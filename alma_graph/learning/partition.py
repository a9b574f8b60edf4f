"""Groups of wordings as a pure function of their set, whatever the order and batching in which they came.

Edges join two wordings whose score reaches the threshold. They are taken from the strongest down (ties by text); a
union is refused when any pair across is blocked, or when the mean score across is below .8 of the threshold: so groups
do not chain. Components of the edge graph are independent, and only those that changed are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from alma_graph.learning.similarity import BLOCKED, THRESHOLD

LEAST_MEAN = round(0.8 * THRESHOLD, 6)
"""Mean score across two groups below which they do not join."""

Edge = tuple[float, str, str]
"""Score and the two wordings, the smaller text first."""


def constrained_groups(
    wordings: Iterable[str], edges: Iterable[Edge], score: Callable[[str, str], float]
) -> list[tuple[str, ...]]:
    """The groups of the wordings, each sorted, the list sorted.

    Args:
        wordings: all of them, each once.
        edges: pairs at or above the threshold.
        score: score of any pair, asked only for pairs of groups that are about to join.
    """
    root = {wording: wording for wording in wordings}
    members = {wording: [wording] for wording in root}
    refused: set[tuple[str, int, str, int]] = set()
    for _, left, right in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
        first, second = sorted((root[left], root[right]))
        if first == second:
            continue
        attempt = (first, len(members[first]), second, len(members[second]))
        if attempt in refused:
            continue
        if not _may_join(members[first], members[second], score):
            refused.add(attempt)
            continue
        joined = members.pop(second)
        members[first] += joined
        for wording in joined:
            root[wording] = first
    return sorted(tuple(sorted(group)) for group in members.values())


def _may_join(first: list[str], second: list[str], score: Callable[[str, str], float]) -> bool:
    across: list[float] = []
    for left in first:
        for right in second:
            value = score(left, right)
            if value <= BLOCKED:
                return False
            across.append(value)
    return round(math.fsum(across) / len(across), 6) >= LEAST_MEAN


class Groups:
    """Incremental groups of one level: edges come and go, only changed components are grouped again."""

    def __init__(self, score: Callable[[str, str], float]) -> None:
        self._score = score
        self._edges: dict[str, dict[str, float]] = {}
        self._group: dict[str, tuple[str, ...]] = {}
        self._dirty: set[str] = set()
        self._left: set[tuple[str, ...]] = set()

    def add(self, wording: str, edges: Iterable[tuple[str, float]]) -> None:
        """A new wording and its edges to those already here."""
        self._edges.setdefault(wording, {})
        self._dirty.add(wording)
        for other, value in edges:
            self._edges[wording][other] = self._edges[other][wording] = value

    def remove(self, wording: str) -> None:
        """Takes a wording out; what it joined is grouped again."""
        for other in self._edges.pop(wording, {}):
            del self._edges[other][wording]
            self._dirty.add(other)
        self._dirty.discard(wording)
        group = self._group.pop(wording, ())
        if group:
            self._left.add(group)
        self._dirty.update(other for other in group if other in self._edges)

    def settle(self) -> set[tuple[str, ...]]:
        """Groups the changed components again. Returns the groups that are no more since the last call."""
        done: set[str] = set()
        for start in sorted(self._dirty):
            if start in done:
                continue
            component = self._component(start)
            done |= component
            edges = [
                (value, wording, other)
                for wording in component
                for other, value in self._edges[wording].items()
                if wording < other
            ]
            for group in constrained_groups(sorted(component), edges, self._score):
                for wording in group:
                    former = self._group.get(wording)
                    if former is not None and former != group:
                        self._left.add(former)
                    self._group[wording] = group
        self._dirty.clear()
        left, self._left = self._left, set()
        return left

    def group(self, wording: str) -> tuple[str, ...]:
        """The group of a wording, sorted, as last settled."""
        return self._group[wording]

    def groups(self) -> list[tuple[str, ...]]:
        """All groups, sorted, as last settled."""
        return sorted(set(self._group.values()))

    def _component(self, start: str) -> set[str]:
        seen = {start}
        waiting = [start]
        while waiting:
            for other in self._edges[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen
