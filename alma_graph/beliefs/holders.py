"""Who holds a post or a duty, by words alone: "Priya owns X", "X is led by Tomasz", "Kim is on call".

The words suffice, and no tagger stumbles over "the payments API is owned by ...". Two different holders of one thing
exclude each other.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from alma_graph.beliefs.claim_model import Claim
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import agrees_with_any

SCORE = 0.85
_VAGUE_SCORE = 0.6
MAX_HOLDER_WORDS = 3

_ADVERB = r"(?:now |currently |still |solely |temporarily )?"
_NOUNS = r"(?:owner|lead|leader|head|maintainer|manager|chair|captain)"
_WHOLE = re.compile(
    r"^(?:(?P<holder_a>.+?) "
    rf"{_ADVERB}(?:(?P<own_a>owns|is {_ADVERB}responsible for|is {_ADVERB}in charge of|looks after|takes care of"
    r"|took over|has taken over|is accountable for)"
    r"|(?P<lead_a>leads|heads|manages|chairs|captains)"
    r"|(?P<maintain_a>maintains)"
    rf"|is {_ADVERB}(?:the )?(?P<noun_a>{_NOUNS}) (?:of|for)"
    r"|(?P<call_a>is (?:on call|on duty|on - call|on-call)))(?: (?P<thing_a>.+))?"
    rf"|(?P<thing_b>.+?) (?:is|are) {_ADVERB}(?P<verb_b>owned|led|headed|managed|maintained|chaired|run|looked after)"
    r" by (?P<holder_b>.+)"
    rf"|the (?P<noun_c>{_NOUNS}) (?:of|for) (?P<thing_c>.+?) is {_ADVERB}(?P<holder_c>.+)"
    r"|(?P<thing_d>.+?) (?P<own_d>belongs to|is in the hands of) (?P<holder_d>.+)"
    r"|(?P<own_e>ownership of|responsibility for) (?P<thing_e>.+?) (?:is with|lies with|went to|passed to|moved to)"
    r" (?P<holder_e>.+))$"
)
_OLD_HOLDER = re.compile(r" (?:from|after|instead of) [\w .'-]+$")
_EVIDENT = re.compile(r"\b(?:n't|not|never|no|nobody|none|if|may|might|could|would|should|used to|only)\b")
_PRONOUNS = word_set("i we you he she it they this that who which someone somebody everyone nobody anyone there")
_IGNORED = word_set("the a an our my his her their its now currently still whole entire all every , - and")
_GENERIC = word_set("team service project component codebase module system app application side part repo repository")
_KIND_OF = {
    **dict.fromkeys(("owned", "looked after", "run", "owner"), "own"),
    **dict.fromkeys(
        ("led", "headed", "managed", "chaired", "lead", "leader", "head", "manager", "chair", "captain"), "lead"
    ),
    **dict.fromkeys(("maintained", "maintainer"), "maintain"),
}


class _Holding(NamedTuple):
    kind: str
    holder: frozenset[str]
    thing: frozenset[str]


def holder_conflict(left: Claim, right: Claim) -> float:
    """How surely the claims name two holders of one post, in [0, 1]."""
    mine, yours = _holding(left.words), _holding(right.words)
    if mine is None or yours is None or mine.kind != yours.kind or mine.holder & yours.holder:
        return 0.0
    if mine.thing == yours.thing:
        return SCORE
    my_own, your_own = _own(mine.thing, yours.thing), _own(yours.thing, mine.thing)
    if not my_own and not your_own:
        return SCORE
    specific = mine.kind != "on call" and bool(my_own) != bool(your_own)
    return _VAGUE_SCORE if specific and my_own | your_own <= _GENERIC else 0.0


def _own(words: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if not agrees_with_any(word, others))


@functools.lru_cache(maxsize=1 << 12)
def _holding(words: str) -> _Holding | None:
    text = words.rstrip(" .!")
    if len(text) > 160 or _EVIDENT.search(text):
        return None
    match = _WHOLE.match(text)
    if match is None:
        return None
    found = {name.partition("_")[0]: (name, value) for name, value in match.groupdict().items() if value}
    holder_words = _OLD_HOLDER.sub("", found["holder"][1]).split() if "holder" in found else []
    holder = frozenset(holder_words) - _IGNORED
    thing_text = _OLD_HOLDER.sub("", found["thing"][1]) if "thing" in found else ""
    thing = frozenset(thing_text.split()) - _IGNORED
    if not 0 < len(holder_words) <= MAX_HOLDER_WORDS or not holder or holder & _PRONOUNS or "," in text:
        return None
    if "call" in found:
        return _Holding("on call", holder, thing)
    if not thing or thing & _PRONOUNS:
        return None
    for name in ("own", "lead", "maintain"):
        if name in found:
            return _Holding(name, holder, thing)
    return _Holding(_KIND_OF[found.get("verb", found.get("noun", ("", "")))[1]], holder, thing)
