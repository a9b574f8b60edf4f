"""spaCy's own entity labels, filtered: they know people and places, and mistake code for both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from alma_graph.extraction.gazetteer import gazetteer
from alma_graph.extraction.parse import Parse
from alma_graph.extraction.spans import SpanSet
from alma_graph.extraction.vocabulary import ACRONYMS_WITHOUT_NAME, COMPONENT_HEADS, NOT_PERSON

if TYPE_CHECKING:
    from spacy.tokens import Token

_TYPES = {
    "PERSON": "PERSON",
    "ORG": "ORG",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "DATE": "DATE",
    "TIME": "DATE",
    "MONEY": "QUANTITY",
    "PERCENT": "QUANTITY",
    "QUANTITY": "QUANTITY",
    "PRODUCT": "TECH",
}
_LEADING_WORD = re.compile(
    r"^(?:the|The|a|Lead|Customer|Champion|Client|User|Spoke|Talked|Project|Decision|Nit|Team|Hey|Hi|Thanks) "
)
_POSSESSIVE = re.compile(r"'s?$")
_CALENDAR = re.compile(
    r"\d|\b(?:last|next|this|past|ago|early|late|earlier|later|mid|end of|yesterday|today|tomorrow|tonight)\b|"
    r"January|February|March|April|June|July|August|Septem|Octob|Novem|Decem|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:a|an|that|each|every|one|all|whole|day|week|month|year|night|morning|evening)\b", re.IGNORECASE
)
_SPAN_LIKE = re.compile(r"\d-(?:minute|hour|day|second)")
_DATE_LIKE = re.compile(
    r"\d|day|week|month|year|night|morning|evening|January|February|March|April|June|July|August|Septem|Octob|Novem|"
    r"Decem",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(r"^(?:daily|weekly|monthly|nightly|the)\b", re.IGNORECASE)
_DURATION = re.compile(r"(?:about |over |some )?\w+ (?:days?|weeks?|months?|years?|hours?|minutes?|seconds?)")
_COUNTS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|half|dozen)\b",
    re.IGNORECASE,
)
_REGIONS = frozenset({"EU", "US", "UK", "USA", "UAE", "APAC", "EMEA"})
_ACRONYM = re.compile(r"[A-Z][A-Z0-9]+")
_CAPITALISED_PLURAL = re.compile(r"[A-Z][a-z]+s")
_NO_NAME_TAGS = frozenset({"VERB", "ADJ", "ADV", "INTJ", "NOUN"})
_LONGEST_NAME = 4
_TRIMMED_LEFT = " '\"("
_TRIMMED_RIGHT = " '\",.;:)"
_ABBREVIATION = re.compile(r"\b(?:Inc|Ltd|Corp|Co)\.$")


def add_statistical(parse: Parse, found: SpanSet) -> None:
    """Add spaCy's entities where nothing was found yet and the label can be believed."""
    for entity in parse.doc.ents:
        type_ = _TYPES.get(entity.label_, "")
        tokens = [i for i in range(entity.start, entity.end) if parse.entity(i) is None]
        if not type_ or not tokens:
            continue
        start, end = parse.start(tokens[0]), parse.end(tokens[-1])
        if type_ == "DATE":
            type_ = _date_type(parse.text[start:end])
        elif type_ == "QUANTITY":
            type_ = type_ if _COUNTS.search(parse.text[start:end]) else ""
        else:
            start, end = _trimmed_name(parse.text, start, end)
            type_ = _name_type(parse, start, end, type_, [parse.doc[i] for i in tokens], found)
        while start < end and parse.text[start] in _TRIMMED_LEFT:
            start += 1
        while end > start and parse.text[end - 1] in _TRIMMED_RIGHT and not _ABBREVIATION.search(parse.text[start:end]):
            end -= 1
        if type_:
            found.add(start, end, type_, "statistical")


def _date_type(written: str) -> str:
    """DATE, QUANTITY for a duration, or "" for what is neither."""
    if _SPAN_LIKE.search(written) or not _DATE_LIKE.search(written) or written.isdecimal():
        return ""
    if _FREQUENCY.search(written):
        return ""
    if _DURATION.fullmatch(written):
        return "" if written.split(maxsplit=1)[0].lower() in {"that", "each", "every"} else "QUANTITY"
    return "" if _VAGUE.match(written) and not _CALENDAR.search(written) else "DATE"


def _trimmed_name(text: str, start: int, end: int) -> tuple[int, int]:
    written = text[start:end]
    name = _LEADING_WORD.sub("", written)
    start += len(written) - len(name)
    return start, start + len(_POSSESSIVE.sub("", name))


def _name_type(parse: Parse, start: int, end: int, type_: str, tokens: list[Token], found: SpanSet) -> str:
    """The type to believe for a labelled name, or "" to drop it."""
    name = parse.text[start:end]
    words = name.split()
    if len(name) < 2 or not name[0].isupper() or name in NOT_PERSON or len(words) > _LONGEST_NAME:
        return ""
    if (name.isupper() and type_ == "PERSON") or (type_ != "ORG" and any(c.isdecimal() for c in name)):
        return ""
    opens = parse.starts_sentence(start)
    following = parse.text[end : end + 25].split()
    if type_ == "PERSON" and following and following[0].casefold().rstrip("s.,") in COMPONENT_HEADS:
        return ""
    if opens and len(words) == 1 and tokens[0].pos_ in _NO_NAME_TAGS and type_ != "LOCATION":
        return ""
    if name in ACRONYMS_WITHOUT_NAME or (opens and type_ == "ORG" and _CAPITALISED_PLURAL.fullmatch(name)):
        return ""
    if name in _REGIONS:
        return "LOCATION"
    if type_ in {"ORG", "PERSON"} and _ACRONYM.fullmatch(name):
        return "TECH"
    if type_ == "LOCATION" and name.isupper():
        unknown_opening = opens and name.casefold() not in gazetteer() and len(name) < 4
        if len(name) > 3 or unknown_opening:
            return ""
    last = tokens[-1]
    if type_ == "PERSON" and last.dep_ == "pobj" and last.head.lemma_ in {"of", "at"} and _follows_person(found, start):
        return "ORG"
    return type_


def _follows_person(found: SpanSet, start: int) -> bool:
    return any(
        span.type == "PERSON"
        and span.end < start
        and found.text[span.end : min(start, span.end + 12)].strip(" ,") in {"of", "at", "from"}
        for span in found.spans
    )
