"""A Neo4j server's jars, fetched once by Maven from its central repository into a cache folder."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{version}</version></dependency>
    <dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>{version}</version></dependency>
  </dependencies>
</project>
"""
_FETCH_SECONDS = 600


@dataclass(frozen=True)
class Line:
    """A line of releases.

    Attributes:
        version: the release that the tests run on.
        java: oldest Java that it runs on.
    """

    version: str
    java: int


LINES = {"5.26": Line("5.26.28", 17), "2026": Line("2026.09.0", 21)}


class CannotRunError(Exception):
    """No server can be started here; says what is missing."""


def jars(line: Line) -> Path:
    """The folder with the jars of a release; fetched on first use, which takes half a minute.

    Raises:
        CannotRunError: Maven is missing, or fails.
    """
    cache = Path(os.environ.get("ALMA_TEST_CACHE") or _user_cache())
    folder = cache / f"neo4j-{line.version}"
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise CannotRunError("Maven (mvn) was not found, which fetches the server's jars")
    cache.mkdir(parents=True, exist_ok=True)
    with _only_one(cache / ".lock"):
        if not folder.is_dir():
            _fetch(maven, line, cache, folder)
    return folder


def java(line: Line) -> str:
    """The oldest Java here that is new enough for a release.

    Raises:
        CannotRunError: there is none.
    """
    found = {version: path for path in _javas() if (version := _java_version(path)) is not None}
    fitting = [version for version in found if version >= line.java]
    if not fitting:
        seen = ", ".join(map(str, sorted(found))) or "none"
        raise CannotRunError(f"Neo4j {line.version} needs Java {line.java} or newer; found: {seen}")
    return found[min(fitting)]


def missing(line: Line) -> str | None:
    """Why no server of a release can be started here; None where it can."""
    try:
        java(line)
        jars(line)
    except CannotRunError as error:
        return str(error)
    return None


def _fetch(maven: str, line: Line, cache: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache) as work:
        (Path(work) / "pom.xml").write_text(_POM.format(version=line.version), encoding="utf-8")
        arguments = ["-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib"]
        try:
            done = subprocess.run(
                [maven, *arguments], cwd=work, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise CannotRunError(f"Maven did not fetch Neo4j {line.version} in {_FETCH_SECONDS} s") from error
        if done.returncode:
            raise CannotRunError(f"Maven could not fetch Neo4j {line.version}: {(done.stdout + done.stderr)[-400:]}")
        (Path(work) / "lib").rename(folder)


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "alma_graph_tests"


def _javas() -> Iterator[str]:
    home, on_path = os.environ.get("JAVA_HOME"), shutil.which("java")
    if home and Path(home, "bin", "java").exists():
        yield str(Path(home, "bin", "java"))
    if on_path:
        yield on_path
    for path in sorted(Path("/usr/lib/jvm").glob("*/bin/java")):
        yield str(path)


def _java_version(path: str) -> int | None:
    try:
        said = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except OSError:
        return None
    match = re.search(r'version "(\d+)', said)
    return int(match[1]) if match else None


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
