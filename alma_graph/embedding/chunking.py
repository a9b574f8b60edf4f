"""Cuts a long text into parts that each fit the model's window, at sentences where possible, else at words.

The parts follow each other without gap or overlap and cover every character of the text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alma_graph.embedding.protocol import SpanTokenizer, TokenSpans

WINDOW_CHARACTERS = 1000
"""The window of an embedder that has no tokeniser: about what 254 wordpieces of English take."""

EARLIEST_CUT = 0.5
"""A part is at least this share of its aimed size, so that a text of short lines is not cut into crumbs."""

MOST_TOKENS_PER_CHARACTER = 4
"""A character can become several wordpieces only by Unicode decomposition (Hangul: 3), at most 4."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_END = re.compile(r"""[.!?…]+["'”’)\]]*\s+|[。！？]+["'”’」』）]*\s*|\n+\s*""")


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """One part of a text: characters `start` to `end` (exclusive), and how many tokens it has (its weight)."""

    start: int
    end: int
    weight: int


def replace_surrogates(text: str) -> str:
    """`text` with lone surrogates, which no tokeniser takes, replaced one for one by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def chunk_text(text: str, tokenizer: SpanTokenizer | None) -> list[ChunkSpan]:
    """The parts of `text`; one part when it fits the window, and for the empty text.

    Args:
        text: free of lone surrogates (`replace_surrogates`).
        tokenizer: the embedder's; None cuts by `WINDOW_CHARACTERS`.
    """
    if tokenizer is None:
        if len(text) <= WINDOW_CHARACTERS:
            return [ChunkSpan(0, len(text), max(len(text), 1))]
        return _cut(text, _character_spans(text), WINDOW_CHARACTERS)
    most_tokens = len(text) * (1 if text.isascii() else MOST_TOKENS_PER_CHARACTER)
    if most_tokens <= tokenizer.max_tokens:
        return [ChunkSpan(0, len(text), max(len(text), 1))]
    return _cut(text, tokenizer.tokenize_spans(text), tokenizer.max_tokens)


def _character_spans(text: str) -> TokenSpans:
    """Every character as a token; letters and digits in a row belong to one word."""
    positions = np.arange(len(text), dtype=np.int64)
    in_word = np.fromiter((character.isalnum() for character in text), np.bool_, len(text))
    starts_word = np.ones(len(text), np.bool_)
    starts_word[1:] = ~(in_word[1:] & in_word[:-1])
    return np.stack([positions, positions + 1, np.cumsum(starts_word, dtype=np.int64)], axis=1)


def _cut(text: str, spans: TokenSpans, limit: int) -> list[ChunkSpan]:
    token_count = len(spans)
    if token_count <= limit:
        return [ChunkSpan(0, len(text), max(token_count, 1))]
    candidates = _cut_places(text, spans)
    cuts = [0]
    while token_count - cuts[-1] > limit:
        start = cuts[-1]
        remaining = token_count - start
        aim = start + math.ceil(remaining / math.ceil(remaining / limit))
        cuts.append(_nearest_cut(candidates, start, aim, start + limit))
    cuts.append(token_count)
    places = [0, *(int(spans[cut, 0]) for cut in cuts[1:-1]), len(text)]
    return [
        ChunkSpan(places[index], places[index + 1], cuts[index + 1] - cuts[index]) for index in range(len(cuts) - 1)
    ]


def _cut_places(text: str, spans: TokenSpans) -> tuple[NDArray[np.int64], ...]:
    """Token indexes before which the text may be cut, best kind first: sentence starts, word starts after a space or
    beside a character that stands alone, other word starts."""
    starts, ends, words = spans[:, 0], spans[:, 1], spans[:, 2]
    starts_word = np.zeros(len(spans), np.bool_)
    starts_word[1:] = words[1:] != words[:-1]
    sentence_ends = np.fromiter((match.end() for match in _SENTENCE_END.finditer(text)), np.int64)
    after = np.searchsorted(sentence_ends, starts, side="right")
    starts_sentence = np.zeros(len(spans), np.bool_)
    starts_sentence[1:] = after[1:] > after[:-1]
    after_space = np.zeros(len(spans), np.bool_)
    after_space[1:] = (starts[1:] > ends[:-1]) | np.fromiter(
        (text[start - 1].isspace() for start in starts[1:]), np.bool_, len(spans) - 1
    )
    kinds = (starts_word & starts_sentence, starts_word & after_space, starts_word)
    return tuple(np.flatnonzero(kind) for kind in kinds)


def _nearest_cut(candidates: tuple[NDArray[np.int64], ...], start: int, aim: int, latest: int) -> int:
    """The cut of the best kind in reach, nearest to `aim`; a word longer than the window is cut inside."""
    earliest = start + max(1, math.ceil((aim - start) * EARLIEST_CUT))
    for places in candidates:
        low, high = np.searchsorted(places, earliest), np.searchsorted(places, latest, side="right")
        within = places[low:high]
        if len(within):
            return int(within[np.argmin(np.abs(within - aim))])
    return latest
