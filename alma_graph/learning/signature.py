"""The signature of a wording: everything in it that must not differ between two wordings of one strategy."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from alma_graph.extraction.gazetteer import gazetteer, gazetteer_key
from alma_graph.extraction.predicates import predicates
from alma_graph.learning.lexicon import (
    FOREIGN_NEGATORS,
    IMPERATIVES,
    NOT_MODIFIERS,
    NUMBER_WORDS,
    PREPOSITIONS,
    STOP_WORDS,
    SYNONYM_PHRASES,
    SYNONYMS,
    TARGET_HEADS,
    UNITS,
)
from alma_graph.learning.negation import negated_heads
from alma_graph.learning.opposites import POLE_PHRASES, POLES
from alma_graph.learning.wording import is_opaque, negates, normalise_wording, removes, stem, tokens

_IDENTIFIER = re.compile(
    r"\b(?:[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+(?:-[a-z0-9]+)*-\d+|[\w.-]+/[\w./-]+"
    r"|\w+\.(?:py|js|ts|go|yaml|yml|json|md|sql))\b"
)
_UNIT_FOLLOWS = r"(?! ?(?:%|(?:" + "|".join(re.escape(unit) for unit in UNITS if unit != "%") + r")s?\b))"
_VERSION = re.compile(r"\b(?:v(?:ersion)? ?)(\d+(?:\.\d+)*)\b|\b(\d+\.\d+(?:\.\d+)*)\b" + _UNIT_FOLLOWS)
_LETTERS_THEN_VERSION = re.compile(r"(?<=[a-z])(?<!\bv)(\d+\.\d)")
_LETTERS_THEN_DIGIT = re.compile(r"([a-z]+)(\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\d{1,2}:\d\d")
_SIGNED = re.compile(r"(?:(?<=^)|(?<=[\s(=]))[-−](\d+(?:\.\d+)?)|([<>≤≥]=?) ?(\d+(?:\.\d+)?)")
_WORD = re.compile(r"[\w.+#-]+")
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w&]+|^[A-Z]{2,}\b")
_PLACE_BEFORE = re.compile(r" (?:before|prior to) ")
_PLACE_WORDS = ("staging", "production", "test", "morning")
_NOT_A_COUNT = frozenset({"by", "of", "big", "stop", "single"})
_ORDER_PATTERNS = (
    (
        re.compile(r"^(?:first,? )?(.{3,}?),? (?:and )?(?:then|afterwards?|after that|and then|followed by) (.{3,})$"),
        False,
    ),
    (re.compile(r"^(.{3,}?),? (?:before|prior to) (.{3,})$"), False),
    (re.compile(r"^(.{3,}?),? (?:after|once|only after) (.{3,})$"), True),
    (re.compile(r"^(?:before|prior to) (.{3,}?),? (.{3,})$"), True),
    (re.compile(r"^(?:after|once) (.{3,}?), (.{3,})$"), False),
    (re.compile(r"^(.{3,}?) first,? (?:and )?(?:then )?(.{3,}?)(?: later| afterwards?)?$"), False),
    (re.compile(r"^(.{3,}?)() first$"), False),
    (re.compile(r"^first,? (.{3,}?)()$"), False),
)
_ROUTE_PATTERNS = (
    (re.compile(r"\bfrom (.+?) (?:to|into) (.+)$"), False),
    (re.compile(r"\breplace (.+?) (?:with|by) (.+)$"), False),
    (re.compile(r"\b(?:use|prefer|choose|pick|take) (.+?) (?:over|instead of|rather than) (.+)$"), True),
    (re.compile(r"^(.+?) (?:over|instead of|rather than) (.+)$"), True),
)
_NOT_MODIFIERS = frozenset(stem(word) for word in NOT_MODIFIERS)


@cache
def _verb_stems() -> frozenset[str]:
    """Stems that are no nouns where no parser says so."""
    verbs = {verb.split()[0] for verb in predicates()}
    return _NOT_MODIFIERS | {stem(verb) for verb in (*sorted(verbs), *IMPERATIVES)}


@cache
def _first_words() -> frozenset[str]:
    return frozenset(key.split(" ")[0] for key in gazetteer())


@dataclass(frozen=True, slots=True)
class Signature:
    """What a wording says, slot by slot. Words are stems; equal wordings have equal signatures.

    Attributes:
        wording: the normalised text.
        opaque: the lists cannot read it (another script, a document, no content); only equality counts.
        negated: heads under a negation or a removing verb.
        numbers: amounts in base units ("30s" and "0.5 minutes" are "30s"), clock times, versions ("v3.12").
        identifiers: names with underscores, paths, files, tickets.
        technologies: canonical names in order of mention: from A to B is not from B to A.
        poles: (axis, pole) of the opposites it stands at.
        order: what comes first and what comes second, where it says so.
        route: where it goes from and where to, or what gives way to what ("replace A with B", "B instead of A").
        content: stems of all content words.
        targets: (modifier, head noun), as in "auth service".
        names: capitalised words that do not start the text.
        nouns: content stems that are nouns (of a parse where there was one, else all that are no known verb).
        foreign_negation: it has a negator of another language.
        key: equal keys are one strategy without asking an embedder.
    """

    wording: str
    opaque: bool
    negated: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    technologies: tuple[str, ...] = ()
    poles: frozenset[tuple[int, int]] = frozenset()
    order: tuple[frozenset[str], frozenset[str]] | None = None
    route: tuple[frozenset[str], frozenset[str]] | None = None
    content: frozenset[str] = frozenset()
    targets: frozenset[tuple[str, str]] = frozenset()
    names: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    foreign_negation: bool = False
    key: str = field(default="", compare=False)


def _technologies(text: str, normal: str) -> tuple[str, ...]:
    """Technologies and firms of the gazetteer, in order of mention.

    A name that is also an everyday word counts only as it is spelled (Go, Rust), a single letter never.
    """
    words = [(match.start(), match.group()) for match in _WORD.finditer(normal)]
    keys = [gazetteer_key(word) for _, word in words]
    known_names, first_words = gazetteer(), _first_words()
    found: dict[tuple[int, str], None] = {}
    for at, (start, word) in enumerate(words):
        if keys[at].split(" ")[0] not in first_words:
            continue
        for length in (3, 2, 1):
            known = known_names.get(" ".join(keys[at : at + length]))
            if known is None or known.type not in {"TECH", "ORG"} or len(known.canonical) < 2:
                continue
            everyday = bool(known.spellings) and length == 1 and len(word) < 6
            if not everyday or any(spelling in text for spelling in known.spellings):
                found[(start, known.canonical)] = None
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def _unit(word: str) -> tuple[str, float] | None:
    return UNITS.get(word) or UNITS.get(word.rstrip("s"))


def _clock(number: str, half: str) -> str:
    return f"{int(float(number)) % 12 + (12 if half == 'pm' else 0):02d}:00"


def _numbers(words: list[str]) -> set[str]:
    """Amounts among the words, number words included, in base units."""
    numbers: set[str] = set()
    at = 0
    while at < len(words):
        number = NUMBER_WORDS.get(words[at], words[at])
        following = words[at + 1] if at + 1 < len(words) else ""
        unit = _unit(following) if following else None
        idiom = words[at] == "one" and following in _NOT_A_COUNT
        if _NUMBER.fullmatch(number) and not idiom:
            if ":" in number:
                numbers.add(number)
            elif unit is not None:
                numbers.add(f"{float(number) * unit[1]:g}{unit[0]}")
                at += 1
            elif following in {"am", "pm"}:
                numbers.add(_clock(number, following))
                at += 1
            else:
                numbers.add(f"{float(number):g}")
        at += 1
    return numbers


def _signs(text: str) -> set[str]:
    """What a sign or a comparison adds to a number: -1 is not 1, > 5 is not < 5."""
    return {
        f"-{float(match[1]):g}" if match[1] else f"{match[2].replace('=', '')}{float(match[3]):g}"
        for match in _SIGNED.finditer(text)
    }


def _poles(text: str, negated: frozenset[str]) -> frozenset[tuple[int, int]]:
    """Where the wording stands on the axes of opposites. Negated words stand nowhere."""
    head = _PLACE_BEFORE.split(text)[0]  # "on staging before production" happens on staging
    if len(head) > 8 and any(word in head for word in _PLACE_WORDS):
        text = head
    words = tokens(text)
    parts = set(words) | {part for word in words if "-" in word for part in word.split("-")}
    affirmed = {word for word in parts if stem(word) not in negated}
    forms = affirmed | {stem(word) for word in affirmed} | {SYNONYMS.get(word, word) for word in affirmed}
    padded = f" {text} "
    poles = [pole for form in forms for pole in POLES.get(form, ())]
    poles += [pole for phrase in POLE_PHRASES if f" {phrase} " in padded for pole in POLES[phrase]]
    return frozenset(poles)


def _pair(
    text: str, patterns: tuple[tuple[re.Pattern[str], bool], ...]
) -> tuple[frozenset[str], frozenset[str]] | None:
    """Stems of the two sides of the first pattern that fits; `True` beside a pattern swaps them."""
    for pattern, swapped in patterns:
        match = pattern.search(text)
        if match:
            first, second = (
                frozenset(stem(word) for word in tokens(part) if word not in STOP_WORDS and word != "first")
                for part in match.groups()
            )
            return (second, first) if swapped else (first, second)
    return None


def _pair_key(pair: tuple[frozenset[str], frozenset[str]] | None) -> str:
    return "" if pair is None else ">".join("+".join(sorted(side)) for side in pair)


def _targets(words: list[str]) -> frozenset[tuple[str, str]]:
    """(modifier, head) pairs of neighbouring words whose head is a thing of which there are several."""
    return frozenset(
        (stem(modifier), stem(head))
        for modifier, head in pairwise(words)
        if head.rstrip("s") in TARGET_HEADS
        and modifier not in STOP_WORDS
        and modifier not in PREPOSITIONS
        and not negates(modifier)
        and not removes([modifier], 0)
        and stem(modifier) not in _NOT_MODIFIERS
        and not modifier[0].isdigit()
        and not modifier.endswith("ing")
    )


def _content(words: list[str], numbers: set[str]) -> frozenset[str]:
    stems = (
        stem(word)
        for word in words
        if word not in STOP_WORDS
        and not negates(word)
        and NUMBER_WORDS.get(word, word) not in numbers
        and not word.replace(".", "").isdigit()
        and word not in UNITS
    )
    return frozenset(word for word in stems if word not in STOP_WORDS)


def signature(text: str, nouns: Collection[str] | None = None) -> Signature:
    """Reads a wording.

    Args:
        text: the strategy or task as the caller wrote it (its letter case tells names).
        nouns: its nouns, when a parser has seen it; None or none lets every content word that is no known verb count.
    """
    normal = normalise_wording(text)
    if is_opaque(normal):
        return Signature(normal, opaque=True)
    identifiers = frozenset(_IDENTIFIER.findall(normal))
    spaced = _LETTERS_THEN_VERSION.sub(r" \1", normal)
    versions = {f"v{match[1] or match[2]}" for match in _VERSION.finditer(spaced)}
    plain = _VERSION.sub(" ", spaced)
    if not identifiers:
        plain = _LETTERS_THEN_DIGIT.sub(r"\1 \2", plain)
    plain = SYNONYM_PHRASES.sub(lambda match: SYNONYMS[match[1]], _IDENTIFIER.sub(" ", plain))
    words = tokens(plain)
    numbers = versions | _numbers(words) | _signs(plain)
    content = _content(words, numbers)
    if not content and not identifiers:
        return Signature(normal, opaque=True)
    negated = negated_heads(plain)
    parsed = content - _verb_stems() if not nouns else frozenset(stem(noun.casefold()) for noun in nouns) & content
    order = _pair(spaced, _ORDER_PATTERNS)
    route = _pair(spaced, _ROUTE_PATTERNS)
    technologies = _technologies(text, spaced)
    return Signature(
        wording=normal,
        opaque=False,
        negated=negated & content,
        numbers=frozenset(numbers),
        identifiers=identifiers,
        technologies=technologies,
        poles=_poles(plain, negated),
        order=order,
        route=route,
        content=content,
        targets=_targets(words),
        names=frozenset(stem(name.lower()) for name in _NAME.findall(text)) & content,
        nouns=parsed,
        foreign_negation=bool(FOREIGN_NEGATORS.intersection(words)),
        key="|".join(
            (
                "+".join(sorted(negated & content)),
                "+".join(sorted(content)),
                "+".join(sorted(numbers)),
                "+".join(sorted(identifiers)),
                ">".join(technologies),
                _pair_key(order),
                _pair_key(route),
            )
        ),
    )
