"""What must never be one strategy, and what may."""

from __future__ import annotations

import pytest

from alma_graph.learning.blocks import blocked
from alma_graph.learning.signature import signature
from alma_graph.learning.similarity import BLOCKED, exchanged, kin_score, pool_score

OPPOSED = [
    ("number", "Retry 3 times", "Retry 5 times"),
    ("number", "wait 30s between polls", "wait 3 minutes between polls"),
    ("number", "set the temperature to 1", "set the temperature to -1"),
    ("number", "keep batches < 32", "keep batches > 32"),
    ("number", "use Node v18", "use Node v20"),
    ("number", "raise the limit to 1,000 rows", "raise the limit to 1 row"),
    ("identifier", "rebuild orders_daily first", "rebuild orders_hourly first"),
    ("technology", "keep sessions in Redis", "keep sessions in PostgreSQL"),
    ("direction", "migrate from MySQL to PostgreSQL", "migrate from PostgreSQL to MySQL"),
    ("direction", "copy rows from the archive to the ledger", "copy rows from the ledger to the archive"),
    ("direction", "replace polling with webhooks", "replace webhooks with polling"),
    ("polarity", "Enable caching", "Disable caching"),
    ("polarity", "use a cache", "don't use a cache"),
    ("polarity", "caching disabled", "turn on caching"),
    ("polarity", "write the tests", "skip the tests"),
    ("polarity", "retry on timeout", "never retry on timeout"),
    ("polarity", "lock the row", "unlock the row"),
    ("polarity", "compress the payload", "decompress the payload"),
    ("polarity", "Antworten mit Cache", "Antworten ohne Cache"),
    ("axis", "increase the pool size", "decrease the pool size"),
    ("axis", "deploy to staging", "deploy to production"),
    ("axis", "use blue-green", "use a canary"),
    ("axis", "load rows lazily", "load rows eagerly"),
    ("target", "restart the auth service", "restart the payment service"),
    ("order", "run migrations before deploying", "deploy before running migrations"),
    ("order", "first freeze writes, then copy", "first copy, then freeze writes"),
    ("noun", "mock the clock", "mock the ledger"),
    ("name", "Fly from Boston to Denver", "Fly from Oslo to Denver"),
    ("script", "启用缓存", "禁用缓存"),
    ("script", "включить кэш", "отключить кэш"),
    ("script", "🚀", "🔥"),
]

SAME = [
    ("Retry 3 times", "retry three times"),
    ("wait 30s between polls", "wait 0.5 minutes between polls"),
    ("Enable caching", "turn on the cache"),
    ("do not disable the cache", "enable the cache"),
    ("run migrations before deploying", "migrate first, then deploy"),
    ("restart the auth service", "bounce auth-service"),
    ("skip the tests", "no tests"),
    ("start at 5pm", "start at 17:00"),
    ("use Python 3.12", "move to python3.12"),
    ("启用缓存", "启用缓存。"),
]


@pytest.mark.parametrize(("reason", "left", "right"), OPPOSED, ids=lambda text: text[:24])
def test_opposed_wordings_are_never_joined_however_near(reason: str, left: str, right: str) -> None:
    one, two = signature(left), signature(right)
    assert blocked(one, two) == blocked(two, one) == reason
    assert kin_score(one, two, 1.0) == kin_score(two, one, 1.0) == BLOCKED


@pytest.mark.parametrize(("left", "right"), SAME, ids=lambda text: text[:24])
def test_wordings_of_one_strategy_are_not_blocked(left: str, right: str) -> None:
    assert blocked(signature(left), signature(right)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("restart the auth service at night", "audit the auth service at night"),
        ("mock the ledger in tests", "seed the ledger in tests"),
    ],
)
def test_another_act_on_the_same_thing_is_kin_at_most(left: str, right: str) -> None:
    one, two = signature(left), signature(right)
    kin = kin_score(one, two, 0.95)
    assert exchanged(one, two)
    assert kin > 0
    assert pool_score(one, two, kin) == BLOCKED


def test_nouns_of_a_parser_are_taken_where_given() -> None:
    assert signature("mock the clock", ["clock"]).nouns == frozenset({"clock"})
    assert signature("mock the clock").nouns == frozenset({"clock"})
    assert signature("mock the clock", ["mock", "nothing of it"]).nouns == frozenset({"mock"})
    assert signature("mock the clock", []).nouns == frozenset({"clock"})


def test_a_document_is_alike_only_to_itself() -> None:
    long = "check the logs and restart. " * 200
    assert blocked(signature(long), signature(long)) is None
    assert blocked(signature(long), signature(long + "Now.")) == "script"


@pytest.mark.parametrize(
    "text", ["", "   ", "!!!", "the of", "\u200b", "a" * 5_000, "C", "-1", "🚀🚀", "x" * 50 + "_y" * 50]
)
def test_any_text_has_a_signature(text: str) -> None:
    one = signature(text)
    assert blocked(one, signature(text)) is None
    assert kin_score(one, one, 1.0) == 1.0
