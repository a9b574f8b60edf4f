"""What a backend may offer beside the protocol: each part is held to its word where it is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alma_graph.backends import Backend, EdgeRow, NodeUpdate, Row, UnitOfWork
from alma_graph.backends.changes import changes_since
from alma_graph.backends.inspection import Inspectable, Snapshots
from alma_graph.backends.maintenance import Maintainable, MemoryVectors, VectorSpace
from alma_graph.errors import InvalidInputError, StoreError, UnsupportedError
from alma_graph.testing.graphs import PROJECT, batch_of, dump, key, supports, unit_of, vector
from alma_graph.testing.stores import OpenStore, Reopen, StoreFixtures

_SPACE = VectorSpace(dimension=5, embedder="other", embedder_revision="2")


def _other_vectors(rows: Sequence[Row]) -> list[MemoryVectors]:
    """A vector for each memory, and a chunk for one of them."""
    made = []
    for row in rows:
        first = np.full(5, len(row["text"]), dtype=np.float32)
        made.append(MemoryVectors(first, b"tokens", [_chunk("a", 0, first + 1)] if row["key"] == key("a") else []))
    return made


def _chunk(identifier: str, position: int, embedding: Any) -> Row:
    """The node of a piece of a memory's text."""
    return {
        "key": f"{key(identifier)}#{position}",
        "project_id": PROJECT,
        "position": position,
        "start_char": 4 * position,
        "end_char": 4 * position + 4,
        "embedding": embedding,
    }


class MaintainingContract(StoreFixtures):
    """`Maintainable`: other vectors in place of all, and copies."""

    def test_all_vectors_are_replaced_and_nothing_else(self, backend: Backend, reopen: Reopen) -> None:
        if not isinstance(backend, Maintainable):
            return
        work = batch_of(["a", "bb", "ccc"])
        for number in range(2):
            work.add_node("Chunk", _chunk("bb", number, vector(number)))
            work.edges.append(EdgeRow("HAS_CHUNK", key("bb"), f"{key('bb')}#{number}"))
        work.edges.append(supports("bb", "a"))
        backend.write(work)
        before, sequence = dump(backend), backend.sequence()
        backend.stage_vectors(_SPACE, _other_vectors)
        assert dump(backend) == before
        backend.replace_vectors(_SPACE, _other_vectors)
        store = reopen(backend)
        meta = store.meta() or {}
        assert (meta["dimension"], meta["embedder"], meta["embedder_revision"]) == (5, "other", "2")
        assert store.sequence() > sequence
        keys, matrix = store.vectors("Memory", project_id=PROJECT)
        assert keys == sorted(map(key, ("a", "bb", "ccc")))
        assert matrix.tolist() == [[float(len(f"text of {name}"))] * 5 for name in ("a", "bb", "ccc")]
        assert store.vectors("Chunk", project_id=PROJECT)[0] == [f"{key('a')}#0"]
        assert [(edge.source, edge.target) for edge in store.edges("HAS_CHUNK")] == [(key("a"), f"{key('a')}#0")]
        after = dump(store)
        for found in (before, after):
            del found["sequence"], found["nodes"]["Chunk"], found["edges"]["HAS_CHUNK"]
            for row in found["nodes"]["Memory"]:
                del row["embedding"], row["token_embeddings"]
        assert after == before
        assert store.verify() == []
        store.close()

    def test_vectors_stay_where_making_others_fails(self, backend: Backend) -> None:
        if not isinstance(backend, Maintainable):
            return
        backend.write(batch_of(["a", "bb"]))
        before = dump(backend)

        def broken(rows: Sequence[Row]) -> list[MemoryVectors]:
            raise StoreError("no vectors today")

        with pytest.raises(StoreError, match="no vectors today"):
            backend.replace_vectors(_SPACE, broken)
        assert dump(backend) == before
        backend.write(unit_of("c"))
        assert backend.verify() == []

    def test_a_copy_holds_what_the_store_holds(self, backend: Backend, open_store: OpenStore, tmp_path: Path) -> None:
        if not isinstance(backend, Maintainable):
            return
        backend.write(batch_of(["a", "b"]))
        target = tmp_path / "copy"
        try:
            backend.back_up(str(target))
        except UnsupportedError:  # it is no file
            assert not target.exists()
            return
        backend.write(unit_of("c"))
        with pytest.raises(InvalidInputError):
            backend.back_up(str(target))
        assert target.exists()
        assert backend.count("Memory") == 3


class FeedContract(StoreFixtures):
    """`ChangeFeed`: what was done after a sequence."""

    def test_the_feed_names_what_was_made_changed_and_deleted(self, backend: Backend) -> None:
        backend.write(batch_of(["a", "b", "c"]))
        since = backend.sequence()
        backend.write(unit_of("d", ("redis",)))
        backend.write(UnitOfWork(node_updates=[NodeUpdate("Memory", key("a"), {"use_count": 1})]))
        backend.write(UnitOfWork(node_deletes=[("Memory", key("b"))]))
        found = changes_since(backend, since)
        if found is None:  # no feed, or a short one: everything is read again
            return
        assert found.sequence == backend.sequence()
        assert {key("a"), key("d")} <= found.touched["Memory"]
        assert key("c") not in found.touched["Memory"]
        assert found.deleted("Memory", [key("a"), key("b"), key("c")]) == [key("b")]
        latest = changes_since(backend, backend.sequence())
        assert latest is None or not any(latest.touched.values())


class InspectingContract(StoreFixtures):
    """`Inspectable` and `Snapshots`: looking, tidying and making anew change nothing of the graph."""

    def test_looking_tidying_and_rebuilding_leave_the_graph(self, backend: Backend) -> None:
        if not isinstance(backend, Inspectable):
            return
        backend.write(batch_of(["a", "b"]))
        before = dump(backend)
        assert all(item.name and item.detail for item in backend.inspect())
        for line in (*backend.tidy(), *backend.rebuild()):
            assert line
        assert dump(backend) == before

    def test_one_state_is_read_from_begin_to_end(self, backend: Backend) -> None:
        if not isinstance(backend, Snapshots):
            return
        backend.write(unit_of("a"))
        with backend.one_state():
            first = dump(backend)
            assert dump(backend) == first
        backend.write(unit_of("b"))
        assert backend.count("Memory") == 2
