"""Candidates from a server's vector and full-text indexes, with a scan where an index cannot answer."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from alma_graph.backends.bolt.connection import Transaction, rows
from alma_graph.backends.bolt.dialect import MEMORY_TEXT_INDEX, Dialect, vector_index
from alma_graph.backends.bolt.reader import Reader
from alma_graph.backends.bolt.statements import key_of
from alma_graph.backends.candidates import Candidates

_WIDEST = 10_000
"""Most nodes that an index is asked for, of all projects; beyond that the project is scanned."""
_MOST_WORDS = 64
_WORD = re.compile(r"\w+")


def near(
    transaction: Transaction, dialect: Dialect, label: str, vector: Any, k: int, project_id: str, dimension: int
) -> Candidates:
    """The nodes of a project nearest to a vector. The index knows no projects, so it is asked for more and more until
    enough of them are the project's."""
    given = {"vector": np.asarray(vector, dtype=np.float32).tolist(), "project": project_id}
    asked = k
    while dimension <= dialect.max_vector and asked <= _WIDEST:
        asked = min(max(asked * 2, 50), _WIDEST)
        statement = dialect.vector_candidates.format(index=vector_index(label), key=key_of("node"))
        found = rows(transaction, statement, {**given, "k": asked})
        own = [(key, score) for key, project, score in found if project == project_id]
        if len(own) >= k or len(found) < asked:  # enough, or all that the index has
            return _ordered(own, dialect.halved_cosines)[:k]
        if asked == _WIDEST:
            break
    return _scan(transaction, dialect, label, given, k, dimension)


def _scan(
    transaction: Transaction, dialect: Dialect, label: str, given: dict[str, Any], k: int, dimension: int
) -> Candidates:
    """As `near`, without an index."""
    if dialect.vector_scan is not None:
        statement = dialect.vector_scan.format(label=label, key=key_of("node"))
        found = [(key, score) for key, _, score in rows(transaction, statement, {**given, "k": k})]
        return _ordered(found, dialect.halved_cosines)
    keys, matrix = Reader(transaction, dialect).vectors(label, given["project"], dimension)
    wanted = np.asarray(given["vector"], dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(wanted)
    cosines = matrix @ wanted / np.where(lengths > 0, lengths, 1.0)
    return _ordered(list(zip(keys, cosines.tolist(), strict=True)), halved=False)[:k]


def with_words(transaction: Transaction, dialect: Dialect, query: str, k: int, project_id: str) -> Candidates:
    """The memories of a project that have any word of a query. Words are quoted, so that none is an operator."""
    words = list(dict.fromkeys(_WORD.findall(query)))[:_MOST_WORDS]
    if not words:
        return []
    asked = " OR ".join(f'{dialect.text_property}"{word}"' for word in words)
    statement = dialect.text_candidates.format(index=MEMORY_TEXT_INDEX, key=key_of("node"))
    found = rows(transaction, statement, {"words": asked, "k": k, "project": project_id})
    return _ordered([(key, score) for key, project, score in found if project == project_id], halved=False)[:k]


def _ordered(found: Candidates, halved: bool) -> Candidates:
    scored = [(key, 2.0 * score - 1.0 if halved else float(score)) for key, score in found]
    return sorted(scored, key=lambda candidate: (-candidate[1], candidate[0]))
