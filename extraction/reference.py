"""Arguments of relations: their wording, and what pronouns and "the service" stand for in a session."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alma_graph.extraction.parse import Parse
from alma_graph.extraction.records import PRONOUN, TERM, SessionContext
from alma_graph.extraction.spans import Span
from alma_graph.extraction.vocabulary import (
    COMPONENT_HEADS,
    GROUP_PRONOUNS,
    MODIFIER_RELATIONS,
    PERSON_PRONOUNS,
    SPEAKER_PRONOUNS,
    SUBJECT_RELATIONS,
    THING_PRONOUNS,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

_NOT_PART_OF_NAME = frozenset({"DET", "PRON", "PUNCT"})
_ARTICLES = frozenset({"no", "any", "the", "a", "an"})
_HAS_VERSIONS = frozenset({"TECH", "COMPONENT", "PROJECT"})
_ANTECEDENTS = frozenset({"COMPONENT", "TECH", "FILE", "CODE", "PROJECT", "TICKET"})
_NEAR_ANTECEDENTS = _ANTECEDENTS | {"STRATEGY", "ERROR"}
_ANTECEDENT_SUBJECTS = frozenset({"COMPONENT", "CODE", "FILE", "PROJECT"})
_DEFINITE_NOUNS = COMPONENT_HEADS | {"script", "file", "tool", "library", "company", "team", "project"}
_KIND_OF_NOUN = {"script": "FILE", "file": "FILE", "tool": "TECH", "library": "TECH", "company": "ORG"}
_LIKE_A_SERVICE = frozenset({"api", "service", "server", "gateway", "worker", "backend"})
_LIGHT_NOUNS = frozenset({"deployment", "rollout", "release", "version", "instance", "copy", "rest", "part"})
_CLAUSE_BREAK = re.compile(r"[;,]\s*(?:but |and |so )?$")
_WORD_GAP = re.compile(r"[\s_-]+")
_SAFE_PRONOUN_TAGS = frozenset({"PRON", "DET"})


@dataclass(frozen=True, slots=True)
class Argument:
    """One side of a relation.

    Attributes:
        text: wording of the argument, or of what it stands for.
        type: entity type, `TERM` or `PRONOUN`.
        start, end: where the argument itself stands.
        resolved: a pronoun or "the service" was replaced by its referent.
    """

    text: str
    type: str
    start: int
    end: int
    resolved: bool = False


class Arguments:
    """Finds the argument at a token. One object per parsed piece, since a pronoun's referent holds for a sentence."""

    def __init__(self, parse: Parse, entities: list[Span], session: SessionContext) -> None:
        self._parse = parse
        self._entities = entities
        self._ends = [entity.end for entity in entities]
        self._session = session
        self._sentence_starts = [parse.start(sentence.start) for sentence in parse.doc.sents]
        self._it: dict[int, Argument] = {}

    def owner(self, index: int) -> int:
        """The token that an argument is about: "Tesseract 4" is Tesseract, "v3.1 of the portal" is the portal."""
        is_version = self._parse.type(index) == "VERSION"
        if is_version or self._parse.word(index) in _LIGHT_NOUNS:
            for child in self._parse.doc[index].children:
                if child.dep_ == "prep" and self._parse.word(child.i) == "of":
                    for part in child.children:
                        if part.dep_ == "pobj" and self._parse.entity(part.i) is not None:
                            return part.i
        if index > 0 and self._parse.type(index) == "VERSION" and self._parse.type(index - 1) in _HAS_VERSIONS:
            return index - 1
        return index

    def at(self, index: int) -> Argument | None:
        """The argument at a token, or None for a pronoun without a referent (the relation is then dropped)."""
        index = self.owner(index)
        parse = self._parse
        word = parse.word(index)
        if parse.entity(index) is None:
            if word in SPEAKER_PRONOUNS:
                return self._pronoun_of_speaker(index, word)
            if word in PERSON_PRONOUNS:
                return self._last_of("PERSON", parse.start(index), self._session.people, index)
            if word in GROUP_PRONOUNS:
                sentence = parse.start(parse.doc[index].sent.start)
                earlier = self._last_of("ORG", sentence, [], index)
                return earlier or self._last_of("ORG", parse.start(index), self._session.orgs, index)
            if word in THING_PRONOUNS and parse.doc[index].pos_ in _SAFE_PRONOUN_TAGS:
                return self._it_of_sentence(parse.doc[index])
        return self._definite(index, word) or self.wording(index)

    def wording(self, index: int) -> Argument:
        """The argument as the text words it: an entity's span, or the noun with the modifiers before it."""
        parse = self._parse
        entity = parse.entity(index)
        if entity is not None and (
            parse.end(index) == entity.end or parse.entity(parse.doc[index].head.i) is not entity
        ):
            return Argument(parse.text[entity.start : entity.end], entity.type, entity.start, entity.end)
        first = index
        for child in parse.doc[index].lefts:
            if child.dep_ in MODIFIER_RELATIONS and child.pos_ not in {"DET", "PRON"}:
                first = min(first, child.left_edge.i)
        while first < index and (parse.doc[first].pos_ in _NOT_PART_OF_NAME or parse.word(first) in _ARTICLES):
            first += 1
        start, end = parse.start(first), parse.end(index)
        return Argument(parse.text[start:end], TERM, start, end)

    def speaker(self, index: int) -> Argument:
        """Who says "I" or "my" at a token."""
        start, end = self._parse.offsets[index]
        if self._session.speaker:
            return Argument(self._session.speaker, "PERSON", start, end, resolved=True)
        return Argument("I", PRONOUN, start, end)

    def _pronoun_of_speaker(self, index: int, word: str) -> Argument:
        if self._session.speaker and word in {"i", "me"}:
            return self.speaker(index)
        return Argument(self._parse.raw(index), PRONOUN, *self._parse.offsets[index])

    def _before(self, position: int) -> list[Span]:
        """Entities that end at or before a character."""
        count = bisect_left(self._ends, position + 1)
        return self._entities[:count]

    def _named(self, name: str, type_: str, index: int) -> Argument:
        return Argument(name, type_, *self._parse.offsets[index], resolved=True)

    def _of(self, entity: Span, index: int) -> Argument:
        return self._named(self._parse.text[entity.start : entity.end], entity.type, index)

    def _last_of(self, type_: str, position: int, remembered: list[str], index: int) -> Argument | None:
        for entity in reversed(self._before(position)):
            if entity.type == type_:
                return self._of(entity, index)
        return self._named(remembered[-1], type_, index) if remembered else None

    def _it_of_sentence(self, token: Token) -> Argument | None:
        """Referent of "it": one for all in a sentence."""
        sentence = token.sent.start
        if sentence not in self._it:
            referent = self._thing(token)
            if referent is None:
                return None
            self._it[sentence] = referent
        known = self._it[sentence]
        return self._named(known.text, known.type, token.i)

    def _thing(self, token: Token) -> Argument | None:
        position = self._parse.start(token.i)
        sentence_start = self._parse.start(token.sent.start)
        before = self._before(position)
        earlier = [e for e in before if e.end <= sentence_start and e.type in _ANTECEDENTS]
        same = [e for e in before if e.end > sentence_start and e.type in _NEAR_ANTECEDENTS]
        is_subject = token.dep_ in SUBJECT_RELATIONS
        if same and not is_subject:
            return self._of(same[-1], token.i)
        if same and self._opens_second_clause(token, position):
            return self._of(self._subject_of_first_clause(same), token.i)
        if earlier:
            return self._of(self._of_sentence_before(earlier, sentence_start, is_subject), token.i)
        if same:
            return self._of(same[0], token.i)
        if self._session.things:
            name, type_ = self._session.things[-1]
            return self._named(name, type_, token.i)
        return None

    def _opens_second_clause(self, token: Token, position: int) -> bool:
        joined = token.head.dep_ in {"conj", "ccomp", "parataxis", "ROOT"}
        left = self._parse.text[max(0, position - 16) : position]
        return joined and token.i > token.sent.start + 1 and _CLAUSE_BREAK.search(left) is not None

    def _subject_of_first_clause(self, same: list[Span]) -> Span:
        tickets = [e for e in same if e.type == "TICKET"]
        acting = [e for e in same if e.type in _ANTECEDENT_SUBJECTS and self._is_subject(e)]
        components = [e for e in same if e.type == "COMPONENT"]
        return (tickets or acting or components or same)[0]

    def _is_subject(self, entity: Span) -> bool:
        first = bisect_left(self._parse.offsets, (entity.start, 0))
        for index in range(first, len(self._parse.offsets)):
            if self._parse.entity(index) is not entity:
                return False
            if self._parse.doc[index].dep_ in SUBJECT_RELATIONS:
                return True
        return False

    def _of_sentence_before(self, earlier: list[Span], sentence_start: int, is_subject: bool) -> Span:
        previous = bisect_left(self._sentence_starts, sentence_start) - 1
        previous_start = self._sentence_starts[previous] if previous >= 0 else 0
        near = [e for e in earlier if e.start >= previous_start] or earlier
        components = [e for e in near if e.type == "COMPONENT"]
        if components:
            return components[0]
        return near[0] if is_subject else near[-1]

    def _definite(self, index: int, word: str) -> Argument | None:
        """Referent of "the service", "this file": the last name with that head noun."""
        entity = self._parse.entity(index)
        if word not in _DEFINITE_NOUNS or (entity is not None and entity.source != "head"):
            return None
        lefts = list(self._parse.doc[index].lefts)
        if any(child.dep_ in MODIFIER_RELATIONS for child in lefts):
            return None
        if not any(self._parse.word(child.i) in {"the", "this", "that"} for child in lefts):
            return None
        for candidate in reversed(self._before(self._parse.start(index))):
            written = self._parse.text[candidate.start : candidate.end]
            if _has_head(written, candidate.type, word):
                return self._of(candidate, index)
        for name, type_ in reversed(self._session.things):
            if _has_head(name, type_, word):
                return self._named(name, type_, index)
        return None


def _has_head(name: str, type_: str, word: str) -> bool:
    """Whether "the <word>" may mean this name."""
    last = _WORD_GAP.split(name.casefold())[-1]
    if last == word or _KIND_OF_NOUN.get(word) == type_:
        return True
    return word == "service" and type_ == "COMPONENT" and last in _LIKE_A_SERVICE
