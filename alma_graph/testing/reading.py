"""What is read: which rows and edges, in which order, as which types."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from alma_graph.backends import Backend, EdgeRow, UnitOfWork
from alma_graph.errors import InvalidInputError
from alma_graph.testing.graphs import PROJECT, batch_of, entity_row, key, memory_row, supports, unit_of
from alma_graph.testing.stores import Reopen, StoreFixtures


class ReadingContract(StoreFixtures):
    """Reading gives exactly what was asked for, in one order, without a caller's sorting."""

    def test_rows_of_keys_come_in_the_order_of_the_keys(self, backend: Backend) -> None:
        backend.write(batch_of(["c", "a", "b"]))
        keys = [key("b"), key("nobody"), key("c"), key("b")]
        assert [row["key"] for row in backend.nodes("Memory", keys=keys)] == [key("b"), key("c")]
        assert [row["key"] for row in backend.nodes("Memory")] == [key("a"), key("b"), key("c")]
        assert backend.nodes("Memory", keys=[]) == []

    def test_columns_and_projects_narrow_what_is_read(self, backend: Backend) -> None:
        backend.write(unit_of("a"))
        backend.write(unit_of("a", project="other"))
        assert backend.nodes("Memory", columns=("id", "project_id"), project_id="other") == [
            {"id": "a", "project_id": "other"}
        ]
        assert backend.nodes("Memory", keys=[key("a"), key("a", "other")], project_id="shop", columns=("key",)) == [
            {"key": key("a")}
        ]
        assert backend.count("Memory") == 2
        assert backend.count("Memory", project_id="other") == 1
        assert backend.count("MENTIONS", project_id="other") == 2
        assert {edge.source for edge in backend.edges("MENTIONS", project_id="other")} == {key("a", "other")}
        assert backend.count("Meta", project_id="other") == 0
        with pytest.raises(InvalidInputError, match="colour"):
            backend.nodes("Memory", columns=("colour",))
        with pytest.raises(InvalidInputError, match="Person"):
            backend.nodes("Person")
        with pytest.raises(InvalidInputError, match="LIKES"):
            backend.edges("LIKES")
        with pytest.raises(InvalidInputError, match="LIKES"):
            backend.count("LIKES")

    def test_vectors_are_a_float32_matrix_by_key(self, backend: Backend) -> None:
        work = batch_of(["b", "a"])
        work.add_node("Memory", memory_row("none", embedding=None))
        backend.write(work)
        backend.write(unit_of("x", project="other"))
        keys, matrix = backend.vectors("Memory", project_id=PROJECT)
        assert keys == [key("a"), key("b")]
        assert matrix.dtype == np.float32
        assert matrix.flags.c_contiguous
        assert matrix.shape == (2, 8)
        assert matrix[1].tobytes() == memory_row("b")["embedding"].tobytes()

    def test_edges_by_their_ends(self, backend: Backend) -> None:
        backend.write(batch_of(["a", "b", "c"], ()))
        work = UnitOfWork(
            edges=[supports("c", "a"), supports("b", "a"), supports("c", "b"), supports("c", "a", weight=0.1)]
        )
        backend.write(work)
        ends = [(edge.source, edge.target) for edge in backend.edges("SUPPORTS")]
        assert ends == [(key("b"), key("a")), (key("c"), key("a")), (key("c"), key("a")), (key("c"), key("b"))]
        assert [e.properties["weight"] for e in backend.edges("SUPPORTS", sources=[key("c")], targets=[key("a")])] == [
            0.1,
            0.5,
        ]
        assert len(backend.edges("SUPPORTS", targets=[key("a"), key("b"), key("a")])) == 4
        assert backend.edges("SUPPORTS", sources=[]) == []
        assert backend.edges("SUPPORTS", sources=["nobody"]) == []

    def test_checkpoint_and_size(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(unit_of("a"))
        backend.checkpoint()
        backend.checkpoint()
        has_files = backend.capabilities.durable and not backend.capabilities.server
        assert (backend.size_bytes() > 0) == has_files
        store = reopen(backend)
        assert store.count("Memory") == 1
        store.close()

    def test_verify_names_what_is_wrong(self, backend: Backend) -> None:
        work = UnitOfWork()
        work.add_node("Memory", memory_row("a", embedding=None))
        work.add_node("Chunk", {"key": "c", "project_id": PROJECT})
        work.add_node("Entity", entity_row("lonely"))
        work.add_node("Agent", {"key": key("other"), "id": "other", "project_id": PROJECT})
        work.edges.append(EdgeRow("LEARNED", key("other"), key("a")))
        backend.write(work)
        problems = "\n".join(backend.verify())
        for words in ("Memory without a vector", "Chunk without a vector", "lonely", "LEARNED from an agent"):
            assert words in problems

    def test_a_tally_counts_each_combination_of_values(self, backend: Backend) -> None:
        assert backend.tally("Memory", ("kind",), project_id=PROJECT) == {}
        work = batch_of(["a", "b", "c"])
        work.nodes["Memory"][2].update(kind="outcome", agent=None)
        backend.write(work)
        backend.write(unit_of("a", project="other"))
        found = backend.tally("Memory", ("agent", "kind"), project_id=PROJECT)
        rows = backend.nodes("Memory", project_id=PROJECT, columns=("agent", "kind"))
        assert found == dict(Counter((row["agent"], row["kind"]) for row in rows))
        assert found[None, "outcome"] == 1
        assert sum(found.values()) == 3
        with pytest.raises(InvalidInputError, match="colour"):
            backend.tally("Memory", ("colour",), project_id=PROJECT)
