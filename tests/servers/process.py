"""A Neo4j server of its own for a test run, or a running one that ALMA_TEST_NEO4J_URI names.

ALMA_TEST_NEO4J_LINE chooses the line of releases ("5.26", the default, or "2026").
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from tests.servers.jars import LINES, CannotRunError, jars, java

_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_SETTINGS = """server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=64m
db.tx_log.preallocate=false
db.checkpoint.interval.time=10m
dbms.security.auth_enabled={auth}
dbms.usage_report.enabled=false
"""
_START_SECONDS = 120
_DIE_WITH_PARENT = 1


class NeoServer:
    """One server in a folder of its own, deleted at the end.

    Args:
        auth: ask for credentials; the first password is set to `PASSWORD`.
        line: of releases; None is ALMA_TEST_NEO4J_LINE's.
        heap: of the Java process, e.g. "1g".
    """

    PASSWORD = "a-long-password"

    def __init__(self, *, auth: bool = False, line: str | None = None, heap: str = "512m") -> None:
        self._line = LINES[line or os.environ.get("ALMA_TEST_NEO4J_LINE", "5.26")]
        self._jars, self._java = jars(self._line), java(self._line)
        self._home = Path(tempfile.mkdtemp(prefix="alma-neo4j-"))
        self._auth = auth
        self._heap = heap
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (self._home / "conf").mkdir()
        settings = _SETTINGS.format(port=self._port, auth=str(auth).lower())
        (self._home / "conf" / "neo4j.conf").write_text(settings, encoding="utf-8")
        self.start()
        if auth:
            self._set_password()

    @property
    def uri(self) -> str:
        """Where it answers."""
        return f"bolt://127.0.0.1:{self._port}"

    @property
    def home(self) -> Path:
        """Its folder; the databases are in `data`."""
        return self._home

    def start(self) -> None:
        """Starts the process and waits until it answers.

        Raises:
            CannotRunError: it does not; says the end of its log.
        """
        log = self._home / "console.log"
        with log.open("ab") as stream:
            self._process = subprocess.Popen(
                self._command(),
                stdout=stream,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it takes no lock
            )
        limit = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > limit:
                self.stop()
                said = log.read_text(encoding="utf-8", errors="replace")[-600:]
                raise CannotRunError(f"Neo4j {self._line.version} did not start: {said}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Ends the process as an operator would, and waits for it."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process with SIGKILL."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        """Stops it and deletes its folder."""
        self._end(signal.SIGKILL)
        shutil.rmtree(self._home, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _command(self) -> list[str]:
        opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        quick = [f"-Xmx{self._heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        places = [f"--home-dir={self._home}", f"--config-dir={self._home / 'conf'}"]
        return [self._java, *quick, *opens, "-cp", f"{self._jars}/*", self._main_class(), *places]

    def _main_class(self) -> str:
        """Each release names its own in its `neo4j` jar."""
        (jar,) = self._jars.glob(f"neo4j-{self._line.version}.jar")
        with zipfile.ZipFile(jar) as archive:
            text = archive.read("META-INF/services/org.neo4j.server.startup.EntryPoint").decode()
        found = re.findall(r"^[\w.]+$", text, re.MULTILINE)
        return str(found[0])

    def _answers(self) -> bool:
        import neo4j

        try:
            with neo4j.GraphDatabase.driver(self.uri, auth=("neo4j", "x") if self._auth else None) as driver:
                driver.verify_connectivity()
        except neo4j.exceptions.AuthError:
            return True
        except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError, OSError):
            return False
        return True

    def _set_password(self) -> None:
        import neo4j

        with (
            neo4j.GraphDatabase.driver(self.uri, auth=("neo4j", "neo4j")) as driver,
            driver.session(database="system") as session,
        ):
            statement: Any = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new"
            session.run(statement, {"new": self.PASSWORD}).consume()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    """In the child, before Java: the kernel ends it when the test run is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
