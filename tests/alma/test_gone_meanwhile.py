"""Another process removes a memory between two reads of one question."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from alma_graph import ALMA
from alma_graph.backends.protocol import Row
from alma_graph.errors import CypherError
from tests.conftest import durable_only


def test_edges_to_a_memory_that_is_gone_are_left_out(plain: ALMA, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        plain.add_domain_knowledge("a", "d", f"number {name}", id=name)
    plain.relate("one", "CONTRADICTS", "two")
    plain.relate("one", "CONTRADICTS", "three")
    plain.relate("two", "SUPPORTS", "one")
    rows = plain._store.memory_rows

    def without_two(keys: Sequence[str], *, claims: bool = False) -> list[Row]:
        return [row for row in rows(keys, claims=claims) if row["id"] != "two"]

    monkeypatch.setattr(plain._store, "memory_rows", without_two)
    assert [{item.newer.id, item.older.id} for item in plain.contradictions()] == [{"one", "three"}]
    found = plain.why("one")
    assert found.supported_by == ()
    joined = [*found.contradicts, *found.contradicted_by]
    assert [link.memory.id for link in joined] == ["three"]


@durable_only
def test_a_statement_has_its_time(location: str) -> None:
    with ALMA.open(location, project_id="shop", embedder="hashing", extractor="none", query_timeout=0.2) as alma:
        began = time.monotonic()
        with pytest.raises(CypherError, match=r"query_timeout=0\.2"):
            alma.cypher("UNWIND $n AS a UNWIND $n AS b UNWIND $n AS c RETURN count(a + b)", n=list(range(30_000)))
        assert time.monotonic() - began < 20
        assert alma.cypher("RETURN 1").rows == ((1,),)
