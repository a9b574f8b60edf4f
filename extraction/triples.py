"""Collects the triples of one parsed piece: what is kept, under which predicate, with what confidence."""

from __future__ import annotations

from dataclasses import dataclass

from alma_graph.extraction.grammar import is_negated_argument
from alma_graph.extraction.parse import Parse
from alma_graph.extraction.predicates import TAKES_VALUES, free_predicates, known_predicates
from alma_graph.extraction.records import PRONOUN, SessionContext
from alma_graph.extraction.reference import Argument, Arguments
from alma_graph.extraction.vocabulary import RELATIVE_PRONOUNS, SPEAKER_PRONOUNS, VALUE_TYPES

_NO_OBJECTS = RELATIVE_PRONOUNS | {"what", "more", "least", "both", "each", "one", "others", "something", "anything"}

_NO_NOUNS = frozenset({"ADP", "ADV", "AUX", "CCONJ", "SCONJ", "PART", "PUNCT", "INTJ"})

# Shares of triples with a labelled pair and predicate on 134 development texts (87 of 99, 43 of 50, 4 of 5), rounded
# down; labels are not exhaustive. Triples of unknown verbs are never labelled so: theirs is a guess, as is the factor.
_BETWEEN_ENTITIES = 0.85
_ONE_ENTITY = 0.85
_NO_ENTITY = 0.75
_UNKNOWN_VERB = 0.4
_THROUGH_REFERENCE = 0.9


@dataclass(frozen=True, slots=True)
class Triple:
    """A relation before its names are made canonical."""

    subject: Argument
    predicate: str
    object: Argument
    negated: bool
    confidence: float


class Triples:
    """Triples of one piece, in order of finding, without repeats."""

    def __init__(self, parse: Parse, arguments: Arguments, session: SessionContext) -> None:
        self.found: list[Triple] = []
        self._parse = parse
        self._arguments = arguments
        self._session = session
        self._seen: set[tuple[str, str, str]] = set()

    def add(self, subject: int | Argument, predicate: str, object_: int | Argument, negated: bool) -> None:
        """Add a triple between two tokens or arguments, unless it says too little to be kept."""
        left = self._arguments.at(subject) if isinstance(subject, int) else subject
        right = self._arguments.at(object_) if isinstance(object_, int) else object_
        if left is None or right is None or not left.text or left.text == right.text:
            return
        if isinstance(subject, int) and self._parse.word(subject) in RELATIVE_PRONOUNS:
            return
        if isinstance(object_, int) and self._parse.word(object_) in _NO_OBJECTS:
            return
        if self._is_no_noun(subject) or self._is_no_noun(object_):
            return
        if not self._tells_enough(subject, predicate, object_, left):
            return
        if isinstance(object_, int):
            value = self._parse.type(self._arguments.owner(object_)) in VALUE_TYPES
            if value and predicate not in TAKES_VALUES:
                return
        if predicate == "IS" and not self._is_identity(subject, object_):
            return
        if predicate == "MIGRATED_TO" and right.type == "LOCATION" and self._is_person(left):
            predicate = "LIVES_IN"
        if predicate not in known_predicates() and not self._joins_entities(subject, object_):
            return
        negated = negated or any(
            isinstance(side, int) and is_negated_argument(self._parse, side) for side in (subject, object_)
        )
        key = (left.text.lower(), predicate, right.text.lower())
        if key not in self._seen:
            self._seen.add(key)
            confidence = _confidence(left, right, predicate)
            self.found.append(Triple(left, predicate, right, negated, confidence))

    def _tells_enough(self, subject: int | Argument, predicate: str, object_: int | Argument, left: Argument) -> bool:
        if not isinstance(subject, int) or not isinstance(object_, int):
            return True
        return (
            self._parse.entity(subject) is not None
            or self._parse.entity(object_) is not None
            or predicate in free_predicates()
            or left.resolved
        )

    def _is_no_noun(self, side: int | Argument) -> bool:
        """A function word, where the parser went astray."""
        if not isinstance(side, int) or self._parse.entity(side) is not None:
            return False
        return self._parse.doc[side].pos_ in _NO_NOUNS

    def _is_identity(self, subject: int | Argument, object_: int | Argument) -> bool:
        if not isinstance(subject, int) or not isinstance(object_, int) or self._parse.entity(object_) is None:
            return False
        return self._parse.entity(subject) is not None or self._parse.type(object_) == "QUANTITY"

    def _joins_entities(self, subject: int | Argument, object_: int | Argument) -> bool:
        if not isinstance(subject, int) or not isinstance(object_, int):
            return False
        left = self._arguments.owner(subject)
        right = self._arguments.owner(object_)
        if self._parse.entity(left) is None or self._parse.entity(right) is None:
            return False
        return self._parse.type(left) not in VALUE_TYPES

    def _is_person(self, argument: Argument) -> bool:
        return argument.type == "PERSON" or argument.text.lower() in SPEAKER_PRONOUNS


def _confidence(left: Argument, right: Argument, predicate: str) -> float:
    named = sum(side.type not in {"TERM", PRONOUN} for side in (left, right))
    known = predicate in known_predicates()
    base = (_NO_ENTITY, _ONE_ENTITY, _BETWEEN_ENTITIES)[named] if known else _UNKNOWN_VERB
    if left.resolved or right.resolved:
        base *= _THROUGH_REFERENCE
    return round(base, 3)
