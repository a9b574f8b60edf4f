"""Two claims laid side by side: which words stand for which, and what is left over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from alma_graph.beliefs.claim_model import DENIED, NOMINAL_POS, Claim, Token
from alma_graph.beliefs.lexicon_relations import FUNCTIONAL_VERBS
from alma_graph.beliefs.quantity_relation import is_location
from alma_graph.beliefs.words import Relation, WordRelation, word_relation

_ORDINALS = frozenset(("first", "second", "third", "fourth", "fifth", "last", "next", "previous"))
_AGES = {"old": "new", "new": "old"}
NEARLY_SAME = 0.75
"""Relations at or above this score count as one word when modifiers are compared."""


class Pair(NamedTuple):
    """One number for each side."""

    left: float
    right: float

    @property
    def low(self) -> float:
        """The smaller one."""
        return min(self.left, self.right)

    @property
    def high(self) -> float:
        """The larger one."""
        return max(self.left, self.right)


class Match(NamedTuple):
    """The token of the other claim that a token is aligned with."""

    other: int
    relation: Relation


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of an alignment, so that code can treat both sides alike."""

    claim: Claim
    matches: dict[int, Match]

    def agrees(self, index: int) -> bool:
        """The token is matched with the same word or a synonym."""
        match = self.matches.get(index)
        return match is not None and match.relation != "antonym"

    def coverage(self) -> float:
        """Share of the claim's weight that is matched, antonyms included."""
        return min(1.0, sum(self.claim.tokens[index].weight for index in self.matches) / self.claim.total_weight)

    def core_coverage(self) -> float:
        """The same for names and nouns alone; -1 where there are none."""
        core = self.claim.core
        if not core:
            return -1.0
        tokens = self.claim.tokens
        total = sum(tokens[index].weight for index in core)
        return sum(tokens[index].weight for index in core if index in self.matches) / total

    def unmatched(self) -> list[int]:
        """Tokens of weight without a partner."""
        return [i for i, token in enumerate(self.claim.tokens) if i not in self.matches and token.weight >= 0.7]

    def unmatched_noun_weight(self) -> float:
        """Weight of the names and nouns without a partner, adverbial clauses aside."""
        return sum(
            token.weight
            for index, token in enumerate(self.claim.tokens)
            if index not in self.matches and token.pos in NOMINAL_POS and token.weight >= 0.7 and token.role != "c"
        )

    def subject_match(self) -> float:
        """1 where the subject is matched, 0 where it is another; .4 to .7 where that cannot be told."""
        claim = self.claim
        if claim.subject < 0:
            return 0.4 if "pronoun" in claim.traits else 0.5
        if claim.tokens[claim.subject].lemma == "user" and claim.subject not in self.matches:
            return 0.5
        if self.agrees(claim.subject):
            return 1.0
        named_by_part = any(
            token.role == "s" and token.head == claim.subject and token.dependency in ("compound", "poss")
            for index, token in enumerate(claim.tokens)
            if self.agrees(index)
        )
        return 0.7 if named_by_part else 0.0

    def topic_coverage(self, left_out: set[int]) -> float:
        """Share of the weight that is matched, without `left_out` (values, antonyms) and linking verbs."""
        claim = self.claim
        kept = [
            index
            for index, token in enumerate(claim.tokens)
            if index not in left_out and not (token.role == "p" and token.weight <= 0.3)
        ]
        if not kept:
            return -1.0
        total = sum(claim.tokens[index].weight for index in kept)
        return sum(claim.tokens[index].weight for index in kept if index in self.matches) / max(1e-6, total)

    def coverage_beside(self, lemmas: frozenset[str]) -> float:
        """Share of the weight outside `lemmas` that is matched; 0 where nothing else is said."""
        rest = [(index, token.weight) for index, token in enumerate(self.claim.tokens) if token.lemma not in lemmas]
        return sum(weight for index, weight in rest if index in self.matches) / max(1e-6, sum(w for _, w in rest))

    def beside_subject_coverage(self) -> float:
        """Share of the weight outside the subject that is matched."""
        tokens = self.claim.tokens
        total = sum(token.weight for token in tokens if token.role != "s")
        matched = sum(tokens[index].weight for index in self.matches if tokens[index].role != "s")
        return matched / max(1e-6, total)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words of two claims, matched one to one.

    Attributes:
        antonyms: (left, right) token pairs that are opposites and part of what is claimed.
        rivals: there are opposites or modifiers that pick out two different things.
    """

    left: SideView
    right: SideView
    antonyms: tuple[tuple[int, int], ...]
    rivals: bool

    def both(self, measure: Callable[[SideView], float]) -> Pair:
        """`measure` of each side."""
        return Pair(measure(self.left), measure(self.right))


def align(left: Claim, right: Claim) -> Alignment:
    """Greedy one-to-one alignment by relation of lemmas and equal roles; ties go to the earlier words."""
    candidates: list[tuple[float, int, int, Relation]] = []
    for i, mine in enumerate(left.tokens):
        for j, yours in enumerate(right.tokens):
            if DENIED in (mine.role, yours.role):
                continue
            score, relation = _token_relation(mine, yours)
            if relation == "none" or (min(mine.weight, yours.weight) < 0.3 and max(mine.weight, yours.weight) >= 0.7):
                continue
            if mine.dependency == yours.dependency == "prt" and not _same_verb(left, right, mine, yours):
                continue  # "keep up" and "give up" share nothing
            bonus = 0.08 if mine.role == yours.role else 0.0
            penalty = 0.1 if relation == "antonym" and mine.weight < 0.3 else 0.0
            candidates.append((score + bonus - penalty, i, j, relation))
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1], candidate[2]))
    matched_left: dict[int, Match] = {}
    matched_right: dict[int, Match] = {}
    for _, i, j, relation in candidates:
        if i not in matched_left and j not in matched_right:
            matched_left[i] = Match(j, relation)
            matched_right[j] = Match(i, relation)
    sides = SideView(left, matched_left), SideView(right, matched_right)
    antonyms = [(i, match.other) for i, match in matched_left.items() if match.relation == "antonym"]
    choosing = [pair for pair in antonyms if _pick_different_things(left, right, *pair)]
    return Alignment(
        left=sides[0],
        right=sides[1],
        antonyms=tuple(pair for pair in antonyms if pair not in choosing),
        rivals=bool(choosing) or _rival_modifiers(*sides) or _old_and_new(*sides) or _rival_identifiers(left, right),
    )


def _same_verb(left: Claim, right: Claim, mine: Token, yours: Token) -> bool:
    if mine.head < 0 or yours.head < 0:
        return False
    return word_relation(left.tokens[mine.head].lemma, right.tokens[yours.head].lemma).relation != "none"


def _token_relation(mine: Token, yours: Token) -> WordRelation:
    """By lemma; by form where that says nothing, since the lemma of "missing" or "pending" may be a verb's."""
    found = word_relation(mine.lemma, yours.lemma)
    if found.relation == "none" and (mine.surface != mine.lemma or yours.surface != yours.lemma):
        return word_relation(mine.surface, yours.surface)
    return found


def _pick_different_things(left: Claim, right: Claim, i: int, j: int) -> bool:
    """Opposites inside the subject ("the first build") or a condition say which thing is meant."""
    mine, yours = left.tokens[i], right.tokens[j]
    if mine.role == yours.role == "c":
        return True
    return mine.role == "s" and i != left.subject and yours.role == "s" and j != right.subject


def _rival_modifiers(left: SideView, right: SideView) -> bool:
    """A matched noun that is modified differently on both sides: read timeout, connect timeout."""
    subjects_differ = left.subject_match() == 0 and right.subject_match() == 0
    for i, match in left.matches.items():
        mine, yours = left.claim.tokens[i], right.claim.tokens[match.other]
        if match.relation == "antonym" or mine.pos not in ("NOUN", "PROPN") or not (mine.modifiers and yours.modifiers):
            continue
        if _ordinal(mine) and _ordinal(yours) and not _ordinal(mine) & _ordinal(yours):
            return True
        topical = _names_the_topic(left.claim, mine) and yours.role in ("s", "x")
        if not topical and not subjects_differ:
            continue
        if _own_modifiers(mine, yours, right.claim) and _own_modifiers(yours, mine, left.claim):
            return True
    return False


def _old_and_new(left: SideView, right: SideView) -> bool:
    """The old runner and the new runner."""
    for i, token in enumerate(left.claim.tokens):
        match = left.matches.get(token.head) if token.lemma in _AGES and token.dependency == "amod" else None
        if match is None:
            continue
        other = _AGES[token.lemma]
        if any(t.lemma == other and t.head == match.other and i not in left.matches for t in right.claim.tokens):
            return True
    return False


def _ordinal(token: Token) -> frozenset[str]:
    return _ORDINALS.intersection(token.modifiers) if token.role == "s" else frozenset()


def _names_the_topic(claim: Claim, token: Token) -> bool:
    return token.role == "s" or (
        token.role == "x" and (claim.predicate == "be" or claim.predicate not in FUNCTIONAL_VERBS)
    )


def _own_modifiers(token: Token, other: Token, other_claim: Claim) -> bool:
    """`token` has a modifier that the other claim does not have anywhere."""
    return any(
        all(_strangers(modifier, theirs, or_opposite=True) for theirs in other.modifiers)
        and all(_strangers(modifier, word.lemma) for word in other_claim.tokens)
        for modifier in token.modifiers
    )


def _strangers(left: str, right: str, *, or_opposite: bool = False) -> bool:
    relation = word_relation(left, right)
    return relation.score < NEARLY_SAME or (or_opposite and relation.relation == "antonym")


def _rival_identifiers(left: Claim, right: Claim) -> bool:
    """Two sprints, two builds; or two versions or dates that lead the claims."""
    mine = {(q.value.noun, q.value.low) for q in left.quantities if q.value.kind == "ident" and not is_location(q)}
    yours = {(q.value.noun, q.value.low) for q in right.quantities if q.value.kind == "ident" and not is_location(q)}
    if not mine & yours and any(
        word_relation(noun, other).score > 0.8 and number != other_number
        for noun, number in mine
        for other, other_number in yours
    ):
        return True
    leading_left, leading_right = _leading(left), _leading(right)
    return bool(leading_left and leading_right and not leading_left & leading_right)


def _leading(claim: Claim) -> set[tuple[str, str | float]]:
    return {
        (quantity.value.kind, quantity.value.noun or quantity.value.low)
        for quantity in claim.quantities
        if quantity.fronted and quantity.value.kind in ("version", "date", "weekday", "ident")
    }
