"""Groups of wordings as a pure function of their set, whatever the order and batching in which they came.

Edges join two wordings whose score reaches the threshold. They are taken from the strongest down (ties by text), and
two groups join when the rule of the level allows it, so that groups do not chain:

- strategies (pool): no pair across is blocked, and the mean score across is at least .8 of the threshold;
- tasks (kin): every pair across is an edge (complete linkage). It needs no further score, which counts where thousands
  of tasks are alike, and is the more precise (dev: P .94 R .89 against P .92 R .94).

Components of the edge graph are independent, and only those that changed are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from alma_graph.learning.similarity import BLOCKED, THRESHOLD

LEAST_MEAN = round(0.8 * THRESHOLD, 6)
"""Mean score across two groups of strategies below which they do not join."""

Edge = tuple[float, str, str]
"""Minus the score, and the two wordings, the smaller text first: in the order in which edges are taken."""
_FEW = 200
"""Wordings of a component below which its own edges are sorted, instead of choosing among all sorted ones."""
MayJoin = Callable[[Sequence[str], Sequence[str]], bool]
"""Whether two groups may become one."""


def joins_by_mean(score: Callable[[str, str], float]) -> MayJoin:
    """The rule for strategies; `score` is asked only for pairs of groups that are about to join."""

    def may_join(first: Sequence[str], second: Sequence[str]) -> bool:
        across: list[float] = []
        for left in first:
            for right in second:
                value = score(left, right)
                if value <= BLOCKED:
                    return False
                across.append(value)
        return round(math.fsum(across) / len(across), 6) >= LEAST_MEAN

    return may_join


def constrained_groups(wordings: Iterable[str], edges: Iterable[Edge], may_join: MayJoin) -> list[tuple[str, ...]]:
    """The groups of the wordings (each given once), each sorted, the list sorted. `edges` come sorted."""
    root = {wording: wording for wording in wordings}
    members = {wording: [wording] for wording in root}
    refused: set[tuple[str, int, str, int]] = set()
    for _, left, right in edges:
        first, second = root[left], root[right]
        if first == second:
            continue
        if second < first:
            first, second = second, first
        attempt = (first, len(members[first]), second, len(members[second]))
        if attempt in refused:
            continue
        if not may_join(members[first], members[second]):
            refused.add(attempt)
            continue
        joined = members.pop(second)
        members[first] += joined
        for wording in joined:
            root[wording] = first
    return sorted(tuple(sorted(group)) for group in members.values())


def complete_groups(
    wordings: Iterable[str], edges: Iterable[Edge], neighbours: Mapping[str, Mapping[str, float]]
) -> list[tuple[str, ...]]:
    """As `constrained_groups` by the rule for tasks: two groups join when every pair across is an edge.

    So many edges lie across as there are pairs: they are counted by group and added up when two join, which makes the
    question one look-up.
    """
    root = {wording: wording for wording in wordings}
    members = {wording: [wording] for wording in root}
    size = dict.fromkeys(root, 1)
    across = {wording: dict.fromkeys(neighbours[wording], 1) for wording in root}
    for _, left, right in edges:
        first, second = root[left], root[right]
        if first == second or across[first][second] != size[first] * size[second]:
            continue
        if second < first:
            first, second = second, first
        joined = members.pop(second)
        members[first] += joined
        size[first] += size.pop(second)
        for wording in joined:
            root[wording] = first
        mine = across[first]
        del mine[second]
        for other, count in across.pop(second).items():
            if other != first:
                mine[other] = across[other][first] = mine.get(other, 0) + count
                del across[other][second]
    return sorted(tuple(sorted(group)) for group in members.values())


class Groups:
    """Incremental groups of one level: edges come and go, only changed components are grouped again."""

    def __init__(self, score: Callable[[str, str], float] | None) -> None:
        """score: of any pair, for the rule of strategies; None takes the rule of tasks."""
        self._edges: dict[str, dict[str, float]] = {}
        self._group: dict[str, tuple[str, ...]] = {}
        self._sorted: list[Edge] = []
        self._dirty: set[str] = set()
        self._left: set[tuple[str, ...]] = set()
        self._may_join = None if score is None else joins_by_mean(score)

    def add(self, wording: str, edges: Iterable[tuple[str, float]]) -> None:
        """A new wording and its edges to those already here."""
        self._edges.setdefault(wording, {})
        self._dirty.add(wording)
        for other, value in edges:
            self._edges[wording][other] = self._edges[other][wording] = value
            self._sorted.append((-value, wording, other) if wording < other else (-value, other, wording))

    def remove(self, wording: str) -> None:
        """Takes a wording out; what it joined is grouped again."""
        for other in self._edges.pop(wording, {}):
            del self._edges[other][wording]
            self._dirty.add(other)
        self._sorted = [edge for edge in self._sorted if wording not in edge]
        self._dirty.discard(wording)
        group = self._group.pop(wording, ())
        if group:
            self._left.add(group)
        self._dirty.update(other for other in group if other in self._edges)

    def settle(self) -> set[tuple[str, ...]]:
        """Groups the changed components again. Returns the groups that are no more since the last call."""
        self._sorted.sort()
        done: set[str] = set()
        for start in sorted(self._dirty):
            if start in done:
                continue
            component = self._component(start)
            done |= component
            if len(component) < _FEW:
                edges = sorted(
                    (-value, wording, other)
                    for wording in component
                    for other, value in self._edges[wording].items()
                    if wording < other
                )
            else:
                edges = [edge for edge in self._sorted if edge[1] in component]
            if self._may_join is None:
                found = complete_groups(component, edges, self._edges)
            else:
                found = constrained_groups(component, edges, self._may_join)
            for group in found:
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
