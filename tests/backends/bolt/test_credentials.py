"""A server that asks who is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from alma_graph import ALMA
from alma_graph.backends import open_backend
from alma_graph.errors import ServerError
from tests.servers.process import NeoServer

pytestmark = pytest.mark.engine

GOOD = ("neo4j", NeoServer.PASSWORD)


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """The URI of a server with a password."""
    server = NeoServer(auth=True)
    yield server.uri
    server.remove()


def test_the_wrong_ones_are_refused_in_one_line(guarded: str) -> None:
    for options in ({}, {"username": "neo4j", "password": "wrong-one"}, {"password": "wrong-one"}):
        with pytest.raises(ServerError, match=r"refused the credentials.*NEO4J_USERNAME") as caught:
            open_backend(guarded, **options)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        assert "wrong-one" not in str(caught.value)


def test_the_right_ones_open_whichever_way_they_come(guarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, password = GOOD
    with ALMA.open(guarded, project_id="p", embedder="hashing", username=name, password=password) as alma:
        alma.add_domain_knowledge(agent="a", domain="d", fact="A fact.", id="one")
    inside = guarded.replace("://", f"://{name}:{password}@")
    with ALMA.open(inside, project_id="p") as alma:
        assert alma.get("one").text
        assert password not in repr(alma)
    with ALMA.open(guarded, project_id="p", auth=GOOD) as alma:
        assert alma.get("one").text
    monkeypatch.setenv("NEO4J_USERNAME", name)
    monkeypatch.setenv("NEO4J_PASSWORD", password)
    with ALMA.open(guarded, project_id="p") as alma:
        assert alma.get("one").text


def test_an_open_handle_opens_nothing_for_others(guarded: str) -> None:
    kept = open_backend(guarded, auth=GOOD)
    with pytest.raises(ServerError, match="refused the credentials"):
        open_backend(guarded, username="neo4j", password="wrong-one")
    kept.close()
