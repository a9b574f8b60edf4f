"""`ALMA`: the public API of one project in one store. Every method checks its words and delegates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from alma_graph import arguments, doctor, lifecycle, maintenance, transfer
from alma_graph.arguments import When, moment
from alma_graph.clock import Clock, system_clock
from alma_graph.config import CacheConfig, check_settings, load_config, scopes_by_agent
from alma_graph.embedding import Embedder
from alma_graph.errors import InvalidInputError, shown
from alma_graph.ingest.making import by_someone, made
from alma_graph.model import (
    KINDS,
    AntiPattern,
    Disposition,
    DomainKnowledge,
    Heuristic,
    Memory,
    MemoryScope,
    Observation,
    Outcome,
    UserPreference,
    read_enum,
)
from alma_graph.queries import Catalogue
from alma_graph.reading.contradictions import list_contradictions
from alma_graph.reading.explain import explain
from alma_graph.reading.history import history
from alma_graph.reading.listing import list_memories
from alma_graph.reading.reader import Reader
from alma_graph.reading.stats import Stats, count
from alma_graph.results import Contradiction, Explanation, ForgetReport, Table, Version
from alma_graph.retrieval.scoring import ScoringConfig
from alma_graph.retrieval.slice import MemorySlice
from alma_graph.store import Store, open_store
from alma_graph.text import checked, checked_name

if TYPE_CHECKING:
    import networkx

    from alma_graph.doctor import DoctorReport
    from alma_graph.drawing import GraphPicture
    from alma_graph.extraction import Extractor
    from alma_graph.ingest.writer import Progress, Writer
    from alma_graph.lifecycle import Relation
    from alma_graph.maintenance import Reembedded
    from alma_graph.transfer import ExportSummary, ImportSummary

_M = TypeVar("_M", bound=Memory)


class ALMA:
    """A graph of what agents learned, in one project of one store.

    Open it with `ALMA.open` or `ALMA.from_config`; close it, or use it as a context manager. Threads may share it.
    Every method raises an `AlmaGraphError` for bad input, before anything is written.
    """

    def __init__(
        self,
        store: Store,
        project_id: str,
        *,
        scopes: Iterable[MemoryScope] | None = (),
        scoring: ScoringConfig | None = None,
        cache: CacheConfig | None = None,
    ) -> None:
        self._store = store
        self.project_id = checked_name(project_id, "project_id")
        self.scopes = scopes_by_agent(scopes)
        self._reader = Reader(store, self.project_id, self.scopes, scoring or ScoringConfig(), cache or CacheConfig())

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        *,
        project_id: str,
        embedder: str | Embedder | None = None,
        extractor: str | Extractor = "spacy",
        scopes: Iterable[MemoryScope] | None = (),
        scoring: ScoringConfig | None = None,
        cache: CacheConfig | None = None,
        clock: Clock = system_clock,
        read_only: bool = False,
        create: bool = True,
        lock_timeout: float = 5.0,
        **connection: Any,
    ) -> Self:
        """Opens a store: a path (a new file is Ladybug's, an existing one is recognised), "ladybug:PATH", "kuzu:PATH",
        ":memory:", or the URI of a server ("bolt://HOST:7687", "neo4j+s://HOST", "memgraph://HOST").

        Args:
            location: where the store is.
            project_id: the tenant to work in; a hard wall.
            embedder: a name ("all-MiniLM-L6-v2", the default of a new store; "hashing"; "onnx:FOLDER";
                "sentence-transformers:NAME") or an object; left out, an existing store keeps its own.
            extractor: "spacy", "rules", "none", or an object; without a parser ("rules", "none") texts are not judged
                for contradictions.
            scopes: what single agents may learn, and whose memories they read.
            clock: where the time comes from.
            read_only: nothing is written; on Ladybug and on a server another process may write meanwhile.
            create: whether a new file may be made.
            lock_timeout: seconds to wait for a file that another process holds.
            connection: `username`, `password`, `database` of a server and settings of its driver, or options of the
                engine: `buffer_pool_bytes`; `query_timeout`, seconds that a statement of `cypher` may run (60).

        Raises:
            StoreLockedError: another process holds the file; names its pid.
            StoreCorruptError: the file is no store.
            StoreVersionError: the store was written by a newer schema.
            ServerError: nobody answers, or the credentials or the database are refused.
            EmbedderMismatchError: the store's vectors come from another embedder.
        """
        place = arguments.path_text(location, "location")
        agents = scopes_by_agent(scopes).values()
        check_settings(project_id, scoring, cache, clock, read_only=read_only, create=create)
        store = open_store(
            place,
            embedder=embedder,
            extractor=extractor,
            clock=clock,
            read_only=read_only,
            create=create,
            lock_timeout=lock_timeout,
            connection={name: value for name, value in connection.items() if value is not None},
        )
        try:
            return cls(store, project_id, scopes=agents, scoring=scoring, cache=cache)
        except BaseException:
            store.release()
            raise

    @classmethod
    def from_config(cls, path: str | os.PathLike[str], **changes: Any) -> Self:
        """Opens the store that a YAML file describes (`alma_graph.config.Config` lists the keys; `${NAME}` is read from
        the environment); `changes` are settings that go before the file's.

        Raises:
            ConfigError: an unknown key, a bad value, or a variable that is not set.
        """
        config = load_config(path, **changes)
        settings = config.model_dump(include={"embedder", "extractor", "read_only", "create", "lock_timeout"})
        server = config.model_dump(include={"username", "password", "database"})
        return cls.open(
            config.store,
            project_id=config.project_id,
            scopes=[agent.scope(name) for name, agent in config.agents.items()],
            scoring=config.scoring,
            cache=config.cache,
            **settings,
            **server,
        )

    def close(self) -> None:
        """Closes this handle; the last handle of a path frees the file. Idempotent."""
        self._store.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ALMA({self._store.location!r}, project_id={self.project_id!r})"

    def learn(
        self,
        agent: str,
        task: str,
        outcome: str | bool,
        strategy_used: str = "",
        task_type: str | None = None,
        duration_ms: int | None = None,
        error_message: str | None = None,
        feedback: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        occurred_at: When = None,
        *,
        user_id: str | None = None,
        id: str | None = None,
        authority: str | None = None,
        extract: bool = True,
    ) -> Outcome:
        """Records how a task ended, and learns from it: after three like successes a heuristic stands, after two like
        failures an anti-pattern (`alma_graph.learning`).

        Args:
            outcome: "success" or "failure" (letter case aside), True or False; anything else is an error.
            strategy_used: what was done; outcomes without one are kept and found, but form no lesson.
            duration_ms: milliseconds.
            occurred_at: when it happened; now, where it is left out.

        Returns:
            The stored outcome. With an `id` that is stored with the same fields, that one, and nothing is written.
        """
        given = locals()
        del given["self"], given["extract"]
        return self._add([by_someone(made(Outcome, given), "agent=None: the outcome")], extract)[0]

    def learn_batch(
        self,
        items: Iterable[Mapping[str, Any] | Outcome],
        progress: Progress | None = None,
        *,
        extract: bool = True,
    ) -> list[Outcome]:
        """As `learn`, for many: each item a mapping with its keywords, or an `Outcome`.

        All are checked before the first is written; they are stored a few hundred to a transaction.

        Args:
            progress: called with (done, total) after each transaction.
        """
        given = arguments.listed(items, "items", of="mappings or Outcome(...)")
        outcomes = [by_someone(made(Outcome, item, at), f"items[{at}]") for at, item in enumerate(given)]
        return self._add(outcomes, extract, progress)

    def add_domain_knowledge(
        self,
        agent: str | None = None,
        domain: str = "general",
        fact: str = "",
        source: str = "user_stated",
        confidence: float | None = None,
        valid_from: When = None,
        valid_to: When = None,
        *,
        user_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        authority: str | None = None,
        extract: bool = True,
    ) -> DomainKnowledge:
        """Stores a fact; an equal one of the same agent and domain comes back as it is stored."""
        given = locals()
        del given["self"], given["extract"]
        return self._add_one(DomainKnowledge, given, extract)

    def add_user_preference(
        self,
        user_id: str,
        category: str,
        preference: str,
        source: str = "explicit_instruction",
        *,
        agent: str | None = None,
        confidence: float | None = None,
        valid_from: When = None,
        valid_to: When = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        authority: str | None = None,
        extract: bool = True,
    ) -> UserPreference:
        """Stores what a user wants; an equal one of the same user and category comes back as it is stored."""
        given = locals()
        del given["self"], given["extract"]
        return self._add_one(UserPreference, given, extract)

    def add_anti_pattern(
        self,
        agent: str | None = None,
        pattern: str = "",
        why_bad: str = "",
        better_alternative: str = "",
        *,
        category: str = "general",
        confidence: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        authority: str | None = None,
        extract: bool = True,
    ) -> AntiPattern:
        """Stores what not to do, as a person knows it; those that failures show are formed by `learn`."""
        given = locals()
        del given["self"], given["extract"]
        return self._add_one(AntiPattern, given, extract)

    def add_heuristic(
        self,
        agent: str | None = None,
        category: str = "general",
        strategy: str = "",
        *,
        confidence: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        authority: str | None = None,
        extract: bool = True,
    ) -> Heuristic:
        """Stores a strategy as a person knows it; those that outcomes show are formed by `learn`."""
        given = locals()
        del given["self"], given["extract"]
        return self._add_one(Heuristic, given, extract)

    def observe(
        self,
        agent: str | None = None,
        text: str = "",
        speaker: str | None = None,
        session_id: str = "",
        occurred_at: When = None,
        *,
        user_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        authority: str | None = None,
        extract: bool = True,
    ) -> Observation:
        """Stores a raw turn of a session; turns of one session are joined in the order in which they come."""
        given = locals()
        del given["self"], given["extract"]
        return self._add_one(Observation, given, extract)

    def observe_batch(
        self,
        items: Iterable[Mapping[str, Any] | Observation],
        progress: Progress | None = None,
        *,
        extract: bool = True,
    ) -> list[Observation]:
        """As `observe`, for many: each item a mapping with its keywords, or an `Observation`."""
        given = arguments.listed(items, "items", of="mappings or Observation(...)")
        return self._add([made(Observation, item, at) for at, item in enumerate(given)], extract, progress)

    def add_batch(
        self, memories: Iterable[Memory], progress: Progress | None = None, *, extract: bool = True
    ) -> list[Memory]:
        """Stores ready models of any kind, in bulk."""
        ready: list[Memory] = arguments.listed(memories, "memories", of="memories")
        for at, memory in enumerate(ready):
            if not isinstance(memory, tuple(KINDS.values())):
                raise InvalidInputError(f"memories[{at}]={shown(memory)} is no memory; make e.g. DomainKnowledge(...)")
        return self._add(ready, extract, progress)

    def relate(self, source_id: str, type: str, target_id: str, evidence: Mapping[str, Any] | None = None) -> Relation:
        """Asserts SUPPORTS, CONTRADICTS or INHERITS_FROM between two memories; `created` says whether it is new.

        A contradiction runs from the newer memory to the older one, whichever way it is given.
        """
        return lifecycle.relate(self._writer, source_id, type, target_id, evidence)

    def revise(self, memory_id: str, *, reason: str | None = None, **changes: Any) -> Memory:
        """Stores an explicit successor with these fields changed; the old memory is superseded and kept."""
        for name, value in changes.items():
            arguments.plain_value(value, name)
        return lifecycle.revise(self._writer, checked(memory_id, "memory_id"), reason, changes)

    def retract(self, memory_id: str, *, reason: str) -> Memory:
        """Takes a memory back: it is not found any more, lessons no longer count it, and the same text of the same
        owner is refused (`RetractedError`) until `restore`. It stays, with its edges and the reason."""
        return lifecycle.retract(self._writer, checked(memory_id, "memory_id"), checked(reason, "reason"))

    def restore(self, memory_id: str) -> Memory:
        """Brings a retracted or superseded memory back exactly as it was; a version in its place is superseded."""
        return lifecycle.restore(self._writer, checked(memory_id, "memory_id"))

    def history(self, memory_id: str) -> tuple[Version, ...]:
        """The versions of a memory, the oldest first: since when, until when, why no longer, and whose word each is."""
        return history(self._reader, checked(memory_id, "memory_id"))

    def forget(
        self,
        memory_id: str | None = None,
        *,
        ids: Iterable[str] | None = None,
        kind: str | None = None,
        agent: str | None = None,
        older_than: When = None,
        older_than_days: float | None = None,
        below_confidence: float | None = None,
        dry_run: bool = False,
    ) -> ForgetReport:
        """Removes memories and every trace of them: one by its id, or all that fit every criterion that is given.

        Args:
            older_than, older_than_days: only what was recorded before that time, or so many days ago.
            below_confidence: only what has a confidence, and one below this.
            dry_run: only says which.
        """
        given = locals()
        return lifecycle.forget(given.pop("self")._writer, **given)

    def retrieve(
        self,
        task: str,
        agent: str | None = None,
        user_id: str | None = None,
        top_k: int = 5,
        kinds: Sequence[str] | None = None,
        as_of: When = None,
        asked_at: When = None,
        since: When = None,
        until: When = None,
        include_superseded: bool = False,
        token_budget: int | None = None,
        explain: bool = False,
    ) -> MemorySlice:
        """The memories that fit a task, best first; empty where nothing is relevant. Writes nothing.

        Args:
            task: what the agent is about to do, or a question.
            agent: reads its own memories, those without an agent, and what scopes grant it; None reads the project.
            user_id: whose preferences come along.
            top_k: hits in total, >= 1; the hits of k are the first of those of k + n.
            kinds: only these kinds; None is all six.
            as_of: what was true at that time (valid time).
            asked_at: the time that "now" means for recency and for dates in the question; the clock's, if left out.
            since, until: only what became true in [since, until].
            token_budget: what `to_prompt` of the slice keeps to; the hits are not cut.
            explain: adds to the slice a `trace` of what each arm found.
        """
        return self._reader.retrieve(
            checked(task, "task"),
            agent=_text_or_none(agent, "agent"),
            user_id=_text_or_none(user_id, "user_id"),
            top_k=top_k,
            kinds=arguments.kinds_of_memory(kinds),
            as_of=moment(as_of, "as_of"),
            asked_at=moment(asked_at, "asked_at"),
            since=moment(since, "since"),
            until=moment(until, "until"),
            include_superseded=arguments.flag(include_superseded, "include_superseded"),
            token_budget=token_budget,
            explain=arguments.flag(explain, "explain"),
        )

    def get(self, memory_id: str) -> Memory:
        """The memory with this id.

        Raises:
            MemoryNotFoundError: the project has none.
        """
        return self._reader.get(memory_id)

    def memories(
        self,
        kind: str | None = None,
        agent: str | None = None,
        status: str | None = "active",
        order: str = "recorded_at",
        limit: int | None = None,
        after: str | Memory | None = None,
    ) -> Iterator[Memory]:
        """The project's memories, newest first. Pages cover each memory once, whatever is written in between.

        Args:
            status: only this one; None is all.
            order: "recorded_at", "valid_from", "confidence", "strength", "use_count" (the newest or largest first) or
                "id", each also with ":asc" or ":desc" behind it; ties by id.
            limit: at most so many.
            after: the last memory of the page before, or its id.
        """
        given = locals()
        return list_memories(given.pop("self")._reader, **given)

    def projects(self) -> list[str]:
        """Every project of the store, in alphabetical order."""
        return self._reader.projects()

    def delete_project(self, project_id: str, *, confirm: str) -> int:
        """Removes a whole project; `confirm` repeats its name. Returns how many memories it had. Interrupted, it leaves
        a smaller project, which a second call removes."""
        return lifecycle.delete_project(self._store, project_id, confirm)

    def contradictions(
        self, agent: str | None = None, disposition: str | None = None, *, suspected: bool = False
    ) -> list[Contradiction]:
        """Contradictions of the project, settled or not, the strongest first; with `suspected` also the weaker ones
        (score .5 to .7)."""
        settled = None if disposition is None else read_enum(Disposition, disposition, "disposition")
        also_weak = arguments.flag(suspected, "suspected")
        asked = _text_or_none(agent, "agent")
        return list_contradictions(self._reader, agent=asked, disposition=settled, suspected=also_weak)

    def why(self, memory_id: str) -> Explanation:
        """What a memory rests on: its supports, contradictions, sources and history, each with its evidence."""
        return explain(self._reader, checked(memory_id, "memory_id"))

    def cypher(self, statement: str, /, **parameters: Any) -> Table:
        """Runs one reading Cypher statement over the whole store; `$project_id` is bound to this project.

        Raises:
            ReadOnlyError: the statement would write, or is more than one statement.
            CypherError: the engine does not take it.
            UnsupportedError: the in-memory store has no Cypher.
        """
        return self._reader.cypher(statement, parameters)

    @property
    def queries(self) -> Catalogue:
        """The named queries of `queries/`: `alma.queries["contradiction-map"](limit=20)`."""
        return Catalogue(self._reader.cypher, self.project_id)

    def to_networkx(self, **options: Any) -> networkx.MultiDiGraph:
        """The project's graph as a `networkx.MultiDiGraph` keyed by edge type (`alma_graph.drawing.to_networkx`)."""
        from alma_graph.drawing import to_networkx
        from alma_graph.drawing.options import check_options

        check_options(options, to_networkx)
        with self._store.one_state():
            return to_networkx(self._store.backend, self.project_id, **options)

    def draw(self, **options: Any) -> GraphPicture:
        """The project's graph as a picture that Jupyter shows (`alma_graph.drawing.draw`)."""
        from alma_graph.drawing import draw

        with self._store.one_state():
            return draw(self._store.backend, self.project_id, **options)

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """The project's graph as one self-contained page; written to `path` where one is given. Returns the page."""
        from alma_graph.drawing import explore

        with self._store.one_state():
            return explore(self._store.backend, self.project_id, path, **options)

    def stats(self) -> Stats:
        """What the project holds, and what the store is."""
        return count(self._reader)

    def export(
        self, path: str | os.PathLike[str], project_id: str | None = None, *, progress: Progress | None = None
    ) -> ExportSummary:
        """Writes the whole store, or one project of it, to a file of JSON lines (`.gz` is compressed, "-" is stdout):
        lossless, and the same lines on every engine (`docs/moving.md`). `progress` is called with (done, total)."""
        arguments.callable_or_none(progress, "progress", signature="(done, total)")
        self._store.check_open()
        backend, lock = self._store.backend, self._store.one_state()
        return transfer.export_file(backend, path, project_id=project_id, progress=progress, lock=lock)

    @classmethod
    def import_(
        cls,
        path: str | os.PathLike[str],
        into: str | os.PathLike[str] | ALMA,
        on_conflict: str = "skip",
        *,
        salvage: bool = False,
        progress: Progress | None = None,
        **options: Any,
    ) -> ImportSummary:
        """Writes an export into a store (a location, or an open `ALMA`), whose embedder a new or empty one adopts.

        What is there already is left; of what is there with other properties "skip" keeps the store's, "merge" unites
        both, "error" refuses the file. `salvage` takes what can be read of a damaged one (`docs/moving.md`). `options`
        of a location: `lock_timeout` and the connection's, as in `open`.
        """
        store = into._store if isinstance(into, ALMA) else into
        return transfer.import_file(path, store, on_conflict=on_conflict, salvage=salvage, progress=progress, **options)

    def doctor(self, *, fix: bool = False, rebuild: bool = False) -> DoctorReport:
        """Checks the whole store, all projects: engine, schema, graph, vectors, lessons, derived arrays, and a real
        round trip where it may be written; `fix` mends what is safe to mend, `rebuild` makes anew what is derived."""
        return doctor.examine(self._writer, fix=arguments.flag(fix, "fix"), rebuild=arguments.flag(rebuild, "rebuild"))

    def refresh(self) -> bool:
        """Takes over now what other processes wrote, as every call does by itself; whether there was anything new."""
        return self._store.catch_up()

    def reembed(self, embedder: str | Embedder, progress: Progress | None = None) -> Reembedded:
        """Gives all memories of the store, of every project, vectors of another embedder (`alma_graph.reembed`)."""
        return maintenance.reembed_store(self._store, embedder, progress)

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Makes a consistent copy of the open store in a new file, opened once to prove it; returns its path."""
        return maintenance.back_up(self._store, path)

    @cached_property
    def _writer(self) -> Writer:
        from alma_graph.ingest.writer import Writer  # with all that judges and learns, which reading does not need

        return Writer(self._store, self.project_id, self.scopes)

    def _add_one(self, cls: type[_M], given: Mapping[str, Any], extract: bool) -> _M:
        return self._add([made(cls, given)], extract)[0]

    def _add(self, memories: Sequence[_M], extract: bool, progress: Progress | None = None) -> list[_M]:
        """Writes; all that is left to check is checked first."""
        arguments.flag(extract, "extract")
        arguments.callable_or_none(progress, "progress", signature="(done, total)")
        return self._writer.add(memories, extract=extract, progress=progress)


def _text_or_none(value: str | None, name: str) -> str | None:
    return arguments.optional(checked, value, name)
