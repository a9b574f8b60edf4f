"""Full text over all memories of a project: BM25F with the neighbouring turns of an episode as a second field.

Kept current by appends and removals; equal to an index built anew from the same texts. (bm25s builds a fixed matrix of
scores: every added memory changes idf and mean length and so means a rebuild, and it has no fields, no alternative
spellings and no removal. Hence these postings, which score at query time.)

References: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); idf as in Lucene.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.index.columns import Codes, Column
from alma_graph.index.context import SessionContext
from alma_graph.index.postings import Postings
from alma_graph.index.tokens import Concept, document_terms, document_terms_of_token, document_tokens

K1 = 1.2
B = 0.6
MAX_CONCEPTS = 64
"""A longer query is cut to its rarest concepts."""

Floats = npt.NDArray[np.float64]


class LexicalIndex:
    """Term postings, lengths and document frequencies, by memory row."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._terms = Codes()
        self._postings = Postings()
        self._frequency = Column(np.int32)
        self._length = Column(np.float32)
        self._documents = 0
        self._changes = 0
        self._kept_damping: tuple[tuple[bool, int, int], Floats] | None = None

    def __len__(self) -> int:
        return self._documents

    @property
    def lengths(self) -> npt.NDArray[Any]:
        """Content words of each row; 0 for removed ones."""
        return self._length.view

    def extend(self, texts: Sequence[str], extra: Sequence[str | None] | None = None) -> None:
        """Indexes the next rows. `extra` (speakers) can be searched for, too, but counts for no length."""
        seen: dict[str, tuple[list[int], int]] = {}  # codes and content words of each token of these texts
        codes: list[int] = []
        sizes: list[int] = []
        lengths: list[int] = []
        for offset, text in enumerate(texts):
            before, length = len(codes), 0
            for token in document_tokens(text):
                known = seen.get(token)
                if known is None:
                    terms, words = document_terms_of_token(token)
                    known = seen[token] = [self._terms.add(term) for term in terms], words
                codes += known[0]
                length += known[1]
            if extra and (speaker := extra[offset]):
                codes += [self._terms.add(term) for term in _extra_terms(speaker)]
            sizes.append(len(codes) - before)
            lengths.append(length)
        first = len(self._length)
        self._length.extend(np.array(lengths, dtype=np.float32))
        self._frequency.extend(np.zeros(len(self._terms) - len(self._frequency), dtype=np.int32))
        self._documents += len(texts)
        self._changes += 1
        packed = (np.repeat(np.arange(len(texts)), sizes) << 32) | np.array(codes, dtype=np.int64)
        packed.sort()
        begins = np.flatnonzero(np.append(True, packed[1:] != packed[:-1])) if len(packed) else np.zeros(0, np.int64)
        items = packed[begins] & 0xFFFFFFFF
        np.add.at(self._frequency.view, items, 1)
        self._postings.add((packed[begins] >> 32) + first, items, np.diff(np.append(begins, len(packed))))

    def replace(self, row: int, text: str, extra: str | None = None) -> None:
        """Indexes a row's new text in place of its old one."""
        self.remove(row)
        counts, length = self._counts(text, extra)
        codes = [self._terms.add(term) for term in counts]
        self._frequency.extend(np.zeros(len(self._terms) - len(self._frequency), dtype=np.int32))
        self._frequency.view[codes] += 1
        self._length.view[row] = length
        self._documents += 1
        self._changes += 1
        self._postings.add([row] * len(codes), codes, list(counts.values()))

    def remove(self, row: int) -> None:
        """Takes a row out; its place stays."""
        codes = self._postings.remove_owner(row)
        self._frequency.view[codes] -= 1
        self._length.view[row] = 0.0
        self._documents -= 1
        self._changes += 1

    def term_counts(self, row: int) -> dict[str, int]:
        """The row's terms and how often each occurs."""
        positions = self._postings.of_owner(row)
        codes = self._postings.items[positions].tolist()
        counts = self._postings.weights[positions].tolist()
        return {self._terms.names[code]: int(count) for code, count in zip(codes, counts, strict=True)}

    def frequency(self, term: str) -> int:
        """How many memories have the term."""
        code = self._terms.get(term)
        return 0 if code is None else int(self._frequency.view[code])

    def idf(self, concept: Concept) -> float:
        """Inverse document frequency of a concept's most frequent spelling; 0 for an optional one that nothing has."""
        frequency = max(self.frequency(term) for term in concept.terms)
        if frequency == 0 and concept.optional:
            return 0.0
        return math.log(1 + (self._documents - frequency + 0.5) / (frequency + 0.5))

    def scores(self, concepts: Sequence[Concept], *, context: bool = True) -> Floats:
        """BM25F of every row as a share of the best possible for the query, in [0, 1).

        The sum over the concepts of idf times saturation, divided by what a text would have in which every concept
        saturates: so it does not depend on how many results are asked for, and little on what else is stored.

        Args:
            concepts: from `tokens.query_concepts`.
            context: whether neighbouring turns lend their words (`SessionContext`).
        """
        size = len(self._length)
        total = np.zeros(size)
        weighted = [(self.idf(concept), concept) for concept in concepts]
        if len(weighted) > MAX_CONCEPTS:
            weighted = sorted(weighted, key=lambda pair: (-pair[0], pair[1].terms))[:MAX_CONCEPTS]
        possible = sum(idf for idf, _ in weighted) * (K1 + 1)
        if not possible or not self._documents:
            return total
        use_context = context and self._context.linked
        damping = self._damping(use_context)
        for idf, concept in weighted:
            if len(concept.terms) == 1 and not use_context:  # a term has one posting a row
                touched, found = self._term_postings(concept.terms[0])
            else:
                counts = self._concept_counts(concept, size, use_context)
                touched = np.flatnonzero(counts)
                found = counts[touched]
            total[touched] += idf * found * (K1 + 1) / (found + damping[touched])
        return total / possible

    def _damping(self, context: bool) -> Floats:
        """K1 times the length normalisation of every row; kept until something changes."""
        state = (context, self._changes, self._context.version)
        if self._kept_damping is None or self._kept_damping[0] != state:
            lengths = self._length.view.astype(np.float64)
            if context:
                lengths = self._context.spread(lengths)
            mean = max(float(lengths.sum()) / self._documents, 1e-9)
            self._kept_damping = state, K1 * (1 - B + B * lengths / mean)
        return self._kept_damping[1]

    def _term_postings(self, term: str) -> tuple[npt.NDArray[Any], Floats]:
        """The rows that have a term and how often each has it."""
        code = self._terms.get(term)
        if code is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        positions = self._postings.of_item(code)
        return self._postings.owners[positions], self._postings.weights[positions].astype(np.float64)

    def _concept_counts(self, concept: Concept, size: int, context: bool) -> Floats:
        best: Floats | None = None
        for term in concept.terms:
            rows, weights = self._term_postings(term)
            if not len(rows):
                continue
            rare = len(rows) * 8 < size
            if context and rare:
                rows, weights = self._context.lend(rows, weights)
            counts: Floats = np.bincount(rows, weights, minlength=size).astype(np.float64, copy=False)
            if context and not rare:
                counts = self._context.spread(counts)
            best = counts if best is None else np.maximum(best, counts)
        return np.zeros(size) if best is None else best

    @staticmethod
    def _counts(text: str, extra: str | None) -> tuple[dict[str, int], int]:
        counts, length = document_terms(text)
        if extra:
            for term in _extra_terms(extra):
                counts[term] = counts.get(term, 0) + 1
        return counts, length


@lru_cache(maxsize=4096)
def _extra_terms(text: str) -> tuple[str, ...]:
    return tuple(document_terms(text)[0])
