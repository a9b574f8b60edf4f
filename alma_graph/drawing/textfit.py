"""How wide a text is drawn, where it wraps, and how it is written in XML, without a font at hand."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Advance widths of common sans-serif faces, in units of the font size, rounded up to a few classes.
_WIDTHS = {
    **dict.fromkeys("ijl|'", 0.25),
    **dict.fromkeys(" !,./:;I[]\\ft()`-r{}", 0.33),
    **dict.fromkeys('cksvxyzJ"*', 0.52),
    **dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&w", 0.72),
    **dict.fromkeys("mMW%@", 0.92),
}
_USUAL = 0.58
_WIDE = 1.05
_EMOJI = 1.35
_JOINERS = {"\u200d", "\ufe0e", "\ufe0f"}
# Direction overrides would let one label reverse what stands beside it.
_DIRECTION = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F])


@lru_cache(maxsize=4096)
def _char_width(char: str) -> float:
    if char in _WIDTHS:
        return _WIDTHS[char]
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if ord(char) >= 0x1F000:
        return _EMOJI
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return _WIDE
    return _USUAL


def text_width(text: str, size: float) -> float:
    """Estimated width in pixels of a text set at `size` pixels; some percent too wide rather than too narrow."""
    return size * sum(map(_char_width, text))


def wrap(text: str, size: float, width: float, lines: int) -> list[str]:
    """At most `lines` lines, none wider than `width` pixels; an ellipsis ends what did not fit.

    White space is folded. A word that is wider than a line is broken between characters, so that texts of scripts
    without spaces wrap as well.
    """
    words = text.translate(_DIRECTION).split()
    wrapped: list[str] = []
    line = ""
    for word in words:
        joined = f"{line} {word}" if line else word
        if text_width(joined, size) <= width:
            line = joined
            continue
        # Filling up the line with a part of a long word beats leaving it nearly empty.
        if line and (text_width(word, size) <= width or text_width(line, size) > 0.6 * width):
            wrapped.append(line)
            line = ""
        pieces = _pieces(f"{line} {word}" if line else word, size, width)
        wrapped.extend(pieces[:-1])
        line = pieces[-1]
        if len(wrapped) > lines:
            break
    if line:
        wrapped.append(line)
    if len(wrapped) <= lines:
        return wrapped
    last = wrapped[lines - 1]
    while last and text_width(last + "…", size) > width:
        last = last[:-1]
    return [*wrapped[: lines - 1], last.rstrip(" ,.;:") + "…"]


def _pieces(word: str, size: float, width: float) -> list[str]:
    pieces = [""]
    for char in word:
        joins = char in _JOINERS or pieces[-1].endswith("\u200d") or unicodedata.combining(char)
        if pieces[-1] and not joins and text_width(pieces[-1] + char, size) > width:
            pieces.append("")
        pieces[-1] += char
    return pieces


def _shown(char: str) -> str:
    code = ord(char)
    if char in "\t\n\r" or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code >= 0x10000:
        return char
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def xml(text: object) -> str:
    """The text escaped for XML content and attributes; a character that XML cannot hold becomes a visible sign."""
    clean = "".join(map(_shown, str(text)))
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        clean = clean.replace(char, entity)
    return clean
