"""Text made plain for the rules, without moving a character: every replaced character becomes one blank."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"(```)|^[ \t]*(~~~)", re.MULTILINE)
_MARKDOWN = re.compile(r"\*\*|^[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
_NOT_NEWLINE = re.compile(r"[^\n]")

# Scripts that put no blank between words: Thai to Khmer, kana, Han, Hangul, their punctuation, and wide forms.
_UNSPACED_CLASS = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_UNSPACED = re.compile(_UNSPACED_CLASS)
UNSPACED_RUN = re.compile(rf"{_UNSPACED_CLASS}(?:{_UNSPACED_CLASS}|[\w])*")
"""A run of such text, with the letters and digits inside it."""


def code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of fenced code, fences included; an open fence runs to the end."""
    opened: tuple[int, str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence.start(), fence.group().strip()
        elif fence.group().strip() == opened[1]:
            yield opened[0], fence.end()
            opened = None
    if opened is not None:
        yield opened[0], len(text)


def plain(text: str) -> str:
    """`text` with fenced code and Markdown marks as blanks of equal length, so that offsets stay true."""
    parts: list[str] = []
    position = 0
    for start, end in code_blocks(text):
        parts += [text[position:start], _NOT_NEWLINE.sub(" ", text[start:end])]
        position = end
    parts.append(text[position:])
    return _MARKDOWN.sub(lambda mark: " " * len(mark.group()), "".join(parts))


def without_unspaced_scripts(text: str) -> str:
    """Chinese, Japanese, Korean, Thai and the like as blanks: a Latin name between them becomes a word of its own."""
    if text.isascii():
        return text
    return _UNSPACED.sub(" ", text)


def latin_share(text: str) -> float:
    """Share of the letters that are Latin, in [0, 1]; 0 for a text without letters."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return 0.0
    return sum(character < "\u0250" for character in letters) / len(letters)
