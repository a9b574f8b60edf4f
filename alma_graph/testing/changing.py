"""Updates and deletions change what they name and nothing else."""

from __future__ import annotations

from datetime import timedelta

from alma_graph.backends import Backend, EdgeMatch, NodeUpdate, UnitOfWork
from alma_graph.testing.graphs import (
    PROJECT,
    START,
    batch_of,
    dump,
    key,
    memory_row,
    plain,
    supports,
    unit_of,
    vector,
)
from alma_graph.testing.stores import Reopen, StoreFixtures


class ChangingContract(StoreFixtures):
    """What a unit of work updates or deletes is changed, and all else is as it was."""

    def test_updates_change_what_they_name_and_nothing_else(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(batch_of(["a", "b"]))
        before = plain(backend.nodes("Memory", keys=[key("a")])[0])
        later = START + timedelta(days=1)
        values = {
            "status": "superseded",
            "valid_to": later,
            "confidence": None,
            "use_count": 7,
            "embedding": vector(99),
        }
        backend.write(UnitOfWork(node_updates=[NodeUpdate("Memory", key("a"), values)]))
        store = reopen(backend)
        after = plain(store.nodes("Memory", keys=[key("a")])[0])
        assert after == plain({**before, **values})
        assert len(store.edges("MENTIONS", sources=[key("a")])) == 2
        assert store.nodes("Memory", keys=[key("b")])[0]["status"] == "active"
        store.close()

    def test_edges_are_updated_and_deleted_by_match(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(batch_of(["a", "b", "c"], ()))
        edges = [supports("b", "a"), supports("c", "a", origin="user"), supports("c", "b", retired_at=START)]
        backend.write(UnitOfWork(edges=edges))
        change = (EdgeMatch("SUPPORTS", target=key("a"), where={"origin": "user"}), {"weight": 0.9, "evidence": None})
        backend.write(UnitOfWork(edge_updates=[change]))
        found = {(e.source, e.target): e.properties for e in backend.edges("SUPPORTS")}
        assert found[key("c"), key("a")]["weight"] == 0.9
        assert found[key("c"), key("a")]["evidence"] is None
        assert found[key("b"), key("a")]["weight"] == 0.5
        backend.write(UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", where={"retired_at": None, "weight": 0.9})]))
        backend.write(UnitOfWork(edge_deletes=[EdgeMatch("SUPPORTS", where={"retired_at": START})]))
        store = reopen(backend)
        assert [(e.source, e.target) for e in store.edges("SUPPORTS")] == [(key("b"), key("a"))]
        store.close()

    def test_deleting_a_node_takes_every_edge_at_it(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(batch_of(["a", "b"]))
        backend.write(UnitOfWork(edges=[supports("b", "a"), supports("a", "b")]))
        backend.write(UnitOfWork(node_deletes=[("Memory", key("a")), ("Memory", "not there"), ("Memory", key("a"))]))
        store = reopen(backend)
        assert store.count("SUPPORTS") == 0
        assert store.count("MENTIONS") == 2
        assert store.count("LEARNED") == 1
        assert [row["id"] for row in store.nodes("Memory")] == ["b"]
        assert store.verify() == []
        store.close()

    def test_one_unit_can_delete_and_make_again(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(unit_of("a"))
        work = unit_of("a", ("postgres",))
        work.node_deletes.append(("Memory", key("a")))
        work.nodes["Memory"][0]["text"] = "another"
        backend.write(work)
        store = reopen(backend)
        assert [row["text"] for row in store.nodes("Memory")] == ["another"]
        assert [edge.target for edge in store.edges("MENTIONS")] == [key("postgres")]
        store.close()

    def test_delete_all_then_add(self, backend: Backend, reopen: Reopen) -> None:
        for _ in range(2):
            backend.write(batch_of(["a", "b", "c"]))
            assert len(backend.vectors("Memory", project_id=PROJECT)[0]) == 3
            deletes = [(label, row["key"]) for label in ("Memory", "Entity", "Agent") for row in backend.nodes(label)]
            backend.write(UnitOfWork(node_deletes=deletes))
            assert backend.vectors("Memory", project_id=PROJECT)[0] == []
            backend = reopen(backend)
        backend.write(batch_of(["a", "b", "c"]))
        store = reopen(backend)
        assert len(store.vectors("Memory", project_id=PROJECT)[0]) == 3
        assert store.verify() == []
        store.close()

    def test_a_new_vector_keeps_every_edge(self, backend: Backend, reopen: Reopen) -> None:
        backend.write(batch_of(["a", "b", "c"]))
        ends = [("a", "b"), ("b", "a"), ("a", "a"), ("b", "c"), ("a", "b")]
        backend.write(UnitOfWork(edges=[supports(*pair, weight=0.25) for pair in ends]))
        before = dump(backend)["edges"]
        changes = [
            NodeUpdate("Memory", key(name), {"embedding": vector(number)}) for number, name in enumerate("ab", 50)
        ]
        changes.append(NodeUpdate("Memory", key("a"), {"status": "archived"}))
        work = unit_of("d")
        del work.edges[:]
        backend.write(UnitOfWork(nodes=work.nodes, node_updates=changes))
        store = reopen(backend)
        assert dump(store)["edges"] == before
        rows = {row["id"]: row for row in store.nodes("Memory")}
        assert rows["a"]["status"] == "archived"
        found = {name: row["embedding"].tobytes() for name, row in rows.items()}
        expected = {
            "a": vector(50),
            "b": vector(51),
            "c": memory_row("c")["embedding"],
            "d": memory_row("d")["embedding"],
        }
        assert found == {name: value.tobytes() for name, value in expected.items()}
        store.close()
