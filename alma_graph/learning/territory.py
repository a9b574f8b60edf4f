"""All outcomes of one agent that share a task type, or that have none: where contexts are told apart.

With a task type, that is the context. Without one, the context is the group of tasks that are kin to each other
(`alma_graph.learning.similarity`), named by the first in text order. Groups change as tasks come; a context is then
recomputed from its outcomes, so that the lessons stay a pure function of the set.
"""

from __future__ import annotations

from collections import Counter
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
    outcomes: dict[str, LearnedOutcome] = field(default_factory=dict)
    surfaces: Counter[str] = field(default_factory=Counter)
    read_as: str = ""

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
        places = sorted({self._place_of(outcome) for outcome in coming})
        wordings: list[str] = []
        if self._typed is None and len(self._places.keys() | set(places)) > 1:
            wordings += [place for place in (*self._places, *places) if place not in self._likeness]
        together: dict[str, list[LearnedOutcome]] = {
            place: list(self._places[place].outcomes.values()) if place in self._places else [] for place in places
        }
        for outcome in coming:
            together[self._place_of(outcome)].append(outcome)
        for place in places:
            strategies = sorted({normalise_wording(outcome.strategy) for outcome in together[place]})
            if len(strategies) > 1:
                wordings += strategies
        return self._readings.missing(wordings)

    def settle(self) -> list[LessonUpdate]:
        """Counts what was recorded and forgotten since, and says how the lessons changed."""
        if not self._fresh and not self._lost:
            return []
        self._group_places()
        moved = {self._place_of(outcome) for outcome in (*self._fresh.values(), *self._lost.values())}
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
        for members in sorted(current):
            after |= self._renew(members, former).lessons
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

    def _put(self, outcome: LearnedOutcome) -> None:
        place = self._places.setdefault(self._place_of(outcome), _Place())
        place.outcomes[outcome.id] = outcome
        place.surfaces[self._label_of(outcome)] += 1

    def _take(self, outcome: LearnedOutcome) -> None:
        name = self._place_of(outcome)
        place = self._places[name]
        del place.outcomes[outcome.id]
        place.surfaces[self._label_of(outcome)] -= 1
        place.surfaces += Counter()  # drops what has come to zero
        if not place.outcomes:
            del self._places[name]

    def _group_places(self) -> set[Members]:
        """Compares tasks that are new, gone or written otherwise. Returns the groups that are no more."""
        if self._typed is not None or not self._apart():
            return set()
        changed = sorted(
            name for name, place in self._places.items() if name not in self._likeness or place.read_as != place.surface
        )
        for name in sorted(self._likeness.wordings() - self._places.keys()):
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

    def _renew(self, members: Members, former: set[Members]) -> _Held:
        """The context of these places after a change, from its own former state or from one that lies within it."""
        held = self._held.get(members)
        if held is not None:
            self._change(members, held.context)
            return self._tell(members, held.context)
        within = [old for old in former if set(old) <= set(members)]
        if not within:
            return self._hold(members)
        start = min(within, key=lambda old: (-len(old), old))
        context = self._held[start].context
        self._change(start, context)
        return self._tell(members, self._fill(members, context))

    def _change(self, members: Members, context: Context) -> None:
        for outcome in self._lost.values():
            if self._place_of(outcome) in members:
                context.forget(outcome)
        for outcome in self._fresh.values():
            if self._place_of(outcome) in members:
                context.record(outcome)

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
