"""One context of one agent: which strategies were tried there, how they ended, and what that teaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from alma_graph.learning.confidence import (
    Counts,
    anti_pattern_level,
    backed_off,
    better_alternative,
    wilson_interval,
)
from alma_graph.learning.lessons import (
    AntiPatternLesson,
    HeuristicLesson,
    LearnedOutcome,
    Lesson,
    Standing,
    explain_failures,
    lesson_id,
)
from alma_graph.learning.likeness import Likeness
from alma_graph.learning.readings import Readings
from alma_graph.learning.wording import normalise_wording

MAX_SIMILAR = 10
"""Kin wordings that a lesson names."""
_DECIMALS = 3


@dataclass(slots=True)
class _Tried:
    """Outcomes of one wording, their successes, and how it was written (surface -> number of outcomes)."""

    outcomes: dict[str, LearnedOutcome] = field(default_factory=dict)
    successes: int = 0
    surfaces: dict[str, int] = field(default_factory=dict)
    read_as: str = ""
    version: int = 0

    @property
    def surface(self) -> str:
        return min(self.surfaces)


@dataclass(frozen=True, slots=True)
class ContextName:
    """Whose context it is and what it is called.

    Attributes:
        project_id: tenant.
        agent: whose outcomes.
        key: what the ids are made of; unique within project and agent.
        shown: how it is shown.
        category: category of its lessons.
    """

    project_id: str
    agent: str
    key: str
    shown: str
    category: str


class Context:
    """The strategies of one context. Counts live on wordings, by outcome id, so no merge, split or repeat loses one."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings
        self._tried: dict[str, _Tried] = {}
        self._unread: set[str] = set()
        self._version = 0
        self._told: dict[tuple[str, ...], tuple[object, list[Lesson]]] = {}
        self._likeness = Likeness("pool")

    def record(self, outcome: LearnedOutcome) -> None:
        """Counts one outcome; one whose id is already here changes nothing."""
        wording = normalise_wording(outcome.strategy)
        tried = self._tried.setdefault(wording, _Tried())
        if outcome.id not in tried.outcomes:
            tried.outcomes[outcome.id] = outcome
            tried.successes += outcome.success
            tried.version = self._next_version()
            if outcome.strategy not in tried.surfaces:
                self._unread.add(wording)
            tried.surfaces[outcome.strategy] = tried.surfaces.get(outcome.strategy, 0) + 1

    def forget(self, outcome: LearnedOutcome) -> None:
        """Takes one outcome out, and its wording when none is left of it; one that is not here changes nothing."""
        wording = normalise_wording(outcome.strategy)
        tried = self._tried.get(wording)
        if tried is None or outcome.id not in tried.outcomes:
            return
        del tried.outcomes[outcome.id]
        tried.successes -= outcome.success
        tried.version = self._next_version()
        tried.surfaces[outcome.strategy] -= 1
        if not tried.surfaces[outcome.strategy]:
            del tried.surfaces[outcome.strategy]
            self._unread.add(wording)
        if not tried.outcomes:
            del self._tried[wording]
            if wording in self._likeness:
                self._likeness.remove(wording)

    @property
    def counts(self) -> Counts:
        """All outcomes here."""
        return self._sum(self._tried)

    def _sum(self, wordings: Iterable[str]) -> Counts:
        tried = [self._tried[wording] for wording in wordings]
        successes = sum(one.successes for one in tried)
        return Counts(successes, sum(len(one.outcomes) for one in tried) - successes)

    def lessons(self, name: ContextName, least_successes: int) -> dict[str, Lesson]:
        """What this context teaches, by id: a pure function of its outcomes."""
        total = self.counts
        if total.successes < least_successes and total.failures < 2:
            return {}
        self._compare()
        self._likeness.groups.settle()
        groups = self._likeness.groups.groups()
        counts = {group: self._sum(group) for group in groups}
        by_wording = {wording: group for group in groups for wording in group}
        # A winner's posterior mean is above .5 and a loser's below: the best alternative is one for all losers.
        better = better_alternative({group[0]: counts[group] for group in groups}, Counts(0, 2))
        told: dict[tuple[str, ...], tuple[object, list[Lesson]]] = {}
        for group in groups:
            if counts[group].successes < least_successes and anti_pattern_level(counts[group]) is None:
                continue
            near = {other for wording in group for other in self._likeness.near(wording)}
            kin = {other: counts[other] for other in sorted({by_wording[other] for other in near} - {group})}
            concerned = (*group, *(wording for other in kin for wording in other))
            versions = tuple((wording, self._tried[wording].version) for wording in concerned)
            basis = (name, least_successes, versions, tuple(kin), better and self._tried[better].surface)
            known = self._told.get(group)
            told[group] = (
                known
                if known is not None and known[0] == basis
                else (
                    basis,
                    self._teach(name, group, counts[group], kin, better, least_successes),
                )
            )
        self._told = told
        return {lesson.id: lesson for _, lessons in told.values() for lesson in lessons}

    def _teach(
        self,
        name: ContextName,
        group: tuple[str, ...],
        counts: Counts,
        kin: Mapping[tuple[str, ...], Counts],
        better: str | None,
        least_successes: int,
    ) -> list[Lesson]:
        """The heuristic, the anti-pattern or both that one strategy has earned."""
        evidence = _Evidence(
            name=name,
            canonical=group[0],
            strategy=self._tried[group[0]].surface,
            wordings=tuple(sorted({surface for wording in group for surface in self._tried[wording].surfaces})),
            outcomes=sorted(
                (outcome for wording in group for outcome in self._tried[wording].outcomes.values()),
                key=lambda outcome: outcome.id,
            ),
            counts=counts,
            rate=backed_off((sum(kin.values(), Counts()), counts)),
            similar=tuple(self._tried[other[0]].surface for other in list(kin)[:MAX_SIMILAR]),
        )
        lessons: list[Lesson] = [evidence.heuristic()] if counts.successes >= least_successes else []
        level = anti_pattern_level(counts)
        if level is not None:
            lessons.append(evidence.anti_pattern(level, None if better is None else self._tried[better].surface))
        return lessons

    def _next_version(self) -> int:
        self._version += 1
        return self._version

    def standings(self, name: ContextName) -> list[Standing]:
        """Every strategy tried here with its counts; they add up to the outcomes of the context."""
        self._compare()
        self._likeness.groups.settle()
        found = []
        for group in self._likeness.groups.groups():
            counts = self._sum(group)
            surface = self._tried[group[0]].surface
            found.append(Standing(name.agent, name.shown, surface, counts.successes, counts.failures))
        return found

    def _compare(self) -> None:
        """Brings wordings that are new, or now read from another surface, into the comparison."""
        changed = sorted(
            wording
            for wording in self._unread
            if wording in self._tried and self._tried[wording].read_as != self._tried[wording].surface
        )
        self._unread.clear()
        signatures = self._readings.signatures(self._tried[wording].surface for wording in changed)
        fresh = []
        for wording, signature in zip(changed, signatures, strict=True):
            if wording in self._likeness:
                self._likeness.remove(wording)
            self._tried[wording].read_as = self._tried[wording].surface
            fresh.append(signature)
        if fresh:
            self._likeness.add(fresh, self._readings.codes(fresh))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What both sorts of lesson are made of."""

    name: ContextName
    canonical: str
    strategy: str
    wordings: tuple[str, ...]
    outcomes: list[LearnedOutcome]
    counts: Counts
    rate: float
    similar: tuple[str, ...]

    def _ids(self, success: bool) -> tuple[str, ...]:
        return tuple(outcome.id for outcome in self.outcomes if outcome.success is success)

    def _interval(self) -> tuple[float, float]:
        low, high = wilson_interval(self.counts)
        return round(low, _DECIMALS), round(high, _DECIMALS)

    def _id(self, kind: str) -> str:
        return lesson_id(self.name.project_id, kind, self.name.agent, self.name.key, self.canonical)

    def heuristic(self) -> HeuristicLesson:
        return HeuristicLesson(
            id=self._id("heuristic"),
            agent=self.name.agent,
            context=self.name.shown,
            category=self.name.category,
            strategy=self.strategy,
            wordings=self.wordings,
            success_ids=self._ids(True),
            failure_ids=self._ids(False),
            confidence=round(self.rate, _DECIMALS),
            interval=self._interval(),
            similar=self.similar,
        )

    def anti_pattern(self, level: str, better: str | None) -> AntiPatternLesson:
        errors = [outcome.error_message for outcome in self.outcomes if not outcome.success]
        return AntiPatternLesson(
            id=self._id("anti_pattern"),
            agent=self.name.agent,
            context=self.name.shown,
            category=self.name.category,
            pattern=self.strategy,
            wordings=self.wordings,
            why_bad=explain_failures(self.counts.failures, self.counts.occurrences, errors),
            better_alternative=better,
            level=level,
            success_ids=self._ids(True),
            failure_ids=self._ids(False),
            confidence=round(1 - self.rate, _DECIMALS),
            interval=self._interval(),
            similar=self.similar,
        )
