"""The command line takes the URI of a server wherever it takes a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.bolt.conftest import Connect
from tests.cli.conftest import call

pytestmark = pytest.mark.engine


def test_it_reads_checks_and_refuses_what_only_a_file_has(connect: Connect, location: str, tmp_path: Path) -> None:
    connect().add_domain_knowledge(agent="dev", domain="auth", fact="Auth listens on port 8080.", id="one")
    place = ("--store", location, "--project", "shop")
    told = call("stats", *place).out
    assert "memories: 1" in told
    assert "size bytes: unknown" in told
    assert call("stats", *place, "--json").json["size_bytes"] is None
    assert "8080" in call("retrieve", *place, "port of auth").out
    assert call("cypher", *place, "MATCH (m:DomainKnowledge) RETURN m.id AS id", "--json").json[0]["id"] == "one"
    assert call("query", "kinds-and-status", *place).code == 0
    examined = call("doctor", location)
    assert (examined.code, "server indexes" in examined.out) == (0, True)
    refused = call("backup", location, str(tmp_path / "copy.graph"))
    assert refused.code != 0
    assert "neo4j-admin" in refused.err


def test_nobody_there_is_one_line(tmp_path: Path) -> None:
    gone = call("stats", "--store", "bolt://127.0.0.1:1", "--project", "shop")
    assert gone.code != 0
    assert "cannot be reached" in gone.err
    assert len(gone.err.strip().splitlines()) == 1
