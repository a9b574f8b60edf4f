"""`retrieve`: the arms, their fusion, the weighing and the choice, over one project's index. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import numpy as np
import numpy.typing as npt

from alma_graph.clock import Clock, system_clock, to_micros
from alma_graph.embedding.protocol import TokenVectors
from alma_graph.errors import AlmaGraphError, InvalidInputError, shown
from alma_graph.index.project import ProjectIndex
from alma_graph.index.rows import KINDS
from alma_graph.model import Memory, MemoryKind, UserPreference
from alma_graph.retrieval.arms import Request
from alma_graph.retrieval.explain import path_of, trace_of
from alma_graph.retrieval.filters import Filters, Mask
from alma_graph.retrieval.fusion import FLOOR, LEAST_SHARE, fuse, relevant_rows
from alma_graph.retrieval.query import parse_query
from alma_graph.retrieval.scoring import ScoringConfig
from alma_graph.retrieval.selection import choose
from alma_graph.retrieval.slice import MemoryHit, MemorySlice
from alma_graph.retrieval.weighing import disputes, standing_against, weigh

Fetch = Callable[[Sequence[str]], Iterable[Memory]]
"""Reads memories by node key; those that are gone are left out."""

MAX_STANDING = 5
"""Standing preferences of a user that come along, the newest first."""
CONTEXT_TURNS = 1
"""Turns of the episode that are served on each side of a hit."""


class QueryEncoder(Protocol):
    """As much of the encoder as retrieval needs."""

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """The unit vector of a query."""
        ...

    def query_tokens(self, text: str) -> TokenVectors | None:
        """The vectors of a query's content tokens; None with an embedder that has none."""
        ...


@dataclass(frozen=True, slots=True)
class _Draft:
    """A hit before its memories are read."""

    row: int
    parts: dict[str, float]
    relevance: float
    context: tuple[int, ...]
    against: tuple[str, ...]
    disputes: bool


def retrieve(
    index: ProjectIndex,
    fetch: Fetch,
    encoder: QueryEncoder | None,
    query: str,
    *,
    top_k: int = 5,
    kinds: Collection[str] | None = None,
    readable: Collection[str] | None = None,
    user_id: str | None = None,
    as_of: datetime | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    include_superseded: bool = False,
    scoring: ScoringConfig | None = None,
    trust: Mapping[str, float] | None = None,
    now: datetime | None = None,
    clock: Clock = system_clock,
    token_budget: int | None = None,
    context_turns: int = CONTEXT_TURNS,
    explain: bool = False,
    without: Collection[str] = (),
) -> MemorySlice:
    """Finds the memories that fit a query.

    Args:
        fetch: reads the chosen memories.
        encoder: makes the query's vector; with None, or one that fails, the other arms answer and a warning says so.
        query: any text.
        top_k: most hits; the hits of k are the first of those of any larger k.
        kinds, readable, user_id, as_of, since, until, include_superseded: see `Filters`.
        scoring: weights; ALMA's by default.
        trust: agent -> trust in [0, 1].
        now: the time that recency and validity are measured from; the clock's where it is left out.
        token_budget: default budget of the slice's `to_prompt`.
        context_turns: turns of the episode served on each side of a hit.
        explain: adds the trace.
        without: arms that are left out, by name.

    Raises:
        InvalidInputError: top_k or token_budget is below 1, a kind is unknown, or the query is no text.
    """
    check_request(query, top_k, kinds, token_budget)
    config = scoring or ScoringConfig()
    moment = to_micros(now if now is not None else clock())
    warnings: list[str] = []
    vector, tokens = _vectors(index, encoder, query, warnings)
    with index.lock:
        request = Request(parse_query(query, index), vector, tokens)
        filters = Filters(kinds, readable, user_id, as_of, since, until, include_superseded)
        allowed = filters.mask(index, moment)
        evidence = allowed if kinds is None else replace(filters, kinds=None).mask(index, moment)
        fused = fuse(index, request, allowed, without=frozenset(without), evidence=evidence)
        floor = FLOOR if config.floor is None else config.floor
        if request.query.speakers:  # the person is named: what they said is what is asked for
            floor *= LEAST_SHARE
        eligible = relevant_rows(fused, allowed, floor)
        ranked = weigh(index, fused, eligible, config, now=moment, trust=trust)
        places = choose(index, ranked, top_k)
        drafts = [
            _Draft(
                row=(row := int(ranked.rows[place])),
                parts=ranked.parts_of(place),
                relevance=float(ranked.relevance[place]),
                context=tuple(
                    turn for turn in index.context.window(row, context_turns) if turn != row and allowed[turn]
                ),
                against=tuple(sorted({index.ids[edge.source] for edge in standing_against(index, row)})),
                disputes=disputes(index, row),
            )
            for place in places
        ]
        paths = {draft.row: path_of(index, fused, request, draft.row) for draft in drafts}
        standing = _standing(index, allowed, user_id)
        trace = {}
        if explain:
            rows = [draft.row for draft in drafts]
            trace = trace_of(index, request, fused, allowed=allowed, eligible=eligible, hits=rows)
        wanted = dict.fromkeys([row for draft in drafts for row in (draft.row, *draft.context)] + standing)
        keys = [index.keys[row] for row in wanted]
        ids = {row: index.ids[row] for row in wanted}
    found = {memory.id: memory for memory in fetch(keys)} if keys else {}
    hits = []
    for draft in drafts:
        memory = found.get(ids[draft.row])
        if memory is None:  # removed since
            continue
        hits.append(
            MemoryHit(
                memory=memory,
                score=sum(draft.parts.values()),
                parts=draft.parts,
                relevance=draft.relevance,
                path=paths[draft.row],
                status=_standing_of(memory, draft),
                contradicted_by=draft.against,
                context=tuple(found[ids[turn]] for turn in draft.context if ids[turn] in found),
            )
        )
    preferences = [found.get(ids[row]) for row in standing]
    return MemorySlice(
        query=query,
        hits=tuple(hits),
        standing=tuple(memory for memory in preferences if isinstance(memory, UserPreference)),
        warnings=tuple(warnings),
        trace=trace,
        token_budget=token_budget,
    )


def _standing_of(memory: Memory, draft: _Draft) -> str:
    if memory.status != "active" or not (draft.against or draft.disputes):
        return str(memory.status)
    return "contradicted" if draft.against else "disputed"


def check_request(query: object, top_k: object, kinds: Collection[str] | None, token_budget: object) -> None:
    """Refuses a request that cannot be answered; see `retrieve`."""
    if not isinstance(query, str):
        raise InvalidInputError(f"query={shown(query)} is {type(query).__name__}, not text; give a str")
    for name, value in (("top_k", top_k), ("token_budget", token_budget)):
        if name == "token_budget" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidInputError(f"{name}={shown(value)} is out of range; give a whole number from 1 on")
    for kind in kinds or ():
        if not isinstance(kind, str) or kind not in set(MemoryKind):
            names = ", ".join(repr(str(known)) for known in KINDS)
            raise InvalidInputError(f"kinds has {shown(kind)}, which is no kind of memory; take some of {names}")


def _vectors(
    index: ProjectIndex, encoder: QueryEncoder | None, query: str, warnings: list[str]
) -> tuple[npt.NDArray[np.float32] | None, TokenVectors | None]:
    """The query's vector and token vectors; where there are none, a warning says what was searched instead."""
    if not query.strip():
        return None, None
    if encoder is None:
        warnings.append("dense: no embedder is at hand; words, entities and the graph alone were searched")
        return None, None
    try:
        vector, tokens = encoder.encode_query(query), encoder.query_tokens(query)
    except AlmaGraphError as error:
        warnings.append(
            f"dense: the query was not embedded ({error}); words, entities and the graph alone were searched"
        )
        return None, None
    if len(vector) != index.dense.dimension:
        raise InvalidInputError(
            f"the query's vector has {len(vector)} dimensions, the store's have {index.dense.dimension}; "
            "open the store with the embedder it was made with, or run `alma-graph reembed`"
        )
    return vector, tokens


def _standing(index: ProjectIndex, allowed: Mask, user_id: str | None) -> list[int]:
    """Rows of the user's preferences that always apply, the newest first."""
    code = None if user_id is None else index.rows.users.get(user_id)
    if code is None:
        return []
    columns = index.rows
    mine = allowed & (columns.column("user") == code)
    mine &= columns.column("kind") == KINDS.index(MemoryKind.USER_PREFERENCE)
    rows = np.flatnonzero(mine).tolist()
    recorded = columns.column("recorded_at")
    return sorted(rows, key=lambda row: (-int(recorded[row]), index.ids[row]))[:MAX_STANDING]
