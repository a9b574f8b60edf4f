"""Random work leaves in a store what it leaves in the in-memory one, whatever comes between."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from alma_graph.backends import EdgeMatch, EdgeRow, NodeUpdate, UnitOfWork, open_backend
from alma_graph.errors import AlmaGraphError
from alma_graph.testing.graphs import PROJECT, START, add_memory, dump, key, supports, vector
from alma_graph.testing.stores import NewLocation, OpenStore, StoreFixtures, initialised

NAMES = st.sampled_from([f"m{number}" for number in range(12)])
ENTITIES = st.lists(st.sampled_from(["redis", "api", "postgres", "日本"]), max_size=3, unique=True)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        "use_count": st.none() | st.integers(-(2**63), 2**63 - 1),
        "confidence": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "valid_to": st.none() | st.integers(0, 10**9).map(lambda seconds: START + timedelta(seconds=seconds)),
        "embedding": st.none() | st.integers(0, 50).map(vector),
        "token_embeddings": st.none() | st.binary(max_size=20),
    },
)


class RandomWork(RuleBasedStateMachine):
    """The same units of work on both stores; after each, both must hold the same."""

    def __init__(self, open_store: OpenStore, location: str, bulk: int) -> None:
        super().__init__()
        self.bulk = bulk
        self.open_store = open_store
        self.location = location
        self.store = open_store(location)
        self.oracle = open_backend(":memory:")
        self.batches = 0

    @initialize()
    def start(self) -> None:
        """Both stores are new."""
        for store in (self.store, self.oracle):
            initialised(store)

    def both(self, work: UnitOfWork) -> None:
        """Writes to both, or is refused by both with the same words."""
        said: list[str | None] = []
        for store in (self.store, self.oracle):
            try:
                store.write(work)
                said.append(None)
            except AlmaGraphError as error:
                said.append(f"{type(error).__name__}: {error}")
        assert said[0] == said[1]

    @rule(name=NAMES, entities=ENTITIES)
    def add(self, name: str, entities: list[str]) -> None:
        """A memory with its entities; refused where it exists."""
        work = UnitOfWork()
        add_memory(work, name, entities)
        self.both(work)

    @rule(name=NAMES, entities=ENTITIES, values=VALUES)
    def replace(self, name: str, entities: list[str], values: dict[str, Any]) -> None:
        """Deletes and makes again in one unit."""
        work = UnitOfWork(node_deletes=[("Memory", key(name))])
        add_memory(work, name, entities)
        work.nodes["Memory"][0].update(values)
        self.both(work)

    @rule(name=NAMES, values=VALUES)
    def update(self, name: str, values: dict[str, Any]) -> None:
        """New values; refused where the memory is not there."""
        self.both(UnitOfWork(node_updates=[NodeUpdate("Memory", key(name), values)]))

    @rule(ends=st.tuples(NAMES, NAMES), weight=st.floats(0, 1))
    def link(self, ends: tuple[str, str], weight: float) -> None:
        """An edge; refused where an end is missing."""
        self.both(UnitOfWork(edges=[supports(*ends, weight=weight)]))

    @rule(name=NAMES, weight=st.floats(0, 1))
    def weigh(self, name: str, weight: float) -> None:
        """New values of edges."""
        change = (EdgeMatch("SUPPORTS", target=key(name)), {"weight": weight, "evidence": None})
        self.both(UnitOfWork(edge_updates=[change]))

    @rule(name=NAMES)
    def unlink(self, name: str) -> None:
        """Edges go."""
        matches = [EdgeMatch("SUPPORTS", source=key(name)), EdgeMatch("MENTIONS", key(name), where={"start_char": 0})]
        self.both(UnitOfWork(edge_deletes=matches))

    @rule(names=st.lists(NAMES, max_size=3))
    def delete(self, names: list[str]) -> None:
        """Nodes go with their edges."""
        self.both(UnitOfWork(node_deletes=[("Memory", key(name)) for name in names]))

    @rule()
    def add_many(self) -> None:
        """A bulk unit, one of whose memories may be there already."""
        work = UnitOfWork()
        for number in range(self.bulk):
            add_memory(work, f"b{self.batches}-{number}", ("redis", "bulk"))
            if number:
                source, target = key(f"b{self.batches}-{number}"), key(f"b{self.batches}-{number - 1}")
                work.edges.append(EdgeRow("NEXT", source, target))
        self.batches += 1
        self.both(work)

    @rule()
    def delete_all(self) -> None:
        """Everything but Meta goes."""
        deletes = [
            (label, row["key"])
            for label in ("Memory", "Entity", "Agent")
            for row in self.oracle.nodes(label, columns=("key",))
        ]
        self.both(UnitOfWork(node_deletes=deletes))

    @rule()
    def checkpoint(self) -> None:
        """The log is folded in."""
        self.store.checkpoint()

    @rule()
    def reopen(self) -> None:
        """The store is closed and opened again."""
        if self.store.capabilities.durable:
            self.store.close()
            self.store = self.open_store(self.location)

    @invariant()
    def same(self) -> None:
        """Both stores hold the same, to the bit."""
        assert dump(self.store) == dump(self.oracle)
        assert (
            self.store.vectors("Memory", project_id=PROJECT)[0] == self.oracle.vectors("Memory", project_id=PROJECT)[0]
        )

    def teardown(self) -> None:
        """The store is closed."""
        self.store.close()


class RandomWorkContract(StoreFixtures):
    """Random units of work, between which the store is folded and reopened, leave what they leave in memory.

    Attributes:
        random_examples: how many stores are filled.
        random_steps: units of work, at most, for each.
        random_bulk: memories of a unit that is written in bulk; more than the engine needs to take its bulk path.
    """

    random_examples = 3
    random_steps = 15
    random_bulk = 210

    def test_random_work_leaves_the_same_as_in_memory(self, open_store: OpenStore, new_location: NewLocation) -> None:
        run_state_machine_as_test(
            lambda: RandomWork(open_store, new_location(), self.random_bulk),  # type: ignore[arg-type]  # a callable will do
            settings=settings(
                max_examples=self.random_examples,
                stateful_step_count=self.random_steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType] - an enumeration lists its members
                derandomize=True,
            ),
        )
