"""Polarity from the words alone, for clauses that the tagger took apart wrongly (likes/hates, grew/shrank)."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from alma_graph.beliefs.claim_model import Claim
from alma_graph.beliefs.lexicon_function import IRREGULAR_FORMS, SURFACE_NEGATORS, SURFACE_STOP_WORDS
from alma_graph.beliefs.lexicon_relations import FUNCTIONAL_VERBS, MULTI_VALUED_VERBS, SLOT_NOUNS
from alma_graph.beliefs.scales import ramp
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import word_relation

MIN_WORDS, MAX_WORDS = 3, 22
MAX_VALUE_WORDS = 3
_WORD = re.compile(r"n't|[a-z][\w/-]*")
_CANNOT_STAND = re.compile(r"(?:n't|not) stand\b")
_AUXILIARY_STEMS = word_set("ca wo")
_IMPLICIT_NEGATION = word_set("forbidden prohibited")


class SurfacePolarity(NamedTuple):
    """`signal` is negation, antonym or empty; `score` in [0, 1]."""

    score: float
    signal: str


NO_POLARITY = SurfacePolarity(0.0, "")


class _Words(NamedTuple):
    content: tuple[str, ...]
    all: frozenset[str]
    negations: int


def surface_polarity(left: Claim, right: Claim) -> SurfacePolarity:
    """Nearly the same words with an odd number of negations and antonyms between them."""
    mine, yours = _words(left.words), _words(right.words)
    if mine is None or yours is None:
        return NO_POLARITY
    same, opposite = _match(mine.content, yours.content)
    if not opposite and _IMPLICIT_NEGATION & (mine.all | yours.all):
        return NO_POLARITY
    if same < 1 or opposite > 1 or max(mine.negations, yours.negations) > 1:
        return NO_POLARITY
    if (opposite + mine.negations + yours.negations) % 2 == 0:
        return NO_POLARITY
    covered = (same + opposite) / max(len(mine.content), len(yours.content))
    return SurfacePolarity(0.85 * ramp(covered, 0.55, 0.9), "antonym" if opposite else "negation")


def surface_value(left: Claim, right: Claim) -> float:
    """The same words up to the end, where each names another value: "... runs in Oslo", "... runs in Bergen".

    For clauses whose verb the tagger took for a noun; only after a verb or noun that holds one value, and only names
    or numbers of words up to `MAX_VALUE_WORDS`.
    """
    mine, yours = left.words.rstrip(" .!").split(), right.words.rstrip(" .!").split()
    shared = 0
    while shared < min(len(mine), len(yours)) and mine[shared] == yours[shared]:
        shared += 1
    ends = mine[shared:], yours[shared:]
    if shared < MIN_WORDS or not all(0 < len(end) <= MAX_VALUE_WORDS for end in ends):
        return 0.0
    if not (_ends_in_name(left) and _ends_in_name(right)) or any(set(end) & SURFACE_NEGATORS for end in ends):
        return 0.0
    stems = {stem for word in mine[:shared] for stem in _stems(word)}
    if stems & MULTI_VALUED_VERBS or not (stems & FUNCTIONAL_VERBS or stems & SLOT_NOUNS):
        return 0.0
    return 0.75


def _ends_in_name(claim: Claim) -> bool:
    return bool(claim.tokens) and claim.tokens[-1].pos == "PROPN"


def _match(mine: tuple[str, ...], yours: tuple[str, ...]) -> tuple[int, int]:
    """How many content words agree, and how many are opposites; each word is used once."""
    used: set[int] = set()
    same = opposite = 0
    for word in mine:
        best, partner = 0, -1
        for index, other in enumerate(yours):
            if index in used:
                continue
            strength = _strength(word, other)
            if strength > best:
                best, partner = strength, index
        if best:
            used.add(partner)
            same += best >= 2
            opposite += best == 1
    return same, opposite


@functools.lru_cache(maxsize=1 << 16)
def _strength(word: str, other: str) -> int:
    """3 the same, 2 synonyms, 1 opposites, 0 strangers, over all stems the two forms may have."""
    best = 0
    for stem in _stems(word):
        for other_stem in _stems(other):
            if stem == other_stem:
                return 3
            score, relation = word_relation(stem, other_stem)
            if relation == "synonym" and score >= 0.85:
                best = max(best, 2)
            elif relation == "antonym":
                best = max(best, 1)
    return best


@functools.lru_cache(maxsize=1 << 15)
def _stems(word: str) -> tuple[str, ...]:
    word = IRREGULAR_FORMS.get(word, word)
    stems = [word]
    if word.endswith("s") and len(word) > 3:
        stems += [word[:-1], word[:-2]]
    if word.endswith("ed") and len(word) > 4:
        stems += [word[:-2], word[:-1]]
    if word.endswith("ing") and len(word) > 5:
        stems += [word[:-3], word[:-3] + "e"]
    return tuple(stems)


@functools.lru_cache(maxsize=1 << 12)
def _words(text: str) -> _Words | None:
    """None for claims too short or too long to compare word by word."""
    words = _WORD.findall(text)
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return None
    ignored = SURFACE_STOP_WORDS | SURFACE_NEGATORS | _AUXILIARY_STEMS
    content = [word for word in words if word not in ignored]
    if _CANNOT_STAND.search(text):
        content = ["like" if word == "stand" else word for word in content]
    if not content:
        return None
    return _Words(tuple(content), frozenset(words), sum(word in SURFACE_NEGATORS for word in words))
