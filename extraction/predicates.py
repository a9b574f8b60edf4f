"""Predicates of relations, read once from `predicates.txt`."""

from __future__ import annotations

from functools import cache

from alma_graph.extraction.gazetteer import packaged_lines

_RULE_ONLY = frozenset({"SUBMITTED", "IS", "LIVES_IN", "LOCATED_IN", "REPLACES"})
_NEEDS_AN_ENTITY = frozenset({"HAS", "SETS", "ADDS", "CONTAINS", "RETURNS", "RUNS"})

TAKES_VALUES = frozenset("IS COSTS SET_TO RENEWED UPGRADED DOWNGRADED RETURNS HAS SUPPORTS DROPPED".split())
"""Predicates whose object may be a date, a quantity or a version."""

MOVES_ITS_OBJECT = frozenset("deploy migrate move port roll ship release host switch store rollout".split())
"""First words of verbs that say where their object goes: "deployed X on Y" is about X."""


@cache
def predicates() -> dict[str, str]:
    """Predicate by verb lemma, "verb particle" or "verb preposition"."""
    found: dict[str, str] = {}
    for line in packaged_lines("predicates.txt"):
        predicate, _, verbs = line.partition(": ")
        for verb in verbs.split(", "):
            found[verb] = predicate
    return found


@cache
def known_predicates() -> frozenset[str]:
    """Every predicate that a rule gives on purpose; others are an unknown verb in capitals."""
    return frozenset(predicates().values()) | _RULE_ONLY


@cache
def free_predicates() -> frozenset[str]:
    """Predicates telling enough to be kept between two common nouns."""
    return frozenset(predicates().values()) - _NEEDS_AN_ENTITY
