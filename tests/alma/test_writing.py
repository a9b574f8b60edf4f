"""What comes back is what went in; bad input leaves the store as it was."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from alma_graph import (
    ALMA,
    AlmaGraphError,
    CacheConfig,
    DomainKnowledge,
    EmbedderMismatchError,
    Heuristic,
    IdConflictError,
    InvalidInputError,
    MemoryNotFoundError,
    UserPreference,
)
from alma_graph.errors import StoreClosedError
from tests.alma.conftest import Open
from tests.conftest import durable_only

ODD = ["O'Brien's \"shop\"", "a`b", "x'}) DETACH DELETE n //", "shop\nnewline", "\U0001f6d2", "店", "a/b:c", " lead"]


@pytest.mark.parametrize("name", ODD)
def test_names_are_kept_to_the_letter(open_alma: Open, name: str) -> None:
    alma = open_alma(project_id=name, embedder="hashing", extractor="rules")
    stored = alma.learn(agent=name, task=name, outcome=True, strategy_used=name, id=name, session_id=name, user_id=name)
    fact = alma.add_domain_knowledge(agent=name, domain=name, fact=f"{name} is a fact", metadata={name: [name]})
    assert alma.get(name) == stored
    assert stored.project_id == stored.agent == stored.id == name
    assert alma.get(fact.id).metadata == {name: [name]}
    assert alma.projects() == [name]
    assert alma.retrieve(task=name, agent=name).hits


@pytest.mark.parametrize(
    ("call", "fields", "named"),
    [
        ("learn", {"agent": "a", "task": "", "outcome": True}, "task"),
        ("learn", {"agent": "", "task": "t", "outcome": True}, "agent"),
        ("learn", {"agent": "a", "task": "t", "outcome": "perhaps"}, "perhaps"),
        ("learn", {"agent": "a", "task": "t", "outcome": True, "occurred_at": "soon"}, "soon"),
        ("observe", {"text": "hi", "session_id": ""}, "session_id"),
        ("observe", {"text": "", "session_id": "s"}, "text"),
        ("add_domain_knowledge", {"domain": "d", "fact": "   "}, "fact"),
        ("add_domain_knowledge", {"domain": "d", "fact": "f", "confidence": 2.0}, "confidence"),
        ("add_domain_knowledge", {"domain": "d", "fact": "\ud800"}, "surrogate"),
        ("add_user_preference", {"user_id": "u", "category": "c", "preference": "p", "source": "gossip"}, "gossip"),
        ("retrieve", {"task": ""}, "task"),
        ("retrieve", {"task": "t", "top_k": 0}, "top_k"),
        ("retrieve", {"task": "t", "top_k": -1}, "top_k"),
        ("retrieve", {"task": "t", "top_k": True}, "top_k"),
        ("retrieve", {"task": "t", "kinds": ["dream"]}, "dream"),
        ("retrieve", {"task": "t", "as_of": "then"}, "then"),
        ("memories", {"kind": "dream"}, "dream"),
        ("memories", {"order": "size"}, "size"),
        ("memories", {"limit": -1}, "limit"),
        ("contradictions", {"disposition": "angry"}, "angry"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(plain: ALMA, call: str, fields: dict[str, Any], named: str) -> None:
    with pytest.raises(AlmaGraphError) as caught:
        getattr(plain, call)(**fields)
    assert named in str(caught.value)
    assert plain.stats().nodes == 0


def test_an_unknown_id_is_said(plain: ALMA) -> None:
    for call in (plain.get, plain.why, plain.forget):
        with pytest.raises(MemoryNotFoundError, match="nowhere"):
            call("nowhere")


def test_equal_facts_of_one_owner_are_one_memory(plain: ALMA) -> None:
    first = plain.add_domain_knowledge(agent="a", domain="d", fact="Tokens expire in 24h")
    assert plain.add_domain_knowledge(agent="a", domain="d", fact="  tokens EXPIRE in 24h") == first
    other = plain.add_domain_knowledge(agent="b", domain="d", fact="Tokens expire in 24h")
    assert other.id != first.id
    twice = plain.add_batch(
        [DomainKnowledge(domain="d", fact="x", agent="a"), DomainKnowledge(domain="d", fact="X", agent="a")]
    )
    assert twice[0].id == twice[1].id
    assert plain.stats().memories == 3


def test_equal_turns_are_two_turns(plain: ALMA) -> None:
    one, two = (plain.observe(agent="a", text="ok", session_id="s") for _ in range(2))
    assert one.id != two.id
    assert plain.stats().edges["NEXT"] == 1


def test_cjk_texts_that_differ_are_two_memories(alma: ALMA) -> None:
    alma.add_domain_knowledge(agent="a", domain="d", fact="我喜欢健身")
    alma.add_domain_knowledge(agent="a", domain="d", fact="我喜欢普洱茶")
    assert alma.stats().memories == 2


def test_an_id_is_any_text_and_exact(plain: ALMA) -> None:
    plain.add_domain_knowledge(agent="a", domain="d", fact="one", id="sprint-4")
    plain.add_domain_knowledge(agent="a", domain="d", fact="two", id="sprint-4-done")
    assert plain.get("sprint-4").text == "one"
    with pytest.raises(IdConflictError, match="fact"):
        plain.add_domain_knowledge(agent="a", domain="d", fact="three", id="sprint-4")


def test_every_id_that_is_shown_is_taken(alma: ALMA) -> None:
    alma.add_domain_knowledge(agent="a", domain="billing", fact="The billing service listens on port 8080.")
    [hit] = alma.retrieve(task="Which port does the billing service use?").hits
    assert alma.get(hit.memory.id) == hit.memory
    assert alma.why(hit.memory.id).memory == hit.memory
    assert len(alma.forget(hit.memory.id)) == 1
    assert alma.retrieve(task="Which port does the billing service use?").hits == ()


def test_times_come_back_aware_and_in_order(plain: ALMA) -> None:
    naive = plain.add_domain_knowledge(agent="a", domain="d", fact="one", valid_from=datetime(2024, 1, 1))
    aware = plain.add_domain_knowledge(
        agent="a",
        domain="d",
        fact="two",
        valid_from=datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    )
    assert plain.get(naive.id).valid_from == datetime(2024, 1, 1, tzinfo=UTC)
    assert plain.get(aware.id).valid_from == datetime(2023, 12, 31, 20, 30, tzinfo=UTC)
    assert [memory.id for memory in plain.memories(order="valid_from")] == [naive.id, aware.id]


def test_microseconds_survive(plain: ALMA) -> None:
    moment = datetime(2031, 2, 3, 4, 5, 6, 789123, tzinfo=UTC)
    fact = plain.add_domain_knowledge(agent="a", domain="d", fact="f", valid_from=moment)
    assert plain.get(fact.id).valid_from == moment


def test_a_long_text_is_kept_whole_and_its_end_is_found(alma: ALMA) -> None:
    filler = "The quarterly report lists revenue, costs and the plans of every department. " * 2600
    text = filler + "The vault combination is kept by Margarethe."
    assert len(text) > 200_000
    stored = alma.add_domain_knowledge(agent="a", domain="d", fact=text)
    assert alma.get(stored.id).text == text
    assert [hit.memory.id for hit in alma.retrieve(task="Who keeps the vault combination?").hits] == [stored.id]
    assert alma.doctor().ok


class Broken:
    """An embedder that returns what it is told to."""

    def __init__(self, value: NDArray[np.float32], dimension: int = 4) -> None:
        self.name = "broken"
        self.dimension = dimension
        self.value = value

    def embed(self, texts: Any) -> NDArray[np.float32]:
        return np.repeat(self.value[None, :], len(texts), axis=0)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.array([1, np.nan, 0, 0], np.float32), "NaN"),
        (np.zeros(4, np.float32), "zero"),
        (np.ones(6, np.float32), "6"),
    ],
)
def test_a_bad_vector_is_refused_before_anything_is_written(
    open_alma: Open, value: NDArray[np.float32], said: str
) -> None:
    alma = open_alma(embedder=Broken(value), extractor="none")
    with pytest.raises(AlmaGraphError, match=said):
        alma.add_domain_knowledge(agent="a", domain="d", fact="f")
    assert alma.stats().nodes == 0


def test_the_dimension_is_the_embedders(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing:64", extractor="none")
    alma.add_domain_knowledge(agent="a", domain="d", fact="sixty-four numbers")
    assert alma.stats().dimension == 64
    assert alma.retrieve(task="sixty-four numbers").hits


@durable_only
def test_another_embedder_is_refused_with_both_names_and_the_cures(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing:64", extractor="none")
    kept = alma.add_domain_knowledge(agent="a", domain="d", fact="f")
    alma.close()
    with pytest.raises(EmbedderMismatchError) as caught:
        open_alma(embedder="hashing:32", extractor="none")
    for part in ("hashing-64", "hashing-32", "reembed"):
        assert part in str(caught.value)
    again = open_alma(extractor="none")
    assert again.get(kept.id) == kept
    assert again.stats().embedder == "hashing-64"


def test_threads_lose_nothing(plain: ALMA) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for at in range(50):
                plain.learn(
                    agent=f"a{number}", task=f"task {at}", outcome=True, strategy_used="same", id=f"{number}-{at}"
                )
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert plain.stats().by_kind["outcome"] == 400
    assert plain.doctor().ok


@pytest.mark.never("memory", reason="every opening makes a store of its own", raises=MemoryNotFoundError)
def test_two_handles_of_one_path_share_the_store(open_alma: Open) -> None:
    one = open_alma(embedder="hashing", extractor="none")
    two = open_alma(extractor="none")
    first = one.add_domain_knowledge(agent="a", domain="d", fact="written through the first")
    second = two.add_domain_knowledge(agent="a", domain="d", fact="written through the second")
    assert two.get(first.id) == first
    assert one.get(second.id) == second
    one.close()
    assert two.stats().memories == 2
    two.close()
    again = open_alma(extractor="none")
    assert {memory.id for memory in again.memories()} == {first.id, second.id}


def test_removed_and_added_again_is_found(alma: ALMA) -> None:
    facts = ["The cache lives in Redis.", "The queue lives in Kafka.", "The blobs live in S3."]
    for fact in [alma.add_domain_knowledge(agent="a", domain="d", fact=text) for text in facts]:
        alma.forget(fact.id)
    assert alma.stats().memories == 0
    assert alma.stats().entities == 0
    for text in facts:
        alma.add_domain_knowledge(agent="a", domain="d", fact=text)
    for text in facts:
        assert alma.retrieve(task=text).hits[0].memory.text == text
    assert alma.doctor().ok


def test_a_revision_supersedes_and_keeps_the_history(alma: ALMA) -> None:
    old = alma.add_domain_knowledge(agent="a", domain="ops", fact="The staging cluster runs in Frankfurt.")
    new = alma.revise(old.id, fact="The staging cluster runs in Dublin.", reason="moved")
    assert alma.get(old.id).status == "superseded"
    hits = alma.retrieve(task="Where does the staging cluster run?").hits
    assert [hit.memory.id for hit in hits] == [new.id]
    both = alma.retrieve(task="Where does the staging cluster run?", include_superseded=True).hits
    assert {hit.memory.id for hit in both} == {old.id, new.id}
    assert [memory.id for memory in alma.why(new.id).history] == [old.id, new.id]
    with pytest.raises(InvalidInputError, match="superseded"):
        alma.revise(old.id, fact="again")


def test_an_edge_is_there_once_and_its_creation_is_reported(plain: ALMA) -> None:
    one = plain.add_domain_knowledge(agent="a", domain="d", fact="one")
    two = plain.add_domain_knowledge(agent="a", domain="d", fact="two")
    assert plain.relate(one.id, "SUPPORTS", two.id).created
    assert not plain.relate(one.id, "SUPPORTS", two.id).created
    assert plain.stats().edges["SUPPORTS"] == 1
    plain.relate(one.id, "INHERITS_FROM", two.id)
    with pytest.raises(InvalidInputError, match="circle"):
        plain.relate(two.id, "INHERITS_FROM", one.id)
    with pytest.raises(InvalidInputError, match="LIKES"):
        plain.relate(one.id, "LIKES", two.id)
    against = plain.relate(one.id, "CONTRADICTS", two.id)
    assert (against.source_id, against.target_id) == (two.id, one.id)  # the newer one speaks


def test_everything_goes_through_json(plain: ALMA) -> None:
    fact = plain.add_domain_knowledge(agent="a", domain="d", fact="f", metadata={"k": {"n": [1, 2.5, None, True]}})
    assert json.loads(json.dumps({"kind": fact.kind, "status": fact.status})) == {
        "kind": "domain_knowledge",
        "status": "active",
    }
    assert plain.get(fact.id).metadata == {"k": {"n": [1, 2.5, None, True]}}
    assert isinstance(plain.add_user_preference("u", "style", "short answers"), UserPreference)


def test_a_forgotten_memory_leaves_nothing_behind(alma: ALMA) -> None:
    kept = alma.add_domain_knowledge(agent="a", domain="d", fact="Kafka feeds the ledger service.")
    before = alma.stats()
    gone = alma.observe(
        agent="b", text="Zoe moved the ledger service to Redis.", speaker="Zoe", session_id="s", user_id="zoe"
    )
    assert alma.stats().sessions == 1
    alma.forget(gone.id)
    after = alma.stats()
    assert (after.nodes, after.edges, after.entities) == (before.nodes, before.edges, before.entities)
    assert alma.get(kept.id) == kept
    assert alma.doctor().ok


def test_turns_around_a_forgotten_one_are_joined(plain: ALMA) -> None:
    ids = [plain.observe(agent="a", text=f"turn {n}", session_id="s").id for n in range(5)]
    plain.forget(ids[2])
    plain.forget(ids[1])
    assert plain.stats().edges["NEXT"] == 2
    plain.observe(agent="a", text="turn 5", session_id="s")
    assert plain.stats().edges["NEXT"] == 3
    assert plain.doctor().ok


def test_a_forgotten_outcome_is_no_longer_counted(alma: ALMA) -> None:
    given: dict[str, Any] = {"agent": "dev", "task": "Deploy auth service", "strategy_used": "Canary release"}
    ids = [alma.learn(**given, outcome="success").id for _ in range(4)]
    secret = alma.learn(**given, outcome="failure", error_message="leaked token abc123").id
    alma.forget(secret)
    alma.forget(ids[0])
    [lesson] = alma.memories(kind="heuristic")
    assert isinstance(lesson, Heuristic)
    assert (lesson.success_count, lesson.occurrence_count) == (3, 3)
    for memory_id in ids[1:]:
        alma.forget(memory_id)
    assert alma.stats().nodes == 0
    assert alma.stats().edges == {}
    assert alma.doctor().ok


def test_entities_and_relations_appear_by_themselves(alma: ALMA) -> None:
    alma.observe(agent="a", speaker="Ann", session_id="s", text="The checkout-service was deployed at noon.")
    alma.observe(agent="a", speaker="Ann", session_id="s", text="It calls Stripe.")
    for number in range(4):
        alma.observe(agent="a", session_id=f"t{number}", text="DGIA signed the contract.")
    graph = alma.to_networkx()
    names = {data["name"]: node for node, data in graph.nodes(data=True) if data["label"] == "Entity"}
    assert {"checkout-service", "Stripe", "DGIA"} <= names.keys()
    assert graph.in_degree(names["DGIA"]) == 4
    related = {
        (source, target) for source, target, type_ in graph.edges(keys=True) if str(type_).startswith("RELATES_TO")
    }
    assert (names["checkout-service"], names["Stripe"]) in related  # the pronoun was resolved


def test_names_that_differ_in_a_digit_stay_apart(alma: ALMA) -> None:
    for name in ("Python 3.11", "Python 3.12"):
        alma.add_domain_knowledge(agent="a", domain="d", fact=f"The worker was built with {name}.")
    for name in ("node-5", "node-6"):
        alma.add_domain_knowledge(agent="a", domain="d", fact=f"The job ran on {name} yesterday.")
    entities = {data["name"] for _, data in alma.to_networkx().nodes(data=True) if data["label"] == "Entity"}
    assert {"3.11", "3.12"} <= entities or {"Python 3.11", "Python 3.12"} <= entities
    assert {"node-5", "node-6"} <= entities


def test_a_revision_never_ends_a_memory_before_it_began(plain: ALMA) -> None:
    later = plain.add_domain_knowledge(agent="a", domain="d", fact="from 2099 on", valid_from="2099-01-01")
    plain.revise(later.id, fact="from 2099 on, they say")
    now = plain.add_domain_knowledge(agent="a", domain="d", fact="x", valid_from="2024-01-01")
    plain.revise(now.id, fact="y", valid_from="2020-01-01")
    assert len(list(plain.memories(status=None))) == 4  # every one of them can be read
    assert plain.get(now.id).valid_to == plain.get(now.id).valid_from


def test_only_one_of_many_revisions_at_once_wins(plain: ALMA) -> None:
    old = plain.add_domain_knowledge(agent="a", domain="d", fact="the first wording")
    results: list[str] = []

    def revise(number: int) -> None:
        try:
            results.append(plain.revise(old.id, fact=f"wording {number}").text)
        except InvalidInputError as error:
            results.append(type(error).__name__)

    threads = [threading.Thread(target=revise, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("InvalidInputError") == 5
    assert len(list(plain.memories())) == 1


def test_a_revised_turn_keeps_its_place_and_time(plain: ALMA) -> None:
    first = plain.observe(agent="a", text="I moved to Rome.", session_id="s", occurred_at="2024-01-01")
    plain.observe(agent="a", text="ok", session_id="s")
    new = plain.revise(first.id, text="I moved to Oslo.", reason="misheard")
    assert plain.get(new.id) == new
    assert new.valid_from == first.valid_from
    assert plain.stats().edges["NEXT"] == 1
    [hit] = [hit for hit in plain.retrieve("moved to Oslo").hits if hit.memory.id == new.id]
    assert [turn.text for turn in hit.context] == ["ok"]


def test_projects_do_not_touch_each_other_by_equal_ids(open_alma: Open, engine: str) -> None:
    one, two = open_alma(project_id="one"), open_alma(project_id="two")
    for alma in (one, two):
        alma.add_domain_knowledge(agent="a", domain="d", fact="The auth-service uses Redis.", id="m1")
    before = two.stats()
    assert before.edges["RELATES_TO"] == 1
    one.forget("m1")
    assert two.stats().edges == before.edges
    assert one.stats().edges == {}


def test_a_callers_contradiction_is_more_than_a_suspicion(alma: ALMA) -> None:
    one = alma.add_domain_knowledge(agent="a", domain="d", fact="The audit log is mutable.")
    two = alma.add_domain_knowledge(agent="b", domain="d", fact="The audit log is immutable.")
    [found] = alma.contradictions(suspected=True)
    assert not alma.relate(one.id, "CONTRADICTS", two.id, evidence={"seen": "in the code"}).created
    [raised] = alma.contradictions()
    assert (raised.id, raised.score, raised.signal) == (found.id, 1.0, "user")


def test_a_closed_handle_is_closed_though_another_is_open(open_alma: Open, engine: str) -> None:
    one, two = open_alma(embedder="hashing"), open_alma(project_id="other", embedder="hashing")
    one.close()
    one.close()
    for call in (
        one.stats,
        one.projects,
        one.doctor,
        lambda: one.retrieve("x"),
        one.to_html,
        one.contradictions,
    ):
        with pytest.raises(StoreClosedError):
            call()
    with pytest.raises(StoreClosedError):
        one.observe(agent="a", text="x", session_id="s")
    two.observe(agent="a", text="x", session_id="s")
    assert two.stats().memories == 1


def test_each_handle_has_its_own_clock(open_alma: Open) -> None:
    one = open_alma(embedder="hashing", extractor="none", clock=lambda: datetime(2000, 1, 1))
    two = open_alma(embedder="hashing", extractor="none", clock=lambda: datetime(2001, 1, 1, tzinfo=UTC))
    assert one.observe(agent="a", text="x", session_id="s").created_at == datetime(2000, 1, 1, tzinfo=UTC)
    assert two.observe(agent="a", text="y", session_id="s").created_at == datetime(2001, 1, 1, tzinfo=UTC)


def test_answers_are_kept_until_something_is_written(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    alma.add_domain_knowledge(agent="a", domain="d", fact="the vault is in Bern")
    first = alma.retrieve("vault Bern")
    assert alma.retrieve("vault Bern") is first
    alma.add_domain_knowledge(agent="a", domain="d", fact="the vault key is in Basel")
    assert alma.retrieve("vault Bern") is not first
    off = open_alma(cache=CacheConfig(enabled=False), embedder="hashing", extractor="none")
    off.add_domain_knowledge(agent="a", domain="d", fact="the vault is in Bern")
    assert off.retrieve("vault Bern") is not off.retrieve("vault Bern")
