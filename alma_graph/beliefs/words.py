"""How two lemmas are related: the same, near-synonyms, opposites, or strangers."""

from __future__ import annotations

import functools
import re
from typing import Literal, NamedTuple

from alma_graph.beliefs.lexicon_relations import OPPOSITES, SYNONYMS

Relation = Literal["same", "synonym", "antonym", "none"]

_SEPARATORS = re.compile(r"[-_./\s]")
_NEGATIVE_PREFIXES = ("un", "in", "im", "non", "dis", "ir")


class WordRelation(NamedTuple):
    """A relation and how sure it is, in [0, 1]."""

    score: float
    relation: Relation

    @property
    def agrees(self) -> bool:
        """The two words can stand for one thing."""
        return self.relation in ("same", "synonym")


_NONE = WordRelation(0.0, "none")


@functools.cache
def _sides() -> dict[str, frozenset[tuple[int, int]]]:
    """Word -> the (pair of opposites, side) it belongs to; a participle counts for its verb too."""
    table: dict[str, set[tuple[int, int]]] = {}
    for number, pair in enumerate(OPPOSITES):
        for side, group in enumerate(pair):
            for word in group:
                for form in {word, word[:-1], word[:-2]} if word.endswith("ed") and len(word) > 5 else {word}:
                    table.setdefault(form, set()).add((number, side))
    return {word: frozenset(places) for word, places in table.items()}


@functools.cache
def _groups() -> dict[str, frozenset[int]]:
    table: dict[str, set[int]] = {}
    for number, group in enumerate(SYNONYMS):
        for word in group:
            table.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in table.items()}


@functools.lru_cache(maxsize=1 << 17)
def word_relation(left: str, right: str) -> WordRelation:
    """Relation of two lemmas. Symmetric."""
    if left == right:
        return WordRelation(1.0, "same")
    bare_left, bare_right = _SEPARATORS.sub("", left), _SEPARATORS.sub("", right)
    if bare_left and bare_left == bare_right:
        return WordRelation(1.0, "same")
    left_sides, right_sides = _sides().get(left, frozenset()), _sides().get(right, frozenset())
    if any((number, 1 - side) in right_sides for number, side in left_sides):
        return WordRelation(0.9, "antonym")
    if left_sides & right_sides:
        return WordRelation(0.85, "synonym")
    shorter, longer = sorted((left, right), key=lambda word: (len(word), word))
    if len(shorter) > 3 and any(longer == prefix + shorter for prefix in _NEGATIVE_PREFIXES):
        return WordRelation(0.9, "antonym")
    if _groups().get(left, frozenset()) & _groups().get(right, frozenset()):
        return WordRelation(0.9, "synonym")
    return WordRelation(0.85, "synonym") if _same_stem(_base(bare_left), _base(bare_right)) else _NONE


def _base(word: str) -> str:
    """Nouns of ability as their adjectives: availability, available."""
    return word[:-5] + "le" if word.endswith("bility") else word


def _same_stem(left: str, right: str) -> bool:
    """Derived forms of one word: deploy/deployment; never two numbers or names with digits."""
    if any(character.isdigit() for character in left + right):
        return False
    if left == right or (min(len(left), len(right)) >= 6 and (left.startswith(right) or right.startswith(left))):
        return True
    return (
        len(left) > 4
        and len(right) > 4
        and left.startswith(right[: max(4, len(right) - 3)])
        and right.startswith(left[: max(4, len(left) - 3)])
    )


def agrees_with_any(word: str, others: list[str] | frozenset[str] | tuple[str, ...]) -> bool:
    """`word` is the same as, or a synonym of, one of `others`."""
    return any(word_relation(word, other).agrees for other in others)
