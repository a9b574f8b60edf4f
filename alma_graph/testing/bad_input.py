"""Units of work that every backend refuses, and texts that none may stumble over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alma_graph.backends import EdgeMatch, EdgeRow, NodeUpdate, UnitOfWork
from alma_graph.errors import EmbeddingError, InvalidInputError
from alma_graph.testing.graphs import add_memory, key, supports

Change = Callable[[UnitOfWork], Any]
"""Makes a unit of work wrong."""


def _set(work: UnitOfWork, **parts: Any) -> None:
    for name, value in parts.items():
        setattr(work, name, value)


BAD_UNITS: list[tuple[str, Change, type[Exception], str]] = [
    ("unknown label", lambda work: work.add_node("Person", {"key": "p"}), InvalidInputError, "Person"),
    ("unknown property", lambda work: work.add_node("Memory", {"key": "p", "colour": 1}), InvalidInputError, "colour"),
    ("no key", lambda work: work.add_node("Memory", {"text": "x"}), InvalidInputError, "no key"),
    ("empty key", lambda work: work.add_node("Memory", {"key": ""}), InvalidInputError, "empty"),
    ("long key", lambda work: work.add_node("Memory", {"key": "k" * 70_000}), InvalidInputError, "70000"),
    ("key of another type", lambda work: work.add_node("Memory", {"key": 7}), InvalidInputError, "7"),
    ("text of another type", lambda work: work.add_node("Memory", {"key": "p", "text": 7}), InvalidInputError, "7"),
    (
        "surrogate",
        lambda work: work.add_node("Memory", {"key": "p", "text": "a\ud800"}),
        InvalidInputError,
        "surrogate",
    ),
    ("a bool for a number", lambda w: w.add_node("Memory", {"key": "p", "use_count": True}), InvalidInputError, "True"),
    ("a big number", lambda w: w.add_node("Memory", {"key": "p", "use_count": 2**63}), InvalidInputError, "64 bits"),
    ("NaN", lambda w: w.add_node("Memory", {"key": "p", "confidence": float("nan")}), InvalidInputError, "finite"),
    ("a time as text", lambda w: w.add_node("Memory", {"key": "p", "valid_from": "2026"}), InvalidInputError, "2026"),
    (
        "bytes as text",
        lambda w: w.add_node("Memory", {"key": "p", "token_embeddings": "x"}),
        InvalidInputError,
        "bytes",
    ),
    ("aliases as text", lambda w: w.add_node("Entity", {"key": "p", "aliases": "x"}), InvalidInputError, "list"),
    ("dimension", lambda w: w.add_node("Memory", {"key": "p", "embedding": [1.0] * 7}), EmbeddingError, r"\(7,\)"),
    (
        "NaN vector",
        lambda w: w.add_node("Memory", {"key": "p", "embedding": [float("nan")] * 8}),
        EmbeddingError,
        "NaN",
    ),
    ("zero vector", lambda w: w.add_node("Memory", {"key": "p", "embedding": [0.0] * 8}), EmbeddingError, "zero"),
    ("overflow", lambda w: w.add_node("Memory", {"key": "p", "embedding": [1e300] * 8}), EmbeddingError, "infinity"),
    ("words", lambda w: w.add_node("Memory", {"key": "p", "embedding": ["x"] * 8}), EmbeddingError, "numbers"),
    ("existing key", lambda work: add_memory(work, "a"), InvalidInputError, "exists"),
    ("twice in one unit", lambda w: w.nodes.update(Memory=[{"key": "x"}, {"key": "x"}]), InvalidInputError, "exists"),
    ("Meta", lambda work: work.add_node("Meta", {"key": "meta2"}), InvalidInputError, "Meta"),
    ("Meta deleted", lambda work: work.node_deletes.append(("Meta", "meta")), InvalidInputError, "Meta"),
    (
        "the sequence",
        lambda work: work.node_updates.append(NodeUpdate("Meta", "meta", {"sequence": 9})),
        InvalidInputError,
        "sequence",
    ),
    ("no source", lambda work: work.edges.append(supports("nobody", "a")), InvalidInputError, "nobody"),
    ("no target", lambda work: work.edges.append(supports("a", "nobody")), InvalidInputError, "nobody"),
    ("edge type", lambda work: work.edges.append(EdgeRow("LIKES", key("a"), key("a"))), InvalidInputError, "LIKES"),
    ("edge property", lambda w: w.edges.append(supports("a", "a", colour=1)), InvalidInputError, "colour"),
    ("edge value", lambda w: w.edges.append(supports("a", "a", weight="x")), InvalidInputError, "weight"),
    (
        "edge labels",
        lambda work: work.edges.append(EdgeRow("SUPPORTS", key("a"), key("redis"), {}, "Memory", "Entity")),
        InvalidInputError,
        "Entity",
    ),
    (
        "the end that is deleted",
        lambda w: _set(w, node_deletes=[("Memory", key("a"))], edges=[supports("a", "a")]),
        InvalidInputError,
        "there is no Memory",
    ),
    (
        "an update of nothing",
        lambda work: work.node_updates.append(NodeUpdate("Memory", "nobody", {"status": "active"})),
        InvalidInputError,
        "nobody",
    ),
    (
        "an update of the key",
        lambda work: work.node_updates.append(NodeUpdate("Memory", key("a"), {"key": "b"})),
        InvalidInputError,
        "key",
    ),
    ("where", lambda w: w.edge_deletes.append(EdgeMatch("SUPPORTS", where={"x": 1})), InvalidInputError, "x"),
]


NASTY = [
    "I've a Rubik's cube; children's party",
    'say "hi"',
    "`backticks` and ``two``",
    "'}) DETACH DELETE n //",
    "x' OR 1=1",
    "$key $p_text {key: 1}",
    "line\nbreak\r\n\ttab",
    "NUL \0 inside",
    "back\\slash \\x41 \\u0041",
    "definiert_icp-kriterien_für",
    "漢字 かな 한국어 العربية",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "e\u0301 vs \u00e9",
    "/* comment */ // end",
    " leading and trailing ",
    "\u202eright to left",
]
