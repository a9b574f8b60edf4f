"""Components and teams by their head noun: "invoice parser", "platform team"."""

from __future__ import annotations

from alma_graph.extraction.parse import Parse
from alma_graph.extraction.spans import SpanSet
from alma_graph.extraction.vocabulary import BARE_COMPONENTS, COMPONENT_HEADS, ORG_HEADS, WEAK_MODIFIERS

_NOMINAL = frozenset({"NOUN", "PROPN"})
_MODIFYING = frozenset({"NOUN", "PROPN", "ADJ", "X"})


def add_head_nouns(parse: Parse, found: SpanSet) -> None:
    """Add noun compounds whose last word is a component's or a team's.

    The compound runs leftwards over nouns, names and adjectives, one blank apart, up to a weak adjective ("new",
    "broken") or something already found; it needs at least one such word, but for a few heads ("frontend").
    """
    for token in parse.tokens():
        last = token.i
        if token.pos_ not in _NOMINAL or parse.entity(last) is not None:
            continue
        head = _head(parse.raw(last).casefold())
        kind = "COMPONENT" if head in COMPONENT_HEADS else "ORG" if head in ORG_HEADS else ""
        if not kind or _is_inside_longer_compound(parse, last):
            continue
        first = last
        while first > 0 and _belongs(parse, first - 1):
            first -= 1
        if first == last and (head not in BARE_COMPONENTS or token.dep_ == "compound" or _of_product(parse, last)):
            continue
        found.add(parse.start(first), parse.end(last), kind, "head")


def _head(word: str) -> str:
    singular = word[:-1]
    return singular if word.endswith("s") and singular in COMPONENT_HEADS | ORG_HEADS else word


def _is_inside_longer_compound(parse: Parse, index: int) -> bool:
    if index + 1 >= len(parse.doc):
        return False
    following = parse.raw(index + 1).casefold().rstrip("s")
    return following in COMPONENT_HEADS and parse.doc[index + 1].pos_ in _NOMINAL


def _of_product(parse: Parse, index: int) -> bool:
    """Whether the head follows a found product: "Celery workers" are named by Celery alone."""
    return index > 0 and parse.type(index - 1) == "TECH" and parse.start(index) - parse.end(index - 1) == 1


def _belongs(parse: Parse, index: int) -> bool:
    """Whether token `index` is a modifier of the compound that starts right after it."""
    return (
        parse.doc[index].pos_ in _MODIFYING
        and parse.raw(index).casefold() not in WEAK_MODIFIERS
        and parse.start(index + 1) - parse.end(index) == 1
        and parse.entity(index) is None
    )
