"""Spans of entities over one text, and the scan by patterns and gazetteer that finds most of them.

No model runs here: about .2 ms for a short note, linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alma_graph.extraction.gazetteer import MAX_WORDS, KnownName, gazetteer, gazetteer_key
from alma_graph.extraction.patterns import (
    AFTER_GAZETTEER,
    BEFORE_GAZETTEER,
    CODE_BLOCK_PATTERNS,
    PLAIN_WORDS_LIKE_CODE,
    QUOTED_CODE,
)
from alma_graph.extraction.plain import code_blocks, plain, without_unspaced_scripts
from alma_graph.extraction.vocabulary import COMPONENT_HEADS, GENERIC_TECH, NOT_ERRORS, ORG_SUFFIXES, STRATEGY_HEADS

_WORD = re.compile(r"\w[\w.+#'/-]*\w[+#]*|\w[+#]*")
_LONGEST_WORD = 60
_VERSION_AFTER = re.compile(
    r" (\d+(?:\.\d+)*|v\d+)(?![\w%])"
    r"(?! (?:minutes?|seconds?|hours?|days?|ms|GB|MB|times|workers?|replicas?|pods?|nodes?))"
)
_TWO_VERSIONS_AFTER = re.compile(r" from (v?\d+(?:\.\d+)*) to (v?\d+(?:\.\d+)*)(?![\w%])")
_BARE_NUMBER = re.compile(
    r"(?<=\bto )\d+\b|(?<=\bof )\d+(?:\.\d+)?\b|(?<=\bis )\d+\b|(?<=length )\d+\b|(?<=size )\d+\b|"
    r"(?<=overlap )\d+\b|(?<==)\d+\b|(?<=\bline )\d+\b"
)
_LINE_OF_FILE = re.compile(r":(\d{1,6})\b(?![./])")
_MORE_OF_A_NUMBER = re.compile(r"[\d.]*\s?[A-Za-z]?[\d.]*\.\d")
_COMPOUND = re.compile(r"([\w.+#]+)-(?:based|backed|style|like|only|compatible|native|driven)")
_STRATEGY_HEAD = re.compile(rf"[ -](?:{STRATEGY_HEADS})\b")
_ORG_SUFFIX = re.compile(rf",? (?:{ORG_SUFFIXES})(?!\w)", re.IGNORECASE)
_NAMES_A_FLAG = re.compile(r" [A-Z]+_[A-Z_]+| \w+\.\w+")
_NEXT_LOWER_WORD = re.compile(r" ([a-z]+)\b")
_NOT_OF_GENERIC_TECH = frozenset({"stores", "indexes", "views", "forms", "pages"})
_A_LIBRARY_AFTER = re.compile(r" (?:is|was|has|library|package|v?\d)")
_A_LIBRARY_BEFORE = re.compile(r"\b(?:import|install|uses?|using|needs?|requires?|of|with|pip install|upgraded?) $")
_EVERYDAY_LIBRARIES = {"requests": _A_LIBRARY_AFTER, "torch": re.compile(r" (?:library|package|v?\d)|==|\.")}


@dataclass(slots=True)
class Span:
    """A found entity: half-open character span, type, and the rule family that found it."""

    start: int
    end: int
    type: str
    source: str
    name: str = ""


class SpanSet:
    """Spans over one text of which no two overlap: the first one that takes a place keeps it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[Span] = []
        self._taken = bytearray(len(text))

    def free(self, start: int, end: int) -> bool:
        """Whether no span touches the place."""
        return self._taken.find(1, start, end) < 0

    def add(self, start: int, end: int, type_: str, source: str, name: str = "") -> bool:
        """Take the place, without trailing blanks; False when it is empty or taken."""
        while end > start and self.text[end - 1] == " ":
            end -= 1
        if end <= start or not self.free(start, end):
            return False
        self._taken[start:end] = b"\x01" * (end - start)
        self.spans.append(Span(start, end, type_, source, name))
        return True

    def ordered(self) -> list[Span]:
        """Spans by position."""
        return sorted(self.spans, key=lambda span: span.start)


def scan(text: str) -> SpanSet:
    """Entities of `text` by pattern and gazetteer; offsets are into `text` itself."""
    found = SpanSet(text)
    for start, end in code_blocks(text):
        for pattern in CODE_BLOCK_PATTERNS:
            for match in pattern.regex.finditer(text, start, end):
                found.add(*match.span(), pattern.type, "code")
    scan_plain(plain(text), found)
    return found


def scan_plain(prose: str, found: SpanSet) -> None:
    """Add to `found` what patterns and gazetteer see in `prose`, a text of the same length without code and marks."""
    words = without_unspaced_scripts(prose)
    for match in QUOTED_CODE.finditer(words):
        start, end = match.start() + 1, match.end() - 1
        known = _sole_name(words[start:end])
        found.add(start, end, known.type if known else "CODE", "pattern", known.name if known else "")
    for pattern in BEFORE_GAZETTEER:
        for match in pattern.regex.finditer(words):
            if pattern.type == "FILE" and match.group().casefold() in gazetteer():
                continue
            if pattern.type == "ERROR" and match.group() in NOT_ERRORS:
                continue
            found.add(*match.span(), pattern.type, "pattern")
    _scan_gazetteer(words, found)
    for pattern in AFTER_GAZETTEER:
        for match in pattern.regex.finditer(words):
            if pattern.type == "COMPONENT" and match.group().casefold() in gazetteer():
                continue
            if pattern.type == "CODE" and PLAIN_WORDS_LIKE_CODE.fullmatch(match.group()):
                continue
            found.add(*match.span(), pattern.type, "pattern")
    _add_numbers(words, found)


def _sole_name(inner: str) -> Span | None:
    """The entity that fills a piece of quoted code entirely, or None."""
    if len(inner) > _LONGEST_WORD:
        return None
    within = SpanSet(inner)
    scan_plain(inner, within)
    if len(within.spans) == 1 and (within.spans[0].start, within.spans[0].end) == (0, len(inner)):
        return within.spans[0]
    return None


def _add_numbers(text: str, found: SpanSet) -> None:
    """Versions after the thing they are of, and numbers after "to", "of", "size" and the like."""
    for span in list(found.spans):
        if span.type == "FILE" and (line := _LINE_OF_FILE.match(text, span.end)):
            found.add(*line.span(1), "QUANTITY", "pattern")
        if span.type not in {"TECH", "COMPONENT"}:
            continue
        if one := _VERSION_AFTER.match(text, span.end):
            found.add(*one.span(1), "VERSION", "pattern")
        if two := _TWO_VERSIONS_AFTER.match(text, span.end):
            found.add(*two.span(1), "VERSION", "pattern")
            found.add(*two.span(2), "VERSION", "pattern")
    for match in _BARE_NUMBER.finditer(text):
        if not _MORE_OF_A_NUMBER.match(text[match.end() : match.end() + 4]):
            found.add(*match.span(), "QUANTITY", "pattern")


def _scan_gazetteer(text: str, found: SpanSet) -> None:
    """Known names of up to four words, the longest first."""
    words = [match.span() for match in _WORD.finditer(text) if match.end() - match.start() <= _LONGEST_WORD]
    position = 0
    while position < len(words):
        position += max(_add_known(text, words, position, found), 1)


def _add_known(text: str, words: list[tuple[int, int]], position: int, found: SpanSet) -> int:
    """Add the longest known name that starts at this word; the number of words used, 0 when there is none."""
    start = words[position][0]
    for count in range(min(MAX_WORDS, len(words) - position), 0, -1):
        end = words[position + count - 1][1]
        if end - start > MAX_WORDS * _LONGEST_WORD or "\n" in text[start:end]:
            continue
        for written, known in _readings(text[start:end], count, text, end):
            return _place(text, start, start + len(written), end, known, count, found)
    return 0


def _readings(raw: str, count: int, text: str, end: int) -> Iterator[tuple[str, KnownName]]:
    """The known name in these words, if any, with the part of them that is its spelling."""
    written = raw[:-2] if raw.endswith("'s") else raw
    known = gazetteer().get(gazetteer_key(written))
    if known is None and count == 1 and "-" in written:
        known = gazetteer().get(written.casefold())
        if known is None and (compound := _COMPOUND.fullmatch(written)):
            known = gazetteer().get(compound.group(1).casefold())
            written = compound.group(1)
    if known is None or (known.spellings and written not in known.spellings):
        return
    after = _EVERYDAY_LIBRARIES.get(written)
    if after is not None and not after.match(text, end) and not _import_before(written, text, end):
        return
    yield written, known


def _import_before(written: str, text: str, end: int) -> bool:
    """ "import torch", "uses torch": the words before say that it is a library ("of requests" says nothing)."""
    start = end - len(written)
    return written != "requests" and _A_LIBRARY_BEFORE.search(text, max(0, start - 16), start) is not None


def _place(text: str, start: int, name_end: int, end: int, known: KnownName, count: int, found: SpanSet) -> int:
    """Add a known name with the nouns that belong to it; the number of words used."""
    if known.type == "STRATEGY":
        if _NAMES_A_FLAG.match(text, end):
            return 0  # "feature flag NEW_PRICING": the flag, not the practice
        if head := _STRATEGY_HEAD.match(text, end):
            name_end = head.end()
    elif known.type == "ORG":
        if suffix := _ORG_SUFFIX.match(text, end):
            name_end = suffix.end()
    elif count == 1 and text[start:name_end] in GENERIC_TECH and (head := _NEXT_LOWER_WORD.match(text, end)):
        noun = head.group(1)
        if (noun in COMPONENT_HEADS or noun.rstrip("s") in COMPONENT_HEADS | {"record"}) and (
            noun not in _NOT_OF_GENERIC_TECH
        ):
            found.add(start, head.end(), "COMPONENT", "head")
            return 0
    shown = known.name if known.type == "TECH" else ""
    return count if found.add(start, name_end, known.type, "gazetteer", shown) else 0
