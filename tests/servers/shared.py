"""The one server of this test process: started on first use, emptied for every test, ended with the run."""

from __future__ import annotations

import os
from typing import Any

from tests.servers.jars import CannotRunError
from tests.servers.process import NeoServer

_MEMGRAPH = os.environ.get("ALMA_TEST_ENGINE") == "memgraph"
_state: dict[str, Any] = {}


def emptied() -> str:
    """The URI of the server, with an empty database; constraints and indexes stay.

    Raises:
        CannotRunError: no server can be started, or the running one that was named is not ours to empty.
    """
    uri = _uri()
    _delete_all(uri)
    return uri


def server() -> NeoServer:
    """The server itself, for tests that stop it.

    Raises:
        CannotRunError: it is one that runs already.
    """
    _uri()
    found = _state.get("server")
    if found is None:
        raise CannotRunError("ALMA_TEST_NEO4J_URI names a running server, which is not ours to stop")
    assert isinstance(found, NeoServer)
    return found


def end() -> None:
    """Stops what was started here."""
    found, driver = _state.pop("server", None), _state.pop("driver", None)
    _state.clear()
    if driver is not None:
        driver.close()
    if found is not None:
        found.remove()


def _uri() -> str:
    if "uri" not in _state:
        given = os.environ.get("ALMA_TEST_MEMGRAPH_URI" if _MEMGRAPH else "ALMA_TEST_NEO4J_URI")
        if _MEMGRAPH and not given:
            raise CannotRunError("no Memgraph is started here; name a running one in ALMA_TEST_MEMGRAPH_URI")
        if given:
            _check_ours(given)
        else:
            _state["server"] = NeoServer()
        _state["uri"] = given or _state["server"].uri
    return str(_state["uri"])


def _check_ours(uri: str) -> None:
    if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1:
        raise CannotRunError("ALMA_TEST_NEO4J_URI names one server: run pytest with -n 0, one store at a time")
    if os.environ.get("ALMA_TEST_NEO4J_WIPE") != "1" and ask(uri, "MATCH (n) RETURN n LIMIT 1"):
        raise CannotRunError(
            f"the database at {uri} is not empty, and the tests delete everything in it; name an empty one, or set "
            "ALMA_TEST_NEO4J_WIPE=1"
        )


def _delete_all(uri: str) -> None:
    while ask(uri, "MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(n) AS deleted")[0]["deleted"]:
        pass


def ask(uri: str, statement: str, **parameters: Any) -> list[dict[str, Any]]:
    """Rows of any statement, past the store."""
    import neo4j

    if "driver" not in _state:
        user, password = os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD")
        _state["driver"] = neo4j.GraphDatabase.driver(uri, auth=(user, password) if password else None)
    query: Any = statement
    with _state["driver"].session(database=os.environ.get("NEO4J_DATABASE")) as session:
        return [dict(row) for row in session.run(query, parameters)]
