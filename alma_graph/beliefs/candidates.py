"""Which stored memories a new one is judged against: few, and the same ones every time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alma_graph.errors import InvalidInputError

DEFAULT_LIMIT = 40
"""Candidates of a short memory."""

LONG_TEXT_LIMIT = 10
"""Candidates of a long one, whose pairs take some ten times as long to judge."""

LONG_TEXT_CHARACTERS = 400

_ENTITY_BONUS = 0.1
_ENTITY_BONUS_CAP = 3


def limit_for(text: str) -> int:
    """How many candidates a new memory with this text is judged against."""
    return LONG_TEXT_LIMIT if len(text) > LONG_TEXT_CHARACTERS else DEFAULT_LIMIT


def select(
    ids: Sequence[str],
    cosine: NDArray[np.floating] | Sequence[float],
    shared_entities: NDArray[np.integer] | Sequence[int],
    limit: int = DEFAULT_LIMIT,
) -> list[str]:
    """The ids of at most `limit` candidates, best first.

    A candidate's rank is its cosine plus .1 for each shared entity, up to three; ties go to the smaller id.

    Args:
        ids: ids of the memories that share an entity or are near, each once.
        cosine: (n,) similarity of each to the new memory.
        shared_entities: (n,) number of entities each has in common with it.
        limit: at most this many, not negative.

    Raises:
        InvalidInputError: the lengths differ, an id comes twice, the limit is negative or a cosine is NaN.
    """
    similarity = np.asarray(cosine, dtype=np.float64)
    entities = np.asarray(shared_entities, dtype=np.int64)
    if similarity.shape != (len(ids),) or entities.shape != (len(ids),):
        raise InvalidInputError(
            f"{len(ids)} ids need as many cosines and entity counts, got {similarity.shape} and {entities.shape}"
        )
    if limit < 0:
        raise InvalidInputError(f"limit is {limit}; give 0 or more")
    if np.isnan(similarity).any():
        raise InvalidInputError("a cosine is NaN; check the vectors before choosing candidates")
    if len(set(ids)) != len(ids):
        raise InvalidInputError("an id comes twice among the candidates; give each once")
    rank = similarity + _ENTITY_BONUS * np.minimum(entities, _ENTITY_BONUS_CAP)
    order = sorted(range(len(ids)), key=lambda index: (-float(rank[index]), ids[index]))
    return [ids[index] for index in order[:limit]]
