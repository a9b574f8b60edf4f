"""The driver of one database: sessions, transactions that are tried again, and errors said in one line."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from alma_graph.backends.bolt.settings import ServerSettings
from alma_graph.errors import AlmaGraphError, BackendError, MissingDependencyError, ServerError, StoreClosedError

_T = TypeVar("_T")
_APPLICATION = "alma_graph"
_RETRY_SECONDS = 0.1
"""First pause before a transaction is tried again, doubled each time. Writers that queue for one node are now and then
taken for a deadlock by the server when they take turns quickly; the driver's own pause of a second is long for that."""

COMMIT_TRIES = 3
"""How often what was committed without an answer is looked for, and sent again where it is not there."""


class Transaction(Protocol):
    """An open transaction of the driver."""

    def run(self, query: str, parameters: Mapping[str, Any] | None = None, /) -> Any:
        """Sends one statement; the result is read from what comes back."""
        ...


def rows(transaction: Transaction, statement: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
    """All rows of a statement."""
    found: list[list[Any]] = transaction.run(statement, dict(parameters or {})).values()
    return found


class Connection:
    """One driver for one database; every session names that database and shares one set of bookmarks, so that this
    process reads what it wrote on whichever member of a cluster answers.

    Raises:
        MissingDependencyError: the driver is not installed.
        ServerError: nobody answers, or the credentials or the database are refused.
    """

    def __init__(self, settings: ServerSettings) -> None:
        if importlib.util.find_spec("neo4j") is None:
            raise MissingDependencyError(
                f"the driver of {settings.dialect.name} is not installed; install it with: {settings.dialect.install}"
            )
        import neo4j

        self.settings = settings
        self._closed = False
        options = {"user_agent": _APPLICATION, "initial_retry_delay": _RETRY_SECONDS, **settings.driver}
        logger = logging.getLogger("neo4j")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # retries are no news, unless somebody asks for the log
        with self.translated("the server was not opened"):
            try:
                self._driver: Any = neo4j.GraphDatabase.driver(
                    settings.uri,
                    auth=settings.auth,
                    notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
                    **options,
                )
            except (ValueError, TypeError, OSError, neo4j.exceptions.ConfigurationError) as error:
                raise ServerError(
                    f"{settings.shown}: the driver refuses these settings: {_line(error)}", uri=settings.shown
                ) from error
            self._bookmarks: Any = neo4j.GraphDatabase.bookmark_manager()
            try:
                self._driver.verify_connectivity()
            except BaseException:
                self._driver.close()
                raise

    def read(self, work: Callable[[Transaction], _T], what: str = "the read failed") -> _T:
        """The value of `work` in a transaction that reads; tried again where the server asks for it."""
        with self.session(reading=True) as session, self.translated(what):
            found: _T = session.execute_read(work)
            return found

    def repeat(self, work: Callable[[Transaction], _T], what: str) -> _T:
        """As `write`, for work that does no harm and gives the right value where it is done already: it is sent again
        when its commit was not answered.

        Raises:
            CommitUnknownError: that was so every time.
        """
        for _ in range(COMMIT_TRIES - 1):
            with suppress(CommitUnknownError):
                return self.write(work, what)
        return self.write(work, what)

    def write(self, work: Callable[[Transaction], _T], what: str) -> _T:
        """The value of `work` in a transaction that writes; tried again where the server asks for it, so that `work`
        must be ready to run twice. An error of its own rolls back.

        Raises:
            CommitUnknownError: the connection was lost while the server committed: it did, or it did not.
        """
        import neo4j

        with self.session(reading=False) as session, self.translated(what):
            try:
                found: _T = session.execute_write(work)
            except neo4j.exceptions.IncompleteCommit as error:
                raise CommitUnknownError(self.settings.shown, _line(error)) from error
            return found

    def command(self, statement: str, what: str) -> list[list[Any]]:
        """Rows of a statement in a transaction of its own, as changes of the schema and questions about it need it."""
        with self.session(reading=self.settings.read_only) as session, self.translated(what):
            return rows(session, statement)

    @contextmanager
    def session(self, *, reading: bool) -> Iterator[Any]:
        """A session on the database."""
        import neo4j

        if self._closed:
            raise StoreClosedError(f"{self.settings.shown} was closed; open it again")
        mode = neo4j.READ_ACCESS if reading else neo4j.WRITE_ACCESS
        session = self._driver.session(
            database=self.settings.database, default_access_mode=mode, bookmark_manager=self._bookmarks
        )
        try:
            yield session
        finally:
            with self.translated("the session was not closed"):
                session.close()

    @contextmanager
    def translated(self, what: str) -> Iterator[None]:
        """Errors of the driver and the server as ours."""
        import neo4j

        try:
            yield
        except AlmaGraphError:
            raise
        except (neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError, OSError, ValueError) as error:
            raise self._as_ours(error, what) from error

    def close(self) -> None:
        """Closes every connection. Idempotent."""
        if not self._closed:
            self._closed = True
            self._driver.close()

    def _as_ours(self, error: Exception, what: str) -> AlmaGraphError:
        import neo4j

        place, faults = self.settings.shown, neo4j.exceptions
        code = getattr(error, "code", None) or ""
        if isinstance(error, faults.AuthError) or code.startswith("Neo.ClientError.Security."):
            user = self.settings.auth[0] if isinstance(self.settings.auth, tuple) and self.settings.auth else None
            return ServerError(
                f"{place}: the server refused the credentials of {user!r} ({code.rpartition('.')[2] or 'no details'}); "
                f"give username= and password=, or set {self.settings.dialect.environment}_USERNAME and "
                f"{self.settings.dialect.environment}_PASSWORD",
                uri=place,
            )
        if code.endswith("DatabaseNotFound"):
            return ServerError(
                f"{place}: the server has no database {self.settings.database!r}; leave database= out for the default "
                "one (the Community edition has only that)",
                uri=place,
            )
        if isinstance(error, (faults.ServiceUnavailable, faults.SessionExpired, OSError)):
            return ServerError(
                f"{place}: the server cannot be reached ({_line(error)}); start it, or check host, port and scheme",
                uri=place,
            )
        return BackendError(f"{place}: {what}: {self.settings.dialect.name} says: {_line(error)}")


class CommitUnknownError(ServerError):
    """The connection was lost while the server committed.

    Args:
        place: of the server, without credentials.
        details: what the driver says.
    """

    def __init__(self, place: str, details: str) -> None:
        super().__init__(
            f"{place}: the connection was lost while the server committed, and whether it did is not known; look for "
            f"what was written before writing it again ({details})",
            uri=place,
        )


def _line(error: BaseException) -> str:
    """An error's own words in one line."""
    words = getattr(error, "message", None) or str(error) or type(error).__name__
    return " ".join(str(words).split())[:500]
