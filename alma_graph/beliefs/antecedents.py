"""Who "he" is: a pronoun that opens a sentence stands for the subject of the sentence before it."""

from __future__ import annotations

import re
from dataclasses import replace

from alma_graph.beliefs.claim_model import NOMINAL_POS, Claim, Token
from alma_graph.beliefs.wordlist import word_set

_PERSONS = word_set("he she")
_LEADING_PRONOUN = re.compile(r"^(?:and |but |so |also |now |, )*(he|she|it|they)\b")
_PERSONAL_NOUNS = word_set("""
    boss boyfriend brother client colleague coworker customer dad daughter designer developer doctor engineer father
    friend girlfriend husband intern lead manager mom mother mum neighbour neighbor owner partner person sister son
    teacher user wife
""")


def with_antecedent(claim: Claim, before: Claim) -> Claim:
    """`claim` with the subject of `before` for its own where that is a pronoun which may stand for it."""
    match = _LEADING_PRONOUN.match(claim.words)
    if match is None or "pronoun" not in claim.traits or claim.subject >= 0 or "expletive" in claim.traits:
        return claim
    phrase = [index for index, token in enumerate(before.tokens) if token.role == "s"]
    if before.subject not in phrase or not _may_stand_for(match[1], before.tokens[before.subject]):
        return claim
    place = {index: number for number, index in enumerate(phrase)}
    position = min((token.position for token in claim.tokens), default=1) - 1
    subject = tuple(
        replace(before.tokens[index], head=place.get(before.tokens[index].head, -1), position=position)
        for index in phrase
    )
    own = tuple(replace(token, head=token.head + len(subject) if token.head >= 0 else -1) for token in claim.tokens)
    named = " ".join(token.surface for token in subject)
    return replace(
        claim,
        words=claim.words[: match.start(1)] + named + claim.words[match.end(1) :],
        tokens=subject + own,
        subject=place[before.subject],
        traits=(claim.traits - {"pronoun"}) | (before.traits & {"definite"}),
    )


def _may_stand_for(pronoun: str, noun: Token) -> bool:
    if noun.pos not in NOMINAL_POS:
        return False
    plural = noun.pos == "NOUN" and noun.surface != noun.lemma and noun.surface.endswith("s")
    if pronoun in _PERSONS:
        return noun.pos == "PROPN" or noun.lemma in _PERSONAL_NOUNS
    return plural if pronoun == "they" else not plural and noun.lemma not in _PERSONAL_NOUNS
