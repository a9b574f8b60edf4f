"""The wordings of one place (an agent's tasks, or the strategies of one context) and which of them are alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from alma_graph.learning.partition import Groups
from alma_graph.learning.signature import Signature
from alma_graph.learning.similarity import (
    BLOCKED,
    COSINE_WEIGHT,
    EXCHANGE_COST,
    LEXICAL_WEIGHT,
    THRESHOLD,
    kin_score,
    pool_score,
)
from alma_graph.learning.vectors import DIGITS, Codes, length

_SLACK = 1e-3
"""The vectorised bound may let a pair too many through, never one too few."""
_FIRST_ROWS = 16


class Likeness:
    """Scores of wordings against each other, what is near to what, and the groups of one level.

    Adding a wording costs one matrix-vector product over the wordings already here and an exact score for each that
    could reach the threshold.
    """

    def __init__(self, level: Literal["kin", "pool"]) -> None:
        self._level = level
        self._rows: dict[str, int] = {}
        self._wordings: list[str] = []
        self._signatures: list[Signature] = []
        self._matrix: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._lengths: NDArray[np.float64] = np.zeros(0)
        self._sizes: NDArray[np.int64] = np.zeros(0, np.int64)
        self._alive: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._postings: dict[str, list[int]] = {}
        self._same_key: dict[str, list[int]] = {}
        self._numbers: NDArray[np.int64] = np.zeros(0, np.int64)
        self._number_codes: dict[frozenset[str], int] = {}
        self._has_identifiers: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._identifiers: dict[str, list[int]] = {}
        self._has_technologies: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._technologies: dict[str, list[int]] = {}
        self._scores: dict[tuple[int, int], float] = {}
        self._near: dict[str, set[str]] = {}
        self.groups = Groups(self._level_score if level == "pool" else None)

    def __contains__(self, wording: str) -> bool:
        return wording in self._near

    def __len__(self) -> int:
        return len(self._near)

    def wordings(self) -> set[str]:
        """All wordings here."""
        return set(self._near)

    def add(self, signatures: Sequence[Signature], codes: Codes) -> None:
        """Adds wordings that are not here yet. codes: (n, dimension), a row for each signature that is not opaque."""
        rows = iter(codes)
        for signature in signatures:
            if signature.opaque:
                self._near[signature.wording] = set()
                self.groups.add(signature.wording, ())
            else:
                self._add(signature, next(rows))

    def remove(self, wording: str) -> None:
        """Takes a wording out."""
        row = self._rows.pop(wording, None)
        if row is not None:
            self._alive[row] = False
        for other in self._near.pop(wording):
            self._near[other].discard(wording)
        self.groups.remove(wording)

    def near(self, wording: str) -> frozenset[str]:
        """The wordings that are kin to this one, one by one and not by way of others."""
        return frozenset(self._near[wording])

    def _add(self, signature: Signature, code: NDArray[np.int8]) -> None:
        row = len(self._wordings)
        self._reserve(row + 1, len(code))
        candidates = self._candidates(signature, code, row)
        self._matrix[row] = code
        self._lengths[row] = length(code)
        self._sizes[row] = len(signature.content)
        self._alive[row] = True
        self._rows[signature.wording] = row
        self._wordings.append(signature.wording)
        self._signatures.append(signature)
        self._same_key.setdefault(signature.key, []).append(row)
        if signature.numbers:
            self._numbers[row] = self._number_codes.setdefault(signature.numbers, len(self._number_codes) + 1)
        self._has_identifiers[row] = bool(signature.identifiers)
        self._has_technologies[row] = bool(signature.technologies)
        for words, postings in (
            (signature.content, self._postings),
            (signature.identifiers, self._identifiers),
            (dict.fromkeys(signature.technologies), self._technologies),
        ):
            for word in words:
                postings.setdefault(word, []).append(row)
        self._near[signature.wording] = set()
        edges: list[tuple[str, float]] = []
        for other, cosine in candidates:
            value = kin_score(self._signatures[other], signature, cosine)
            if value < THRESHOLD:
                continue
            self._scores[other, row] = value
            name = self._wordings[other]
            self._near[signature.wording].add(name)
            self._near[name].add(signature.wording)
            if self._at_level(other, row, value) > BLOCKED:
                edges.append((name, value))
        self.groups.add(signature.wording, edges)

    def _candidates(self, signature: Signature, code: NDArray[np.int8], count: int) -> list[tuple[int, float]]:
        """Rows whose score could reach the threshold, with their cosines: a bound over all rows at once; where numbers,
        identifiers or technologies block a pair, it is left out here."""
        if not count:
            return []
        dots = self._matrix[:count] @ code.astype(np.float32)  # exact, see `vectors`
        size = length(code)
        cosines = dots / (self._lengths[:count] * size)
        overlap = self._overlap(self._postings, signature.content, count)
        sizes = self._sizes[:count]
        words = len(signature.content)
        jaccard = overlap / np.maximum(1, sizes + words - overlap)
        exchange = overlap < np.minimum(sizes, words)
        bound = COSINE_WEIGHT * cosines + LEXICAL_WEIGHT * jaccard - EXCHANGE_COST * exchange
        near = bound >= THRESHOLD - _SLACK
        if equal := self._same_key.get(signature.key):
            near[equal] = True
        near &= self._alive[:count]
        if signature.numbers:
            numbers = self._numbers[:count]
            near &= (numbers == 0) | (numbers == self._number_codes.get(signature.numbers, -1))
        for details, column, postings in (
            (signature.identifiers, self._has_identifiers, self._identifiers),
            (signature.technologies, self._has_technologies, self._technologies),
        ):
            if details:
                near &= ~column[:count] | (self._overlap(postings, set(details), count) > 0)
        rows = np.flatnonzero(near)
        lengths = self._lengths[rows] * size
        return [
            (row, round(dot / both, DIGITS))
            for row, dot, both in zip(rows.tolist(), dots[rows].tolist(), lengths.tolist(), strict=True)
        ]

    @staticmethod
    def _overlap(postings: dict[str, list[int]], words: Collection[str], count: int) -> NDArray[np.int64]:
        """How many of the words each row has."""
        rows = [row for word in words for row in postings.get(word, ())]
        return np.bincount(np.array(rows, np.int64), minlength=count) if rows else np.zeros(count, np.int64)

    def _score(self, left: int, right: int) -> float:
        if right < left:
            left, right = right, left
        known = self._scores.get((left, right))
        if known is None:
            known = self._scores[left, right] = self._fresh_score(left, right)
        return known

    def _fresh_score(self, left: int, right: int) -> float:
        dot = float(self._matrix[left] @ self._matrix[right])
        cosine = round(dot / float(self._lengths[left] * self._lengths[right]), DIGITS)
        return kin_score(self._signatures[left], self._signatures[right], cosine)

    def _at_level(self, left: int, right: int, kin: float) -> float:
        return kin if self._level == "kin" else pool_score(self._signatures[left], self._signatures[right], kin)

    def _level_score(self, left: str, right: str) -> float:
        first, second = self._rows[left], self._rows[right]
        return self._at_level(first, second, self._score(first, second))

    def _reserve(self, rows: int, dimension: int) -> None:
        held = len(self._matrix)
        if rows <= held:
            return
        extra = max(_FIRST_ROWS, held)
        grown = np.zeros((held + extra, dimension), np.float32)
        if held:
            grown[:held] = self._matrix
        self._matrix = grown
        self._lengths = np.concatenate([self._lengths, np.zeros(extra)])
        self._sizes = np.concatenate([self._sizes, np.zeros(extra, np.int64)])
        self._numbers = np.concatenate([self._numbers, np.zeros(extra, np.int64)])
        no = np.zeros(extra, np.bool_)
        self._alive = np.concatenate([self._alive, no])
        self._has_identifiers = np.concatenate([self._has_identifiers, no])
        self._has_technologies = np.concatenate([self._has_technologies, no])
