"""What a backend can say of itself to the doctor, beyond the graph: files, indexes, extensions. All is optional."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Severity(StrEnum):
    """How bad a finding is: a `warning` costs speed or space, a `problem` is wrong."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Inspection:
    """One thing that a backend looked at.

    Attributes:
        name: what it is, in one or two words: "files", "driver", "vector index".
        severity: how bad it is.
        detail: what was found.
        cure: what to do about it; empty where nothing is to be done.
    """

    name: str
    severity: Severity
    detail: str
    cure: str = ""


@runtime_checkable
class Inspectable(Protocol):
    """A backend that can be looked into."""

    def inspect(self) -> list[Inspection]:
        """Driver, extensions, files and indexes of the engine, and what a crash left behind; reads only."""
        ...

    def tidy(self) -> list[str]:
        """Removes what a crash left behind and nothing needs; says what, one line each."""
        ...

    def rebuild(self) -> list[str]:
        """Drops and makes again what the engine derived from the graph (its indexes); says what, one line each."""
        ...


@runtime_checkable
class Snapshots(Protocol):
    """A backend under which another process writes, and that can hold one state of the store for several reads."""

    def one_state(self) -> AbstractContextManager[None]:
        """Inside, every read of this thread sees one committed state."""
        ...
