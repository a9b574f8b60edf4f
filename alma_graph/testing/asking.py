"""Cypher statements of callers."""

from __future__ import annotations

import pytest

from alma_graph.backends import Backend
from alma_graph.errors import AlmaGraphError, CypherError, ReadOnlyError, UnsupportedError
from alma_graph.testing.graphs import START, dump, key, unit_of
from alma_graph.testing.stores import StoreFixtures

_MEMORIES = "MATCH (m:Memory)-[:MENTIONS]->(e:Entity {key: $entity}) RETURN m.id AS id, m.recorded_at AS at ORDER BY id"


class CypherContract(StoreFixtures):
    """`run` reads with bound parameters and writes nothing; where there is no Cypher, it says so."""

    def test_a_statement_reads_with_its_parameters_bound(self, backend: Backend) -> None:
        if not backend.capabilities.cypher:
            with pytest.raises(UnsupportedError, match="ypher"):
                backend.run("RETURN 1 AS one", {})
            return
        backend.write(unit_of("b", ("redis",)))
        backend.write(unit_of("a", ("redis", "api")))
        found = backend.run(_MEMORIES, {"entity": key("redis")})
        assert found.columns == ("id", "at")
        assert found.rows == (("a", START), ("b", START))
        assert backend.run(_MEMORIES, {"entity": "x'}) DETACH DELETE e //"}).rows == ()

    @pytest.mark.parametrize(
        ("statement", "error"),
        [
            ("CREATE (:Session {key: 'x'})", ReadOnlyError),
            ("MATCH (m:Memory) SET m.text = 'x'", ReadOnlyError),
            ("MATCH (m:Memory) DETACH DELETE m", ReadOnlyError),
            ("MERGE (s:Session {key: 'x'}) RETURN s.key", ReadOnlyError),
            ("RETURN 1; MATCH (m:Memory) DETACH DELETE m", ReadOnlyError),
            ("COMMIT", ReadOnlyError),
            ("DROP TABLE Memory", ReadOnlyError),
            ("this is no statement", AlmaGraphError),
            ("MATCH (m:Memory) RETURN m.id +", CypherError),
        ],
    )
    def test_a_statement_that_does_not_only_read_is_refused(
        self, backend: Backend, statement: str, error: type[Exception]
    ) -> None:
        backend.write(unit_of("a"))
        before = dump(backend)
        with pytest.raises(error if backend.capabilities.cypher else UnsupportedError):
            backend.run(statement, {})
        assert dump(backend) == before
        backend.write(unit_of("b"))
        assert backend.count("Memory") == 2
