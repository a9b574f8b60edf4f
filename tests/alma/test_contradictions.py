"""Contradictions are caught when they are written, and kept with their evidence."""

from __future__ import annotations

from datetime import datetime

import pytest

from alma_graph import ALMA
from tests.alma.conftest import Open


def tell(alma: ALMA, fact: str, agent: str = "dev", **fields: object) -> str:
    return alma.add_domain_knowledge(agent, "ops", fact, **fields).id  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("older", "newer", "signal"),
    [
        ("The billing service listens on port 8080.", "The billing service listens on port 9090.", "quantity"),
        ("The audit log is mutable.", "The audit log is immutable.", "antonym"),
        ("The gateway caches responses.", "The gateway does not cache responses.", "negation"),
        ("The staging cluster runs in Frankfurt.", "The staging cluster runs in Dublin.", "exclusive_value"),
    ],
)
def test_each_signal_is_caught_with_its_evidence(alma: ALMA, older: str, newer: str, signal: str) -> None:
    first, second = tell(alma, older, agent="dev"), tell(alma, newer, agent="ops")
    [found] = alma.contradictions()
    assert (found.newer.id, found.older.id) == (second, first)
    assert found.signal == signal
    assert found.score >= 0.7
    assert found.disposition == "open"
    texts = {first: older, second: newer}
    assert {span.memory_id for span in found.evidence} == {first, second}
    for span in found.evidence:
        assert texts[span.memory_id][span.start : span.end] == span.text
    assert alma.get(first).status == "active"  # it is the reader's to settle
    assert [link.memory.id for link in alma.why(first).contradicted_by] == [second]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann works at Acme.", "Ann administers Acme's GitHub org."),
        ("The read timeout is 30 seconds.", "The connect timeout is 5 seconds."),
        ("Staging runs Postgres 15.", "Production runs Postgres 16."),
        ("The billing service uses Redis.", "The billing service uses Kafka."),
    ],
)
def test_what_can_both_be_true_is_left_alone(alma: ALMA, one: str, other: str) -> None:
    tell(alma, one)
    tell(alma, other)
    assert alma.contradictions(suspected=True) == []


def test_the_newer_side_is_newer_in_the_world_not_in_order_of_arrival(alma: ALMA) -> None:
    late = tell(alma, "The retry limit is 5.", valid_from=datetime(2024, 6, 1))
    early = tell(alma, "The retry limit is 3.", valid_from="2024-01-01T00:00:00+02:00")
    [found] = alma.contradictions()
    assert (found.newer.id, found.older.id) == (late, early)


def test_love_and_hate_are_both_kept(alma: ALMA) -> None:
    for text in ("I love dark mode.", "I hate dark mode."):
        alma.add_user_preference("u1", "theme", text)
    assert len(list(alma.memories(kind="user_preference"))) == 2
    assert len(alma.contradictions()) == 1


def test_two_users_and_two_projects_do_not_contradict_each_other(open_alma: Open) -> None:
    shop, bank = open_alma(), open_alma(project_id="bank")
    shop.add_user_preference("alice", "keys", "The key is 42.")
    shop.add_user_preference("bob", "keys", "The key is 43.")
    tell(bank, "The billing service listens on port 8080.")
    tell(shop, "The billing service listens on port 9090.")
    assert shop.contradictions(suspected=True) == []
    assert bank.contradictions(suspected=True) == []


def test_members_of_one_batch_are_judged_too(alma: ALMA) -> None:
    alma.observe_batch(
        [
            {"agent": "a", "session_id": "s", "speaker": "Ann", "text": "Nick drinks green tea."},
            {"agent": "a", "session_id": "s", "speaker": "Ann", "text": "Nick stopped drinking green tea."},
        ]
    )
    assert len(alma.contradictions()) == 1


def test_chinese_negation_is_seen_and_never_a_duplicate(alma: ALMA) -> None:
    tell(alma, "我喜欢咖啡")
    tell(alma, "我不喜欢咖啡")
    assert alma.stats().by_kind["domain_knowledge"] == 2
    assert len(alma.contradictions(suspected=True)) == 1


def test_choosing_by_agent_and_disposition(alma: ALMA) -> None:
    tell(alma, "The audit log is mutable.", agent="dev")
    tell(alma, "The audit log is immutable.", agent="ops")
    assert len(alma.contradictions(agent="dev")) == len(alma.contradictions(agent="ops")) == 1
    assert alma.contradictions(agent="qa") == []
    assert len(alma.contradictions(disposition="open")) == 1
    assert alma.contradictions(disposition="update") == []


def test_without_extraction_nothing_is_judged(alma: ALMA) -> None:
    for text in ("The audit log is mutable.", "The audit log is immutable."):
        alma.add_domain_knowledge("dev", "ops", text, extract=False)
    assert alma.contradictions(suspected=True) == []
    assert alma.stats().entities == 0


def test_a_revision_contradicts_what_it_put_right_no_longer(alma: ALMA) -> None:
    old = alma.add_domain_knowledge("a", "oil", "Change the oil after 500 hours.", id="old")
    middle = alma.revise("old", fact="Change the oil after 750 hours.")
    new = alma.revise(middle.id, fact="Change the oil after 900 hours.")
    assert alma.contradictions() == []
    other = alma.add_domain_knowledge("b", "oil", "Change the oil after 400 hours.", id="other")
    pairs = {frozenset((item.newer.id, item.older.id)) for item in alma.contradictions()}
    assert frozenset((other.id, new.id)) in pairs  # another's claim is no version
    assert not any(pair <= {old.id, middle.id, new.id} for pair in pairs)
    alma.relate(new.id, "CONTRADICTS", "old")  # a caller's word is kept
    assert {"old", new.id} in [{item.newer.id, item.older.id} for item in alma.contradictions()]


def test_of_two_versions_the_one_that_was_restored_holds(alma: ALMA) -> None:
    alma.add_domain_knowledge("a", "oil", "Change the oil after 500 hours.", id="old")
    alma.revise("old", fact="Change the oil after 750 hours.")
    alma.restore("old")
    assert alma.contradictions() == []
