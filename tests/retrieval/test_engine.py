"""`retrieve` as a caller sees it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alma_graph.errors import EmbeddingError, InvalidInputError
from alma_graph.model import AntiPattern, Heuristic, Outcome, Result, UserPreference
from alma_graph.retrieval import ScoringConfig, retrieve
from tests.index.world import NOW, World, fact, turn

NOTES = (
    "Redis cache keys expire after one hour",
    "Blue-green deploys keep the old version warm",
    "Postgres vacuum runs every night",
    "The checkout service times out at 30 seconds",
    "Kafka consumers commit offsets manually",
    "Deploys on Fridays need an approval",
    "The cache is warmed after every deploy",
    "Node 20 is the runtime of the image resizer",
)


@pytest.fixture
def world() -> World:
    world = World()
    world.add(*(fact(f"n{at}", text) for at, text in enumerate(NOTES)))
    return world


@pytest.fixture(scope="module")
def shared() -> World:
    world = World()
    world.add(
        *(fact(f"n{at}", text) for at, text in enumerate(NOTES)),
        Heuristic(id="h", strategy="roll deploys out slowly", success_count=8, occurrence_count=10, agent="ann"),
        Outcome(id="o", task="deploy checkout", strategy_used="rolling", outcome=Result.SUCCESS, agent="bob"),
        UserPreference(id="u", user_id="eve", category="style", preference="short answers about deploys"),
        turn("t1", "Did the deploy of the cache finish?", speaker="Ann"),
        turn("t2", "Yes, at noon.", speaker="Bob"),
        mentions={"n4": ["Kafka"], "n7": ["Node 20"]},
    )
    world.relate("n5", "CONTRADICTS", "n1", id="c1", score=0.9, disposition="open", signal="negation", origin="rules")
    return world


QUERIES = st.one_of(
    st.text(),
    st.lists(st.sampled_from(" ".join(NOTES).split()), min_size=1, max_size=8).map(" ".join),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERIES, scoring=st.sampled_from([ScoringConfig(), ScoringConfig(mode="additive")]))
def test_any_text_is_answered_and_parts_sum_to_the_score(shared: World, query: str, scoring: ScoringConfig) -> None:
    answer = shared.ask(query, top_k=20, scoring=scoring)
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)
    for hit in answer:
        assert sum(hit.parts.values()) == hit.score
        assert math.fsum(reversed(hit.parts.values())) == hit.score
        assert 0.0 <= hit.relevance <= 1.0


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERIES, small=st.integers(1, 10), more=st.integers(0, 10))
def test_hits_of_k_begin_the_hits_of_any_larger_k(shared: World, query: str, small: int, more: int) -> None:
    few = shared.ask(query, top_k=small)
    many = shared.ask(query, top_k=small + more)
    assert len(few) <= small
    assert list(few.hits) == list(many.hits[:small])


def test_scores_are_distinct_and_follow_the_match(world: World) -> None:
    hits = world.ask("how long until redis cache keys expire").hits
    assert hits[0].memory.id == "n0"
    assert len({hit.score for hit in hits}) == len(hits)
    assert hits[0].parts["dense"] > 0 and hits[0].parts["lexical"] > 0


def test_nothing_relevant_gives_an_empty_slice(world: World) -> None:
    for query in ("quantum chromodynamics lattice", "who won the chess olympiad", "", "   ", "?!"):
        assert world.found(query) == []


def test_an_empty_project_answers_nothing() -> None:
    assert World().found("anything at all") == []


@pytest.mark.parametrize("char", [*'+-!(){}[]^"~*?:\\/', "&&", "||", "AND", "OR", "NOT", "NEAR", "'; DROP TABLE", "%"])
def test_query_syntax_is_plain_text(world: World, char: str) -> None:
    assert world.found(f"{char} redis {char} cache {char}")[0] == "n0"
    world.found(char)


def test_paths_uuids_and_hyphens_are_found() -> None:
    world = World()
    names = [f"550e8400-e29b-41d4-a716-4466554400{n:02d}" for n in range(20)]
    world.add(
        fact("path", "see C:\\repo\\src\\main.py and some/path/file"),
        fact("tier", "tier1-test AND unicode"),
        *(fact(name, f"tenant {name} is paused") for name in names),
    )
    assert world.found("C:\\repo\\src\\main.py")[0] == "path"
    assert world.found("tier1-test AND unicode")[0] == "tier"
    assert [world.found(name)[0] for name in names] == names


def test_every_script_is_found() -> None:
    world = World()
    texts = {
        "zh": "我喜欢绿茶",
        "erp": "订单审批流程自动通知 ERP审批",
        "es": "El niño comió jalapeño",
        "again": "once more, try it again",
        "ru": "сервер базы данных упал",
    }
    world.add(*(fact(name, text) for name, text in texts.items()))
    asked = {"绿茶": "zh", "审批流程": "erp", "ERP": "erp", "jalapeño": "es", "niño": "es", "СЕРВЕР": "ru"}
    asked["again"] = "again"
    assert {query: world.found(query)[:1] for query in asked} == {query: [name] for query, name in asked.items()}


def test_two_facts_of_one_script_stay_two() -> None:
    world = World()
    world.add(fact("a", "我喜欢健身"), fact("b", "我喜欢普洱茶"))
    assert sorted(world.found("我喜欢")) == ["a", "b"]


def test_filters_come_before_the_cut() -> None:
    world = World()
    world.add(*(fact(f"x{n:02d}", f"redis cache number {n}", agent="ann") for n in range(50)))
    world.add(fact("late", "the redis cache of bob", agent="bob"))
    assert world.found("redis cache", top_k=1, readable={"bob"}) == ["late"]


def test_agents_read_what_they_may() -> None:
    world = World()
    world.add(
        fact("own", "redis one", agent="ann"),
        fact("other", "redis two", agent="bob"),
        fact("common", "redis three"),
        UserPreference(id="eve", user_id="eve", category="db", preference="redis for eve"),
        UserPreference(id="eve1", user_id="eve1", category="db", preference="redis for another"),
        fact("about", "redis and eve1", user_id="eve1"),
    )
    assert sorted(world.found("redis", top_k=10)) == ["about", "common", "eve", "eve1", "other", "own"]
    assert sorted(world.found("redis", readable={"ann"}, top_k=10)) == ["about", "common", "own"]
    assert sorted(world.found("redis", readable={"ann"}, user_id="eve", top_k=10)) == ["common", "eve", "own"]
    assert sorted(world.found("redis", readable=set(), user_id="ev", top_k=10)) == ["common"]
    assert sorted(world.found("redis", user_id="eve", kinds=["user_preference"], top_k=10)) == ["eve"]


def test_standing_preferences_come_along_but_not_those_of_a_namesake() -> None:
    world = World()
    world.add(
        UserPreference(id="p", user_id="test_user1", category="style", preference="answer in French"),
        fact("f", "redis cache"),
    )
    answer = world.ask("redis cache", user_id="test_user1")
    assert [hit.memory.id for hit in answer] == ["f"]
    assert [memory.id for memory in answer.preferences] == ["p"]
    assert "answer in French" in answer.to_prompt()
    assert world.ask("answer in French", user_id="test_user").preferences == []
    assert world.ask("redis cache").preferences == []


def test_only_what_holds_comes_back_unless_asked_for() -> None:
    world = World()
    world.add(*(fact(name, f"redis timeout {at}") for at, name in enumerate(("new", "old", "wrong", "past"))))
    world.update("old", status="superseded", valid_to=NOW - timedelta(days=9))
    world.update("wrong", status="retracted")
    world.update("past", valid_to=NOW - timedelta(days=1))
    assert world.found("redis timeout") == ["new"]
    assert sorted(world.found("redis timeout", include_superseded=True)) == ["new", "old", "past"]
    then = NOW - timedelta(days=10)
    assert sorted(world.found("redis timeout", as_of=then)) == ["new", "old", "past"]
    statuses = {hit.memory.id: hit.status for hit in world.ask("redis timeout", as_of=then)}
    assert statuses["old"] == "superseded"


def test_as_of_is_half_open() -> None:
    world = World()
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    world.add(fact("a", "redis timeout", valid_from=start, valid_to=end))
    moments = [start - timedelta(seconds=1), start, end - timedelta(seconds=1), end]
    assert [world.found("redis timeout", as_of=moment) for moment in moments] == [[], ["a"], ["a"], []]


def test_old_memories_are_found_and_time_bounds_hold() -> None:
    world = World()
    for year in (2019, 2025):
        world.add(fact(f"y{year}", f"redis note of {year}", valid_from=datetime(year, 6, 1, tzinfo=UTC)))
    assert sorted(world.found("redis note")) == ["y2019", "y2025"]
    middle = datetime(2022, 1, 1, tzinfo=UTC)
    assert world.found("redis note", since=middle) == ["y2025"]
    assert world.found("redis note", until=middle) == ["y2019"]


def test_a_speaker_is_a_boost_and_never_a_filter() -> None:
    world = World()
    world.add(turn("q", "The redis cluster is full", speaker=None), turn("w", "Lunch is at noon", speaker="Ann"))
    assert world.found("what did Ann say about the redis cluster")[0] == "q"
    world.add(turn("r", "The redis cluster is full", speaker="Bob"))
    world.add(turn("s", "The redis cluster is full now", speaker="Ann"))
    assert world.found("what did Ann say about the redis cluster")[0] == "s"


def test_a_named_month_prefers_its_turns() -> None:
    world = World()
    for month in (4, 5):
        moment = datetime(2023, month, 8, tzinfo=UTC)
        world.add(turn(f"m{month}", "We went hiking by the lake", f"s{month}", "Ann", occurred_at=moment))
    world.update("m4", content_hash="other")  # two turns with the same words, told apart by their month alone
    assert world.found("the hiking in May 2023")[0] == "m5"
    assert world.found("the hiking on 8 April")[0] == "m4"


def test_the_answer_beside_the_question_is_found_and_served_with_it() -> None:
    world = World()
    world.add(
        turn("t1", "Where did you put the spare key of the garage?", speaker="Ann"),
        turn("t2", "Under the blue pot.", speaker="Bob"),
        turn("t3", "Thanks!", speaker="Ann"),
        turn("t4", "Shall we order pizza?", "other", "Ann"),
    )
    answer = world.ask("spare key of the garage", top_k=10)
    found = [hit.memory.id for hit in answer]
    assert found.index("t2") < 3 and "t4" not in found
    first = answer.hits[found.index("t2")]
    assert [memory.id for memory in first.context] == ["t1", "t3"]
    assert world.ask("spare key", context_turns=0).hits[0].context == ()


def test_proven_strategies_rank_over_single_outcomes_and_counts_matter() -> None:
    world = World()
    world.add(
        Outcome(id="one", task="deploy", strategy_used="canary rollout", outcome=Result.SUCCESS),
        Heuristic(id="proven", strategy="deploy canary rollout", success_count=9, occurrence_count=10, confidence=0.8),
        Heuristic(id="weak", strategy="canary rollout deploy", success_count=2, occurrence_count=10, confidence=0.2),
    )
    assert world.found("deploy canary rollout") == ["proven", "one", "weak"]


def test_success_of_an_anti_pattern_is_its_failures() -> None:
    world = World()
    world.add(
        AntiPattern(id="sure", pattern="deploy by hand", why_bad="it broke", success_count=0, occurrence_count=9),
        AntiPattern(id="thin", pattern="by hand deploy", why_bad="broke it", success_count=4, occurrence_count=9),
    )
    assert world.found("deploy by hand") == ["sure", "thin"]


def test_recency_moves_equals_apart_but_lifts_nothing_irrelevant() -> None:
    world = World()
    world.add(
        fact("new", "redis cache is full", valid_from=NOW),
        fact("old", "full is redis cache", valid_from=NOW - timedelta(days=300)),
        fact("other", "lunch was late", valid_from=NOW),
    )
    answer = world.ask("redis cache is full")
    assert [hit.memory.id for hit in answer] == ["new", "old"]
    assert answer.hits[0].parts["recency"] > 0 > answer.hits[1].parts["recency"]
    for hit in answer:
        assert 0.8 * hit.relevance <= hit.score <= 1.25 * hit.relevance


def test_the_same_content_fills_the_slice_once() -> None:
    world = World()
    world.add(*(fact(f"c{n}", "Redis cache is full", agent=f"agent{n}") for n in range(5)))
    world.add(fact("d", "redis cache size"))
    assert world.found("redis cache is full") == ["c0", "d"]


def test_ties_go_by_id() -> None:
    world = World()
    for name in ("b", "c", "a"):
        world.add(fact(name, f"redis cache {name}{name}{name}{name}"))
    scores = {hit.memory.id: hit.score for hit in world.ask("redis cache", scoring=ScoringConfig())}
    order = world.found("redis cache")
    assert order == sorted(order, key=lambda name: (-scores[name], name))


def test_without_an_embedder_words_answer_and_a_warning_says_so(world: World) -> None:
    answer = retrieve(world.index(), world.fetch, None, "redis cache keys", now=NOW)
    assert answer.hits[0].memory.id == "n0"
    assert "dense" not in answer.hits[0].parts
    assert any("embedder" in warning for warning in answer.warnings)


def test_a_failing_embedder_is_survived(world: World) -> None:
    class Broken:
        def encode_query(self, text: str) -> np.ndarray:
            raise EmbeddingError("the model is gone")

        def query_tokens(self, text: str) -> None:
            return None

    answer = retrieve(world.index(), world.fetch, Broken(), "redis cache keys", now=NOW)
    assert answer.hits[0].memory.id == "n0"
    assert "the model is gone" in answer.warnings[0]


def test_a_vector_of_another_dimension_is_refused(world: World) -> None:
    class Other:
        def encode_query(self, text: str) -> np.ndarray:
            return np.ones(3, dtype=np.float32)

        def query_tokens(self, text: str) -> None:
            return None

    with pytest.raises(InvalidInputError, match="3 dimensions"):
        retrieve(world.index(), world.fetch, Other(), "redis", now=NOW)


@pytest.mark.parametrize(
    "options",
    [{"top_k": 0}, {"top_k": -1}, {"top_k": True}, {"top_k": 2.5}, {"token_budget": 0}, {"kinds": ["lesson"]}],
)
def test_bad_requests_are_refused_by_name(world: World, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        world.ask("redis", **options)


def test_an_arm_left_out_costs_only_its_own_hits(world: World) -> None:
    for arm in ("dense", "lexical", "entity", "graph", "late"):
        assert "n0" in world.found("redis cache keys expire", without=[arm])


def test_explain_tells_what_each_arm_found(world: World) -> None:
    answer = world.ask("redis cache keys", explain=True)
    trace = answer.trace
    assert trace["counts"]["memories"] == len(NOTES)
    assert trace["arms"]["lexical"]["hits"]["n0"]["rank"] == 1
    assert trace["query"]["terms"] == ["redi", "cach", "key"]
    assert world.ask("redis cache keys").trace == {}
    assert world.ask("redis cache keys").hits == answer.hits
