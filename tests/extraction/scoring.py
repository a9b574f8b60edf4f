"""Micro-averaged F1 of entities (exact span) and of relations (pairs by overlap of words)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from alma_graph.extraction import Extraction

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of counted items."""

    right: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """Share of the predicted that is right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold that is found."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        return 2 * self.right / (self.predicted + self.gold) if self.predicted + self.gold else 0.0


Span = tuple[int, int, str]
GoldTriple = tuple[str, str, str, bool]


def entity_score(found: Sequence[Extraction], gold: Sequence[Sequence[Span]], *, typed: bool = True) -> Score:
    """Entities with the exact span, and the same type when `typed`."""
    right = predicted = labelled = 0
    for extraction, spans in zip(found, gold, strict=True):
        mine = {(e.start_char, e.end_char, e.type if typed else "") for e in extraction.entities}
        theirs = {(start, end, type_ if typed else "") for start, end, type_ in spans}
        right += len(mine & theirs)
        predicted += len(mine)
        labelled += len(theirs)
    return Score(right, predicted, labelled)


def relation_score(
    found: Sequence[Extraction], gold: Sequence[Sequence[GoldTriple]], *, predicates: bool = False
) -> Score:
    """Pairs whose two sides share a word with the gold pair; with `predicates`, label and polarity must agree too."""
    right = predicted = labelled = 0
    for extraction, triples in zip(found, gold, strict=True):
        left = list(triples)
        for relation in extraction.relations:
            for triple in left:
                if not (_share(relation.subject_text, triple[0]) and _share(relation.object_text, triple[2])):
                    continue
                if predicates and (relation.predicate, relation.negated) != (triple[1], triple[3]):
                    continue
                left.remove(triple)
                right += 1
                break
        predicted += len(extraction.relations)
        labelled += len(triples)
    return Score(right, predicted, labelled)


def _share(one: str, other: str) -> bool:
    return bool(set(_WORDS.findall(one.casefold())) & set(_WORDS.findall(other.casefold())))
