"""Reading one project: retrieval, single memories, lists, Cypher."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from alma_graph.backends.candidates import CandidateSource, as_candidate_source
from alma_graph.config import CacheConfig
from alma_graph.embedding import Encoder
from alma_graph.errors import AlmaGraphError, InvalidInputError, shown
from alma_graph.index import ProjectIndex
from alma_graph.index.partial import load_part
from alma_graph.model import Memory, MemoryKind, MemoryScope
from alma_graph.reading.answers import Answers
from alma_graph.results import Table
from alma_graph.retrieval import MemorySlice, ScoringConfig, retrieve
from alma_graph.retrieval.engine import check_request
from alma_graph.retrieval.filters import Filters
from alma_graph.store import Store
from alma_graph.text import checked

LONGEST_QUERY = 2000
"""Characters of a task that are searched for: a pasted log would take seconds and say nothing more."""


class Reader:
    """Answers questions about one project of a store."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        scopes: Mapping[str, MemoryScope],
        scoring: ScoringConfig,
        cache: CacheConfig,
    ) -> None:
        self.store = store
        self.project_id = project_id
        self.scopes = scopes
        self.scoring = scoring
        self.cache = cache
        self._answers = Answers(cache)
        self._large: tuple[Hashable, bool] = (None, False)
        """A state of the store, and whether the project was too large to be read whole then."""

    def _readable(self, agent: str | None, everyone: Callable[[], Iterable[str]]) -> frozenset[str] | None:
        """The agents whose memories an agent reads; None where nobody in particular asks, who reads the whole project.

        Its own, those that its scope inherits from ("*" is all), and those whose scope shares with it.
        """
        if agent is None:
            return None
        scope = self.scopes.get(checked(agent, "agent"))
        inherited = set(scope.inherit_from) if scope is not None else set()
        if "*" in inherited:
            inherited |= set(everyone())
        sharing = {name for name, other in self.scopes.items() if agent in other.share_with}
        return frozenset({agent, *inherited, *sharing})

    def get(self, memory_id: str) -> Memory:
        """The memory with this id.

        Raises:
            MemoryNotFoundError: the project has none.
        """
        with self.store.one_state():
            return self.store.memory(self.project_id, checked(memory_id, "memory_id"))

    def projects(self) -> list[str]:
        """Every project of the store, in alphabetical order."""
        with self.store.one_state():
            return sorted(row["project_id"] for row in self.store.backend.nodes("Project", columns=("project_id",)))

    def cypher(self, statement: str, parameters: Mapping[str, Any]) -> Table:
        """Runs one reading statement; `$project_id` is always bound.

        Raises:
            InvalidInputError: the statement is empty, or `project_id` is given with another value.
        """
        given = parameters.get("project_id", self.project_id)
        if not isinstance(given, str) or given != self.project_id:
            raise InvalidInputError(f"$project_id is bound to {self.project_id!r}; use another name for {shown(given)}")
        self.store.check_open()
        result = self.store.backend.run(checked(statement, "statement"), {**parameters, "project_id": self.project_id})
        return Table(result.columns, result.rows)

    def retrieve(
        self,
        task: str,
        *,
        agent: str | None,
        user_id: str | None,
        top_k: int,
        kinds: Sequence[MemoryKind] | None,
        as_of: datetime | None,
        asked_at: datetime | None,
        since: datetime | None,
        until: datetime | None,
        include_superseded: bool,
        token_budget: int | None,
        explain: bool,
    ) -> MemorySlice:
        """See `ALMA.retrieve`."""
        check_request(task, top_k, kinds, token_budget)
        cut = len(task) > LONGEST_QUERY
        task = task[:LONGEST_QUERY]
        wanted = None if kinds is None else tuple(kinds)
        period = (as_of, asked_at, since, until)
        question = (task, agent, user_id, top_k, wanted, period, include_superseded, token_budget, explain)
        encoder = self._encoder(task)
        now = self.store.clock()
        with self.store.one_state():
            index = None if self._is_large() else self.store.index(self.project_id)
            in_part = index is None
            if encoder is not None and encoder is not self.store.shared.encoder:  # the store was re-embedded meanwhile
                encoder = self._encoder(task)
            known = self._answers.get(question, self.store.state, now)
            if known is not None:
                return known
            moment = asked_at if asked_at is not None else now
            if index is None:
                readable = self._readable(agent, self._agents)
                filters = Filters(wanted, readable, user_id, as_of, since, until, include_superseded)
                index = self._part(filters, encoder, task, moment, top_k)
            else:
                readable = self._readable(agent, lambda: index.rows.agents.names)
            damaged: list[str] = []
            answer = retrieve(
                index,
                lambda keys: self.store.memories_by_key(keys, damaged),
                encoder,
                task,
                top_k=top_k,
                kinds=kinds,
                readable=readable,
                user_id=user_id,
                as_of=as_of,
                since=since,
                until=until,
                include_superseded=include_superseded,
                scoring=self.scoring,
                now=moment,
                token_budget=token_budget,
                explain=explain,
            )
            warnings = [f"{line.splitlines()[0]}; run: alma-graph doctor" for line in damaged]
            if in_part:
                warnings.append(
                    "the project is larger than max_rows_in_memory: candidates came from the server's indexes"
                )
            if cut:
                warnings.append(f"query: only its first {LONGEST_QUERY:,} characters were read")
            answer = replace(answer, warnings=(*answer.warnings, *warnings))
            self._answers.keep(question, self.store.state, now, answer)
        if encoder is not None and not self.cache.embedding_cache:
            encoder.forget([task])
        return answer

    def _part(self, filters: Filters, encoder: Encoder | None, task: str, moment: datetime, top_k: int) -> ProjectIndex:
        """The arrays of what may answer a question: candidates that pass its filters. With kinds, also candidates of
        the others, whose evidence bears on those that are asked for."""
        backend = self.store.backend
        wanted = [filters] if filters.kinds is None else [filters, replace(filters, kinds=None)]
        return load_part(
            backend,
            as_candidate_source(backend),
            self.project_id,
            vector=None if encoder is None else encoder.encode_query(task),
            query=task,
            user_id=filters.user_id,
            wanted=[one.wanted(moment) for one in wanted],
            at_least=top_k,
        )

    def _agents(self) -> list[str]:
        """Every agent of the project."""
        return [row["id"] for row in self.store.backend.nodes("Agent", project_id=self.project_id, columns=("id",))]

    def _is_large(self) -> bool:
        """Whether the project is too large to be read whole, and nobody in this process has."""
        backend = self.store.backend
        if not isinstance(backend, CandidateSource) or self.store.kept_index(self.project_id) is not None:
            return False
        if self._large[0] != self.store.state:  # counted again once anything was written: it may have shrunk
            large = backend.count("Memory", project_id=self.project_id) > backend.max_rows_in_memory
            self._large = (self.store.state, large)
        return self._large[1]

    def _encoder(self, task: str) -> Encoder | None:
        """The store's encoder with the task encoded, outside of the lock; None where it cannot run here, which
        retrieval says in its warnings and answers with what is left."""
        try:
            encoder = self.store.encoder
            encoder.encode_query(task)
        except AlmaGraphError:
            return None
        return encoder
