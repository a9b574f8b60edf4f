"""Names of single things: "commit 3fa9c1d", "sensor K", "server alpha", "run 481", `parser.py`.

Two claims that name two such things under one noun, or in one role, are about two things. Read from the words before
the verb, since taggers stumble over such names; an identifier behind the verb is a value ("runs commit 77be012").
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from alma_graph.beliefs.claim_model import DENIED, NOMINAL_POS, Claim
from alma_graph.beliefs.lexicon_function import LOCATING_NOUNS
from alma_graph.beliefs.lexicon_numbers import VERSIONED
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import word_relation

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|omicron|pi|rho|sigma|tau|upsilon|phi"
    "|chi|psi|omega"
)
_NOT_A_HEAD = word_set("""
    the a an our my his her their its your this that these those of in on at to for from with by and or about over
    under than only least most some any last first next all both each every since until till after before between
    around is are was were be has have had not no when if as per plus up down january february march april may june
    july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
""")
_ENDS_NAME = r"(?=$| (?:of|in|on|at|for|from|with|to|by|about|and|[:;,.()\]-]))"
_NUMBERED = re.compile(
    rf"(?<!\S)(?P<head>[a-z][\w-]*)(?: (?:number|no\.?|nr\.?|id))?(?: #)? "
    rf"#?(?P<name>v?\d+(?:[.-]\d+)*|[a-z]|{_GREEK}){_ENDS_NAME}"
)
_CODE = re.compile(r"[a-z0-9][\w./-]*\w")
_MEASURE = re.compile(r"v?[\d.,:]+|[\d.,:]+-?[a-z]{1,3}|\d+(?:st|nd|rd|th)|\d+-[a-z]+(?:-[a-z]+)*")
_FOR_PHRASE = re.compile(r"(?<!\S)(?:of|for|from) (?:the )?(?=[a-z])")
_SHORT_HASH = re.compile(r"[0-9a-f]{7,}")
_VALUED = VERSIONED | LOCATING_NOUNS | {"port"}
_VERBAL = word_set("VERB AUX")
_LINKING = word_set("is are was were has have had can will does did must should may might")
_ONE_POST = re.compile(r"(?:is|was) the ")
"""Of two things that are each "the primary", one is not."""


class Name(NamedTuple):
    """An identifier and the noun it stands behind, empty for none."""

    head: str
    name: str


def name_two_things(left: Claim, right: Claim) -> bool:
    """Both claims name a single thing under the same noun or in the same role, and the names differ."""
    mine, yours = _halves(left), _halves(right)
    if mine[1] == yours[1] and _ONE_POST.match(mine[1]):
        return False
    if _differ(_names(mine[0]), _names(yours[0])) or _end_in_two_names(left, right, mine[0], yours[0]):
        return True
    return _differ(_topic_names(mine[1]), _topic_names(yours[1]))


def name_one_thing(left: Claim, right: Claim) -> bool:
    """Both claims name the same single thing."""
    mine, yours = _names(_halves(left)[0]), _names(_halves(right)[0])
    return any(_same(first.name, second.name) for first in mine for second in yours)


def _halves(claim: Claim) -> tuple[str, str]:
    """The words before the verb and those from it on; without a verb all words stand before it."""
    verbs = {token.surface for token in claim.tokens if token.pos in _VERBAL and token.role != DENIED}
    words = claim.words.split()
    for index, word in enumerate(words):
        verb = word in verbs or word == f"{claim.predicate}s"  # the clause's head, though tagged as a noun
        verb = verb and words[index - 1] not in _NOT_A_HEAD and not _is_code(word)  # "of commit": a noun
        if index and (verb or word in _LINKING):
            return " ".join(words[:index]), " ".join(words[index:])
    return claim.words.rstrip(" .!"), ""


def _topic_names(words: str) -> tuple[Name, ...]:
    """Behind the verb only what follows "of", "for" or "from" says which thing is meant, and no place or version."""
    phrases = _FOR_PHRASE.split(words)[1:]
    names = _names(" , ".join(" ".join(phrase.rstrip(" .!").split()[:3]) for phrase in phrases))
    return tuple(name for name in names if name.head not in _VALUED)


@functools.lru_cache(maxsize=1 << 12)
def _names(words: str) -> tuple[Name, ...]:
    return tuple(dict.fromkeys(_read_names(words)))


def _read_names(words: str) -> Iterator[Name]:
    for match in _NUMBERED.finditer(words):
        if match["head"] not in _NOT_A_HEAD:
            yield Name(match["head"], match["name"].removeprefix("v") if match["name"] != "v" else "v")
    previous = ""
    for word in words.split():
        code = word.lstrip("#")
        if _is_code(code):
            yield Name("" if previous in _NOT_A_HEAD else previous, code)
        previous = word


def _is_code(word: str) -> bool:
    """It has letters and a digit, an underscore or an inner dot: a hash, a ticket, a host or a file."""
    measure = _MEASURE.fullmatch(word) and not _SHORT_HASH.fullmatch(word)
    if not _CODE.fullmatch(word) or measure or not any(letter.isalpha() for letter in word):
        return False
    return any(letter.isdigit() or letter in "_." for letter in word)


def _differ(mine: tuple[Name, ...], yours: tuple[Name, ...]) -> bool:
    for head in dict.fromkeys(name.head for name in mine):
        my_names = [name.name for name in mine if name.head == head]
        your_names = [name.name for name in yours if name.head == head]
        if your_names and not any(_same(first, second) for first in my_names for second in your_names):
            return True
    return False


def _same(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    if short == long or long.startswith(short + "."):
        return True
    return bool(_SHORT_HASH.fullmatch(short)) and long.startswith(short)


def _end_in_two_names(left: Claim, right: Claim, mine: str, yours: str) -> bool:
    """ "project Apollo" and "project Zeus": a proper name behind one noun."""
    my_words, your_words = mine.split()[-3:], yours.split()[-3:]
    if len(my_words) == len(your_words) == 3 and my_words[:2] == your_words[:2] and my_words[1] == "-":
        return word_relation(my_words[2], your_words[2]).relation == "none"  # orders-eu, orders-us
    my_words, your_words = my_words[-2:], your_words[-2:]
    if len(my_words) < 2 or len(your_words) < 2 or my_words[0] != your_words[0] or my_words[0] in _NOT_A_HEAD:
        return False
    head, names = my_words[0], (my_words[1], your_words[1])
    if word_relation(*names).relation != "none":
        return False
    tokens = (*left.tokens, *right.tokens)
    if not any(token.surface == head and token.pos in NOMINAL_POS for token in tokens):
        return False
    return all(
        any(token.surface == name and token.pos == "PROPN" for token in claim.tokens)
        for claim, name in zip((left, right), names, strict=True)
    )
