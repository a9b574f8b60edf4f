"""A wording: the text of a strategy or a task in the form that is compared, its tokens and their stems."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from alma_graph.learning.lexicon import NEGATORS, REMOVING_VERBS, SYNONYMS

MAX_COMPARED = 2_000
"""Characters from which a wording is a document: it is alike only to itself."""

_TOKEN = re.compile(r"\d{1,2}:\d\d|\d+(?:\.\d+)+|\d+(?:\.\d+)?|[^\W\d_][\w'’.+#-]*[\w+#]|[^\W\d]|%")
_INVISIBLE = re.compile("[\\u200b-\\u200f\\u2060\\ufeff]")
_SPACE = re.compile(r"\s+")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b")
_BLUE_GREEN = re.compile(r"\bblue[ /-]?green\b")
_AGAIN_HYPHEN = re.compile(r"\bre-(?=\w)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_SUFFIXES = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ly", ""),
    ("ion", ""),
    ("es", "e"),
    ("s", ""),
)


def normalise_wording(text: str) -> str:
    """NFKC, case-folded, white space folded, without possessives, end punctuation and invisible characters.

    Equal results are one wording: it is embedded once and has one set of counts.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    folded = _INVISIBLE.sub("", folded)
    folded = _POSSESSIVE.sub("", folded)
    folded = _BLUE_GREEN.sub("blue-green", folded)
    folded = _AGAIN_HYPHEN.sub("re", folded)
    folded = _THOUSANDS.sub("", folded)
    bare = _SPACE.sub(" ", folded).strip(" .!;:。！；：")
    return bare or _SPACE.sub(" ", folded).strip()


def tokens(text: str) -> list[str]:
    """Words, numbers, clock times and per cent signs, in order, without clinging punctuation."""
    return [word for word in (raw.strip(".'-") for raw in _TOKEN.findall(text)) if word]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The representative of the word's synonyms, or the word without its English ending."""
    word = SYNONYMS.get(word, word)
    if len(word) > 4:
        for suffix, replacement in _SUFFIXES:
            too_short = len(word) - len(suffix) < 3
            if word.endswith(suffix) and not too_short and not word.endswith(("ss", "us", "is")):
                word = word[: len(word) - len(suffix)] + replacement
                if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
                    word = word[:-1]
                break
        word = word.rstrip("e") if len(word) > 4 else word
    return SYNONYMS.get(word, word)


_REMOVING_STEMS = frozenset(stem(verb) for verb in REMOVING_VERBS)


def removes(words: list[str], at: int) -> bool:
    """Whether the word at this place takes its object away (skip, remove, disable ...); "stop" only before a gerund."""
    word = words[at]
    if word == "stop":
        return at + 1 < len(words) and words[at + 1].endswith("ing")
    return word in REMOVING_VERBS or SYNONYMS.get(word, word) in REMOVING_VERBS or stem(word) in _REMOVING_STEMS


def negates(word: str) -> bool:
    """Whether the word is an English negator."""
    return word in NEGATORS or word.endswith("n't")


def is_opaque(text: str) -> bool:
    """Whether the lists here cannot read the wording: then only an equal wording is the same strategy.

    So it is with letters other than Latin ones ("启用缓存" and "禁用缓存" look alike to an English model), and with
    documents. A single foreign letter (a unit, a variable) does not count.
    """
    if len(text) > MAX_COMPARED:
        return True
    if text.isascii():
        return False
    run = 0
    for character in text:
        if character.isascii() or not character.isalpha():
            run = 0
            continue
        name = unicodedata.name(character, "")
        if name.startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")):
            return True
        run = 0 if name.startswith(("LATIN", "FEMININE", "MASCULINE")) else run + 1
        if run > 1:
            return True
    return False
