"""Names meet under one key when they are surely one, and never when a digit differs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from alma_graph.extraction import ENTITY_TYPES, alias_keys, canonical, digits, known_name

TYPES = st.sampled_from(("", *ENTITY_TYPES))
NAMES = st.text(max_size=30) | st.from_regex(r"[a-zA-Z]{1,6}[ _./-]?\d{1,3}([ .]\d{1,2})?", fullmatch=True)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("PostgreSQL", "postgres", "TECH"),
        ("k8s", "Kubernetes", "TECH"),
        ("the auth service", "auth-service", "COMPONENT"),
        ("Auth Service", "auth_service", "COMPONENT"),
        ("payment workers", "payment worker", "COMPONENT"),
        ("user DB", "user database", "COMPONENT"),
        ("Acme, Inc.", "Acme Corp", "ORG"),
        ("María López", "Maria Lopez", "PERSON"),
        ("Dr. Chen", "Chen", "PERSON"),
        ("${REDIS_URL}", "REDIS_URL", "ENV_VAR"),
        ("parse_config()", "parse_config", "CODE"),
        ("./src/app.py", "src/app.py", "FILE"),
        ("https://acme.dev/docs/", "https://acme.dev/docs", "URL"),
        ("JIRA-42", "jira-42", "TICKET"),
        ("feature flags", "feature flag", "STRATEGY"),
    ],
)
def test_same_name(one: str, other: str, kind: str) -> None:
    assert canonical(one, kind) == canonical(other, kind)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Task 5", "Task 6", "TICKET"),
        ("Python 3.11", "Python 3.12", "TECH"),
        ("Ann Lee", "Anna Lee", "PERSON"),
        ("auth service", "auth service v2", "COMPONENT"),
        ("cluster-1", "cluster-2", "COMPONENT"),
        ("v1.2", "v1.2.1", "VERSION"),
        ("1.0", "10", "VERSION"),
        ("get_user", "get_users", "CODE"),
        ("HTTP 502", "HTTP 503", "ERROR"),
        ("Java", "JavaScript", "TECH"),
        ("OAuth", "OAuth2", "TECH"),
        ("C", "C++", "TECH"),
        ("PR #42", "PR #43", "TICKET"),
    ],
)
def test_different_names(one: str, other: str, kind: str) -> None:
    assert canonical(one, kind) != canonical(other, kind)
    assert not set(alias_keys(one, kind)) & set(alias_keys(other, kind))


def listed(name: str) -> bool:
    """The gazetteer may give an alias other digits ("k8s")."""
    return known_name(name) is not None or known_name(canonical(name)) is not None


@given(NAMES, NAMES, TYPES)
@example("1\u0301.5", "1.5", "PERSON")
@example("a 1 0", "a 10", "COMPONENT")
@example("x½", "x1", "")
def test_other_digits_other_key(one: str, other: str, kind: str) -> None:
    if digits(one) != digits(other) and not (listed(one) or listed(other)):
        assert canonical(one, kind) != canonical(other, kind)
        assert not set(alias_keys(one, kind)) & set(alias_keys(other, kind))


@given(NAMES, TYPES)
def test_key_is_stable_and_keeps_the_digits(name: str, kind: str) -> None:
    key = canonical(name, kind)
    assert canonical(key, kind) == key
    assert bool(key) == bool(unicodedata.normalize("NFKC", name).strip())
    if not listed(name):
        assert digits(key) == digits(name)
