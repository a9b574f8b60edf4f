"""Readings of two claims that set a conflict aside or make one: rules and events, permissions, emptiness, the past."""

from __future__ import annotations

import re

from alma_graph.beliefs.claim_model import Claim
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import word_relation

_MAY = re.compile(r"\bmay (?!be\b|have\b|also be\b)")
_RULE = re.compile(
    r"\b(must|may not|shall|can|ca n't|cannot|allowed|permitted|forbidden|prohibited|banned|never|required|have to)\b"
)
_HAPPENING = word_set("""
    appear be break change contain crash differ exist expire fail fall grow happen have lose occur rain take vary
""")
_HOLDING = word_set("be contain have hold include list store")
_NO_LONGER = re.compile(r"\bno longer\b|\bany ?more\b|\bnot any longer\b")
_ADMITTING = word_set("""
    accept admit allow approve authorize block decline deny drop forbid grant let permit prohibit refuse reject
    throttle
""")


def deontic(left: Claim, right: Claim) -> bool:
    """One side permits what the other forbids or demands ("may merge", "must not merge"): its "may" is no doubt."""
    if left.predicate in _HAPPENING or not word_relation(left.predicate, right.predicate).agrees:
        return False
    mine, yours = bool(_MAY.search(left.words)), bool(_MAY.search(right.words))
    if mine and yours:
        return left.negated != right.negated
    return (mine and bool(_RULE.search(right.words))) or (yours and bool(_RULE.search(left.words)))


def emptied(empty: Claim, filled: Claim) -> bool:
    """ "the queue is empty" against "the queue holds 900 jobs"."""
    said = empty.predicate == "be" and any(token.lemma == "empty" and token.role == "o" for token in empty.tokens)
    if not said or empty.subject < 0 or empty.negated or filled.negated:
        return False
    if filled.predicate not in _HOLDING or not any(
        q.value.kind == "count" and q.value.low > 0 for q in filled.quantities
    ):
        return False
    name = empty.tokens[empty.subject].lemma
    holder = any(token.lemma == name and (token.role == "s" or filled.predicate == "be") for token in filled.tokens)
    others = {token.lemma for token in empty.tokens if token.role == "s"}
    return holder and others <= filled.lemma_set


def ended(over: Claim, told: Claim) -> bool:
    """ "no longer works there" against "worked there"."""
    formerly = told.tense == "past" and "passive" not in told.traits and "copula" not in told.traits
    return over.negated and formerly and not told.negated and bool(_NO_LONGER.search(over.words))


def event_against_rule(left: Claim, right: Claim) -> bool:
    """ "refused many requests this morning" against "allows 60 requests per minute"."""
    if not {left.predicate, right.predicate} <= _ADMITTING:
        return False
    if "passive" in left.traits | right.traits:
        return False
    return (left.tense == "present") != (right.tense == "present")
