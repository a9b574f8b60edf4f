"""Negation and opposites in texts that are not English, without a parse.

Two sentences conflict when they are nearly the same once negations are taken away, and an odd number of negations and
opposites lies between them. Where a word is replaced by another, nothing is said.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from alma_graph.beliefs import lexicon_languages as lexicon
from alma_graph.beliefs.wordlist import word_set

MAX_SENTENCES = 12
MAX_SENTENCE_CHARACTERS = 200
SUPPORTED = frozenset(("zh", "ja", "ko", *lexicon.NEGATORS))
SAME_SCORE = 0.85
NEAR_SCORE = 0.75
"""Scores of sentences that are otherwise the same, and of those with a little said besides."""

_SENTENCE = re.compile(r"[^。！？.!?\n;；]+[。！？.!?;；]?")
_QUESTION_END = re.compile(r"(?:[?？]|吗|嗎|呢|か。?|까\??)\s*$")
_SPACED_WORD = re.compile(r"[^\W_]+['’]?")
_ARTICLES = word_set("""
    el la los las lo un una le les l' du de d' des der die das den dem ein eine einen o a os as um uma il i gli que
""")
_JOINED: dict[str, str] = {"j'": "je", "m'": "me", "s'": "se", "c'": "ce", "n'": "ne"}
_CHINESE_PARTICLES = re.compile("[了呢吧啊很的]")
_JAPANESE_PARTICLES = re.compile("[はがをもの]")
_KOREAN_ENDINGS = re.compile("(?:합니다|해요|한다|하다|하지)$")
_EXISTS = re.compile("(?:が|は)?(?:あります|ある)$")


class Sentence(NamedTuple):
    """A sentence without its negations.

    Attributes:
        units: what is compared: characters, or words where the language has spaces.
        negations: how many were taken away.
        start, end: characters of the text.
    """

    units: tuple[str, ...]
    negations: int
    start: int
    end: int


class Conflict(NamedTuple):
    """Two sentences that cannot both hold. `signal` is negation or antonym; spans are (start, end)."""

    signal: str
    score: float
    left: tuple[int, int]
    right: tuple[int, int]


def find_conflict(left: str, right: str, language: str) -> Conflict | None:
    """The strongest conflict between sentences of two texts in one of the `SUPPORTED` languages."""
    if language not in SUPPORTED:
        return None
    best: Conflict | None = None
    for first in _sentences(left, language):
        for second in _sentences(right, language):
            for signal, score in _verdicts(first, second, language):
                if best is None or score > best.score:
                    best = Conflict(signal, score, (first.start, first.end), (second.start, second.end))
    return best


def _verdicts(first: Sentence, second: Sentence, language: str) -> Iterator[tuple[str, float]]:
    odd = (first.negations + second.negations) % 2 == 1
    if odd:
        yield "negation", _sameness(first.units, second.units)
        return
    for one, other in lexicon.OPPOSITES.get(language, ()):
        for mine, yours in ((one, other), (other, one)):
            changed = _replaced(second.units, yours, mine)
            if changed != second.units and _replaced(first.units, yours, mine) == first.units:
                yield "antonym", _sameness(first.units, changed)


def _sameness(first: Sequence[str], second: Sequence[str]) -> float:
    """`SAME_SCORE` or `NEAR_SCORE`, 0 where something is replaced or much is added."""
    if not first or not second:
        return 0.0
    if first == second:
        return SAME_SCORE if len(first) > 1 else 0.0
    added = 0
    for operation, a_start, a_end, b_start, b_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if operation == "replace":
            return 0.0
        if operation != "equal":
            added += (a_end - a_start) + (b_end - b_start)
    return NEAR_SCORE if added <= max(1, 0.2 * min(len(first), len(second))) else 0.0


def _replaced(units: tuple[str, ...], old: str, new: str) -> tuple[str, ...]:
    if all(len(unit) == 1 for unit in units):
        return tuple("".join(units).replace(old, new))
    return tuple(new if unit == old else unit for unit in units)


@functools.lru_cache(maxsize=4096)
def _sentences(text: str, language: str) -> tuple[Sentence, ...]:
    found = []
    for match in _SENTENCE.finditer(text):
        said = match.group()
        start = match.start() + len(said) - len(said.lstrip())
        end = match.start() + len(said.rstrip())
        if start >= end or len(said) > MAX_SENTENCE_CHARACTERS or _QUESTION_END.search(said):
            continue
        units, negations = _without_negations(said, language)
        found.append(Sentence(units, negations, start, end))
        if len(found) == MAX_SENTENCES:
            break
    return tuple(found)


def _without_negations(said: str, language: str) -> tuple[tuple[str, ...], int]:
    normal = unicodedata.normalize("NFKC", said).casefold()
    if language == "zh":
        return _chinese(_letters(normal))
    if language == "ja":
        return _japanese(_letters(normal))
    if language == "ko":
        return _korean(normal)
    return _spaced(normal, language)


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def _chinese(text: str) -> tuple[tuple[str, ...], int]:
    protected = {word: chr(0xE000 + index) for index, word in enumerate(lexicon.CHINESE_EXCEPTIONS)}
    for word, stand_in in protected.items():
        text = text.replace(word, stand_in)
    count = 0
    for negator in lexicon.CHINESE_NEGATORS:
        count += text.count(negator)
        text = text.replace(negator, "")
    return tuple(_CHINESE_PARTICLES.sub("", text)), count


def _japanese(text: str) -> tuple[tuple[str, ...], int]:
    for ending in lexicon.JAPANESE_NEGATIVE_ENDINGS:
        if text.endswith(ending):
            return tuple(_JAPANESE_PARTICLES.sub("", text[: -len(ending)])), 1
    stem = _EXISTS.sub("", text)
    if stem == text:
        ending = next((e for e in lexicon.JAPANESE_POSITIVE_ENDINGS if text.endswith(e)), "")
        stem = text[: len(text) - len(ending)]
    return tuple(_JAPANESE_PARTICLES.sub("", stem)), 0


def _korean(text: str) -> tuple[tuple[str, ...], int]:
    text = re.sub(r"\s+", " ", text).strip(" .!。")
    count = 0
    for negator in lexicon.KOREAN_NEGATORS:
        count += text.count(negator)
        text = text.replace(negator, "")
    return tuple(_letters(_KOREAN_ENDINGS.sub("하", text))), count


def _spaced(text: str, language: str) -> tuple[tuple[str, ...], int]:
    found: list[str] = _SPACED_WORD.findall(text)
    words = [_JOINED.get(word, word) for word in (w.replace("’", "'") for w in found)]
    negators = lexicon.NEGATORS[language]
    if language == "fr" and "ne" not in words:
        negators = negators - {"plus", "jamais"}  # "plus" alone is "more"
    count = sum(word in negators for word in words)
    if language in lexicon.DOUBLE_NEGATION:
        count = min(count, 1)
    return tuple(word for word in words if word not in negators and word not in _ARTICLES), count
