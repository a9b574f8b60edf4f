"""The server goes away in the middle of work, and comes back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from alma_graph import ALMA
from alma_graph.backends import open_backend
from alma_graph.errors import ServerError
from alma_graph.testing.graphs import key, unit_of
from alma_graph.testing.stores import initialised
from tests.servers.process import NeoServer

pytestmark = pytest.mark.engine

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt's message, as a chunk of its own."""


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
    """Passes bytes on to a server; once told to, loses the answer to the next commit."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.lose = False
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
        try:
            while data := source.recv(65536):
                losing = asking and self.lose and COMMIT in data
                if losing:
                    self.lose, self.lost = False, self.lost + 1
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
