"""Readings of two claims that set a conflict aside or make one: rules and events, permissions, emptiness, the past."""

from __future__ import annotations

import re

from alma_graph.beliefs.claim_model import Claim
from alma_graph.beliefs.identities import name_one_thing
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
_RECURRING = word_set("""
    abort achieve benchmark
    build call clone collect compile complete compress consume copy cost crash deliver deploy detect
    download drive emit end execute fail fetch find finish fix generate handle hit index ingest last load log measure
    merge observe output parse pass pay ping post print process produce publish push query rain reach read reboot
    receive record refuse reject render replay report request respond restart restore retry return rise run scan score
    send ship show sleep spend spike sync take test train transfer try update upload use wait walk write
""")
_ONE_TIME = re.compile(
    r"\b(today|yesterday|last (?:night|week|month|year)|this (?:morning|afternoon|evening|week|month|year)|tonight"
    r"|first|second|third|final|version|release|the (?:same|very)|has|have|had|'ve|since|now)\b"
)
_LASTING_KINDS = word_set("port version ident age")
_INTOLERANT = re.compile(r"\b(?:allerg\w+|intoleran\w+|sensitiv\w+ to)\b")
_AVERSE = re.compile(
    r"\b(?:hates?|dislikes?|detests?|loathes?|averse|aversion|allerg\w+|intoleran\w+|sensitiv\w+ to)\b"
)
_CONSUMING = word_set("consume drink eat enjoy love order smoke taste touch want")
_NONE_OF_IT = re.compile(r"(?:please |absolutely |strictly )?(?:no|never|without|not)\b")
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


def recurring(left: Claim, right: Claim) -> bool:
    """Both tell of a happening that comes again: "the build took 12 minutes", "the build took 9 minutes".

    Not where both name the same day, the same thing (a commit, a run) or one that comes once.
    """
    if not {left.predicate, right.predicate} <= _RECURRING or not left.tense == right.tense == "past":
        return False
    quantities = (*left.quantities, *right.quantities)
    if left.negated or right.negated or any(quantity.value.kind in _LASTING_KINDS for quantity in quantities):
        return False
    if set(_ONE_TIME.findall(left.words)) & set(_ONE_TIME.findall(right.words)) or _name_one_day(left, right):
        return False
    return not name_one_thing(left, right)


def _name_one_day(left: Claim, right: Claim) -> bool:
    mine = {q.value.low for q in left.quantities if q.value.kind == "date"}
    return any(q.value.kind == "date" and q.value.low in mine for q in right.quantities)


def averse(claim: Claim, other: Claim) -> bool:
    """An allergy or a dislike denies its object: it agrees with "no peanuts", and an allergy not with eating them."""
    if claim.negated or not _AVERSE.search(claim.words) or _AVERSE.search(other.words):
        return False
    if other.negated:
        return bool(_NONE_OF_IT.match(other.words)) or other.predicate in _CONSUMING
    return other.predicate in _CONSUMING and bool(_INTOLERANT.search(claim.words))
