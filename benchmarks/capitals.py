"""An extractor for the benchmark only: capitalised and quoted spans, without a parser (RETRIEVAL's part B without NER).

It shows what the graph arm does when every name of an encyclopedic passage is an entity, titles included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from alma_graph.extraction import ExtractedEntity, ExtractedRelation, Extraction, SessionContext
from alma_graph.index.names import name_key
from alma_graph.index.tokens import STOP_WORDS

_JOINTS = "of|the|and|in|a|an|to|de|la|le|les|du|des|von|van|der|den|di|da|del|della|bin|ibn|al|el|for|on|with|at|y|e|&"
_UPPER = "A-ZÀ-ÖØ-ÞŠŽŁĀ-Ž"
_WORD = rf"(?:(?:[{_UPPER}]\.)+(?!\w)|(?:St|Jr|Sr|Dr|Mr|Mrs|No|Vol|Co|Inc|Ltd)\.|[{_UPPER}0-9][\w'’\-]*)"
_NAME = re.compile(rf"{_WORD}(?:(?: (?:{_JOINTS}))* {_WORD})*")
_QUOTED = re.compile(r'["“]([^"”]{2,80})["”]')
_SENTENCE = re.compile(r"(?:^|[.!?]\s+)(?=\S)")
_MONTHS = "january february march april may june july august september october november december"
_NO_NAMES = STOP_WORDS | frozenset(_MONTHS.split())


class CapitalExtractor:
    """Every run of capitalised words is an entity; a lone one at the start of a sentence is not."""

    name = "capitals"

    def extract(
        self, text: str, context: SessionContext | None = None
    ) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
        """Entities of one text, by position; spans may overlap. No relations."""
        found: dict[tuple[str, int], ExtractedEntity] = {}
        for start, end in _spans(text):
            surface = text[start:end]
            key = name_key(surface)
            if len(key) < 3 or key in _NO_NAMES or key.replace(" ", "").isdigit():
                continue
            found.setdefault((key, start), ExtractedEntity(surface, surface, start, end, "NAME", key))
        return tuple(sorted(found.values(), key=lambda entity: (entity.start_char, -entity.end_char))), ()

    def extract_batch(
        self, texts: Sequence[str], contexts: Sequence[SessionContext | None] | None = None
    ) -> list[Extraction]:
        """One extraction a text."""
        return [Extraction(self.extract(text)[0]) for text in texts]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    starts = {match.end() for match in _SENTENCE.finditer(text)}
    for match in _NAME.finditer(text):
        start, end = match.span()
        words = match.group().split()
        if len(words) == 1 and start in starts and start > 0:
            continue
        yield start, end
        while len(words) > 1 and (words[0].casefold() in _NO_NAMES or words[0].isdigit()):
            start += len(words[0]) + 1  # "In October 1346 Raghnall" is Raghnall
            words = words[1:]
        yield start, end
        at = start
        for part in re.split(r" (?:and|&) ", text[start:end]):  # "Ann Lee and Bob Roy" are two names
            at = text.index(part, at)
            if " " in part:
                yield at, at + len(part)
            at += len(part)
    for match in _QUOTED.finditer(text):
        yield match.span(1)
