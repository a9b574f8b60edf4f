"""What a query names, by rules and the store's own words: people, dates, entities, roles, negation. No model runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from alma_graph.index.names import plain
from alma_graph.index.project import ProjectIndex
from alma_graph.index.speech import ROLES
from alma_graph.index.tokens import STOP_WORDS, Concept, document_terms, query_concepts

LONGEST_NAME = 14
"""Words of an entity's name that are looked for in a query."""
COMMON_NAME = 50
"""A one-word name that more memories mention says little about any of them."""
MAX_WORDS = 512
"""Words of a query that are read for names."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH = {name: at for at, name in enumerate(_MONTHS, 1)} | {name[:3]: at for at, name in enumerate(_MONTHS, 1)}
_SHORT = ("jan", "feb", "apr", "jun", "jul", "aug", "sept?", "oct", "nov", "dec")
_MONTH_NAME = re.compile(r"\b(" + "|".join((*_MONTHS, *_SHORT)) + r")\b\.?")
_TIME_BEFORE = re.compile(r"\b(?:in|since|until|during|last|this|next|early|late|mid)[ -]$")
_MONTH_STEMS = {term for name in (*_MONTH, "sept") for term in document_terms(name)[0]}
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\b")
_YEAR = re.compile(r"(?<![\d.\-])((?:19|20)\d\d)(?![\d.\-])")
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_NEGATION = re.compile(
    r"\b(?:not|never|no|without|cannot|avoid(?:s|ed|ing)?|neither|nor|none)\b|n['’]t\b", re.IGNORECASE
)
_ASSISTANT_SAID = re.compile(
    r"\byou\b.{0,25}\b(?:recommend|suggest|mention|told|said|say|gave|give|provid|list|explain|describ|generat|wrote|write"
    r"|shar|advis|creat|propos)|\byour (?:suggest|recommend|advice|answer|response|list)|\byou(?:['’]d| had)\b"
)
_USER_SAID = re.compile(r"\b(?:i|my|me|mine|i['’]m|i['’]ve)\b")


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as far as the query names it."""

    year: int | None
    month: int | None
    day: int | None


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity of the store that the query names: its number and how many words its name has."""

    code: int
    words: int


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as the arms see it.

    Attributes:
        text: as given.
        concepts: what full-text search looks for.
        speakers: codes of the people it names that speak in the store; empty where it names all or none.
        role: whose words are asked for in a dialogue with an assistant: "user", "assistant" or None.
        date: the date it names.
        entities: entities it names, longest names first.
        negated: it says "not", "never", "without", ...
    """

    text: str
    concepts: tuple[Concept, ...]
    speakers: frozenset[int]
    role: str | None
    date: NamedDate | None
    entities: tuple[NamedEntity, ...]
    negated: bool


def parse_query(text: str, index: ProjectIndex) -> ParsedQuery:
    """Reads a query against the names of a project. Takes any text."""
    words = plain(text).split()[:MAX_WORDS]
    lowered = text.casefold()
    people, named, role_talk = _speakers(words, index)
    date = named_date(lowered)
    concepts = query_concepts(text)
    if date is not None:  # a date acts as a prior; its words count where they stand, and are not missed elsewhere
        concepts = [replace(concept, optional=True) if _dates(concept) else concept for concept in concepts]
    names = {term for code in named for term in document_terms(index.rows.speakers.names[code])[0]}
    kept = [concept for concept in concepts if names.isdisjoint(concept.terms)]  # they act as a prior, not as words
    return ParsedQuery(
        text=text,
        concepts=tuple(kept or concepts),
        speakers=frozenset(named) if len(named) < people else frozenset(),
        role=_role(lowered) if role_talk else None,
        date=date,
        entities=_entities(words, index),
        negated=_NEGATION.search(text) is not None,
    )


def named_date(lowered: str) -> NamedDate | None:
    """The year, month and day that a lower-case text names; None where it names none of them.

    "may" and "march" are months only beside "in", a day or a year.
    """
    iso = _ISO.search(lowered)
    if iso and 1 <= int(iso[2]) <= 12:
        return NamedDate(int(iso[1]), int(iso[2]), int(iso[3]) if iso[3] else None)
    year = _YEAR.search(lowered)
    found_year = int(year[1]) if year else None
    for match in _MONTH_NAME.finditer(lowered):
        name = match[1]
        after = re.match(rf",?\s+{_DAY}\b(?!\s*(?:am|pm|:))", lowered[match.end() :])
        before = re.search(rf"\b{_DAY}\s+(?:of\s+)?$", lowered[: match.start()])
        near_year = re.match(r",?\s+(?:19|20)\d\d\b", lowered[match.end() :])
        dated = after or before
        if name in ("may", "march") and not (dated or near_year or _TIME_BEFORE.search(lowered[: match.start()])):
            continue
        day = int(dated[1]) if dated else 0
        return NamedDate(found_year, _MONTH[name[:3]], day if 1 <= day <= 31 else None)
    return NamedDate(found_year, None, None) if found_year else None


def _dates(concept: Concept) -> bool:
    """Whether a concept is the name of a month or a number."""
    term = concept.terms[0].lstrip("=")
    return term in _MONTH_STEMS or term.replace("-", "").replace("/", "").isdigit()


def _speakers(words: list[str], index: ProjectIndex) -> tuple[int, list[int], bool]:
    """How many people speak in the store, which of them are named, and whether its dialogues are with an assistant."""
    names = index.rows.speakers.names
    people = [code for code, name in enumerate(names) if name.casefold() not in ROLES]
    text = f" {' '.join(words)} "
    named = [code for code in people if (name := plain(names[code])) and f" {name} " in text]
    return len(people), named, bool(names) and not people


def _role(lowered: str) -> str | None:
    if _ASSISTANT_SAID.search(lowered):
        return "assistant"
    return "user" if _USER_SAID.search(lowered) else None


def _entities(words: list[str], index: ProjectIndex) -> tuple[NamedEntity, ...]:
    """Longest match of the query's words in the names of the entities."""
    entities = index.entities
    used = [False] * len(words)
    found: list[NamedEntity] = []
    longest = min(LONGEST_NAME, entities.longest_name, len(words))
    for size in range(longest, 0, -1):
        for start in range(len(words) - size + 1):
            if any(used[start : start + size]):
                continue
            if size == 1 and (words[start] in STOP_WORDS or len(words[start]) < 2):
                continue
            codes = entities.named(" ".join(words[start : start + size]))
            codes = [code for code in codes if size > 1 or entities.frequency(code) <= COMMON_NAME]
            if codes:
                used[start : start + size] = [True] * size
                found += [NamedEntity(code, size) for code in codes]
    return tuple(found)
