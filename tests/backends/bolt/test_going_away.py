"""The server goes away in the middle of work, and comes back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import neo4j
import pytest

from alma_graph import ALMA
from alma_graph.backends import open_backend
from alma_graph.errors import ServerError, StoreChangedError
from alma_graph.testing.graphs import key, unit_of
from alma_graph.testing.stores import initialised
from tests.servers.process import NeoServer

pytestmark = pytest.mark.engine

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt's message, as a chunk of its own."""
READS = b"\x84mode\x81r"
"""In the message that begins a transaction, where it only reads."""
BEGINS = b"\xb1\x11"


@pytest.fixture(scope="module")
def own() -> Iterator[NeoServer]:
    """A server that may be stopped."""
    server = NeoServer()
    yield server
    server.remove()


def learn(alma: ALMA, name: str) -> None:
    alma.add_domain_knowledge(agent="dev", domain="d", fact=f"The fact {name}.", id=name)


def test_a_lost_connection_is_one_clear_line_and_then_work_goes_on(own: NeoServer) -> None:
    with ALMA.open(
        own.uri, project_id="p", embedder="hashing", extractor="none", max_transaction_retry_time=1.0
    ) as alma:
        learn(alma, "before")
        own.stop()
        for call in (lambda: learn(alma, "meanwhile"), lambda: alma.get("before"), lambda: alma.retrieve("fact")):
            with pytest.raises(ServerError, match="cannot be reached") as caught:
                call()
            assert "\n" not in str(caught.value)
        own.start()
        learn(alma, "after")
        assert {memory.id for memory in alma.memories()} == {"before", "after"}
        assert {hit.memory.id for hit in alma.retrieve("fact", top_k=9).hits} == {"before", "after"}
        assert alma.doctor().ok


def test_what_was_acknowledged_survives_a_kill(own: NeoServer) -> None:
    with ALMA.open(own.uri, project_id="killed", embedder="hashing", extractor="none") as alma:
        for number in range(10):
            learn(alma, f"fact-{number}")
        own.kill()
        own.start()
        learn(alma, "after")
        assert len(list(alma.memories())) == 11
        assert alma.doctor().ok


class Wire:
    """Passes bytes on to a server; once told to, loses the answer to the next commit of what writes, or to every other
    one, so that only what is sent again is answered."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.lose = False
        self.every_other = False
        self._passing = False
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, asking: bool) -> None:
        reads = False
        try:
            while data := source.recv(65536):
                if BEGINS in data:
                    reads = READS in data
                losing = asking and self.lose and COMMIT in data and not reads
                if losing and self._passing:
                    self._passing = losing = False
                if losing:
                    self.lose = self._passing = self.every_other
                    self.lost += 1
                    source.shutdown(socket.SHUT_WR)
                target.sendall(data)
                if losing:
                    time.sleep(0.5)  # the server commits, and its answer finds nobody
                    break
        except OSError:
            pass
        finally:
            for end in (source, target):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()


def test_a_write_whose_commit_was_not_answered_is_not_made_twice(own: NeoServer) -> None:
    wire = Wire(int(own.uri.rpartition(":")[2]))
    direct = open_backend(own.uri, query_timeout=59)
    before = direct.sequence()
    store = open_backend(f"bolt://127.0.0.1:{wire.port}", max_transaction_retry_time=5.0)
    if before == 0 and direct.meta() is None:
        initialised(direct)
    wire.lose = True
    work = unit_of("once")
    for row in work.nodes["Memory"]:
        row["embedding"] = None
    store.write(work)
    assert wire.lost == 1
    assert direct.sequence() == before + 1
    assert [row["id"] for row in direct.nodes("Memory", keys=[key("once")])] == ["once"]
    assert len(direct.edges("MENTIONS", sources=[key("once")])) == 2
    store.close()
    direct.close()
    wire.close()


@pytest.fixture
def wire(own: NeoServer) -> Iterator[Wire]:
    """A way to the server, whose database is empty, that may be cut."""
    emptied_of(own)
    between = Wire(int(own.uri.rpartition(":")[2]))
    yield between
    between.close()
    emptied_of(own)


def emptied_of(server: NeoServer) -> None:
    """Deletes everything."""
    with neo4j.GraphDatabase.driver(server.uri) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")


def through(wire: Wire, **options: Any) -> ALMA:
    """The store, past the wire."""
    uri = f"bolt://127.0.0.1:{wire.port}"
    given = {"project_id": "p", "extractor": "none", "max_transaction_retry_time": 5.0, **options}
    return ALMA.open(uri, **given)


def test_a_store_whose_making_was_not_answered_is_made_once(own: NeoServer, wire: Wire) -> None:
    wire.lose = True
    with through(wire, embedder="hashing") as alma:
        assert wire.lost == 1
        learn(alma, "one")
        assert alma.doctor().ok
    with neo4j.GraphDatabase.driver(own.uri) as driver:
        assert len(driver.execute_query("MATCH (m:Meta) RETURN m").records) == 1


def test_a_migration_that_was_not_answered_is_made(own: NeoServer, wire: Wire) -> None:
    with through(wire, embedder="hashing") as alma:
        learn(alma, "one")
    with neo4j.GraphDatabase.driver(own.uri) as driver:
        driver.execute_query("MATCH (m:Meta) SET m.schema_version = 1")
    wire.lose = True
    with through(wire) as alma:
        assert wire.lost == 1
        assert [memory.id for memory in alma.memories()] == ["one"]
        assert (alma._store.backend.meta() or {})["schema_version"] == 2


def test_a_turn_that_was_not_answered_is_no_matter(wire: Wire) -> None:
    store = initialised(open_backend(f"bolt://127.0.0.1:{wire.port}", max_transaction_retry_time=5.0))
    wire.lose = True
    with pytest.raises(StoreChangedError):
        store.write(unit_of("a"), expected=7)
    assert wire.lost == 1
    store.write(unit_of("a"), expected=0)
    assert store.sequence() == 1
    store.close()


def test_reembedding_is_whole_where_each_answer_is_lost_once(own: NeoServer, wire: Wire) -> None:
    with through(wire, embedder="hashing:16") as alma:
        for name in ("a", "b", "c"):
            learn(alma, name)
        wire.lose = wire.every_other = True
        alma.reembed("hashing:24")
        assert wire.lost >= 7
        wire.lose = False
        assert {hit.memory.id for hit in alma.retrieve("fact", top_k=5).hits} == {"a", "b", "c"}
        assert alma.doctor().ok
    with neo4j.GraphDatabase.driver(own.uri) as driver:
        found = driver.execute_query(
            "SHOW INDEXES YIELD name, options WHERE name = 'alma_memory_embedding' "
            "RETURN options.indexConfig['vector.dimensions'] AS dimension"
        )
        assert [row["dimension"] for row in found.records] == [24]
        left = driver.execute_query("MATCH (n) WHERE n:Staged OR n:StagedChunk OR n.exchange IS NOT NULL RETURN n")
        assert left.records == []
