"""Random calls of `ALMA` on a store and on the in-memory one, which must answer alike and hold the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from alma_graph import ALMA, AlmaGraphError, DomainKnowledge, Observation
from alma_graph.retrieval.slice import MemorySlice
from alma_graph.testing import vocabulary as words
from alma_graph.testing.graphs import dump
from alma_graph.testing.same_ids import same_ids
from alma_graph.testing.stores import NewLocation, StoreFixtures
from alma_graph.testing.whole import breaches

PLACES = st.sampled_from([0, 1])
AGENTS = st.sampled_from(words.AGENTS)
DAYS = st.integers(0, 40).map(words.day)
RUNS = st.lists(st.builds(words.some_run, st.randoms(use_true_random=False)), min_size=1, max_size=4)
FACTS = st.builds(words.some_fact, st.randoms(use_true_random=False))
TURNS = st.builds(words.some_turn, st.randoms(use_true_random=False))
EDGES = st.sampled_from(["SUPPORTS", "CONTRADICTS", "INHERITS_FROM"])
PICKS = st.integers(0, 10_000)
"""One of the memories that there are, or one that is not there."""
ASKED = st.fixed_dictionaries(
    {"task": st.sampled_from(words.QUERIES), "top_k": st.integers(1, 12)},
    optional={
        "agent": AGENTS,
        "user_id": st.sampled_from(words.USERS),
        "kinds": st.lists(st.sampled_from(["outcome", "heuristic", "observation", "domain_knowledge"]), min_size=1),
        "as_of": DAYS,
        "since": DAYS,
        "include_superseded": st.booleans(),
    },
)

_PROJECTS = ("shop", "sh'op")
_TEXT_OF = {
    "domain_knowledge": "fact",
    "observation": "text",
    "user_preference": "preference",
    "anti_pattern": "pattern",
    "heuristic": "strategy",
    "outcome": "task",
}
_AGREE = 1e-9


class RandomMemories(RuleBasedStateMachine):
    """Two projects on two stores: the one under test and the oracle. The clock stands still within a call.

    `options` are those of `ALMA.open`; embedder and extractor are the same for both.
    """

    def __init__(self, location: str, options: dict[str, Any]) -> None:
        super().__init__()
        self.location = location
        self.options = options
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.calls = 0
        self.stores = [self.opened(location), self.opened(":memory:")]

    def opened(self, location: str) -> list[ALMA]:
        """Both projects of a store."""
        first = ALMA.open(location, project_id=_PROJECTS[0], clock=self.clock, **self.options)
        return [first, *(ALMA(first._store, name) for name in _PROJECTS[1:])]

    def clock(self) -> datetime:
        """The time of the call."""
        return self.now

    def both(self, place: int, call: Callable[[ALMA], Any]) -> Any:
        """What the call gives on both stores, which must be equal: a value, or an error with its words."""
        self.calls += 1
        self.now += timedelta(seconds=1)
        said: list[Any] = []
        for store in self.stores:
            with same_ids(self.calls):
                try:
                    said.append(call(store[place]))
                except AlmaGraphError as error:
                    said.append(f"{type(error).__name__}: {error}")
        assert said[0] == said[1]
        return said[0]

    def picked(self, place: int, pick: int, *, retired: bool | None = None) -> str:
        """The id that a pick names: of a memory that is retired, or that is not, or of any."""
        memories = self.stores[1][place].memories(status=None)
        ids = sorted(found.id for found in memories if retired in (None, found.status != "active"))
        return [*ids, "nobody"][pick % (len(ids) + 1)]

    @initialize(seed=st.integers(0, 2**32))
    def fill(self, seed: int) -> None:
        """A past, so that what follows meets lessons, contradictions, episodes and retired memories."""
        random = Random(seed)
        for place in range(len(_PROJECTS)):
            runs = [words.some_run(random, f"run-{number}") for number in range(random.randrange(30))]
            turns = [words.some_turn(random, f"turn-{number}") for number in range(random.randrange(12))]
            facts = [words.some_fact(random, f"fact-{number}") for number in range(random.randrange(12))]
            for start in range(0, len(runs), 6):
                self.learn(place, runs[start : start + 6])
            for turn in turns:
                self.observe(place, turn)
            self.add_batch(place, [], facts)
            for _ in range(random.randrange(8)):
                change = random.choice([self.revise, self.retract, self.retract, self.restore, self.relate])
                arguments: dict[str, Any] = {"place": place, "pick": random.randrange(10_000)}
                if change == self.relate:
                    arguments = {"place": place, "ends": (random.randrange(10_000), random.randrange(10_000))}
                    arguments["type"] = random.choice(["SUPPORTS", "CONTRADICTS", "INHERITS_FROM"])
                if change == self.revise:
                    arguments["text"] = random.choice(words.FACTS)
                change(**arguments)

    @rule(place=PLACES, runs=RUNS)
    def learn(self, place: int, runs: list[dict[str, Any]]) -> None:
        """Outcomes, from which lessons follow."""
        self.both(place, lambda alma: alma.learn_batch(runs))

    @rule(place=PLACES, turn=TURNS)
    def observe(self, place: int, turn: dict[str, Any]) -> None:
        """A turn of an episode."""
        self.both(place, lambda alma: alma.observe(**turn))

    @rule(place=PLACES, fact=FACTS)
    def add_fact(self, place: int, fact: dict[str, Any]) -> None:
        """A fact; refused where its id says something else."""
        self.both(place, lambda alma: alma.add_domain_knowledge(**fact))

    @rule(place=PLACES, user=st.sampled_from(words.USERS), text=st.sampled_from(words.PREFERENCES))
    def add_preference(self, place: int, user: str, text: str) -> None:
        """What a user wants."""
        self.both(place, lambda alma: alma.add_user_preference(user, "style", text))

    @rule(place=PLACES, agent=AGENTS, text=st.sampled_from(words.PATTERNS))
    def add_anti_pattern(self, place: int, agent: str, text: str) -> None:
        """What not to do, as a person knows it."""
        self.both(place, lambda alma: alma.add_anti_pattern(agent, text, "it broke", "ask first"))

    @rule(place=PLACES, agent=AGENTS, text=st.sampled_from(words.STRATEGIES[:-1]))
    def add_heuristic(self, place: int, agent: str, text: str) -> None:
        """What works, as a person knows it; it may stand beside a lesson of the same words."""
        self.both(place, lambda alma: alma.add_heuristic(agent, "deploy", text))

    @rule(place=PLACES, turns=st.lists(TURNS, max_size=4), facts=st.lists(FACTS, max_size=4))
    def add_batch(self, place: int, turns: list[dict[str, Any]], facts: list[dict[str, Any]]) -> None:
        """Ready models, some of which may be there, or twice in the batch."""
        made = [*(Observation(**turn) for turn in turns), *(DomainKnowledge(**fact) for fact in facts)]
        self.both(place, lambda alma: alma.add_batch(made))

    @rule(place=PLACES, ends=st.tuples(PICKS, PICKS), type=EDGES)
    def relate(self, place: int, ends: tuple[int, int], type: str) -> None:
        """An edge that a caller asserts."""
        source, target = (self.picked(place, end) for end in ends)
        self.both(place, lambda alma: alma.relate(source, type, target, {"why": "said so"}))

    @rule(place=PLACES, pick=PICKS, text=st.sampled_from([*words.FACTS, *words.PREFERENCES]))
    def revise(self, place: int, pick: int, text: str) -> None:
        """A successor."""
        name = self.picked(place, pick)
        self.both(place, lambda alma: alma.revise(name, reason="it changed", **{_TEXT_OF[alma.get(name).kind]: text}))

    @rule(place=PLACES, pick=PICKS)
    def retract(self, place: int, pick: int) -> None:
        """Taken back."""
        name = self.picked(place, pick, retired=None if pick % 5 == 0 else False)
        self.both(place, lambda alma: alma.retract(name, reason="it was false"))

    @rule(place=PLACES, pick=PICKS)
    def restore(self, place: int, pick: int) -> None:
        """Brought back."""
        name = self.picked(place, pick, retired=None if pick % 5 == 0 else True)
        self.both(place, lambda alma: alma.restore(name))

    @rule(place=PLACES, pick=PICKS)
    def forget(self, place: int, pick: int) -> None:
        """Gone without a trace."""
        name = self.picked(place, pick)
        self.both(place, lambda alma: alma.forget(name))

    @rule(place=PLACES, pick=PICKS)
    def look(self, place: int, pick: int) -> None:
        """All that is said of one memory."""
        name = self.picked(place, pick)
        self.both(place, lambda alma: (alma.get(name), alma.why(name), alma.history(name)))

    @rule(place=PLACES, asked=ASKED)
    def ask(self, place: int, asked: dict[str, Any]) -> None:
        """A question with its filters."""
        self.answer(place, asked)

    @rule()
    def reopen(self) -> None:
        """The store is closed and opened again; what is in memory only loses what is derived from its graph."""
        [first, *_] = self.stores[0]
        if first._store.backend.capabilities.durable:
            first.close()
            self.stores[0] = self.opened(self.location)
        else:
            with first._store.lock:
                first._store.shared.clear()

    @invariant()
    def hold_the_same(self) -> None:
        """Both stores hold the same to the bit, list it in the same order, and nothing is broken."""
        assert dump(self.stores[0][0]._store.backend) == dump(self.stores[1][0]._store.backend)
        for place, alma in enumerate(self.stores[0]):
            assert breaches(alma) == []
            self.both(place, lambda alma: [memory.id for memory in alma.memories(status=None)])
            self.both(place, lambda alma: alma.contradictions(suspected=True))

    @invariant()
    def answer_alike(self) -> None:
        """The same questions have the same answers."""
        for place in range(len(_PROJECTS)):
            self.answer(place, {"task": words.QUERIES[self.calls % len(words.QUERIES)], "top_k": 10})

    def answer(self, place: int, asked: dict[str, Any]) -> None:
        """Asks both stores: the same ids in the same order with the same parts."""
        one, two = (store[place].retrieve(asked_at=self.now, **asked) for store in self.stores)
        assert _told(one) == _told(two)
        for hit, twin in zip(one.hits, two.hits, strict=True):
            assert hit.parts.keys() == twin.parts.keys()
            assert all(abs(hit.parts[name] - twin.parts[name]) <= _AGREE for name in hit.parts)
            assert abs(hit.score - twin.score) <= _AGREE

    def teardown(self) -> None:
        """Both are closed."""
        for first, *_ in self.stores:
            first.close()


def _told(answer: MemorySlice) -> list[Any]:
    """All of an answer but its numbers."""
    hits = [(hit.memory, hit.status, hit.contradicted_by, hit.context, hit.path) for hit in answer.hits]
    return [*hits, answer.standing, answer.warnings]


class MemoriesContract(StoreFixtures):
    """Random calls of `ALMA` leave and answer on a store what they leave and answer on the in-memory one.

    Where a subclass overrides `open_store`, `ALMA.open` does not find its stores, and there is nothing to call.

    Attributes:
        memory_examples: how many stores are filled.
        memory_steps: calls, at most, for each.
        memory_options: keywords of `ALMA.open`.
    """

    memory_examples = 3
    memory_steps = 15
    memory_options: ClassVar[dict[str, Any]] = {"embedder": "hashing:64", "extractor": "rules"}

    def test_random_calls_answer_as_in_memory(self, new_location: NewLocation) -> None:
        if type(self).open_store is not StoreFixtures.open_store:
            return
        run_state_machine_as_test(
            lambda: RandomMemories(new_location(), self.memory_options),  # type: ignore[arg-type]  # a callable will do
            settings=settings(
                max_examples=self.memory_examples,
                stateful_step_count=self.memory_steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType] - an enumeration lists its members
                derandomize=True,
            ),
        )
