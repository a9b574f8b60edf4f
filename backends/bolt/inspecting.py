"""The state of a server's indexes and constraints against what the store needs, and how they are made anew."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from alma_graph.backends.bolt.connection import Connection
from alma_graph.backends.bolt.schema import make_indexes
from alma_graph.backends.inspection import Inspection, Severity

_FIX = "alma-graph doctor --fix"
_REBUILD = "alma-graph doctor --rebuild"


def inspect_server(connection: Connection, dimension: int | None) -> list[Inspection]:
    """Driver, plugins and indexes; `dimension` of the vectors, None where the database holds no store yet."""
    dialect = connection.settings.dialect
    found = [
        Inspection("driver", Severity.OK, f"neo4j {_driver_version()} to {connection.settings.shown}"),
        Inspection("extensions", Severity.OK, "no plugin of the server is needed"),
    ]
    if not dialect.exercised:
        detail = f"{dialect.name} is not exercised in our CI"
        found.append(Inspection("engine", Severity.WARNING, detail, "tell us what does not work"))
    if dimension is not None:
        found.append(_indexes(connection, dimension))
    return found


def _indexes(connection: Connection, dimension: int) -> Inspection:
    dialect = connection.settings.dialect
    wanted = dialect.schema(dimension)
    there = dialect.index_names(lambda statement: connection.command(statement, "the indexes were not listed"))
    missing = sorted(wanted.keys() - there)
    if missing:
        detail = f"missing: {', '.join(missing)}; reads are slower, and keys may be there twice"
        return Inspection("server indexes", Severity.PROBLEM, detail, _FIX)
    broken = sorted(_broken(connection, set(wanted)))
    if broken:
        return Inspection("server indexes", Severity.PROBLEM, f"not online: {', '.join(broken)}", _REBUILD)
    return Inspection("server indexes", Severity.OK, f"{len(wanted)} indexes and constraints are there")


def _broken(connection: Connection, wanted: set[str]) -> list[str]:
    """Indexes that do not answer, with their state; none where the server does not say."""
    statement = connection.settings.dialect.index_states
    if statement is None:
        return []
    states = connection.command(statement, "the states of the indexes were not read")
    return [f"{name} is {state}" for name, state in states if name in wanted and state not in ("ONLINE", "POPULATING")]


def make_missing(connection: Connection, dimension: int) -> list[str]:
    """Makes what is missing of the indexes and constraints; says what."""
    return [f"made {name} on the server" for name in make_indexes(connection, dimension)]


def rebuild_indexes(connection: Connection, dimension: int) -> list[str]:
    """Drops the indexes, not the constraints that keep keys unique, and makes them again; says which."""
    dialect = connection.settings.dialect
    there = dialect.index_names(lambda statement: connection.command(statement, "the indexes were not listed"))
    derived = [
        name
        for name, statement in dialect.schema(dimension).items()
        if name in there and "CONSTRAINT" not in statement.split(" IF ", 1)[0]
    ]
    for name in derived:
        connection.command(dialect.drop_index(name), f"the index {name} was not dropped")
    made = make_indexes(connection, dimension)
    return [f"made {len(made)} indexes of the server anew"]


def _driver_version() -> str:
    try:
        return version("neo4j")
    except PackageNotFoundError:
        return "missing"
