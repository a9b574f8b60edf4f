"""What a server's location and options mean, before anybody is called."""

from __future__ import annotations

from typing import Any

import pytest

from alma_graph import ALMA
from alma_graph.backends import create_backend, open_backend
from alma_graph.backends.bolt.settings import is_server, server_settings
from alma_graph.errors import AlmaGraphError, InvalidInputError, ServerError

NOBODY = "bolt://127.0.0.1:1"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own settings stay out."""
    for name in ("USERNAME", "PASSWORD", "DATABASE"):
        monkeypatch.delenv(f"NEO4J_{name}", raising=False)


def settings(location: str, **options: Any) -> Any:
    return server_settings(location, read_only=False, options=options)


@pytest.mark.parametrize("scheme", ["bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"])
def test_every_scheme_of_the_driver(scheme: str) -> None:
    found = settings(f"{scheme}://host:7687")
    assert is_server(f"{scheme}://host:7687")
    assert (found.dialect.name, found.uri, found.shown) == ("neo4j", f"{scheme}://host:7687", f"{scheme}://host:7687")
    assert found.auth is None
    assert found.database is None


def test_credentials_in_the_location_are_taken_out_of_it() -> None:
    found = settings("bolt://maya:p%40ss@host")
    assert found.auth == ("maya", "p@ss")
    assert (found.uri, found.shown) == ("bolt://host", "bolt://host")
    assert "p@ss" not in repr(found)


def test_what_is_left_out_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_USERNAME", "env-user")
    monkeypatch.setenv("NEO4J_PASSWORD", "env-word")
    monkeypatch.setenv("NEO4J_DATABASE", "env-base")
    found = settings("neo4j://host")
    assert (found.auth, found.database) == (("env-user", "env-word"), "env-base")
    found = settings("neo4j://host", username="me", password="mine", database="own")
    assert (found.auth, found.database) == (("me", "mine"), "own")


def test_a_password_alone_is_the_first_user_s() -> None:
    assert settings("bolt://host", password="x").auth == ("neo4j", "x")


@pytest.mark.parametrize(
    ("location", "options", "words"),
    [
        ("bolt://host", {"username": "maya"}, "no password"),
        ("bolt://host", {"username": 7, "password": "x"}, "username=7"),
        ("bolt://host", {"colour": "red"}, "'colour' is no option of the neo4j backend"),
        ("bolt://host", {"query_timeout": 0}, "query_timeout=0"),
        ("bolt://host", {"auth": ("a", "b"), "username": "c"}, "give one of them"),
        ("bolt://", {}, "names no server"),
        ("bolt://host:notaport", {}, "is no URI"),
        ("bolt://host/shop", {}, "database="),
        ("bolt+tls://host", {}, "unknown scheme"),
    ],
)
def test_what_is_wrong_is_named(location: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        settings(location, **options)


def test_no_error_shows_a_password() -> None:
    for location in (
        *("bolt://maya:secret@host/shop", "bolt+x://maya:secret@host", "bolt://maya:secret@host:x"),
        *("bolt://maya:a/secret@host:7687", "bolt://maya:a@secret@host:x", "bolt://maya:a#secret@host:7687"),
        *("bolt://maya:a?secret@host:7687", "bolt://maya:[secret@host:7687"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            settings(location)
        assert "secret" not in str(caught.value)
    with pytest.raises(ServerError) as unreachable:
        open_backend("bolt://maya:secret@127.0.0.1:1")
    assert "secret" not in str(unreachable.value)


def test_nobody_there_is_said_in_one_line() -> None:
    with pytest.raises(ServerError, match=r"cannot be reached.*start it") as caught:
        ALMA.open(NOBODY, project_id="p", embedder="hashing")
    assert "\n" not in str(caught.value)
    assert caught.value.uri == NOBODY


def test_an_engine_by_name_wants_a_uri() -> None:
    with pytest.raises(InvalidInputError, match="URI"):
        create_backend("neo4j")
    with pytest.raises(AlmaGraphError, match="cannot be reached"):
        create_backend("neo4j", NOBODY, username="neo4j", password="x")


def test_options_of_the_driver_are_checked_by_it() -> None:
    with pytest.raises(ServerError, match="refuses these settings"):
        open_backend("bolt+s://127.0.0.1:1", encrypted=True)
