"""Options that commands share, and how they find and open a store."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from alma_graph.errors import InvalidInputError

if TYPE_CHECKING:
    from alma_graph.alma import ALMA

CONFIG_PATH = Path(".alma") / "config.yaml"
DEFAULT_PROJECT = "default"

_F = TypeVar("_F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="JSON on stdout, and nothing else there.")


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """What the command line and the environment say about the store; None where they say nothing."""

    store: str | None
    project: str | None
    embedder: str | None

    def location_and_project(self) -> tuple[str, str]:
        """Where the store is, and the project.

        Raises:
            InvalidInputError: no store is named, and no `alma-graph init` was run here.
        """
        if self.store is not None:
            return self.store, self.project or DEFAULT_PROJECT
        _require_config()
        from alma_graph.config import load_config

        config = load_config(CONFIG_PATH)
        return config.store, self.project or config.project_id

    def open(self, *, create: bool, read_only: bool = False, lock_timeout: float | None = None) -> ALMA:
        """Opens the store that is meant; `lock_timeout` in seconds, None is the usual one.

        Raises:
            InvalidInputError: no store is named, and no `alma-graph init` was run here.
        """
        from alma_graph.alma import ALMA

        patience: dict[str, Any] = {} if lock_timeout is None else {"lock_timeout": lock_timeout}
        if self.store is not None:
            return ALMA.open(
                self.store,
                project_id=self.project or DEFAULT_PROJECT,
                embedder=self.embedder,
                read_only=read_only,
                create=create,
                **patience,
            )
        _require_config()
        changes: dict[str, Any] = {"project_id": self.project, "embedder": self.embedder}
        changes = {name: value for name, value in changes.items() if value is not None}
        if read_only:
            changes["read_only"] = True
        changes |= patience
        if not create:
            changes["create"] = False
        return ALMA.from_config(CONFIG_PATH, **changes)


def _require_config() -> None:
    if not CONFIG_PATH.is_file():
        raise InvalidInputError(
            "no store is named: give --store PATH, set ALMA_GRAPH_STORE, or run `alma-graph init` in this folder"
        )


def with_store(command: _F) -> _F:
    """Adds --store, --project and --embedder; the command gets them as one `StoreChoice`, its first argument."""

    @click.option(
        "--store",
        envvar="ALMA_GRAPH_STORE",
        show_envvar=True,
        metavar="PATH",
        help="Where the store is: a path, kuzu:PATH, or the URI of a server (bolt://HOST:7687).",
    )
    @click.option(
        "--project", envvar="ALMA_GRAPH_PROJECT", show_envvar=True, metavar="NAME", help="The project to work in."
    )
    @click.option("--embedder", metavar="NAME", help="For a new store: all-MiniLM-L6-v2 (the default), hashing, ...")
    @functools.wraps(command)
    def wrapped(store: str | None, project: str | None, embedder: str | None, **given: Any) -> Any:
        root = click.get_current_context().find_root().params
        choice = StoreChoice(
            _given("store", store, root), _given("project", project, root), _given("embedder", embedder, root)
        )
        return command(choice, **given)

    return wrapped  # type: ignore[return-value]


def connection_options(command: _F) -> _F:
    """Adds --username, --password and --database; the command gets those that were given as `connection`."""

    @click.option("--username", metavar="NAME", help="Of a server; else NEO4J_USERNAME, or the user in its URI.")
    @click.option(
        "--password",
        metavar="TEXT",
        help="Of a server; other users of this machine can see it here, but not in NEO4J_PASSWORD.",
    )
    @click.option("--database", metavar="NAME", help="Of a server; else NEO4J_DATABASE, or the user's home database.")
    @functools.wraps(command)
    def wrapped(username: str | None, password: str | None, database: str | None, **given: Any) -> Any:
        asked = {"username": username, "password": password, "database": database}
        return command(connection={name: value for name, value in asked.items() if value is not None}, **given)

    return wrapped  # type: ignore[return-value]


def _given(name: str, value: str | None, root: dict[str, Any]) -> str | None:
    """The command's own option, else the group's, else the environment's."""
    source = click.get_current_context().get_parameter_source(name)
    if source is not None and source.name == "COMMANDLINE":
        return value
    return root.get(name) or value or None


def key_values(pairs: Sequence[str], what: str) -> dict[str, str]:
    """NAME=VALUE arguments as a mapping.

    Raises:
        InvalidInputError: one has no `=` or no name.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise InvalidInputError(f"{what} {pair!r} must be written NAME=VALUE")
        found[name.strip()] = value
    return found


def json_or_text(value: str) -> Any:
    """A number, true, false, null, a list or an object where the text is that in JSON, else the text itself."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def json_object(value: str | None, what: str) -> dict[str, Any] | None:
    """An option that holds a JSON object.

    Raises:
        InvalidInputError: it is none.
    """
    if value is None:
        return None
    try:
        found = json.loads(value)
    except ValueError as error:
        raise InvalidInputError(f"{what} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidInputError(f"{what}={value!r} must be a JSON object, such as '{{\"ticket\": 7}}'")
    return found


def words_or_stdin(words: Sequence[str]) -> str:
    """Arguments joined to one text; a single `-` reads stdin."""
    if tuple(words) == ("-",):
        return sys.stdin.read().strip()
    return " ".join(words)


def local_path(location: str) -> Path | None:
    """The file of an embedded store; None where the location is a server's or the in-memory store's."""
    if "://" in location or location == ":memory:":
        return None
    scheme, colon, rest = location.partition(":")
    return Path(rest if colon and scheme in ("kuzu", "ladybug") else location)
