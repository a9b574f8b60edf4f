"""What a clause sets against what it says: "on port 80, not 8080", "Redis instead of Memcached"."""

from __future__ import annotations

from typing import Any

from alma_graph.beliefs.clauses import Clause
from alma_graph.beliefs.wordlist import word_set

MAX_DENIED_WORDS = 6

_ENDS = word_set(", . ; : ! ? but who which that because since so and ( )")
_DENYING = (("instead", "of"), ("rather", "than"), ("as", "opposed", "to"))
_PREFERRING = word_set("prefer favor favour choose pick")
_COMPARING = word_set("over to")
_VERBAL = word_set("VERB AUX")
_QUALIFYING = word_set("only just all every even always yet sure")
_VALUES = word_set("NOUN PROPN NUM ADJ X")


def denied_words(clause: Clause) -> set[int]:
    """Indices of the words that the clause names only to deny them, the denying word included."""
    tokens = [token for token in clause.tokens if not token.is_space]
    denied: set[int] = set()
    for place, token in enumerate(tokens):
        opening = _opening(clause, tokens, place, token)
        if not opening:
            continue
        span = _span(tokens, place + opening)
        if span and any(word.pos_ in _VALUES for word in span):
            denied |= {word.i for word in tokens[place : place + opening]} | {word.i for word in span}
    kept = [token for token in tokens if token.i not in denied and token.pos_ in _VALUES]
    return denied if kept and clause.head.i not in denied else set()


def _opening(clause: Clause, tokens: list[Any], place: int, token: Any) -> int:
    """How many words open a denied phrase here; 0 where none does."""
    word = token.lower_
    if not place:
        return 0
    if word == "not" and tokens[place - 1].lower_ in (",", "and", "-", "("):
        return 1 if place + 1 < len(tokens) and tokens[place + 1].lower_ not in _QUALIFYING else 0
    if word in ("no", "not") and tokens[place - 1].lower_ == "but":
        return 1
    for phrase in _DENYING:
        if word == phrase[0] and tuple(each.lower_ for each in tokens[place : place + len(phrase)]) == phrase:
            return len(phrase)
    return 1 if word in _COMPARING and clause.head.lemma_ in _PREFERRING and token.dep_ == "prep" else 0


def _span(tokens: list[Any], start: int) -> list[Any]:
    span: list[Any] = []
    for token in tokens[start:]:
        if token.lower_ in _ENDS:
            break
        span.append(token)
    if len(span) > MAX_DENIED_WORDS or any(token.pos_ in _VERBAL and token.tag_ != "VBG" for token in span):
        return []
    return span
