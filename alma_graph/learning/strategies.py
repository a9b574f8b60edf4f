"""The strategies of a project and what they taught: outcomes in, changes of heuristics and anti-patterns out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from alma_graph.errors import InvalidInputError
from alma_graph.learning.lessons import LearnedOutcome, Lesson, LessonUpdate, Standing
from alma_graph.learning.readings import Embed, FindNouns, Readings
from alma_graph.learning.territory import Territory, type_key
from alma_graph.learning.vectors import Codes

DEFAULT_LEAST_SUCCESSES = 3
"""Successes from which a strategy is a heuristic, unless the agent's scope says otherwise."""


class StrategyBook:
    """What the agents of ONE project tried, as a pure function of the set of their outcomes.

    The lessons depend neither on the order in which outcomes came, nor on batches, repeats, restarts, or anything that
    was recorded and forgotten again. Agents learn apart from each other, and so do contexts (a task type, or tasks that
    are kin): an outcome touches only the lessons of its own context.

    The book keeps no files. `load` puts the outcomes of the store back, in microseconds each: nothing is compared or
    embedded before an outcome is recorded in the same territory (an agent's task type, or its untyped tasks), and then
    only what that needs. A caller that keeps `codes` between runs and gives them to `provide_codes` saves even that.

    A lesson's id is made of its agent, its context and the first of its wordings in text order. So it is a function of
    the set of outcomes, not of history; when a new wording comes first, the id changes, and `settle` says so: the old
    lesson is withdrawn (`replaced_by`) and the new one created (`replaces`) in one list. An id given at birth would be
    stable but would depend on the order of arrival.

    Use: `load`; then for each batch `texts_needed`, embed them together with the caller's own texts, `provide`,
    `record`, `settle`, and write the updates with the outcomes in one transaction. If that fails, `forget` the batch
    and `settle`: the book is as it was.
    """

    def __init__(
        self,
        project_id: str,
        embed: Embed,
        *,
        nouns: FindNouns | None = None,
        least_successes: Callable[[str], int] | int = DEFAULT_LEAST_SUCCESSES,
    ) -> None:
        """Starts empty.

        Args:
            project_id: goes into the ids.
            embed: texts -> float32 (n, dimension); asked once for each distinct wording that `provide` did not bring.
            nouns: texts -> the nouns of each, of a parser; None takes every word that is no known verb for one, which
                pools a little less.
            least_successes: successes that make a heuristic, for all agents or by agent.
        """
        self._project_id = project_id
        self._readings = Readings(embed, nouns)
        self._least_successes = least_successes
        self._outcomes: dict[str, LearnedOutcome] = {}
        self._territories: dict[tuple[str, str | None], Territory] = {}
        self._touched: dict[tuple[str, str | None], None] = {}

    def __len__(self) -> int:
        return len(self._outcomes)

    def __contains__(self, outcome_id: object) -> bool:
        return outcome_id in self._outcomes

    def __iter__(self) -> Iterator[str]:
        return iter(self._outcomes)

    def get(self, outcome_id: str) -> LearnedOutcome | None:
        """The outcome of this id, as it was recorded."""
        return self._outcomes.get(outcome_id)

    def load(self, outcomes: Iterable[LearnedOutcome]) -> None:
        """Takes outcomes whose lessons the store has already. Call it first.

        Raises:
            InvalidInputError: something was recorded before.
        """
        if self._touched:
            raise InvalidInputError("load was called after record; load the stored outcomes first, or settle before")
        for outcome in outcomes:
            if self._is_new(outcome):
                self._outcomes[outcome.id] = outcome
                self._territory(outcome).load(outcome)

    def texts_needed(self, outcomes: Iterable[LearnedOutcome]) -> list[str]:
        """Texts to embed along before these outcomes are recorded, each once; empty when all is known.

        Where a task joins others its strategies may be asked for as well, through `embed`, when `settle` finds out.
        """
        coming: dict[tuple[str, str | None], list[LearnedOutcome]] = {}
        for outcome in outcomes:
            if self._is_new(outcome):
                coming.setdefault(self._key(outcome), []).append(outcome)
        texts = [text for key in coming for text in self._territory(coming[key][0]).texts_needed(coming[key])]
        return list(dict.fromkeys(texts))

    def provide(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Takes the vectors of `texts_needed`, (n, dimension), a row for each text.

        Raises:
            EmbeddingError: wrong shape, another dimension than before, not finite, or a zero vector.
        """
        self._readings.provide(texts, vectors)

    def codes(self) -> tuple[list[str], Codes]:
        """Wordings and their vectors as small integers, (n, dimension) int8, for a caller that keeps them."""
        return self._readings.known_codes()

    def provide_codes(self, texts: Sequence[str], codes: Codes) -> None:
        """Takes what `codes` of an earlier book with the same embedder gave."""
        self._readings.provide_codes(texts, codes)

    def record(self, outcomes: Iterable[LearnedOutcome]) -> None:
        """Takes new outcomes. An id that is known already, and an outcome without a strategy, change nothing."""
        for outcome in outcomes:
            if self._is_new(outcome):
                self._outcomes[outcome.id] = outcome
                self._territory(outcome).record(outcome)
                self._touched[self._key(outcome)] = None

    def forget(self, outcome_ids: Iterable[str]) -> None:
        """Gives outcomes up, as if they had never been recorded; unknown ids change nothing."""
        for outcome_id in outcome_ids:
            outcome = self._outcomes.pop(outcome_id, None)
            if outcome is not None:
                self._territory(outcome).forget(outcome)
                self._touched[self._key(outcome)] = None

    def settle(self) -> list[LessonUpdate]:
        """What the outcomes recorded and forgotten since the last call change: withdrawals before creations."""
        updates = [update for key in self._touched for update in self._territories[key].settle()]
        self._touched.clear()
        order = {"withdraw": 0, "create": 1, "update": 2}
        return sorted(updates, key=lambda update: (order[update.action], update.lesson.id))

    def lessons(self, agent: str | None = None) -> list[Lesson]:
        """All lessons that stand, or those of one agent, sorted by id.

        It computes every context (and so embeds every wording that is not known): for checks, rebuilding and exports.
        Call `settle` first: what was recorded since is counted here and no longer told there.
        """
        found: dict[str, Lesson] = {}
        for (owner, _), territory in self._territories.items():
            if agent is None or owner == agent:
                found |= territory.lessons()
        return [found[key] for key in sorted(found)]

    def standings(self, agent: str | None = None) -> list[Standing]:
        """Every strategy tried, in every context, with its counts, sorted; as costly as `lessons`."""
        territories = [held for (owner, _), held in self._territories.items() if agent is None or owner == agent]
        return sorted(standing for territory in territories for standing in territory.standings())

    def _is_new(self, outcome: LearnedOutcome) -> bool:
        return bool(outcome.strategy.strip()) and outcome.id not in self._outcomes

    @staticmethod
    def _key(outcome: LearnedOutcome) -> tuple[str, str | None]:
        return outcome.agent, type_key(outcome.task_type)

    def _territory(self, outcome: LearnedOutcome) -> Territory:
        key = self._key(outcome)
        territory = self._territories.get(key)
        if territory is None:
            least = self._least_successes
            territory = self._territories[key] = Territory(
                self._project_id,
                outcome.agent,
                key[1],
                self._readings,
                least if isinstance(least, int) else least(outcome.agent),
            )
        return territory
