"""Triples without a verb: "Alice from Acme", "the CTO of Acme, Bob", "PR #4 by Bob"."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from alma_graph.extraction.grammar import is_negated
from alma_graph.extraction.parse import Parse
from alma_graph.extraction.reference import Argument
from alma_graph.extraction.spans import Span
from alma_graph.extraction.triples import Triples
from alma_graph.extraction.vocabulary import OTHER_ROLES, ROLE_HEADS

if TYPE_CHECKING:
    from spacy.tokens import Token

_ROLE = "|".join(sorted(ROLE_HEADS | OTHER_ROLES))
_LONGEST_GAP = 60
_STEPS_TO_VERB = 4

# What stands between two neighbouring entities: (their types, wording, predicate, whether the second is the subject).
_BETWEEN_NEIGHBOURS: tuple[tuple[tuple[str, str], re.Pattern[str], str, bool], ...] = (
    (("LOCATION", "LOCATION"), re.compile(r" ?, | in (?:the )?"), "LOCATED_IN", False),
    (
        ("ORG", "LOCATION"),
        re.compile(r" ?,? (?:based )?(?:in|at|of) (?:the )?| ?, "),
        "LOCATED_IN",
        False,
    ),
    (("LOCATION", "ORG"), re.compile(r" ?'s |-based |-based (?:\w+ )?"), "LOCATED_IN", True),
    (
        ("PERSON", "ORG"),
        re.compile(
            r" (?:of|from|at|with) (?:the )?|"
            rf" ?,(?: [\w'-]+){{0,6}} (?:{_ROLE})s?(?: [\w-]+){{0,3}} (?:of|at|for|with|from) (?:the )?"
        ),
        "WORKS_FOR",
        False,
    ),
    (("ORG", "PERSON"), re.compile(rf"(?: ?'s)?(?: [\w-]+){{0,3}} (?:{_ROLE}),? "), "WORKS_FOR", True),
    (
        ("PERSON", "LOCATION"),
        re.compile(r" ?,? (?:of|from) (?:the )?| ?, (?:\d+ ?, )?(?:who|that) lives in "),
        "LIVES_IN",
        False,
    ),
)


def add_between_nouns(parse: Parse, triples: Triples) -> None:
    """Add employers by preposition, and tickets by their authors."""
    for token in parse.tokens():
        if token.dep_ != "prep":
            continue
        word = parse.word(token.i)
        objects = [child.i for child in token.children if child.dep_ == "pobj"]
        if word in {"from", "at", "of"} and token.head.pos_ in {"PROPN", "NOUN"}:
            person = _person_of(parse, token.head)
            for object_ in objects:
                if person is not None and parse.type(object_) == "ORG":
                    triples.add(person, "WORKS_FOR", object_, False)
        if word == "at":
            _add_workplace(parse, triples, token, objects)
        if word == "by" and parse.type(token.head.i) == "TICKET":
            for object_ in objects:
                if parse.type(object_) == "PERSON":
                    triples.add(object_, "SUBMITTED", token.head.i, False)


def add_between_neighbours(parse: Parse, entities: list[Span], triples: Triples) -> None:
    """Add triples by what stands between two entities that follow each other."""
    for first, second in pairwise(entities):
        gap = parse.text[first.end : second.start]
        if len(gap) > _LONGEST_GAP or "\n" in gap:
            continue
        for types, wording, predicate, swapped in _BETWEEN_NEIGHBOURS:
            if types == (first.type, second.type) and wording.fullmatch(gap):
                left, right = (second, first) if swapped else (first, second)
                triples.add(_argument(parse, left), predicate, _argument(parse, right), False)
                break


def _argument(parse: Parse, span: Span) -> Argument:
    return Argument(parse.text[span.start : span.end], span.type, span.start, span.end)


def _person_of(parse: Parse, noun: Token) -> int | None:
    """The noun when it is a person, or the person of whom it is the role ("Alice, CTO")."""
    if parse.type(noun.i) == "PERSON":
        return noun.i
    if parse.word(noun.i) in ROLE_HEADS and noun.dep_ == "appos" and parse.type(noun.head.i) == "PERSON":
        return noun.head.i
    return None


def _add_workplace(parse: Parse, triples: Triples, preposition: Token, objects: list[int]) -> None:
    """ "Wei reports to Claire at Nordwind": the subject of the verb above works there."""
    for object_ in objects:
        if parse.type(object_) != "ORG":
            continue
        verb = preposition.head
        for _ in range(_STEPS_TO_VERB):
            if verb.pos_ == "VERB" or verb.head is verb:
                break
            verb = verb.head
        for child in verb.children:
            if child.dep_ == "nsubj" and parse.type(child.i) == "PERSON":
                triples.add(child.i, "WORKS_FOR", object_, is_negated(parse, verb))
