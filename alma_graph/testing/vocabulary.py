"""Texts for random memories: few enough to meet again, with things in common, against each other, and odd ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

AGENTS = ("dev", "ops", "o'brien `x`")
USERS = ("maya", "li 李")
SESSIONS = ("standup", "incident 7")
DOMAINS = ("billing", "deploys", "数据")

FACTS = (
    "The billing service listens on port 8080.",
    "The billing service listens on port 9090.",
    "The billing service does not listen on port 8080.",
    "Redis caches the sessions of the billing service.",
    "The orders-api uses PostgreSQL 15.2 and Redis.",
    "The orders-api uses MySQL.",
    "the orders-api   uses MySQL",
    "Maria signs off every production release.",
    "Maria no longer signs off production releases.",
    "I've a Rubik's cube; children's party",
    "see C:\\repo\\src\\main.py and some/path/file",
    "x'}) DETACH DELETE n //",
    "我喜欢绿茶",
    "我不喜欢绿茶",
    "El niño comió jalapeño",
    "GET /v1/invoices returns 503 while Redis is down " + "and the gateway waits for the cache " * 12,
)
"""Among them two that differ in letter case, blanks and the full stop, which count as one text."""

TASKS = ("Deploy the billing service", "deploy billing-service", "Fix the login page", "部署 orders-api")
STRATEGIES = (
    "Blue-green deployment",
    "use a blue-green deployment",
    "avoid blue-green",
    "retry 3 times",
    "retry three times",
    "Rebuild it all",
    "",
)
PREFERENCES = ("Short bullet lists", "No bullet lists", "Answers in Spanish, ¡por favor!")
PATTERNS = ("Deploying on Friday", "Restarting Redis without a drain")
ERRORS = (None, "timeout", "disk full")

QUERIES = (
    "which port does the billing service use",
    "blue-green deployment of the billing service",
    "orders-api Redis",
    "绿茶",
    "main.py",
    "what did Maria say",
)


def day(number: int) -> datetime:
    """A day of the weeks in which everything happens."""
    return datetime(2026, 2, 1, tzinfo=UTC) + timedelta(days=number)


def some_run(random: Random, name: str | None = None) -> dict[str, Any]:
    """The keywords of `ALMA.learn`; without a name one of sixty, so that some come again."""
    return {
        "id": name or f"run-{random.randrange(60)}",
        "agent": random.choice(AGENTS[:2] * 2 + AGENTS),
        "task": random.choice(TASKS),
        "outcome": random.random() < 0.6,
        "strategy_used": random.choice(STRATEGIES),
        "task_type": random.choice([None, None, "deploy"]),
        "error_message": random.choice(ERRORS),
        "session_id": random.choice([None, None, *SESSIONS]),
    }


def some_fact(random: Random, name: str | None = None) -> dict[str, Any]:
    """The keywords of `ALMA.add_domain_knowledge`."""
    return {
        "id": name or f"fact-{random.randrange(20)}",
        "agent": random.choice([None, *AGENTS]),
        "domain": random.choice(DOMAINS),
        "fact": random.choice(FACTS),
        "valid_from": random.choice([None, day(random.randrange(40))]),
    }


def some_turn(random: Random, name: str | None = None) -> dict[str, Any]:
    """The keywords of `ALMA.observe`."""
    return {
        "id": name or f"turn-{random.randrange(20)}",
        "agent": random.choice([None, *AGENTS]),
        "text": random.choice(FACTS),
        "speaker": random.choice([None, "Maria", "user"]),
        "session_id": random.choice(SESSIONS),
        "occurred_at": random.choice([None, day(random.randrange(40))]),
    }
