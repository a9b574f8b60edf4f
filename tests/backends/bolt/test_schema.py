"""Changes of the schema that meet another process at the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from alma_graph.backends.bolt import schema
from alma_graph.backends.bolt.dialect import NEO4J
from alma_graph.errors import BackendError


class Contended:
    """A connection whose server refuses the first changes of the schema, as in a deadlock with another process."""

    settings = SimpleNamespace(dialect=NEO4J)

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.there = set(NEO4J.schema(8))

    def command(self, statement: str, what: str) -> list[list[Any]]:
        """Answers the questions that are asked, with an index of another dimension."""
        if statement == NEO4J.vector_dimensions:
            return [["alma_memory_embedding", 4]]
        if statement.startswith("SHOW"):
            return [[name] for name in sorted(self.there)]
        if "alma_memory_embedding" in statement:
            if self.refusals:
                self.refusals -= 1
                raise BackendError(f"{what}: a deadlock")
            (self.there.discard if statement.startswith("DROP") else self.there.add)("alma_memory_embedding")
        return []


def test_an_index_of_another_dimension_is_exchanged_also_where_another_process_does_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    contended = Contended(refusals=2)
    assert schema.make_indexes(contended, 8) == ["alma_memory_embedding"]  # type: ignore[arg-type]
    assert (contended.refusals, "alma_memory_embedding" in contended.there) == (0, True)
    with pytest.raises(BackendError, match="was not dropped: a deadlock"):
        schema.make_indexes(Contended(refusals=100), 8)  # type: ignore[arg-type]
