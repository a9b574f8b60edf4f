"""All outcomes of one agent that share a task type, or that have none: where contexts are told apart.

With a task type, that is the context. Without one, the context is the group of tasks that are kin to each other
(`alma_graph.learning.similarity`), named by the first in text order. Groups change as tasks come; a context is then
recomputed from its outcomes, so that the lessons stay a pure function of the set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from alma_graph.learning.context import Context, ContextName
from alma_graph.learning.lessons import LearnedOutcome, Lesson, LessonUpdate, Standing, changes
from alma_graph.learning.likeness import Likeness
from alma_graph.learning.readings import Readings
from alma_graph.learning.wording import normalise_wording
from alma_graph.text import normalise

Members = tuple[str, ...]
"""Places of one context, sorted. A place is a normalised task, or "" where a task type makes the context."""

UNTYPED_CATEGORY = "general"
"""Category of lessons from outcomes without a task type."""


@dataclass(slots=True)
class _Place:
    """Outcomes of one place, how it was written, the wordings of its strategies, and those that may lack a
    vector: kept, so that a new outcome costs the same however many there are."""

    outcomes: dict[str, LearnedOutcome] = field(default_factory=dict)
    surfaces: Counter[str] = field(default_factory=Counter)
    read_as: str = ""
    strategies: Counter[str] = field(default_factory=Counter)
    unread: dict[str, None] = field(default_factory=dict)

    @property
    def surface(self) -> str:
        return min(self.surfaces)


@dataclass(slots=True)
class _Held:
    """A computed context and the lessons last told of it."""

    context: Context
    lessons: dict[str, Lesson]


def type_key(task_type: str | None) -> str | None:
    """The normal form of a task type: "Bug_fix" and "bug fix" are one; None and blank are no type."""
    if task_type is None or not task_type.strip():
        return None
    return " ".join(normalise(task_type).replace("_", " ").replace("-", " ").split()) or normalise(task_type)


class Territory:
    """See the module. Nothing is compared or embedded before something is recorded or asked here."""

    def __init__(
        self, project_id: str, agent: str, typed: str | None, readings: Readings, least_successes: int
    ) -> None:
        self._project_id = project_id
        self._agent = agent
        self._typed = typed
        self._readings = readings
        self._least_successes = least_successes
        self._places: dict[str, _Place] = {}
        self._unsure: dict[str, None] = {}  # places that are new, gone or perhaps written otherwise
        self._likeness = Likeness("kin")
        self._held: dict[Members, _Held] = {}
        self._fresh: dict[str, LearnedOutcome] = {}
        self._lost: dict[str, LearnedOutcome] = {}

    def load(self, outcome: LearnedOutcome) -> None:
        """Takes an outcome whose lessons are stored already."""
        self._put(outcome)

    def record(self, outcome: LearnedOutcome) -> None:
        """Takes a new outcome; `settle` makes it count."""
        if self._lost.pop(outcome.id, None) is None:
            self._fresh[outcome.id] = outcome

    def forget(self, outcome: LearnedOutcome) -> None:
        """Gives an outcome up; `settle` makes it so."""
        if self._fresh.pop(outcome.id, None) is None:
            self._lost[outcome.id] = outcome

    def texts_needed(self, coming: list[LearnedOutcome]) -> list[str]:
        """Normalised wordings whose vectors settling these will ask for, as far as that is known beforehand."""
        coming = [*self._fresh.values(), *coming]
        strategies: dict[str, set[str]] = {}
        for outcome in coming:
            strategies.setdefault(self._place_of(outcome), set()).add(normalise_wording(outcome.strategy))
        places = sorted(strategies)
        wordings: list[str] = []
        fresh = [place for place in places if place not in self._places]
        if self._typed is None and len(self._places) + len(fresh) > 1:
            uncompared = (place for place in self._unsure if place in self._places)
            wordings += [place for place in (*uncompared, *places) if place not in self._likeness]
        for place in places:
            known = self._places.get(place) or _Place()
            known.unread = dict.fromkeys(self._readings.missing(known.unread))
            if len(known.strategies.keys() | strategies[place]) > 1:
                wordings += sorted(known.unread.keys() | strategies[place])
        return self._readings.missing(wordings)

    def settle(self) -> list[LessonUpdate]:
        """Counts what was recorded and forgotten since, and says how the lessons changed."""
        if not self._fresh and not self._lost:
            return []
        self._group_places()
        lost, fresh = self._by_place(self._lost), self._by_place(self._fresh)
        moved = {*fresh, *lost}
        former = {self._members(place) for place in moved if place in self._places}
        for members in former:
            self._hold(members)
        for outcome in self._lost.values():
            self._take(outcome)
        for outcome in self._fresh.values():
            self._put(outcome)
        former |= self._group_places()
        current = {self._members(place) for place in moved.union(*former) if place in self._places}
        before: dict[str, Lesson] = {}
        for members in former:
            before |= self._hold(members).lessons
        after: dict[str, Lesson] = {}
        within = _lying_within(former, current)
        for members in sorted(current):
            after |= self._renew(members, within.get(members, []), lost, fresh).lessons
        for members in former - current:
            del self._held[members]
        self._fresh.clear()
        self._lost.clear()
        return changes(before, after)

    def lessons(self) -> dict[str, Lesson]:
        """All lessons by id. Computes every context, so it embeds every wording that is not known yet."""
        self.settle()
        self._group_places()
        found: dict[str, Lesson] = {}
        for members in sorted({self._members(place) for place in self._places}):
            found |= self._hold(members).lessons
        return found

    def standings(self) -> list[Standing]:
        """All strategies with their counts, context by context."""
        self.lessons()
        found: list[Standing] = []
        for members in sorted({self._members(place) for place in self._places}):
            found += self._held[members].context.standings(self._name(members))
        return found

    def _place_of(self, outcome: LearnedOutcome) -> str:
        return normalise_wording(outcome.task) if self._typed is None else ""

    def _label_of(self, outcome: LearnedOutcome) -> str:
        return outcome.task if self._typed is None else outcome.task_type or ""

    def _by_place(self, outcomes: Mapping[str, LearnedOutcome]) -> dict[str, list[LearnedOutcome]]:
        found: dict[str, list[LearnedOutcome]] = {}
        for outcome in outcomes.values():
            found.setdefault(self._place_of(outcome), []).append(outcome)
        return found

    def _put(self, outcome: LearnedOutcome) -> None:
        name, label, wording = self._place_of(outcome), self._label_of(outcome), normalise_wording(outcome.strategy)
        place = self._places.setdefault(name, _Place())
        if label not in place.surfaces:
            self._unsure[name] = None
        if wording not in place.strategies:
            place.unread[wording] = None
        place.outcomes[outcome.id] = outcome
        place.surfaces[label] += 1
        place.strategies[wording] += 1

    def _take(self, outcome: LearnedOutcome) -> None:
        name = self._place_of(outcome)
        place = self._places[name]
        del place.outcomes[outcome.id]
        _count_down(place.surfaces, self._label_of(outcome))
        _count_down(place.strategies, normalise_wording(outcome.strategy))
        self._unsure[name] = None
        if not place.outcomes:
            del self._places[name]

    def _group_places(self) -> set[Members]:
        """Compares tasks that are new, gone or written otherwise. Returns the groups that are no more."""
        if self._typed is not None or not self._apart():
            return set()
        unsure = sorted(self._unsure)
        self._unsure.clear()
        changed = [
            name
            for name in unsure
            if (place := self._places.get(name)) is not None
            and (name not in self._likeness or place.read_as != place.surface)
        ]
        for name in unsure:
            if name not in self._places and name in self._likeness:
                self._likeness.remove(name)
        signatures = self._readings.signatures(self._places[name].surface for name in changed)
        for name in changed:
            if name in self._likeness:
                self._likeness.remove(name)
            self._places[name].read_as = self._places[name].surface
        if changed:
            self._likeness.add(signatures, self._readings.codes(signatures))
        return self._likeness.groups.settle()

    def _apart(self) -> bool:
        """Whether there is more than one task, now or before, so that they must be compared."""
        return len(self._places) > 1 or len(self._likeness) > 0

    def _members(self, place: str) -> Members:
        return self._likeness.groups.group(place) if place in self._likeness else (place,)

    def _hold(self, members: Members) -> _Held:
        """The context of these places, computed from what they hold if it has not been yet."""
        held = self._held.get(members)
        return self._tell(members, self._fill(members, Context(self._readings))) if held is None else held

    def _renew(self, members: Members, within: list[Members], lost: _ByPlace, fresh: _ByPlace) -> _Held:
        """The context of these places after a change, from its own former state or from one that lies within it."""
        held = self._held.get(members)
        if held is not None:
            _change(members, held.context, lost, fresh)
            return self._tell(members, held.context)
        if not within:
            return self._hold(members)
        start = min(within, key=lambda old: (-len(old), old))
        context = self._held[start].context
        _change(start, context, lost, fresh)
        return self._tell(members, self._fill(members, context))

    def _fill(self, members: Members, context: Context) -> Context:
        for place in members:
            for outcome in self._places[place].outcomes.values():
                context.record(outcome)
        return context

    def _tell(self, members: Members, context: Context) -> _Held:
        lessons = context.lessons(self._name(members), self._least_successes)
        held = self._held[members] = _Held(context, lessons)
        return held

    def _name(self, members: Members) -> ContextName:
        shown = self._places[members[0]].surface
        return ContextName(
            project_id=self._project_id,
            agent=self._agent,
            key=f"task {members[0]}" if self._typed is None else f"type {self._typed}",
            shown=shown,
            category=UNTYPED_CATEGORY if self._typed is None else shown,
        )


_ByPlace = Mapping[str, Sequence[LearnedOutcome]]


def _change(members: Members, context: Context, lost: _ByPlace, fresh: _ByPlace) -> None:
    for place in members:
        for outcome in lost.get(place, ()):
            context.forget(outcome)
    for place in members:
        for outcome in fresh.get(place, ()):
            context.record(outcome)


def _lying_within(former: Iterable[Members], current: Iterable[Members]) -> dict[Members, list[Members]]:
    """The former groups that lie within each current one."""
    now = {place: members for members in current for place in members}
    found: dict[Members, list[Members]] = {}
    for old in former:
        members = now.get(old[0])
        if members is not None and all(now.get(place) is members for place in old):
            found.setdefault(members, []).append(old)
    return found


def _count_down(counter: Counter[str], key: str) -> None:
    """Counts one less; what has come to zero is dropped."""
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
