"""What is written comes back to the bit, one by one and in bulk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from alma_graph.backends import NODES, Backend, EdgeMatch, EdgeRow, UnitOfWork, open_backend
from alma_graph.errors import InvalidInputError, StoreChangedError
from alma_graph.testing.graphs import (
    PROJECT,
    batch_of,
    dump,
    entity_row,
    key,
    memory_row,
    plain,
    supports,
    unit_of,
)
from alma_graph.testing.stores import Reopen, StoreFixtures, initialised


class WritingContract(StoreFixtures):
    """A unit of work is stored whole, with every value as it was given, and is there after reopening."""

    def test_everything_written_comes_back_bit_for_bit(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(unit_of("a"))
        backend.write(unit_of("b", ("redis", "postgres")))
        expected = {**{name.name: None for name in NODES["Memory"].columns}, **memory_row("a")}
        store = backend
        for again in (False, True):
            store = reopen(store) if again else store
            assert plain(store.nodes("Memory", keys=[key("a")])[0]) == plain(expected)
            assert store.nodes("Entity", keys=[key("redis")]) == [entity_row("redis")]
            assert [edge.target for edge in store.edges("MENTIONS")] == [
                key(n) for n in ("api", "redis", "postgres", "redis")
            ]
            assert store.edges("LEARNED", targets=[key("b")]) == [
                EdgeRow("LEARNED", key("builder"), key("b"), {}, "Agent", "Memory")
            ]
            assert store.sequence() == 2
            assert store.verify() == []
        store.close()

    def test_empty_and_full_values_survive(self, backend: Backend, reopen: Reopen) -> None:
        bare = {"key": key("bare"), "project_id": PROJECT, "text": ""}
        full = memory_row(
            "full",
            token_embeddings=b"",
            use_count=2**63 - 1,
            strength=-1e300,
            confidence=5e-324,
            text="x" * 200_000,
            valid_from=datetime(1, 1, 1, tzinfo=UTC),
            valid_to=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        )
        work = UnitOfWork()
        work.add_node("Memory", bare)
        work.add_node("Memory", full)
        work.add_node("Entity", {**entity_row("none"), "aliases": []})
        work.add_node("Entity", {**entity_row("many"), "aliases": ["", "a,b", "[x]", "'q'", "\\x41"]})
        backend.write(work)
        store = reopen(backend)
        found = store.nodes("Memory", keys=[key("bare"), key("full")])
        assert {name for name, value in found[0].items() if value is not None} == {"key", "project_id", "text"}
        assert {name: plain(found[1])[name] for name in full} == plain(full)
        assert [row["aliases"] for row in store.nodes("Entity", keys=[key("none"), key("many")])] == [
            [],
            ["", "a,b", "[x]", "'q'", "\\x41"],
        ]
        store.close()

    def test_bulk_gives_the_same_as_one_by_one(self, backend: Backend, location: str, reopen: Reopen) -> None:
        identifiers = [f"m{number}" for number in range(450)]
        work = batch_of(identifiers, ("redis", "api", "postgres"))
        rows = work.nodes["Memory"]
        rows[3] = {**rows[3], "embedding": None, "token_embeddings": None, "valid_to": None, "agent": None}
        rows[4] = {
            **rows[4],
            "text": "quote ' \" ` \\ \n {} $p NUL \0 emoji 😀 漢字",
            "confidence": None,
            "use_count": None,
        }
        work.edges.append(supports("m1", "m0"))
        backend.write(work)
        small = initialised(open_backend(":memory:"))
        small.write(work)
        assert dump(backend) == dump(small)
        again = reopen(backend)
        assert dump(again) == dump(small)
        again.close()

    def test_a_type_that_joins_two_pairs_of_labels(self, backend: Backend, reopen: Reopen) -> None:
        work = batch_of(["a", "b"], ())
        for name in ("reader", "builder"):
            work.merge_node("Agent", {"key": key(name), "id": name, "project_id": PROJECT})
        work.edges.append(EdgeRow("INHERITS_FROM", key("b"), key("a"), {"mode": "derived", "trust": 0.5}))
        work.edges.append(EdgeRow("INHERITS_FROM", key("reader"), key("builder"), {"mode": "adopted"}))
        backend.write(work)
        store = reopen(backend)
        labels = [(edge.source_label, edge.target_label) for edge in store.edges("INHERITS_FROM")]
        assert labels == [("Memory", "Memory"), ("Agent", "Agent")]
        assert store.count("INHERITS_FROM") == 2
        store.write(UnitOfWork(edge_deletes=[EdgeMatch("INHERITS_FROM", source=key("reader"))]))
        assert [edge.source for edge in store.edges("INHERITS_FROM")] == [key("b")]
        store.close()

    def test_a_match_that_names_labels_where_an_agent_and_a_memory_have_one_key(self, backend: Backend) -> None:
        work = batch_of(["a", "b"], ())
        for name in ("a", "b"):
            work.merge_node("Agent", {"key": key(name), "id": name, "project_id": PROJECT})
        for label in ("Memory", "Agent"):
            ends = key("b"), key("a")
            work.edges.append(EdgeRow("INHERITS_FROM", *ends, {"mode": "derived", "trust": 0.5}, label, label))
        backend.write(work)

        def trust() -> dict[str | None, float]:
            return {edge.source_label: edge.properties["trust"] for edge in backend.edges("INHERITS_FROM")}

        def match(label: str | None) -> EdgeMatch:
            return EdgeMatch("INHERITS_FROM", key("b"), key("a"), source_label=label)

        backend.write(UnitOfWork(edge_updates=[(match("Agent"), {"trust": 0.9}), (match("Memory"), {"trust": 0.1})]))
        assert trust() == {"Memory": 0.1, "Agent": 0.9}
        backend.write(UnitOfWork(edge_updates=[(match(None), {"trust": 0.3})]))
        assert trust() == {"Memory": 0.3, "Agent": 0.3}
        with pytest.raises(InvalidInputError, match=r"does not join 'Entity'.*Memory -> Memory, Agent -> Agent"):
            backend.write(UnitOfWork(edge_deletes=[match("Entity")]))
        backend.write(UnitOfWork(edge_deletes=[match("Memory")]))
        assert trust() == {"Agent": 0.3}
        backend.write(UnitOfWork(node_deletes=[("Memory", key("b"))]))
        assert trust() == {"Agent": 0.3}

    def test_merged_nodes_are_kept_as_they_are(self, backend: Backend) -> None:
        backend.write(unit_of("a"))
        work = UnitOfWork()
        work.merge_node("Entity", {**entity_row("redis"), "name": "changed"})
        work.merge_node("Entity", {**entity_row("new"), "name": "first"})
        work.merge_node("Entity", {**entity_row("new"), "name": "second"})
        backend.write(work)
        names = {row["key"]: row["name"] for row in backend.nodes("Entity")}
        assert names == {key("api"): "api", key("redis"): "redis", key("new"): "first"}

    def test_an_empty_unit_changes_nothing(self, backend: Backend) -> None:
        backend.write(UnitOfWork())
        assert backend.sequence() == 0
        backend.write(unit_of("a"))
        assert backend.sequence() == 1

    def test_times_are_utc_whatever_their_zone(self, backend: Backend, reopen: Reopen) -> None:
        india = datetime(2026, 5, 1, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30)))
        naive = datetime(2026, 5, 1, 12, 0)
        work = UnitOfWork()
        work.add_node("Memory", memory_row("a", valid_from=india, valid_to=naive))
        work.edges.append(supports("a", "a", recorded_at=india))
        backend.write(work)
        backend.write(
            UnitOfWork(edge_updates=[(EdgeMatch("SUPPORTS", where={"recorded_at": india}), {"retired_at": india})])
        )
        store = reopen(backend)
        row = store.nodes("Memory")[0]
        assert row["valid_from"] == datetime(2026, 5, 1, 6, 30, tzinfo=UTC)
        assert row["valid_from"].utcoffset() == timedelta(0)
        assert row["valid_to"] == datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
        assert store.edges("SUPPORTS")[0].properties["retired_at"] == datetime(2026, 5, 1, 6, 30, tzinfo=UTC)
        store.close()

    def test_a_unit_made_from_an_older_state_is_refused_whole(self, backend: Backend) -> None:
        backend.write(unit_of("a"), expected=0)
        with pytest.raises(StoreChangedError, match="sequence is 1 and not 0"):
            backend.write(unit_of("b"), expected=0)
        assert backend.nodes("Memory", keys=[key("b")]) == []
        assert backend.sequence() == 1
        backend.write(unit_of("b"), expected=1)
        assert backend.sequence() == 2
