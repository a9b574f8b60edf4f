"""A server that asks who is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alma_graph import ALMA
from alma_graph.backends import open_backend
from alma_graph.errors import ServerError
from tests.cli.conftest import call
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


def test_whoever_moves_data_gives_them_as_whoever_opens_does(guarded: str, tmp_path: Path) -> None:
    name, password = GOOD
    with ALMA.open(":memory:", project_id="moved", embedder="hashing", extractor="none") as alma:
        alma.add_domain_knowledge(agent="a", domain="d", fact="A fact that moves.", id="moved")
        alma.export(tmp_path / "graph.jsonl")
    given: dict[str, Any] = {"username": name, "password": password}
    assert ALMA.import_(tmp_path / "graph.jsonl", into=guarded, on_conflict="skip", **given).written["Memory"] == 1
    options = [word for key, value in given.items() for word in (f"--{key}", value)]
    out = str(tmp_path / "out.jsonl")
    assert call("import", str(tmp_path / "graph.jsonl"), guarded, *options, "--json").json["written"] == {}
    assert call("export", guarded, out, "--project", "moved", *options, "--json").json["nodes"]["Memory"] == 1
    refused = call("export", guarded, out, "--username", name, "--password", "wrong-one")
    assert refused.code == 1
    assert "refused the credentials" in refused.err


def test_an_open_handle_opens_nothing_for_others(guarded: str) -> None:
    kept = open_backend(guarded, auth=GOOD)
    with pytest.raises(ServerError, match="refused the credentials"):
        open_backend(guarded, username="neo4j", password="wrong-one")
    kept.close()
