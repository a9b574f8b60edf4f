"""Canonical forms of names: the key under which two mentions are one entity.

Equal keys merge; nothing else does. Digits, versions and signs always stay in the key, so "Task 5" and "Task 6",
"Python 3.11" and "Python 3.12" can never meet. The only names of different digits that share a key are aliases that
the gazetteer lists ("k8s" is Kubernetes). Likeness of strings or vectors may suggest a merge and never makes one: at
Jaro-Winkler .95 its precision on 74 labelled pairs was .89, against 1.00 of equal keys.
"""

from __future__ import annotations

import re
import unicodedata

from alma_graph.extraction.gazetteer import known_name
from alma_graph.extraction.vocabulary import ORG_SUFFIXES

_AS_WRITTEN = frozenset({"FILE", "URL", "ENV_VAR", "CODE", "ERROR", "VERSION", "EMAIL"})
_WITH_ALIASES = frozenset({"TECH", "COMPONENT", "STRATEGY", "ORG", ""})
_SINGULAR = frozenset({"COMPONENT", "STRATEGY", "METRIC"})
SHORT_FORMS = {
    "svc": "service",
    "db": "database",
    "authentication": "auth",
    "repo": "repository",
    "config": "configuration",
    "env": "environment",
}
"""Words that mean the same in a component's name, by the form that is replaced."""
_DETERMINER = re.compile(
    r"^(?:the|a|an|our|my|their|his|her|your|its|this|that|these|those|all|each|every)\s+(?=\S)", re.IGNORECASE
)
_SHORT_FORM = re.compile(r"\b(?:" + "|".join(SHORT_FORMS) + r")\b")
_ORG_SUFFIX = re.compile(r"(?<=\S)[ ,]+(?:" + ORG_SUFFIXES + r")\.?$")
_TITLE = re.compile(r"^(?:dr|mr|mrs|ms|prof|sen|sir)\.? (?=\S)")
_SEPARATORS = re.compile(r"[\s_\-/]+")
_PLURAL = re.compile(r"[a-z]{3}s$")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_MAX_STEPS = 16


def digits(text: str) -> tuple[str, ...]:
    """Numbers and versions of a name, in order, as written: ("3.11",) of "Python 3.11".

    Compatibility forms count as what they stand for ("²" is "2"). Two names whose digits differ are two entities.
    """
    return tuple(_DIGITS.findall(unicodedata.normalize("NFKC", text)))


def canonical(name: str, type: str = "") -> str:
    """The key of a name of this entity type; never empty unless the name is blank.

    Case, articles, blanks against hyphens, possessives, legal forms of firms, titles and accents of people and
    listed aliases make no difference. Digits, versions and signs do. Files, URLs, variables, code and errors keep
    their letter case.
    """
    start = unicodedata.normalize("NFKC", name).replace("\u2019", "'").strip()
    if not start:
        return ""
    key = start
    for _ in range(_MAX_STEPS):  # until nothing changes: "the the API's" needs more than one round
        following = _as_written(key, type) if type in _AS_WRITTEN else _folded(key, type)
        if following == key:
            break
        key = following
    return key or " ".join(start.casefold().split())


def alias_keys(name: str, type: str = "") -> tuple[str, ...]:
    """Keys under which the same entity is surely known, the canonical one first, no two equal.

    They add to it the form without separators ("auth service" = "AuthService"), which never joins two numbers.
    """
    key = canonical(name, type)
    keys = [key]
    if type not in _AS_WRITTEN and type != "PERSON":
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
        split = canonical(spaced, type)
        compact = re.sub(r"(?<!\d) | (?!\d)", "", key)
        keys += [split, compact]
    return tuple(dict.fromkeys(k for k in keys if k))


def _as_written(text: str, type_: str) -> str:
    bare = text.strip(" `'\",;")
    if type_ == "FILE":
        return bare.removeprefix("./")
    if type_ == "URL":
        return bare.rstrip("/")
    if type_ == "ENV_VAR":
        return bare.strip("${}")
    return bare.removesuffix("()")


def _folded(text: str, type_: str) -> str:
    key = text.strip(" `'\",;:").rstrip(".")
    key = re.sub(r"'s$", "", _DETERMINER.sub("", key))
    key = unicodedata.normalize("NFKC", key.casefold())
    key = _SEPARATORS.sub(" ", key).strip()
    if type_ == "COMPONENT":
        key = _SHORT_FORM.sub(lambda match: SHORT_FORMS[match.group()], key)
    elif type_ == "PERSON":
        key = _TITLE.sub("", without_accents(key))
    elif type_ == "ORG":
        key = _ORG_SUFFIX.sub("", key)
    if type_ in _WITH_ALIASES:
        known = known_name(key) or known_name(text)
        if known is not None and known.type == (type_ or known.type):
            return known.canonical
    if type_ in _SINGULAR and _PLURAL.search(key) and not key.endswith(("ss", "us", "is")):
        key = key[:-1]
    return key


def without_accents(text: str) -> str:
    """Letters lose their combining marks; a mark after anything else stays, so that no two numbers join."""
    kept: list[str] = []
    base_is_letter = False
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.combining(character):
            if not base_is_letter:
                kept.append(character)
            continue
        base_is_letter = character.isalpha()
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))
