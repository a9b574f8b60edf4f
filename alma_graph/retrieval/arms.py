"""The ways to find candidates. Each arm gives every memory a value on its own fixed scale, whatever else is stored.

To add one: a class with a `name`, a `scale` and `values`, in `FIRST_ARMS`, with a weight in `fusion.WEIGHTS`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from alma_graph.embedding.protocol import TokenVectors
from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import NEVER
from alma_graph.index.speech import ROLES
from alma_graph.retrieval.query import NamedDate, NamedEntity, ParsedQuery

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Request:
    """What the arms are asked.

    Attributes:
        query: the parsed query.
        vector: the query's vector; None where it could not be made.
        tokens: the vectors of its content tokens; None where the embedder has none.
    """

    query: ParsedQuery
    vector: npt.NDArray[np.float32] | None
    tokens: TokenVectors | None = None


class Arm(Protocol):
    """One way to find candidates.

    Attributes:
        name: its name in a hit's parts.
        scale: least and largest value.
        content: whether its value may make a memory relevant: what it says, and the person or the day that is named.
    """

    name: ClassVar[str]
    scale: ClassVar[tuple[float, float]]
    content: ClassVar[bool]

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """The value of every row; None where the arm has nothing to say for this query."""


class DenseArm:
    """Cosine of the memory's vector, pooled with its neighbours in an episode, with the query's; the best chunk's where
    one is nearer. Negative ones are cut to 0. Exact: every vector is compared."""

    name: ClassVar[str] = "dense"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = True

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        if request.vector is None:
            return None
        return np.clip(index.dense.cosines(request.vector, pool=True), 0.0, 1.0)


class LexicalArm:
    """BM25F over the memory and its neighbours in the episode, as a share of the best possible."""

    name: ClassVar[str] = "lexical"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = True

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        if not request.query.concepts:
            return None
        return index.lexical.scores(request.query.concepts)


class LateArm:
    """Late interaction: how well every word of the query is matched by some word of the memory, or of the turns beside
    it, by the vectors of the words in their sentences. What unrelated texts have in common, BASE, counts as 0.
    Run on candidates only, and not asked whether anything is relevant at all (`fusion.FLOOR`)."""

    name: ClassVar[str] = "late"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = False
    BASE: ClassVar[float] = 0.35

    def on(self, index: ProjectIndex, request: Request, rows: npt.NDArray[np.int64]) -> Floats | None:
        """The value of every row, 0 beside the given ones; None where there are no token vectors."""
        if request.tokens is None:
            return None
        matched = index.tokens.match(rows, request.tokens.vectors, request.tokens.ids)
        if matched is None:
            return None
        values = np.zeros(len(index.rows))
        values[rows] = np.maximum(matched - self.BASE, 0.0) / (1.0 - self.BASE)
        return values


class EntityArm:
    """How much a memory is about the entities that the query names: idf times salience, summed, at most 1."""

    name: ClassVar[str] = "entity"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = True

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        if not request.query.entities:
            return None
        total = np.zeros(len(index.rows))
        for entity in request.query.entities:
            rows, salience = index.entities.mentioning(entity.code)
            np.maximum.at(total, rows, 0.0)
            total[rows] += entity_weight(index, entity) * salience
        return np.minimum(total, 1.0)


class DateArm:
    """1 for memories from the month, or at the day, that the query names, fading over ten days; .3 for the right year
    alone."""

    name: ClassVar[str] = "date"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = True

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        named = request.query.date
        return None if named is None else date_match(named, index.rows.column("valid_from"))


class SpeakerArm:
    """1 for turns of the people the query names, where it does not name all of them. A boost, never a filter."""

    name: ClassVar[str] = "speaker"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = True

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        if not request.query.speakers:
            return None
        return spoken_by(index, request.query.speakers).astype(np.float64)


class RoleArm:
    """In dialogues with an assistant: 1 for the user's words where the query says "I", for the assistant's where it
    asks what "you" said."""

    name: ClassVar[str] = "role"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = False

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        if request.query.role is None:
            return None
        wanted = {"user", "human"} if request.query.role == "user" else {"assistant", "ai", "agent", "bot"}
        names = index.rows.speakers.names
        codes = [code for code, name in enumerate(names) if name.casefold() in wanted]
        return spoken_by(index, codes).astype(np.float64)


class QuestionArm:
    """The share of a person's turn that itself asks: a question is seldom the answer. 0 for dialogues with an
    assistant, where one turn both states and asks."""

    name: ClassVar[str] = "question"
    scale: ClassVar[tuple[float, float]] = (0.0, 1.0)
    content: ClassVar[bool] = False

    def values(self, index: ProjectIndex, request: Request) -> Floats | None:
        """See `Arm`."""
        names = index.rows.speakers.names
        people = [code for code, name in enumerate(names) if name.casefold() not in ROLES]
        if not people:
            return None
        shares: Floats = index.rows.column("questions").astype(np.float64) * spoken_by(index, people)
        return shares


FIRST_ARMS: tuple[Arm, ...] = (DenseArm(), LexicalArm(), EntityArm(), DateArm(), SpeakerArm(), RoleArm(), QuestionArm())
LATE_ARM = LateArm()


def spoken_by(index: ProjectIndex, speakers: Collection[int]) -> npt.NDArray[np.bool_]:
    """Which rows are turns of these speakers (codes)."""
    wanted = np.zeros(len(index.rows.speakers) + 1, dtype=np.bool_)  # the last one stands for -1, nobody
    wanted[list(speakers)] = True
    spoken: npt.NDArray[np.bool_] = wanted[index.rows.column("speaker")]
    return spoken


def entity_idf(index: ProjectIndex, frequency: npt.NDArray[np.int64] | int) -> Floats:
    """ln(1 + N / df) / ln(1 + N), in (0, 1]: how rare an entity is among N memories."""
    count = max(len(index), 1)
    rarity: Floats = np.log1p(count / np.maximum(frequency, 1)) / math.log1p(count)
    return rarity


def entity_weight(index: ProjectIndex, entity: NamedEntity) -> float:
    """How telling a named entity is; names of one word are less sure to be meant."""
    rarity = float(entity_idf(index, index.entities.frequency(entity.code)))
    return rarity * (1.0 if entity.words > 1 else 0.6)


def date_match(named: NamedDate, moments: npt.NDArray[np.int64]) -> Floats:
    """Agreement of times (microseconds since 1970) with a named date, in [0, 1]."""
    known = moments != NEVER
    dates = np.where(known, moments, 0).astype("datetime64[us]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    years, month_numbers = months // 12 + 1970, months % 12 + 1
    days = (dates.astype("datetime64[D]") - dates.astype("datetime64[M]")).astype(np.int64) + 1
    fits = known if named.year is None else known & (years == named.year)
    if named.month is None:
        return np.where(fits, 0.3, 0.0)
    in_month = fits & (month_numbers == named.month)
    if named.day is None:
        return np.where(in_month, 1.0, 0.0)
    score = np.where(in_month, np.maximum(0.3, 1 - np.abs(days - named.day) / 10), 0.0)
    this_day = (month_numbers - 1) * 31 + days
    wanted = (named.month - 1) * 31 + named.day
    beside = fits & ~in_month & (np.abs(this_day - wanted) <= 8)
    return np.where(beside, 0.5, score)
