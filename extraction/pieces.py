"""Cutting long text into pieces that a parser can take, at paragraphs, lines, sentences or blanks."""

from __future__ import annotations

PIECE_CHARS = 5_000
"""Longest piece, in characters: the parser's time and memory stay proportional to the text."""

_CUTS = ("\n\n", "\n", ". ", "! ", "? ", "; ", ", ", " ")


def pieces(text: str, limit: int = PIECE_CHARS) -> list[tuple[int, int]]:
    """Half-open spans that cover `text` without gaps, each at most `limit` characters.

    A cut is made after the last paragraph's end in the second half of the piece, else the last line's, sentence's,
    clause's or word's, else at the limit.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > limit:
        end = start + limit
        for mark in _CUTS:
            found = text.rfind(mark, start + limit // 2, end)
            if found >= 0:
                end = found + len(mark)
                break
        spans.append((start, end))
        start = end
    if start < len(text) or not spans:
        spans.append((start, len(text)))
    return spans
