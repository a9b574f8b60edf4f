"""The index of a project: kept current, equal to one that is loaded anew, behind the tenant wall."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from alma_graph.index import ProjectIndex
from alma_graph.index.rows import KINDS, STATUSES
from alma_graph.index.tokens import query_concepts
from alma_graph.text import content_hash
from tests.index.world import World, fact, turn


@pytest.fixture
def world() -> World:
    return World()


def test_delete_all_then_add_is_found_again(world: World) -> None:
    texts = {"a": "redis cache", "b": "blue deploy", "c": "nightly backup"}
    world.add(*(fact(name, text) for name, text in texts.items()))
    world.delete("a", "b", "c")
    assert len(world.index()) == 0
    world.add(*(fact(name, text) for name, text in texts.items()))
    vector = world.encoder.encode_query("redis cache")
    rows, cosines = world.index().nearest(vector, 3)
    assert len(rows) == 3
    assert world.index().ids[rows[0]] == "a"
    assert cosines[0] == pytest.approx(1.0, abs=1e-5)
    assert world.found("redis cache")[0] == "a"


def test_changed_text_is_found_by_its_new_words_and_keeps_its_edges(world: World) -> None:
    world.add(fact("a", "redis cache"), fact("b", "cache is warm"))
    world.relate("b", "SUPPORTS", "a", weight=1.0, origin="user")
    world.update("a", text="postgres index", content_hash=content_hash("postgres index"))
    assert world.found("postgres index")[0] == "a"
    index = world.index()
    row = index.row("a")
    assert row is not None
    assert [edge.type for edge in index.edges.incoming(row)] == ["SUPPORTS"]
    assert not index.lexical.scores(query_concepts("redis")).any()
    assert index.by_hash("domain_knowledge", (None, None, "test"), content_hash("redis cache")) is None


def test_status_changes_are_seen(world: World) -> None:
    world.add(fact("a", "redis cache"), fact("b", "redis cluster"))
    world.update("a", status="superseded")
    vector = world.encoder.encode_query("redis cache")
    rows, _ = world.index().nearest(vector, 5)
    assert [world.index().ids[row] for row in rows] == ["b"]
    everything = world.index().rows.alive
    assert len(world.index().nearest(vector, 5, mask=everything)[0]) == 2
    assert len(world.index().nearest(vector, 5, mask=everything, exclude=[0])[0]) == 1


def test_sharing_counts_entities(world: World) -> None:
    world.add(
        fact("a", "Redis feeds Kafka"),
        fact("b", "Kafka is slow"),
        fact("c", "nothing named"),
        mentions={"a": ["Redis", "Kafka"], "b": ["Kafka"]},
    )
    index = world.index()
    keys = [index.entity_key(name) for name in ("redis", "kafka")]
    rows, counts = index.sharing(key for key in keys if key)
    assert [(index.ids[row], int(count)) for row, count in zip(rows, counts, strict=True)] == [("a", 2), ("b", 1)]
    world.delete("a")
    rows, counts = index.sharing(key for key in keys if key)
    assert [(index.ids[row], int(count)) for row, count in zip(rows, counts, strict=True)] == [("b", 1)]
    assert index.entity_key("no such name") is None


def test_owner_and_kind_tell_equal_texts_apart(world: World) -> None:
    world.add(fact("a", "use tabs", agent="ann"), fact("b", "use tabs", agent="bob"))
    index = world.index()
    digest = content_hash("use tabs")
    assert index.by_hash("domain_knowledge", ("bob", None, "test"), digest) == index.row("b")
    assert index.by_hash("heuristic", ("bob", None, "test"), digest) is None
    assert index.by_hash("domain_knowledge", ("eve", None, "test"), digest) is None
    world.update("b", status="retracted")
    assert index.by_hash("domain_knowledge", ("bob", None, "test"), digest) is None
    assert index.by_hash("domain_knowledge", ("bob", None, "test"), digest, status=None) == index.row("b")


def test_projects_do_not_see_each_other(world: World) -> None:
    world.add(fact("x", "the key is 42"), project="a", mentions={"x": ["key"]})
    world.add(fact("x", "the key is 43"), project="b", mentions={"x": ["key"]})
    for project, number in (("a", "42"), ("b", "43")):
        index = world.index(project)
        assert len(index) == 1
        hits = world.ask("what is the key", project)
        assert [hit.memory.text for hit in hits] == [f"the key is {number}"]
        assert all(hit.memory.project_id == project for hit in hits)
    world.delete("x", project="a")
    assert world.found("the key", "a") == []
    assert world.found("the key", "b") == ["x"]


def test_a_batch_with_repeats_is_seen_at_once(world: World) -> None:
    world.add(*(fact(f"m{n}", f"fact number {n % 50}") for n in range(100)))
    assert len(world.index().rows.by_hash(content_hash("fact number 7"))) == 2


def test_vectors_lost_means_words_still_answer(world: World) -> None:
    world.add(fact("a", "redis cache"), vectors=False)
    assert world.found("redis") == ["a"]


STATUS = st.sampled_from(["active", "superseded"])
WORDS = st.sampled_from(["redis", "cache", "deploy", "绿茶", "latency", "Kafka"])


class KeptCurrent(RuleBasedStateMachine):
    """Whatever was written, the index answers like one loaded from the backend."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.count = 0
        self.alive: list[str] = []

    @rule(words=st.lists(WORDS, min_size=1, max_size=5), size=st.integers(1, 3), spoken=st.booleans())
    def add(self, words: list[str], size: int, spoken: bool) -> None:
        names = [f"m{self.count + at:03d}" for at in range(size)]
        self.count += size
        self.alive += names
        text = " ".join(words)
        mentions = {name: ["Kafka"] for name in names} if "Kafka" in words else {}
        if spoken:
            self.world.add(*(turn(name, text, f"s{names[0]}", "Ann") for name in names), mentions=mentions)
        else:
            self.world.add(*(fact(name, text) for name in names), mentions=mentions)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.alive:
            name = data.draw(st.sampled_from(self.alive))
            self.alive.remove(name)
            self.world.delete(name)

    @rule(data=st.data(), words=st.lists(WORDS, min_size=1, max_size=4), status=STATUS)
    def change(self, data: st.DataObject, words: list[str], status: str) -> None:
        if self.alive:
            text = " ".join(words)
            name = data.draw(st.sampled_from(self.alive))
            self.world.update(name, text=text, content_hash=content_hash(text), status=status)

    @rule(data=st.data(), type_=st.sampled_from(["SUPPORTS", "CONTRADICTS"]))
    def relate(self, data: st.DataObject, type_: str) -> None:
        if len(self.alive) > 1:
            source, target = data.draw(st.permutations(self.alive))[:2]
            values: dict[str, Any] = (
                {"weight": 1.0} if type_ == "SUPPORTS" else {"id": f"c-{source}-{target}", "score": 0.9}
            )
            self.world.relate(source, type_, target, origin="user", **values)

    @invariant()
    def same_answers(self) -> None:
        kept = self.world.index()
        fresh = ProjectIndex.load(self.world.backend, "shop")
        assert len(kept) == len(fresh) == len(self.alive)
        for query in ("redis cache", "Kafka latency", "绿茶"):
            now, loaded = self.world.ask(query, top_k=50), None
            self.world.indexes["shop"] = fresh
            try:
                loaded = self.world.ask(query, top_k=50)
            finally:
                self.world.indexes["shop"] = kept
            assert [(hit.memory.id, hit.parts, hit.status) for hit in now] == [
                (hit.memory.id, hit.parts, hit.status) for hit in loaded
            ]


KeptCurrent.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestKeptCurrent = KeptCurrent.TestCase


def test_times_and_counts_are_columns(world: World) -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    world.add(fact("a", "redis", valid_from=moment, confidence=0.25))
    rows = world.index().rows
    assert rows.column("valid_from")[0] == moment.timestamp() * 1_000_000
    assert rows.column("confidence")[0] == 0.25
    assert KINDS[rows.column("kind")[0]] == "domain_knowledge"
    assert STATUSES[rows.column("status")[0]] == "active"
    assert np.isnan(rows.column("questions")[0]) == np.False_
