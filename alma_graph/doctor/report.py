"""What a visit of the doctor found and did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from alma_graph.backends.inspection import Severity

_MARKS = {Severity.OK: "ok     ", Severity.WARNING: "warning", Severity.PROBLEM: "PROBLEM"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: what it is; several findings may share it.
        severity: "ok", "warning" (it costs speed or space) or "problem".
        detail: what was found.
        cure: what to do about it; empty where nothing is to be done.
        fixable: whether `fix=True` (`alma-graph doctor --fix`) mends it.
    """

    name: str
    severity: Severity
    detail: str
    cure: str = ""
    fixable: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; a warning is not wrong."""
        return self.severity is not Severity.PROBLEM

    def __str__(self) -> str:
        cure = "" if self.severity is Severity.OK or not self.cure else f"; {self.cure}"
        return f"{_MARKS[self.severity]} {self.name}: {self.detail}{cure}"


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All checks of one visit, as they stand at its end.

    Attributes:
        checks: what was looked at.
        repairs: what was done, one line each; empty unless `fix` or `rebuild` was asked for.
    """

    checks: tuple[Check, ...]
    repairs: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no problem is left."""
        return all(check.ok for check in self.checks)

    @property
    def problems(self) -> tuple[Check, ...]:
        """The checks that found something wrong."""
        return tuple(check for check in self.checks if not check.ok)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        names = ("name", "severity", "detail", "cure", "fixable")
        checks = [{name: getattr(check, name) for name in names} for check in self.checks]
        checks = [
            {**told, "severity": str(check.severity), "ok": check.ok}
            for told, check in zip(checks, self.checks, strict=True)
        ]
        return {"ok": self.ok, "checks": checks, "repairs": list(self.repairs)}

    def __str__(self) -> str:
        return "\n".join([*(f"done    {line}" for line in self.repairs), *map(str, self.checks)])


def well(name: str, detail: str) -> Check:
    """A check that found nothing wrong."""
    return Check(name, Severity.OK, detail)


def problem(name: str, detail: str, cure: str, *, fixable: bool = False) -> Check:
    """A check that found something wrong."""
    return Check(name, Severity.PROBLEM, detail, cure, fixable)


def warning(name: str, detail: str, cure: str, *, fixable: bool = False) -> Check:
    """A check that found what costs speed or space."""
    return Check(name, Severity.WARNING, detail, cure, fixable)
