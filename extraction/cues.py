"""People, firms and tools that are named by what the text says about them: "my name is", "works at", "approved"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from alma_graph.extraction.gazetteer import gazetteer
from alma_graph.extraction.parse import Parse
from alma_graph.extraction.spans import SpanSet
from alma_graph.extraction.vocabulary import (
    FIRM_ONLY_VERBS,
    NOT_PERSON,
    ORG_NAME_ENDINGS,
    PERSON_ONLY_VERBS,
    PERSON_PASSIVE_VERBS,
    PERSON_VERBS,
    ROLE_HEADS,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

_NAME = r"[A-Z][a-z]{1,30}(?: [A-Z][a-z]{1,30})?"
_INTRODUCED = re.compile(
    r"\b(?:(?:[Mm]y|[Tt]heir|[Hh]is|[Hh]er) name is|I am|I'm|This is|[Cc]all me) "
    rf"({_NAME})\b(?! (?:and|from|here)?ing)"
)
_TITLED = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof)\. ([A-Z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30})?)")
_ADDRESSED = re.compile(
    r"\b(?:(?:Thanks|Thank you|Hi|Hey|Hello|Dear|Bye|Congrats|Congratulations),?|"
    r"(?:Cool|Wow|Yeah|Yes|Sure|Sorry|Nice|Great|Awesome|Whoa|Oh|Okay|Ok),) ([A-Z][a-z]{1,20})(?=[!,.?])"
)
_CALLED_FIRM = re.compile(
    r"\b(?:[Cc]ustomer|[Cc]lient|[Vv]endor|[Pp]artner|[Cc]ompany|[Aa]ccount) ((?:[A-Z][\w&-]{1,30} ?){1,3})(?<! )"
)
_OF_A_TEAM = re.compile(rf"\b({_NAME})(?=,? (?:from|of|on) (?:the |our )?(?:\w+ ){{0,2}}(?:team|squad|department)\b)")
_AND_OTHERS = re.compile(r"\b[A-Z][\w'-]{1,30} et al\.?")
_FIRM = re.compile(rf"\b(?:[A-Z][\w&'-]{{0,30}} ){{1,3}}(?:{ORG_NAME_ENDINGS})\b\.?")
_ABBREVIATED_ENDING = re.compile(r"\b(?:Inc|Ltd|Corp|Co)\.$")
_ONE_NAME = re.compile(r"[A-Z][a-zà-ÿ]+(?:-[A-Z][a-z]+)?")

_TOOL_VERBS = frozenset({"use", "install", "import", "adopt", "upgrade", "bump", "try"})
_TOOL_CHANGE_VERBS = frozenset({"switch", "migrate", "replace", "rewrite", "port"})
_FIRM_PREPOSITIONS = frozenset({"at", "from", "of", "for", "with"})
_FIRM_VERBS = frozenset({"work", "join", "talk", "speak", "CTO", "CEO", "deal", "contact", "leave", "team"})
_PERSON_TAGS = frozenset({"PROPN", "NOUN", "ADJ", "ADV", "VERB"})


def add_worded_cues(prose: str, found: SpanSet) -> None:
    """Add people and firms by the words around them; no parse needed."""
    for match in _INTRODUCED.finditer(prose):
        if match.group(1) not in NOT_PERSON and match.group(1).casefold() not in gazetteer():
            found.add(*match.span(1), "PERSON", "cue")
    for match in _ADDRESSED.finditer(prose):
        if match.group(1) not in NOT_PERSON and match.group(1).casefold() not in gazetteer():
            found.add(*match.span(1), "PERSON", "cue")
    for match in _TITLED.finditer(prose):
        found.add(*match.span(1), "PERSON", "cue")
    for match in _CALLED_FIRM.finditer(prose):
        found.add(*match.span(1), "ORG", "cue")
    for match in _OF_A_TEAM.finditer(prose):
        if match.group(1) not in NOT_PERSON and match.group(1).casefold() not in gazetteer():
            found.add(*match.span(1), "PERSON", "cue")
    for match in _AND_OTHERS.finditer(prose):
        found.add(*match.span(), "PERSON", "cue")
    for match in _FIRM.finditer(prose):
        ends_sentence = match.group().endswith(".") and not _ABBREVIATED_ENDING.search(match.group())
        found.add(match.start(), match.end() - ends_sentence, "ORG", "cue")


def add_parsed_cues(parse: Parse, found: SpanSet) -> None:
    """Add firms ("at X" after work), tools ("installed X") and people (subjects of "reviewed") from the tree.

    They come before the statistical labels and so overrule them.
    """
    for token in parse.tokens():
        _add_firm_or_tool(parse, token, found)
    for token in parse.tokens():
        word = parse.raw(token.i)
        if not _can_be_person(parse, token, word) or token.pos_ == "DET":
            continue
        if _acts_as_person(parse, token):
            found.add(*parse.offsets[token.i], "PERSON", "cue")
        elif _acts_as_firm(token):
            found.add(*parse.offsets[token.i], "ORG", "cue")


def add_late_cues(parse: Parse, found: SpanSet) -> None:
    """Add people and firms by weaker cues, where the statistical labels left a name alone."""
    for token in parse.tokens():
        word = parse.raw(token.i)
        if not _can_be_person(parse, token, word) or not found.free(*parse.offsets[token.i]):
            continue
        if token.pos_ in _PERSON_TAGS and _is_person_by_verb(token):
            found.add(*parse.offsets[token.i], "PERSON", "cue")
        elif token.pos_ == "PROPN" and token.dep_ == "pobj" and token.head.lemma_ in _FIRM_PREPOSITIONS:
            governor = token.head.head
            if governor.pos_ == "PROPN" or governor.lemma_ in _FIRM_VERBS:
                found.add(*parse.offsets[token.i], "ORG", "cue")


def _add_firm_or_tool(parse: Parse, token: Token, found: SpanSet) -> None:
    word = parse.raw(token.i)
    if parse.entity(token.i) is not None or not word[:1].isupper() or word in NOT_PERSON:
        return
    if token.pos_ != "PROPN" or token.dep_ not in {"pobj", "dobj"}:
        return
    first = token.left_edge.i
    while first < token.i and (parse.doc[first].pos_ != "PROPN" or parse.entity(first) is not None):
        first += 1
    head = token.head
    if _is_workplace(token):
        found.add(parse.start(first), parse.end(token.i), "ORG", "cue")
    elif first == token.i and (
        (token.dep_ == "dobj" and head.lemma_ in _TOOL_VERBS)
        or (token.dep_ == "pobj" and head.lemma_ in {"to", "from", "with"} and head.head.lemma_ in _TOOL_CHANGE_VERBS)
    ):
        found.add(*parse.offsets[token.i], "TECH", "cue")


def _is_workplace(token: Token) -> bool:
    head = token.head
    if token.dep_ == "dobj":
        return head.lemma_ == "join"
    if head.lemma_ != "at":
        return False
    governor = head.head
    return (
        governor.lemma_ in {"work", "team", "lead", "engineer"}
        or governor.pos_ == "PROPN"
        or governor.text in ROLE_HEADS
    )


def _can_be_person(parse: Parse, token: Token, word: str) -> bool:
    return parse.entity(token.i) is None and word not in NOT_PERSON and _ONE_NAME.fullmatch(word) is not None


def _acts_as_person(parse: Parse, token: Token) -> bool:
    following = parse.doc[token.i + 1] if token.i + 1 < len(parse.doc) else None
    is_part_of_name = (following is not None and following.dep_ == "flat") or any(
        child.dep_ == "compound" for child in token.children
    )
    if _acts(token) and not is_part_of_name:
        return True
    return token.dep_ == "conj" and token.head.pos_ == "PROPN" and _acts(token.head)


def _acts_as_firm(token: Token) -> bool:
    """Subject of "acquired", "renewed": a name by its tag, or by the statistical label where the tag is wrong."""
    if token.dep_ != "nsubj" or token.head.lemma_.lower() not in FIRM_ONLY_VERBS:
        return False
    is_name = token.pos_ == "PROPN" or token.ent_type_ in {"PERSON", "ORG", "GPE", "PRODUCT"}
    return is_name and not any(child.dep_ == "compound" for child in token.children)


def _acts(token: Token) -> bool:
    """Subject, or agent of a passive, of a verb that only people do."""
    head = token.head
    if token.dep_ == "nsubj":
        return head.lemma_.lower() in PERSON_ONLY_VERBS
    return (
        token.dep_ == "pobj"
        and head.text.lower() == "by"
        and head.head.tag_ == "VBN"
        and head.head.lemma_.lower() in PERSON_PASSIVE_VERBS
    )


def _is_person_by_verb(token: Token) -> bool:
    if _subject_of_person_verb(token):
        return True
    if token.pos_ != "PROPN":
        return False
    return (token.dep_ == "pobj" and token.head.lemma_ == "by") or (
        token.dep_ == "conj" and _subject_of_person_verb(token.head)
    )


def _subject_of_person_verb(token: Token) -> bool:
    return token.dep_ == "nsubj" and token.head.lemma_.lower() in PERSON_VERBS
