"""Where a server is and how to get in: a URI, credentials, a database, and settings of the driver."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from alma_graph.backends.bolt.dialect import Dialect
from alma_graph.backends.bolt.dialects import BOLT_DIALECTS, SCHEMES
from alma_graph.errors import InvalidInputError, shown

DEFAULT_QUERY_TIMEOUT = 60.0
DEFAULT_MAX_ROWS = 300_000
DRIVER_OPTIONS = frozenset(
    "client_certificate connection_acquisition_timeout connection_timeout encrypted keep_alive "
    "liveness_check_timeout max_connection_lifetime max_connection_pool_size max_transaction_retry_time resolver "
    "ssl_context trusted_certificates user_agent".split()
)
"""Settings that go to the official driver as they are."""

_SECURITY = ("", "+s", "+ssc")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """One way into one database.

    Attributes:
        dialect: the engine.
        uri: as the driver takes it, without credentials.
        shown: as the caller wrote it, without credentials.
        auth: user and password, an `Auth` object of the driver, or None where the server asks for none.
        database: None is the user's home database.
        query_timeout: seconds that a caller's Cypher may run.
        max_rows_in_memory: memories of a project up to which it is read whole.
        driver: settings for the driver.
    """

    dialect: Dialect
    uri: str
    shown: str
    auth: Any = field(repr=False)
    database: str | None
    read_only: bool
    query_timeout: float
    max_rows_in_memory: int
    driver: Mapping[str, Any] = field(repr=False)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Equal for two openings that may share one driver."""
        driver = tuple(sorted((name, repr(value)) for name, value in self.driver.items()))
        auth = self.auth if isinstance(self.auth, tuple) else repr(self.auth)
        return (
            self.dialect.name,
            self.uri,
            auth,
            self.database,
            self.read_only,
            self.query_timeout,
            self.max_rows_in_memory,
            driver,
        )


def is_server(location: str) -> bool:
    """Whether a location is the URI of a server: a scheme of `SCHEMES` and `://`."""
    scheme, colon, rest = location.partition(":")
    return bool(colon) and rest.startswith("//") and scheme.lower().split("+")[0] in SCHEMES


def server_settings(
    location: str, *, engine: str | None = None, read_only: bool, options: Mapping[str, Any]
) -> ServerSettings:
    """Reads a URI and options.

    Args:
        location: `bolt://HOST:7687`, `neo4j://`, `memgraph://`, each also with `+s` (TLS) or `+ssc` (TLS, any
            certificate); user and password may stand in it.
        engine: the dialect by name; by the scheme where it is None.
        options: `username`, `password`, `database`, `auth`, `query_timeout`, `max_rows_in_memory`, and
            `DRIVER_OPTIONS`. What is left out is
            taken from the environment: NEO4J_USERNAME, NEO4J_PASSWORD, NEO4J_DATABASE.

    Raises:
        InvalidInputError: the URI or an option is wrong.
    """
    left = dict(options)
    parts, scheme = _uri(location)
    dialect = SCHEMES[scheme.split("+")[0]] if engine is None else BOLT_DIALECTS[engine]
    at = _netloc(parts.netloc)
    uri = urlunsplit((dialect.driver_scheme(scheme), at, "", parts.query, ""))
    place = urlunsplit((scheme, at, "", parts.query, ""))
    auth = _auth(left, dialect, parts, place)
    database = _named(left.pop("database", None) or os.environ.get(f"{dialect.environment}_DATABASE"), "database")
    query_timeout = left.pop("query_timeout", DEFAULT_QUERY_TIMEOUT)
    if isinstance(query_timeout, bool) or not isinstance(query_timeout, (int, float)) or not 0 < query_timeout < 1e9:
        raise InvalidInputError(f"query_timeout={shown(query_timeout)} must be a number of seconds above 0")
    most = left.pop("max_rows_in_memory", DEFAULT_MAX_ROWS)
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InvalidInputError(f"max_rows_in_memory={shown(most)} must be a number of memories, 0 or more")
    unknown = sorted(set(left) - DRIVER_OPTIONS)
    if unknown:
        raise InvalidInputError(f"{unknown[0]!r} is no option of the {dialect.name} backend")
    return ServerSettings(dialect, uri, place, auth, database, read_only, float(query_timeout), most, left)


def _uri(location: str) -> tuple[Any, str]:
    example = "write e.g. bolt://localhost:7687 or neo4j+s://HOST"
    try:
        parts = urlsplit(location)
        _ = parts.port
    except ValueError:  # whose words may hold a part of a password
        raise InvalidInputError(f"location={_hidden(location)} is no URI; {example}") from None
    scheme = parts.scheme.lower()
    base, plus, security = scheme.partition("+")
    if base not in SCHEMES or plus + security not in _SECURITY:
        known = ", ".join(f"{name}{end}://" for name in SCHEMES for end in _SECURITY)
        raise InvalidInputError(f"location={_hidden(location)} has an unknown scheme; the schemes are {known}")
    if not parts.hostname:
        raise InvalidInputError(f"location={_hidden(location)} names no server; {example}")
    if parts.path.strip("/") or parts.fragment:
        raise InvalidInputError(
            f"location={_hidden(location)} has a path; give the name of a database as database=..., or in "
            "NEO4J_DATABASE"
        )
    return parts, scheme


def _netloc(netloc: str) -> str:
    return netloc.rpartition("@")[2]


def _hidden(location: str) -> str:
    """The location as an error shows it, without what stands before its last @."""
    return shown(re.sub(r"//.*@", "//", location, flags=re.DOTALL))


def _auth(options: dict[str, Any], dialect: Dialect, parts: Any, place: str) -> Any:
    given = options.pop("auth", None)
    username, password = options.pop("username", None), options.pop("password", None)
    if given is not None:
        if username is not None or password is not None or parts.username is not None:
            raise InvalidInputError("auth= and username=/password= were both given; give one of them")
        return tuple(given) if isinstance(given, (list, tuple)) else given
    if username is None and password is None:
        username = unquote(parts.username) if parts.username else None
        password = unquote(parts.password) if parts.password else None
    if username is None:
        username = os.environ.get(f"{dialect.environment}_USERNAME")
    if password is None:
        password = os.environ.get(f"{dialect.environment}_PASSWORD")
    username, password = _named(username, "username"), _named(password, "password")
    if username is None and password is None:
        return None
    if password is None:
        raise InvalidInputError(
            f"{place}: there is a username ({shown(username)}) and no password; give password=..., or set "
            f"{dialect.environment}_PASSWORD"
        )
    return (username if username is not None else dialect.default_user, password)


def _named(value: Any, name: str) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidInputError(f"{name}={'...' if name == 'password' else shown(value)} is no text; give a str")
    return value
