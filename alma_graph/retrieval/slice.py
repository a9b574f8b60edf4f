"""What `retrieve` gives back."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from alma_graph.model import (
    AntiPattern,
    DomainKnowledge,
    Heuristic,
    Memory,
    Observation,
    Outcome,
    UserPreference,
)
from alma_graph.retrieval.prompt import prompt

_M = TypeVar("_M", bound=Memory)


@dataclass(frozen=True, slots=True)
class PathNode:
    """One stop of the way from the query to a hit: `edge` leads to it, `label` and `name` say what it is (a memory's
    id, an entity's name, the query itself)."""

    edge: str
    label: str
    name: str


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """One memory that was found.

    Attributes:
        memory: the memory.
        score: what hits are ranked by; exactly the sum of `parts`, in any order of adding.
        parts: contribution of every arm and factor to the score.
        relevance: in [0, 1], comparable across queries; the arms' parts without the factors'.
        path: the walk through the graph that led to it; empty where its own words or vector did.
        status: the memory's status; for an active one "contradicted" where something that still stands speaks against
            it, or "disputed" where it speaks against something that still stands.
        contradicted_by: ids of the memories that speak against it.
        context: the turns around it in its episode, in order, without itself.
    """

    memory: Memory
    score: float
    parts: dict[str, float]
    relevance: float = 0.0
    path: tuple[PathNode, ...] = ()
    status: str = "active"
    contradicted_by: tuple[str, ...] = ()
    context: tuple[Memory, ...] = ()

    def __str__(self) -> str:
        return f"{self.score:.3f} {self.memory.kind} {self.memory.text!r}"


@dataclass(frozen=True, slots=True)
class MemorySlice:
    """The memories that fit a task, best first.

    Attributes:
        query: what was asked.
        hits: ranked, at most `top_k`.
        standing: preferences of the user that always apply, beside the hits.
        warnings: what could not run, in plain words; empty when all is well.
        trace: how the answer came about, where `explain` was asked for.
        token_budget: default budget of `to_prompt`.
    """

    query: str
    hits: tuple[MemoryHit, ...] = ()
    standing: tuple[UserPreference, ...] = ()
    warnings: tuple[str, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)
    token_budget: int | None = None

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[MemoryHit]:
        return iter(self.hits)

    def _of(self, cls: type[_M]) -> list[_M]:
        return [hit.memory for hit in self.hits if isinstance(hit.memory, cls)]

    @property
    def memories(self) -> list[Memory]:
        """The memories of the hits, best first."""
        return [hit.memory for hit in self.hits]

    @property
    def heuristics(self) -> list[Heuristic]:
        """Strategies that work."""
        return self._of(Heuristic)

    @property
    def outcomes(self) -> list[Outcome]:
        """How tasks ended."""
        return self._of(Outcome)

    @property
    def anti_patterns(self) -> list[AntiPattern]:
        """What not to do."""
        return self._of(AntiPattern)

    @property
    def domain_knowledge(self) -> list[DomainKnowledge]:
        """Facts."""
        return self._of(DomainKnowledge)

    @property
    def preferences(self) -> list[UserPreference]:
        """Preferences that fit, best first, then the user's standing ones."""
        found = self._of(UserPreference)
        known = {memory.id for memory in found}
        return found + [memory for memory in self.standing if memory.id not in known]

    @property
    def observations(self) -> list[Observation]:
        """Turns and events."""
        return self._of(Observation)

    def to_prompt(self, token_budget: int | None = None) -> str:
        """The slice as text for an agent, within a budget of tokens (`prompt.estimate_tokens`; 800 by default).

        Raises:
            InvalidInputError: the budget is below 1.
        """
        budget = token_budget if token_budget is not None else self.token_budget
        return prompt(self.hits, self.preferences, 800 if budget is None else budget)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{hit.score:.3f}</td><td>{html.escape(str(hit.memory.kind))}</td>"
            f"<td>{html.escape(hit.memory.text[:200])}</td><td>{html.escape(hit.status)}</td></tr>"
            for hit in self.hits
        )
        notes = "".join(f"<p>{html.escape(text)}</p>" for text in self.warnings)
        head = "<tr><th>score</th><th>kind</th><th>memory</th><th>status</th></tr>"
        return f"<table><caption>{html.escape(self.query[:200])}</caption>{head}{rows}</table>{notes}"
