"""Slots that hold one value: what the value is on each side, and how surely the slot holds only one."""

from __future__ import annotations

import re
from typing import NamedTuple

from alma_graph.beliefs.alignment import Alignment
from alma_graph.beliefs.claim_model import CONTENT_POS, NOMINAL_POS, Claim, Token
from alma_graph.beliefs.lexicon_relations import FUNCTIONAL_VERBS, MULTI_VALUED_VERBS, SLOT_NOUNS
from alma_graph.beliefs.places import containment, is_region
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import word_relation

_OWNING = word_set("""
    own lead head manage maintain chair be run direct write found create perform develop belong
""")
_OWNER_NOUNS = word_set("owner lead manager")
_CHOOSING = word_set("want prefer use choose pick need")
_PREFERRING = word_set("prefer want use choose pick write")
_PREFERRED = word_set("rather favourite favorite prefer")
_PURPOSE = re.compile(r"\b(for|as) ")
PLACE_VERBS = word_set("base be hold host keep live locate move remain reside run serve sit stay store")
_DWELLING = word_set("base live reside")
_STAYING = word_set("be remain run sit stay")
_WORKS_FOR = re.compile(r"\b(for|at|as)\b")
_PLACE = re.compile(r"\b(in|at)\b")


class Slot(NamedTuple):
    """Two values of one slot.

    Attributes:
        left, right: indices of the value tokens, -1 where there is none.
        same_kind: how plausible it is that both are values of one slot, in [0, 1].
        functional: how surely the slot holds one value at a time, in [0, 1].
        places_apart: the values are places of which neither lies in the other.
    """

    left: int
    right: int
    same_kind: float
    functional: float
    places_apart: bool = False


NO_SLOT = Slot(-1, -1, 0.0, 0.0)


def find_slot(alignment: Alignment, *, one_slot: bool = False) -> tuple[Slot, tuple[int, int]]:
    """The unmatched values of two claims on one subject, and how many candidate values each side has.

    `one_slot` says that the caller knows both sides fill one slot (preferences of one user in one category).
    """
    left, right = alignment.left.claim, alignment.right.claim
    mine = [i for i in alignment.left.unmatched() if _is_value(left, i)]
    yours = [j for j in alignment.right.unmatched() if _is_value(right, j)]
    counts = (len(mine), len(yours))
    if not mine or not yours or _topic_match(alignment, one_slot) < 0.5:
        return NO_SLOT, counts
    same_kind, i, j = max(
        ((_same_kind(left.tokens[i], right.tokens[j]), i, j) for i in mine for j in yours),
        key=lambda candidate: (candidate[0], -candidate[1], -candidate[2]),
    )
    functional = _functional(alignment)
    if left.predicate == right.predicate == "be" and left.tokens[i].role != right.tokens[j].role:
        functional = min(functional, 0.3 if _says_from(left, right) else functional)  # what she is, where she is from
    if left.tokens[i].pos == right.tokens[j].pos == "ADJ" and functional == 0.6:
        functional = 0.3  # a thing can be many ways at once
    if _only_there(left, i) != _only_there(right, j) and same_kind >= 0.5:
        functional = max(functional, 0.85)
    if _both_placed(left, right):
        return _place_slot(Slot(i, j, same_kind, functional), left, right), counts
    return Slot(i, j, same_kind, functional), counts


def _says_from(left: Claim, right: Claim) -> bool:
    return (" from " in left.words) != (" from " in right.words)


def _only_there(claim: Claim, index: int) -> bool:
    """ "only on the server", "the server only"."""
    if claim.quantifier != "only":
        return False
    value = re.escape(claim.tokens[index].surface)
    return bool(re.search(rf"\bonly (?:[\w-]+ ){{0,2}}{value}\b|\b{value} only\b", claim.words))


def _both_placed(left: Claim, right: Claim) -> bool:
    predicates = {left.predicate, right.predicate}
    if predicates & _DWELLING and predicates & _STAYING:
        return False  # one may stay for a night where one does not live
    placing = predicates <= PLACE_VERBS and predicates != {"be"}
    return placing and bool(_PLACE.search(left.words) and _PLACE.search(right.words))


def _place_slot(slot: Slot, left: Claim, right: Claim) -> Slot:
    """The slot of two claims that say where something is."""
    mine, yours = left.tokens[slot.left], right.tokens[slot.right]
    lying = containment(mine.lemma, yours.lemma)
    if lying == "inside":
        return slot._replace(functional=0.1)
    if lying == "apart":
        return slot._replace(functional=0.9, places_apart=True)
    if is_region(mine.lemma) != is_region(yours.lemma):
        return slot._replace(functional=min(slot.functional, 0.4))
    named = mine.pos == yours.pos == "PROPN"
    return slot._replace(functional=max(slot.functional, 0.85)) if named else slot


def find_inverse_slot(alignment: Alignment, core_low: float) -> Slot:
    """The value is a subject: "Farah owns X" against "X is owned by Luca"."""
    left, right = alignment.left.claim, alignment.right.claim
    if "indefinite" in left.traits | right.traits:
        return NO_SLOT  # many things can be "a message broker"
    mine = [i for i in alignment.left.unmatched() if left.tokens[i].pos in NOMINAL_POS]
    yours = [j for j in alignment.right.unmatched() if right.tokens[j].pos in NOMINAL_POS]
    if not mine or not yours or not (_tells_owner(left) and _tells_owner(right)):
        return NO_SLOT
    if left.tokens[mine[0]].role != "s" and right.tokens[yours[0]].role != "s":
        return NO_SLOT
    same_kind, i, j = max(
        ((_same_kind(left.tokens[i], right.tokens[j]), i, j) for i in mine for j in yours),
        key=lambda candidate: (candidate[0], -candidate[1], -candidate[2]),
    )
    named = any(
        "copula" not in claim.traits or any(token.lemma in SLOT_NOUNS or token.role == "o" for token in claim.tokens)
        for claim in (left, right)
    )
    sure = core_low >= 0.5 and same_kind >= 0.8 and named
    return Slot(i, j, same_kind, 0.85 if sure else 0.3)


def value_phrase(claim: Claim, index: int) -> set[int]:
    """The value's token with its modifiers, and the noun it is compounded with."""
    phrase = {index}
    phrase |= {
        i
        for i, token in enumerate(claim.tokens)
        if token.head == index and token.dependency in ("compound", "amod", "nmod", "poss", "appos", "det")
    }
    if claim.tokens[index].dependency == "compound":
        phrase.add(claim.tokens[index].head)
    return phrase


def expresses_preference(claim: Claim) -> bool:
    """It says what somebody prefers or how something should be done."""
    return (
        claim.predicate in _PREFERRING
        or claim.modality == "norm"
        or any(token.lemma in _PREFERRED for token in claim.tokens)
    )


def rival_objects(alignment: Alignment) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Spans of one object noun that is modified differently on both sides: window seat, aisle seat."""
    left, right = alignment.left.claim, alignment.right.claim
    found = None
    for i, match in alignment.left.matches.items():
        mine, yours = left.tokens[i], right.tokens[match.other]
        if match.relation == "antonym" or not {mine.pos, yours.pos} <= {"NOUN", "PROPN"}:
            continue
        if "s" in (mine.role, yours.role):
            continue
        if _foreign_modifier(mine, yours, right) and _foreign_modifier(yours, mine, left):
            found = ((mine.start, mine.end), (yours.start, yours.end))
    return found


def _foreign_modifier(token: Token, partner: Token, other: Claim) -> bool:
    known = {*partner.modifiers, *other.lemma_set}
    return any(all(word_relation(modifier, word).score < 0.75 for word in known) for modifier in token.modifiers)


def _is_value(claim: Claim, index: int) -> bool:
    token = claim.tokens[index]
    if token.role not in ("o", "x"):
        return False
    return token.pos in CONTENT_POS or token.pos == "ADJ" or (claim.predicate == "be" and token.dependency == "ROOT")


def _topic_match(alignment: Alignment, one_slot: bool) -> float:
    left, right = alignment.left.claim, alignment.right.claim
    if one_slot:
        return 1.0
    match = alignment.both(lambda side: side.subject_match())
    same_speaker = left.first_person and right.first_person and left.predicate == right.predicate != "be"
    if left.first_person and right.first_person and left.subject == right.subject == -1:
        same_speaker = same_speaker or _both_placed(left, right)
    both_norms = left.modality == right.modality == "norm"
    return match.low if match.high > 0.5 or same_speaker or both_norms else 0.0


def _same_kind(mine: Token, yours: Token) -> float:
    if mine.pos == yours.pos == "PROPN":
        return 0.9
    if (mine.pos == "ADJ") != (yours.pos == "ADJ"):
        return 0.15
    if "PROPN" in (mine.pos, yours.pos) and {mine.pos, yours.pos} <= {"PROPN", "NOUN", "ADJ", "X"}:
        return 0.6
    return 0.5 if mine.pos == yours.pos else 0.25


def _tells_owner(claim: Claim) -> bool:
    return claim.predicate in _OWNING or any(token.lemma in _OWNER_NOUNS for token in claim.tokens)


def _functional(alignment: Alignment) -> float:
    """How surely the aligned slot holds one value; the first rule that applies decides."""
    left, right = alignment.left.claim, alignment.right.claim
    matched = {left.tokens[i].lemma for i in alignment.left.matches}
    slot_heads = {
        token.lemma
        for claim in (left, right)
        for token in claim.tokens
        if token.role in ("s", "o") and token.lemma in SLOT_NOUNS
    }
    slot = bool(slot_heads & matched)
    predicates = {left.predicate, right.predicate}
    if predicates <= _CHOOSING and _PURPOSE.search(left.words) and _PURPOSE.search(right.words):
        return 0.75
    passives = "passive" in left.traits and "passive" in right.traits and left.predicate == right.predicate
    if passives and left.predicate in ("call", "name"):
        return 0.85
    if predicates <= MULTI_VALUED_VERBS:
        return 0.6 if slot and left.predicate in ("have", "use") else 0.1
    copulas = "copula" in left.traits and "copula" in right.traits
    if copulas and "definite" in left.traits and "definite" in right.traits:
        return 0.9 if slot else 0.7
    if passives and " by " in left.words and " by " in right.words:
        return 0.75
    if any(
        left.tokens[i].lemma in SLOT_NOUNS and f"{left.tokens[i].surface} of " in left.words
        for i in alignment.left.matches
    ):
        return 0.75
    if left.modality == right.modality == "norm":
        return 0.7
    if "work" in predicates:
        placed = all(claim.predicate != "work" or _WORKS_FOR.search(claim.words) for claim in (left, right))
        return 0.8 if placed and predicates <= {"work", "be", "employ"} else 0.3
    if predicates == {"be"}:
        return 0.7 if _PLACE.search(left.words) and _PLACE.search(right.words) else 0.4
    if predicates <= FUNCTIONAL_VERBS and (
        "be" in predicates or word_relation(left.predicate, right.predicate).score > 0.7
    ):
        return 0.85
    if slot:
        return 0.75
    if predicates & MULTI_VALUED_VERBS:
        return 0.2
    if (
        word_relation(left.predicate, right.predicate).score > 0.8
        or "prefer" in predicates
        or left.predicate == "switch"
    ):
        return 0.6
    return 0.4 if copulas else 0.35
