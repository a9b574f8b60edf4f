"""Text made ready for the parser, with the way back: every character knows where it came from.

Evidence must be spans of the text the caller gave, so nothing is replaced without keeping offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alma_graph.beliefs.phrases import PHRASES

MAX_CHARACTERS = 4000
"""Longer texts are cut at the last sentence end before this many characters (about 900 words)."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?。！？]['\")\]]*\s|\n")
_EVERY = re.compile(r"[`’‘“”—–\u00a0\t\f\v\r]")
_REPLACED = {"`": "", "’": "'", "‘": "'", "“": '"', "”": '"', "—": " - ", "–": "-"}

_BULLET = re.compile(r"\n+[ \t]*(?:[-*#]+[ \t]+|\d{1,2}[.)][ \t]+)?[ \t]*")
_SPACES = re.compile(r" {2,}")
_GROUP = re.compile(r"\\(\d)")


@dataclass(frozen=True, slots=True)
class CleanText:
    """Cleaned text and, for each of its characters, the index it has in the original."""

    text: str
    origin: tuple[int, ...]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that the cleaned span `[start, end)` came from; `start < end` is required."""
        first, last = self.origin[start], self.origin[end - 1]
        return min(first, last), max(first, last) + 1  # a rewritten idiom may put its words in another order


class _Rewriter:
    """Regex substitutions that keep the origin of every character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.origin = list(range(len(text)))

    def substitute(self, pattern: re.Pattern[str], replacement: str | dict[str, str]) -> None:
        pieces: list[str] = []
        origin: list[int] = []
        last = 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            pieces.append(self.text[last:start])
            origin += self.origin[last:start]
            last = end
            if not isinstance(replacement, dict) and "\\" in replacement:
                for piece, source in self._expanded(match, replacement):
                    pieces.append(piece)
                    origin += source
                continue
            new = replacement.get(match.group(), " ") if isinstance(replacement, dict) else replacement
            source = self.origin[start:end]
            pieces.append(new)
            origin += [source[min(k, len(source) - 1)] for k in range(len(new) - 1)] + source[-1:] * bool(new)
        if not pieces:
            return
        pieces.append(self.text[last:])
        origin += self.origin[last:]
        self.text, self.origin = "".join(pieces), origin

    def _expanded(self, match: re.Match[str], template: str) -> Iterator[tuple[str, list[int]]]:
        """The replacement piece by piece: what a group matched keeps its own place, new words stand for the whole."""
        pieces = _GROUP.split(template)
        for number, piece in enumerate(pieces):
            if number % 2:
                start, end = match.span(int(piece))
                yield self.text[start:end], self.origin[start:end]
                continue
            source = [self.origin[match.start()]] * len(piece)
            if piece and number == len(pieces) - 1:
                source[-1] = self.origin[match.end() - 1]
            yield piece, source


def clean(text: str) -> CleanText:
    """Drop code blocks, unify quotes, dashes, bullets and spaces, join a few phrases, bound the length."""
    rewriter = _Rewriter(_bounded(text))
    rewriter.substitute(_SURROGATE, "\ufffd")
    rewriter.substitute(_CODE_BLOCK, " ")
    rewriter.substitute(_EVERY, _REPLACED)
    for pattern, replacement in PHRASES:
        rewriter.substitute(pattern, replacement)
    rewriter.substitute(_BULLET, "\n")
    rewriter.substitute(_SPACES, " ")
    left = len(rewriter.text) - len(rewriter.text.lstrip())
    right = len(rewriter.text.rstrip())
    return CleanText(rewriter.text[left:right], tuple(rewriter.origin[left:right]))


def _bounded(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, MAX_CHARACTERS)]
    return text[: ends[-1]] if ends else text[:MAX_CHARACTERS]
