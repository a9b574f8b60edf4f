"""Text in any script -> the terms that full-text search works on. No text raises, whatever is in it.

Words are taken after NFKC and case folding. English-looking words are stemmed (Snowball), words with accents are kept
and also folded, scripts without spaces give character pairs and single characters, and what code is made of
(identifiers, paths, versions, error codes, UUIDs) is kept whole and also split into its parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

_STOP_TEXT = """
a about after again all also am an and any are as at be been before being between both but by can
could did do does doing done down during each few for from further get got had has have having he
her here hers him his how i if in into is it its itself just let may me might mine more most must my
myself no nor not of off on once only or other our ours out over own same shall she should so some
such than that the their theirs them then there these they this those through to too under until up
us very was we were what when where which while who whom whose why will with would you your yours s
t re ve ll d m im ive don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
thats
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())
"""Words that carry no topic: left out of a query as long as anything else is left in it."""

_TOKEN = re.compile(r"[^\W_]+(?:[._\-/\\:@#'’~+]+[^\W_]+)*(?:\+\+|#(?!\w))?|_*[^\W_]+")
_JOINT = re.compile(r"[._\-/\\:@#'’~+]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PATH_JOINT = re.compile(r"[/\\]+")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_ONLY_APOSTROPHES = re.compile(r"(?:[^\W_]|['’])+\Z(?<!\d)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_\-]+[A-Za-z0-9]+)*\Z")
_ENGLISH = re.compile(r"[a-z]+\Z")
# Scripts written without spaces between words, and Hangul, whose words carry endings.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff々〆"
)
_SPACELESS_RUN = re.compile(f"[{_SPACELESS}]+")
_MAX_WORD = 128
"""Longer unbroken runs (base64, minified code) are cut to this length, as terms."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing a query asks for: spellings that count as the same (the best one counts).

    Attributes:
        terms: index terms, the most exact first.
        optional: it adds to a match but is not missed where nothing has it (the whole of a compound whose parts are
            asked for too).
        stop: a stop word.
    """

    terms: tuple[str, ...]
    optional: bool = False
    stop: bool = False


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer  # it loads every language's rules: only once there is a text to read

    stem: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord
    return stem


def _stem(word: str) -> str:
    return _stemmer()(word)


def fold(text: str) -> str:
    """The text without accents (NFKD, combining marks dropped)."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _word_terms(word: str) -> tuple[str, ...]:
    """Index terms of one case-folded word without joints: its exact form first, then its accent-free form."""
    word = word[:_MAX_WORD]
    if _ENGLISH.match(word):
        return (_stem(word),)
    if word.isascii():
        return (word,)
    folded = fold(word)
    if folded == word or not folded:
        return (word,)
    return word, (_stem(folded) if _ENGLISH.match(folded) else folded)


def _pieces(token: str) -> list[str]:
    """The parts of a compound: by joints, then by changes of case; lower case."""
    parts = []
    for piece in _JOINT.split(token):
        parts += [part.casefold() for part in _CAMEL.split(piece) if part]
    return parts


def _spaceless(run: str, *, query: bool) -> Iterator[Concept]:
    if len(run) == 1:
        yield Concept((run,))
        return
    for at in range(len(run) - 1):
        yield Concept((run[at : at + 2],))
    if not query:
        for char in run:
            yield Concept((char,), optional=True)


@lru_cache(maxsize=20_000)
def _concepts_of_token(token: str, query: bool) -> tuple[Concept, ...]:
    """Concepts of one token of the text (case kept, NFKC done)."""
    if _SPACELESS_RUN.search(token):
        found: list[Concept] = []
        at = 0
        for run in _SPACELESS_RUN.finditer(token):
            if at < run.start():
                found += _spaced_concepts(token[at : run.start()].strip("._-/\\:@#'’~+"))
            found += _spaceless(run.group(), query=query)
            at = run.end()
        if at < len(token):
            found += _spaced_concepts(token[at:].strip("._-/\\:@#'’~+"))
        return tuple(found)
    return tuple(_spaced_concepts(token))


def _spaced_concepts(token: str) -> list[Concept]:
    token = _POSSESSIVE.sub("", token)
    if not token:
        return []
    whole = token.casefold()[:_MAX_WORD]
    parts = _pieces(token)
    if len(parts) <= 1 and whole == "".join(parts):
        return [Concept(_word_terms(whole), stop=whole in STOP_WORDS)]
    concepts = []
    if not _ONLY_APOSTROPHES.match(token):
        concepts.append(Concept((f"={whole}",), optional=True))
        plain = "".join(parts)
        if plain != whole and len(parts) > 1 and _NAME.match(token):
            concepts.append(Concept((f"={plain[:_MAX_WORD]}",), optional=True))  # maxRetries, max_retries, max-retries
    path = [piece.casefold()[:_MAX_WORD] for piece in _PATH_JOINT.split(token) if piece]
    if len(path) > 1:
        concepts += [Concept((f"={piece}",), optional=True) for piece in path if _JOINT.search(piece)]
    for part in parts:
        if len(part) == 1 and part.isdigit():
            concepts.append(Concept((part,), optional=True, stop=True))
        else:
            concepts.append(Concept(_word_terms(part), stop=part in STOP_WORDS or len(part) == 1))
    return concepts


def document_tokens(text: str) -> list[str]:
    """The tokens of a text, in order, case kept."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text))


def document_terms(text: str) -> tuple[dict[str, int], int]:
    """Term counts of a text to index, and its length in content words (no stop words, compounds counted by parts)."""
    found = [document_terms_of_token(token) for token in document_tokens(text)]
    return Counter(chain.from_iterable(terms for terms, _ in found)), sum(words for _, words in found)


@lru_cache(maxsize=200_000)
def document_terms_of_token(token: str) -> tuple[tuple[str, ...], int]:
    """Terms of one token to index, and how many content words it counts for."""
    concepts = _concepts_of_token(token, False)
    terms = tuple(term for concept in concepts for term in concept.terms)
    return terms, sum(not concept.stop and not concept.optional for concept in concepts)


def query_concepts(text: str) -> list[Concept]:
    """What a query asks for, each thing once, in order of first mention; stop words only where nothing else is left."""
    seen: dict[tuple[str, ...], Concept] = {}
    for token in document_tokens(text):
        for concept in _concepts_of_token(token, True):
            known = seen.get(concept.terms)
            if known is None or (known.optional and not concept.optional):
                seen[concept.terms] = concept
    concepts = list(seen.values())
    telling = [concept for concept in concepts if not concept.stop]
    return telling or concepts


def is_spaceless(char: str) -> bool:
    """Whether a character belongs to a script written without spaces between words."""
    return _SPACELESS_RUN.match(char) is not None
