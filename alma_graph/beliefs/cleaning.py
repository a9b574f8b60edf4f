"""Text made ready for the parser, with the way back: every character knows where it came from.

Evidence must be spans of the text the caller gave, so nothing is replaced without keeping offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CHARACTERS = 4000
"""Longer texts are cut at the last sentence end before this many characters (about 900 words)."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?。！？]['\")\]]*\s|\n")
_EVERY = re.compile(r"[`’‘“”—–\u00a0\t\f\v\r]")
_REPLACED = {"`": "", "’": "'", "‘": "'", "“": '"', "”": '"', "—": " - ", "–": "-"}

# Phrases that the tagger takes apart; each becomes one word that it knows.
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b([Tt])ime(s|d)? out\b"), r"\1imeout"),
    (re.compile(r"\bturn(?:s|ed)? down\b"), "rejected"),
    (re.compile(r"\bcan(?:'t|not| not) wait\b"), "am eager"),
    (re.compile(r"\bout of (?:order|service)\b"), "broken"),
    (re.compile(r"\bread[ -]only\b", re.IGNORECASE), "readonly"),
)
_BULLET = re.compile(r"\n+[ \t]*(?:[-*#]+[ \t]+|\d{1,2}[.)][ \t]+)?[ \t]*")
_SPACES = re.compile(r" {2,}")


@dataclass(frozen=True, slots=True)
class CleanText:
    """Cleaned text and, for each of its characters, the index it has in the original."""

    text: str
    origin: tuple[int, ...]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that the cleaned span `[start, end)` came from; `start < end` is required."""
        return self.origin[start], self.origin[end - 1] + 1


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
            new = replacement.get(match.group(), " ") if isinstance(replacement, dict) else match.expand(replacement)
            pieces += [self.text[last:start], new]
            origin += self.origin[last:start]
            source = self.origin[start:end]
            origin += [source[min(k, len(source) - 1)] for k in range(len(new) - 1)] + source[-1:] * bool(new)
            last = end
        if not pieces:
            return
        pieces.append(self.text[last:])
        origin += self.origin[last:]
        self.text, self.origin = "".join(pieces), origin


def clean(text: str) -> CleanText:
    """Drop code blocks, unify quotes, dashes, bullets and spaces, join a few phrases, bound the length."""
    rewriter = _Rewriter(_bounded(text))
    rewriter.substitute(_SURROGATE, "\ufffd")
    rewriter.substitute(_CODE_BLOCK, " ")
    rewriter.substitute(_EVERY, _REPLACED)
    for pattern, replacement in _PHRASES:
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
