"""Candidates from a server's vector and full-text indexes, with a scan where an index cannot answer.

The indexes know neither projects nor what is wanted, so they are asked for more and more until enough of what they give
is wanted; beyond that the project is scanned. What comes back is never short of k because of what was left out.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from alma_graph.backends.bolt.connection import Transaction, rows
from alma_graph.backends.bolt.dialect import MEMORY_TEXT_INDEX, Dialect, vector_index
from alma_graph.backends.bolt.reader import Reader
from alma_graph.backends.bolt.statements import key_of
from alma_graph.backends.bolt.values import short_key
from alma_graph.backends.candidates import EVERY_MEMORY, Candidates, Wanted
from alma_graph.backends.protocol import chunked

_WIDEST = 10_000
"""Most nodes that an index is asked for, of all projects; beyond that the project is scanned."""
_MOST_WORDS = 64
_WORD = re.compile(r"\w+")
_KEY_BATCH = 5_000
_PATTERNS = {
    "Memory": ("(node:`Memory`)", "node"),
    "Chunk": ("(memory:`Memory`)-[:`HAS_CHUNK`]->(node:`Chunk`)", "memory"),
}
"""Label -> the nodes that candidates of it are, and which of the pattern is the memory that is wanted."""


def near(
    transaction: Transaction,
    dialect: Dialect,
    label: str,
    vector: Any,
    k: int,
    project_id: str,
    dimension: int,
    wanted: Wanted = EVERY_MEMORY,
) -> Candidates:
    """The wanted nodes of a project nearest to a vector."""
    given = {"vector": np.asarray(vector, dtype=np.float32).tolist(), "project": project_id}
    asked = k
    while dimension <= dialect.max_vector and asked < _WIDEST:
        asked = min(max(asked * 2, 50), _WIDEST)
        statement = dialect.vector_candidates.format(index=vector_index(label), key=key_of("node"))
        found = rows(transaction, statement, {**given, "k": asked})
        own = _of_project(found, project_id)
        own = _wanted_of(transaction, dialect, label, own, wanted)
        if len(own) >= k or len(found) < asked:  # enough, or all that the index has
            return _ordered(own, dialect.halved_cosines)[:k]
    return _scan(transaction, dialect, label, given, k, dimension, wanted)


def _scan(
    transaction: Transaction,
    dialect: Dialect,
    label: str,
    given: dict[str, Any],
    k: int,
    dimension: int,
    wanted: Wanted,
) -> Candidates:
    """As `near`, without an index."""
    if dialect.vector_scan is not None:
        nodes, memory = _PATTERNS[label] if wanted != EVERY_MEMORY else (f"(node:`{label}`)", "node")
        also, bound = _conditions(memory, wanted)
        statement = dialect.vector_scan.format(nodes=nodes, also=also, key=key_of("node"))
        found = rows(transaction, statement, {**given, **bound, "k": k})
        return _ordered(_of_project(found, given["project"]), dialect.halved_cosines)
    keys, matrix = Reader(transaction, dialect).vectors(label, given["project"], dimension)
    sought = np.asarray(given["vector"], dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(sought)
    cosines = matrix @ sought / np.where(lengths > 0, lengths, 1.0)
    own = _wanted_of(transaction, dialect, label, list(zip(keys, cosines.tolist(), strict=True)), wanted)
    return _ordered(own, halved=False)[:k]


def with_words(
    transaction: Transaction, dialect: Dialect, query: str, k: int, project_id: str, wanted: Wanted = EVERY_MEMORY
) -> Candidates:
    """The wanted memories of a project that have any word of a query. Words are quoted, so that none is an operator."""
    words = list(dict.fromkeys(_WORD.findall(query)))[:_MOST_WORDS]
    if not words:
        return []
    also, bound = _conditions("node", wanted)
    statement = dialect.text_candidates.format(index=MEMORY_TEXT_INDEX, key=key_of("node"), also=also)
    given = {"words": " OR ".join(f'{dialect.text_property}"{word}"' for word in words), "project": project_id, **bound}
    asked = k
    while True:
        found = rows(transaction, statement, {**given, "k": asked})
        own = _of_project(found, project_id)
        own = _wanted_of(transaction, dialect, "Memory", own, wanted)
        if len(own) >= k or len(found) < asked or asked >= _WIDEST:
            return _ordered(own, halved=False)[:k]
        asked = min(asked * 4, _WIDEST)


def _of_project(found: list[list[Any]], project_id: str) -> Candidates:
    """Those of a project; what has no key is another program's."""
    return [(key, score) for key, project, score in found if project == project_id and key is not None]


def _wanted_of(transaction: Transaction, dialect: Dialect, label: str, found: Candidates, wanted: Wanted) -> Candidates:
    """Those of the candidates that are wanted, in their order."""
    if wanted == EVERY_MEMORY:
        return found
    nodes, memory = _PATTERNS[label]
    also, bound = _conditions(memory, wanted)
    statement = f"UNWIND $keys AS k MATCH {nodes} WHERE node.`key` = k{also} RETURN {key_of('node')}"
    passing: set[str] = set()
    for batch in chunked([key for key, _ in found], _KEY_BATCH):
        keys = [short_key(key, dialect.max_key) for key in batch]
        passing.update(row[0] for row in rows(transaction, statement, {**bound, "keys": keys}))
    return [candidate for candidate in found if candidate[0] in passing]


def _conditions(memory: str, wanted: Wanted) -> tuple[str, dict[str, Any]]:
    """What is asked of a variable that stands for a memory, behind another condition, and its parameters."""
    lists = {"kinds": wanted.kinds, "statuses": wanted.statuses, "agents": wanted.agents}
    bound: dict[str, Any] = {name: sorted(values) for name, values in lists.items() if values is not None}
    times = {name: getattr(wanted, name) for name in ("begun_by", "over_after", "since", "until")}
    bound |= {name: time for name, time in times.items() if time is not None}
    by_name = {
        "kinds": "m.`kind` IN $kinds",
        "statuses": "coalesce(m.`status`, 'active') IN $statuses",
        "begun_by": "(m.`valid_from` IS NULL OR m.`valid_from` <= $begun_by)",
        "over_after": "(m.`valid_to` IS NULL OR m.`valid_to` > $over_after)",
        "since": "coalesce(m.`valid_from`, m.`recorded_at`) >= $since",
        "until": "coalesce(m.`valid_from`, m.`recorded_at`) <= $until",
    }
    conditions = [condition for name, condition in by_name.items() if name in bound]
    learned = "(m.`agent` IS NULL OR m.`agent` IN $agents)" if wanted.agents is not None else "true"
    if wanted.user_id is not None:
        bound["user"] = wanted.user_id
        open_to_all = f"{learned} AND (m.`user_id` IS NULL OR m.`user_id` = $user)"
        conditions.append(f"({open_to_all} OR m.`kind` = 'user_preference' AND m.`user_id` = $user)")
    elif wanted.agents is not None:
        conditions.append(f"{learned} AND m.`kind` <> 'user_preference'")
    return "".join(f" AND {condition.replace('m.`', f'{memory}.`')}" for condition in conditions), bound


def _ordered(found: Candidates, halved: bool) -> Candidates:
    scored = [(key, 2.0 * score - 1.0 if halved else float(score)) for key, score in found]
    return sorted(scored, key=lambda candidate: (-candidate[1], candidate[0]))
