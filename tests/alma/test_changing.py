"""Taking memories back and bringing them back: retract, restore, revise and their history, on every backend."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alma_graph import ALMA, Heuristic, InvalidInputError, MemoryNotFoundError, RetractedError
from alma_graph.testing.graphs import dump
from tests.alma.conftest import Open
from tests.conftest import embedded_only


def graph(alma: ALMA) -> dict[str, Any]:
    """Everything in the store but how often it was written."""
    found = dump(alma._store.backend)
    return {**found, "sequence": None}


def texts(alma: ALMA, query: str, **options: Any) -> list[str]:
    return [hit.memory.text for hit in alma.retrieve(query, **options).hits]


class Stopped:
    """A clock that stands still once it is told to, so that what is made again is made at the same time."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


# ---------------------------------------------------------------- retract and restore


def test_a_retracted_fact_is_gone_from_every_search_and_comes_back_exactly(alma: ALMA) -> None:
    wrong = alma.add_domain_knowledge("a", "d", "The auth-service keeps its sessions in Redis.")
    basis = alma.add_domain_knowledge("a", "d", "The March review chose Redis for the auth-service.")
    against = alma.add_domain_knowledge("b", "d", "The auth-service does not keep its sessions in Redis.")
    alma.relate(basis.id, "SUPPORTS", wrong.id, evidence={"page": 3})
    before = graph(alma)
    assert [item.older.id for item in alma.contradictions()] == [wrong.id]

    retracted = alma.retract(wrong.id, reason="it was the billing-service")
    assert (retracted.status, retracted.retired_reason) == ("retracted", "it was the billing-service")
    assert retracted.retired_at is not None
    assert alma.get(wrong.id) == retracted
    asked: list[dict[str, Any]] = [{}, {"include_superseded": True}, {"as_of": "2026-04-01"}, {"top_k": 100}]
    for options in asked:
        assert wrong.id not in [hit.memory.id for hit in alma.retrieve("auth-service sessions Redis", **options).hits]
    with alma._store.lock:
        index = alma._store.index("shop")
        rows, _ = index.nearest(alma._store.encoder.encode_query(wrong.text), 10)
        assert wrong.id not in [index.ids[row] for row in rows]
    assert alma.contradictions(suspected=True) == []
    assert alma.retrieve(against.text).hits[0].status == "active"
    assert [link.memory.id for link in alma.why(wrong.id).supported_by] == [basis.id]
    assert "retracted: it was the billing-service" in str(alma.why(basis.id))
    assert alma.doctor().ok

    restored = alma.restore(wrong.id)
    assert restored == wrong
    assert graph(alma) == before
    assert wrong.text in texts(alma, "auth-service sessions Redis")
    assert len(alma.contradictions()) == 1


def test_what_was_retracted_is_not_stored_again_and_the_reason_is_told(plain: ALMA) -> None:
    wrong = plain.add_domain_knowledge("a", "d", "tokens live for 24 hours")
    plain.retract(wrong.id, reason="it is 12")
    with pytest.raises(RetractedError, match=rf"it is 12.*restore\('{wrong.id}'\)") as caught:
        plain.add_domain_knowledge("a", "d", "tokens live  for 24 hours ")
    assert (caught.value.memory_id, caught.value.reason) == (wrong.id, "it is 12")
    with pytest.raises(RetractedError):
        plain.add_domain_knowledge("a", "d", wrong.text, id="another id")
    kept = plain.add_domain_knowledge("a", "d", "tokens live for 12 hours")
    with pytest.raises(RetractedError):
        plain.revise(kept.id, fact=wrong.text)
    with pytest.raises(RetractedError):  # a batch is checked in full before anything is written
        plain.add_batch([kept.model_copy(update={"id": "", "fact": text}) for text in ("new", wrong.text)])
    assert plain.stats().memories == 2
    # others may say it, and its own id with the same fields tells that it is retracted
    assert plain.add_domain_knowledge("b", "d", wrong.text).status == "active"
    assert plain.add_domain_knowledge("a", "d", wrong.text, id=wrong.id).status == "retracted"
    assert plain.restore(wrong.id) == wrong
    assert plain.add_domain_knowledge("a", "d", wrong.text) == wrong


def test_a_retracted_outcome_counts_no_longer_and_a_restored_one_again(plain: ALMA) -> None:
    ids = [plain.learn("dev", f"deploy {n}", True, "canary release", task_type="deploy").id for n in range(4)]

    def lesson() -> Heuristic:
        [found] = plain.memories(kind="heuristic", status=None)
        assert isinstance(found, Heuristic)
        return found

    plain.retract(ids[0], reason="the run was faked")
    assert (lesson().success_count, lesson().occurrence_count, lesson().status) == (3, 3, "active")
    assert ids[0] not in lesson().supporting_outcomes
    assert plain.stats().edges["SUPPORTS"] == 4  # its edge stays
    plain.retract(ids[1], reason="so was this")
    assert (lesson().status, lesson().retired_reason) == ("archived", "its outcomes no longer bear it out")
    with pytest.raises(InvalidInputError, match="follows from its outcomes"):
        plain.restore(lesson().id)
    plain.learn("dev", "deploy 9", True, "canary release", task_type="deploy")
    assert (lesson().success_count, lesson().status) == (3, "active")
    for number in (1, 0):
        plain.restore(ids[number])
    assert (lesson().success_count, lesson().status) == (5, "active")
    assert plain.stats().edges["SUPPORTS"] == 5
    assert plain.doctor().ok


def test_a_retraction_survives_a_new_start(open_alma: Open, engine: str) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    ids = [alma.learn("dev", f"deploy {n}", True, "canary", task_type="deploy").id for n in range(5)]
    alma.retract(ids[0], reason="faked")
    if engine != "memory":
        alma.close()
        alma = open_alma(embedder="hashing", extractor="none")
    alma.learn("dev", "deploy 5", True, "canary", task_type="deploy")
    [lesson] = alma.memories(kind="heuristic")
    assert isinstance(lesson, Heuristic)
    assert lesson.success_count == 5
    assert sorted(lesson.supporting_outcomes) == sorted([*ids[1:], *lesson.supporting_outcomes[-1:]])
    alma.restore(ids[0])
    [lesson] = alma.memories(kind="heuristic")
    assert isinstance(lesson, Heuristic)
    assert lesson.success_count == 6


def test_a_retracted_lesson_stays_so_while_its_outcomes_come_and_go(plain: ALMA) -> None:
    def tell(number: int, strategy: str = "canary release") -> str:
        return plain.learn("dev", f"deploy {number}", True, strategy, task_type="deploy").id

    ids = [tell(number) for number in range(3)]
    [lesson] = plain.memories(kind="heuristic")
    plain.retract(lesson.id, reason="it worked for another reason")
    tell(3)
    counted = plain.get(lesson.id)
    assert isinstance(counted, Heuristic)
    assert (counted.status, counted.success_count) == ("retracted", 4)
    for memory_id in ids[:2]:
        plain.retract(memory_id, reason="faked")
    assert plain.get(lesson.id).status == "retracted"
    assert plain.restore(lesson.id).status == "archived"  # its outcomes would not bear it out now
    assert list(plain.memories(kind="heuristic")) == []
    plain.restore(ids[0])
    assert plain.get(lesson.id).status == "active"
    plain.retract(lesson.id, reason="once more")
    tell(4, "Canary release")  # a wording that comes first gives the lesson another id
    [renamed] = plain.memories(kind="heuristic", status=None)
    assert (renamed.status, renamed.retired_reason) == ("retracted", "once more")
    assert plain.restore(renamed.id).status == "active"
    assert plain.doctor().ok


def test_only_what_is_retired_can_be_restored_and_only_once(plain: ALMA) -> None:
    kept = plain.add_domain_knowledge("a", "d", "x")
    with pytest.raises(InvalidInputError, match="is active"):
        plain.restore(kept.id)
    plain.retract(kept.id, reason="no")
    with pytest.raises(InvalidInputError, match="already: no"):
        plain.retract(kept.id, reason="again")
    with pytest.raises(MemoryNotFoundError):
        plain.retract("nobody", reason="x")
    with pytest.raises(MemoryNotFoundError):
        plain.restore("nobody")
    for reason in ("", " ", 3, None):
        with pytest.raises(InvalidInputError):
            plain.retract(kept.id, reason=reason)  # type: ignore[arg-type]


def test_an_equal_memory_stands_in_the_way_of_a_restored_one(plain: ALMA) -> None:
    old = plain.add_domain_knowledge("a", "d", "the port is 80")
    plain.revise(old.id, fact="the port is 8080", reason="moved")
    again = plain.add_domain_knowledge("a", "d", "the port is 80")
    assert again.id != old.id
    with pytest.raises(InvalidInputError, match=again.id):
        plain.restore(old.id)
    plain.forget(again.id)
    assert plain.restore(old.id) == old


def test_a_retracted_turn_lends_nothing_to_the_turns_around_it(plain: ALMA) -> None:
    ids = [
        plain.observe("a", text, session_id="s").id
        for text in ("where did you go", "I went to Reykjavik", "ok", "it rained", "we left", "by bus")
    ]
    assert len(plain.retrieve("Reykjavik").hits) >= 1
    before = graph(plain)
    plain.retract(ids[1], reason="it was Oslo")
    assert plain.retrieve("Reykjavik").hits == ()
    for hit in plain.retrieve("where did you go").hits:
        assert ids[1] not in [turn.id for turn in hit.context]
    with plain._store.lock:  # arrays that are loaded anew say the same
        kept = plain._store.index("shop").context.gates().tolist()
        plain._store.drop_index("shop")
        assert plain._store.index("shop").context.gates().tolist() == kept
    assert plain.retrieve("Reykjavik").hits == ()
    plain.restore(ids[1])
    assert graph(plain) == before
    assert ids[1] in [hit.memory.id for hit in plain.retrieve("Reykjavik").hits]


@embedded_only
def test_the_catalogue_counts_nothing_that_was_retracted(plain: ALMA) -> None:
    ids = [plain.learn("dev", f"t{n}", n < 4, "canary", task_type="deploy").id for n in range(5)]
    one, two = (plain.add_domain_knowledge(agent, "d", f"fact of {agent}").id for agent in ("ann", "bob"))
    plain.relate(one, "CONTRADICTS", two)
    plain.relate(two, "SUPPORTS", one)
    for memory_id, reason in ((ids[0], "faked"), (ids[4], "faked, too"), (two, "no")):
        plain.retract(memory_id, reason=reason)
    [strategy] = plain.queries["strategies-that-work"]()
    assert (strategy["supports"], strategy["failures"]) == (3, 0)
    [thin] = plain.queries["thin-evidence"](max_supports=3)
    assert (thin["supports"], thin["failures"]) == (3, 0)
    assert [len(plain.queries[name]()) for name in ("contradiction-map", "agents-disagree")] == [0, 0]
    assert [row["fact"] for row in plain.queries["unsupported-facts"]()] == ["fact of ann"]
    assert [row["contradicted"] for row in plain.queries["knowledge-by-domain"]()] == [0]
    reasons = {row["memory_id"]: row["reason"] for row in plain.queries["superseded-and-why"]()}
    assert reasons == {ids[0]: "faked", ids[4]: "faked, too", two: "no"}


STRATEGIES = ("canary release", "Canary  release", "blue-green", "big bang", "")
OUTCOMES = st.lists(
    st.tuples(st.sampled_from(STRATEGIES), st.booleans(), st.sampled_from([None, "deploy"]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outcomes=OUTCOMES, picks=st.lists(st.integers(0, 30), max_size=5))
def test_retract_and_restore_leave_the_graph_as_it_was(open_alma: Open, outcomes: Any, picks: list[int]) -> None:
    alma = open_alma(embedder="hashing", extractor="rules", clock=Stopped(), project_id=str(uuid4()))
    for strategy, success, task_type, task in outcomes:
        alma.learn("dev", f"ship service-{task}", success, strategy, task_type=task_type, session_id="s")
    fact = alma.add_domain_knowledge("dev", "d", "service-1 runs on node-3")
    alma.revise(fact.id, fact="service-1 runs on node-4", reason="moved")
    before = graph(alma)
    everything = sorted(memory.id for memory in alma.memories(status=None))
    done: list[str] = []
    for memory_id in dict.fromkeys(everything[pick % len(everything)] for pick in picks):
        if memory_id in {memory.id for memory in alma.memories(status=None)}:  # a lesson may go with its wording
            alma.retract(memory_id, reason="a test")
            done.append(memory_id)
    assert not {hit.memory.id for hit in alma.retrieve("ship service-1 deploy", top_k=50).hits} & set(done)
    for memory_id in reversed(done):
        alma.restore(memory_id)
    assert graph(alma) == before
    assert alma._store.backend.verify() == []


# ---------------------------------------------------------------- history


def test_history_tells_the_versions_with_times_and_reasons(plain: ALMA) -> None:
    first = plain.add_domain_knowledge("ann", "d", "the limit is 3")
    second = plain.revise(first.id, fact="the limit is 5", reason="raised in May", agent="bob")
    third = plain.revise(second.id, fact="the limit is 7")
    other = plain.add_domain_knowledge("ann", "d", "the limit is soft")
    plain.relate(third.id, "INHERITS_FROM", other.id)  # a source, no version
    versions = plain.history(second.id)
    assert versions == plain.history(first.id) == plain.history(third.id)
    assert [version.memory.id for version in versions] == [first.id, second.id, third.id]
    assert [version.reason for version in versions] == ["raised in May", None, None]
    assert [version.agent for version in versions] == ["ann", "bob", "bob"]
    assert [version.status for version in versions] == ["superseded", "superseded", "active"]
    assert [version.until for version in versions[:2]] == [version.since for version in versions[1:]]
    assert [item.id for item in plain.why(first.id).history] == [first.id, second.id, third.id]
    assert [version.memory.id for version in plain.history(other.id)] == [other.id]
    with pytest.raises(MemoryNotFoundError):
        plain.history("nobody")


def test_history_follows_the_revisions_also_where_the_clock_went_back(open_alma: Open) -> None:
    times = [datetime(2026, 5, day, tzinfo=UTC) for day in (20, 10, 15, 1)]
    now = [times[0]]
    alma = open_alma(embedder="hashing", extractor="none", clock=lambda: now[0])
    order = [alma.add_domain_knowledge("a", "d", "the limit is 1").id]
    for at, time in enumerate(times[1:], 2):
        now[0] = time
        order.append(alma.revise(order[-1], fact=f"the limit is {at}").id)
    for asked in order:
        assert [version.memory.id for version in alma.history(asked)] == order
        assert [item.id for item in alma.why(asked).history] == order


def test_a_restored_version_takes_the_place_of_the_one_after_it(plain: ALMA) -> None:
    first = plain.add_domain_knowledge("a", "d", "the limit is 3", valid_to="2027-01-01")
    second = plain.revise(first.id, fact="the limit is 5", reason="raised")
    before = plain.get(first.id)
    assert plain.restore(first.id) == first  # with the end that the revision had changed
    assert texts(plain, "limit") == ["the limit is 3"]
    [old, new] = plain.history(first.id)
    assert (old.status, new.status, new.reason) == ("active", "superseded", "another version was restored")
    assert plain.restore(second.id).status == "active"
    assert plain.get(first.id).status == before.status
    assert texts(plain, "limit") == ["the limit is 5"]
    third = plain.revise(second.id, fact="the limit is 7")
    plain.restore(first.id)
    fourth = plain.revise(first.id, fact="the limit is 9")
    assert [version.memory.id for version in plain.history(third.id)] == [first.id, second.id, third.id, fourth.id]
    assert [memory.id for memory in plain.memories()] == [fourth.id]


def test_a_retracted_version_that_was_superseded_goes_back_to_being_so(plain: ALMA) -> None:
    first = plain.add_domain_knowledge("a", "d", "the limit is 3")
    second = plain.revise(first.id, fact="the limit is 5", reason="raised")
    before = graph(plain)
    plain.retract(first.id, reason="it never was")
    assert plain.history(first.id)[0].reason == "it never was"
    assert plain.restore(first.id).retired_reason == "raised"
    assert graph(plain) == before
    plain.retract(second.id, reason="a misprint")
    assert texts(plain, "limit") == []
    plain.restore(first.id)
    assert texts(plain, "limit") == ["the limit is 3"]


def test_a_restored_turn_takes_its_place_in_the_episode_back(plain: ALMA) -> None:
    first = plain.observe("a", "I moved to Rome.", session_id="s", occurred_at="2024-01-01")
    plain.observe("a", "ok", session_id="s")
    before = graph(plain)
    second = plain.revise(first.id, text="I moved to Oslo.", reason="misheard")
    plain.restore(first.id)
    [hit] = [hit for hit in plain.retrieve("moved to Rome").hits if hit.memory.id == first.id]
    assert [turn.text for turn in hit.context] == ["ok"]
    plain.forget(second.id)
    assert graph(plain) == before
