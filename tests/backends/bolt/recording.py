"""A connection to no server: it keeps the statements that it is given, and answers as an empty store would, but for
what the test says is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from alma_graph.backends.bolt.connection import Transaction
from alma_graph.backends.bolt.settings import server_settings
from alma_graph.backends.schema import NODES

DIMENSION = 8


class Recorder:
    """Stands for a `Connection` and for its transactions.

    Args:
        location: tells the dialect.
        memories: keys of the memories that there are.

    Attributes:
        sent: statements and their parameters, in order.
        indexes: rows of every statement that lists the indexes, by that statement.
    """

    def __init__(self, location: str, memories: tuple[str, ...] = ()) -> None:
        self.settings: Any = server_settings(location, read_only=False, options={})
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self.indexes: dict[str, list[list[Any]]] = {}
        self._memories = memories
        self._meta: Mapping[str, Any] | None = None
        self._exchange: str | None = None
        self._staged_for = "another embedder"

    def run(self, query: str, parameters: Mapping[str, Any] | None = None, /) -> Any:
        """The result of one statement."""
        given = parameters or {}
        self.sent.append((query, given))
        found = self._answer(query, given)
        made = len(given.get("rows", ()))
        counters = SimpleNamespace(nodes_created=made, relationships_created=made)
        summary = SimpleNamespace(counters=counters)
        return SimpleNamespace(values=lambda: found, consume=lambda: summary, fetch=lambda count: [])

    def read(self, work: Callable[[Transaction], Any], what: str = "") -> Any:
        """As a connection's."""
        return work(self)

    def write(self, work: Callable[[Transaction], Any], what: str) -> Any:
        """As a connection's."""
        return work(self)

    repeat = write

    def command(self, statement: str, what: str) -> list[list[Any]]:
        """As a connection's."""
        found: list[list[Any]] = self.run(statement).values()
        return found

    @contextmanager
    def translated(self, what: str) -> Any:
        """As a connection's."""
        yield

    def close(self) -> None:
        """As a connection's."""

    def _answer(self, query: str, given: Mapping[str, Any]) -> list[list[Any]]:
        if query in self.indexes:
            return self.indexes[query]
        if query == self.settings.dialect.version:
            return [["3.14.0"]]
        if query.startswith("MERGE"):
            self._meta = given["row"]
            return [[given["row"]["feed_salt"]]]
        if query.startswith("MATCH (n:`Meta` {`key`: $key})"):
            columns = [column.name for column in NODES["Meta"].columns]
            return [[self._meta[name] for name in columns if name != "created_at"] + [None]] if self._meta else []
        if "`Meta`" in query and not query.startswith("MATCH (n:"):
            return self._answer_of_meta(query, given)
        if "AS node_key" in query and "$keys" in query:
            there = set(self._memories) if "`Memory`" in query else set()
            return [[key, *([key] * query.count(" AS c"))] for key in given["keys"] if key in there]
        if query.endswith("RETURN n.`key`"):
            return [[key] for key in self._memories]
        if "AS project_id" in query:
            return [[key, "shop", "a text"] for key in given["keys"]]
        if "count(*)" in query or "RETURN sum(" in query:
            return [[0]]
        return []

    def _answer_of_meta(self, query: str, given: Mapping[str, Any]) -> list[list[Any]]:
        """What is kept beside the properties of a store: the exchange of its vectors, and who writes."""
        if "exchange" in given:
            self._exchange = given["exchange"]
        if "identity" in given:
            self._staged_for = given["identity"]
        if "REMOVE" in query:
            self._exchange = None
        if "RETURN m.`staged_for`" in query:
            return [[self._staged_for]]
        if "RETURN m.`exchange`, " in query:
            return [[self._exchange, False]]
        if "RETURN m.`exchange`" in query:
            return [[self._exchange]]
        if "RETURN m.`sequence`, m.`dimension`" in query:
            return [[50, DIMENSION, "salt", 0, False]]  # 50 is one that prunes the feed
        return []
