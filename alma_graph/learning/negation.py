"""Which heads of a wording stand under a negation: "no cache", "skip the tests", "do not retry"."""

from __future__ import annotations

import re

from alma_graph.learning.lexicon import PREPOSITIONS, STOP_WORDS
from alma_graph.learning.wording import removes, stem, tokens

_SEGMENT = re.compile(r"[,;:]| and then | then ")
_VERB_NEGATORS = frozenset({"not", "never", "cannot", "neither", "dont", "doesnt"})
_NOUN_NEGATORS = frozenset({"no", "without", "none", "nor"})
_FILLERS = frozenset({"first", "any", "immediately", "directly", "away"})


def _noun_group(words: list[str], start: int) -> tuple[list[str], int]:
    """Content words from `start` up to the next preposition or, after some, stop word; and where they end."""
    group: list[str] = []
    at = start
    while at < len(words):
        word = words[at]
        if word in PREPOSITIONS or (word in STOP_WORDS and group):
            break
        if word not in STOP_WORDS and word not in _FILLERS:
            group.append(word)
        at += 1
    return group, at


def _after_verb_negator(words: list[str], at: int) -> tuple[set[str], int, bool]:
    """Heads negated by "not" and the like at `at`; where to go on; whether a removal is negated, so that it affirms."""
    verb = at + 1
    while verb < len(words) and words[verb] in STOP_WORDS and words[verb] not in PREPOSITIONS:
        verb += 1
    go_on = max(verb, at + 1)
    if verb >= len(words):
        return set(), go_on, False
    if removes(words, verb):
        return set(), go_on, True
    if words[verb - 1] in {"use", "using"}:  # "don't use a cache": the object is what is not wanted
        group = _noun_group(words, verb)[0] or [words[verb]]
        return {stem(group[-1])}, go_on, False
    heads = {stem(words[verb])}
    group = _noun_group(words, verb + 1)[0]
    if group:
        heads.add(stem(group[-1]))
    return heads, go_on, False


def negated_heads(text: str) -> frozenset[str]:
    """Stems of the heads under a negation.

    They are the verb after "not" or "never" with its object's head, and the last word of the noun group after "no",
    "without" or a removing verb. "do not disable X" affirms X; "X disabled" negates it.
    """
    heads: set[str] = set()
    affirms = False
    for segment in _SEGMENT.split(text):
        words = tokens(segment)
        at = 0
        while at < len(words):
            word = words[at]
            if word in _VERB_NEGATORS or word.endswith("n't"):
                found, at, affirmed = _after_verb_negator(words, at)
                affirms = affirms or affirmed
                heads |= found
            elif word in _NOUN_NEGATORS or removes(words, at):
                group, end = _noun_group(words, at + 1)
                if not group and at and removes(words, at):  # "caching disabled"
                    group = [before for before in words[:at] if before not in STOP_WORDS][-1:]
                if group and not affirms:
                    heads.add(stem(group[-1]))
                affirms = False
                at = max(end, at + 1)
            else:
                at += 1
    return frozenset(heads)
