"""What an import did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from alma_graph.transfer.reading import Problem


@dataclass(slots=True)
class Tally:
    """Nodes by label and edges by type, by what became of them."""

    written: Counter[str] = field(default_factory=Counter)
    present: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Adds what another one counted."""
        for name in ("written", "present", "merged", "kept", "left_out"):
            getattr(self, name).update(getattr(other, name))


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did.

    Attributes:
        path: the file; "-" is stdin.
        written: nodes by label and edges by type that are new in the store.
        present: those that were there, equal in every property.
        merged: those that were there with other values and took some of the file's.
        kept: those that were there with other values and were left as they are.
        left_out: what hangs on a memory of the file whose id another memory of the store has.
        problems: lines that could not be taken (with `salvage`); at most the first thousand, `failed` is their number.
        recounted: projects whose lessons were counted anew from their outcomes.
        mended: with `salvage`, what the rest of the graph told of what the file had lost and was made again in the
            projects that the import wrote to, and what could not be; one line each.
    """

    path: str
    written: dict[str, int]
    present: dict[str, int]
    merged: dict[str, int]
    kept: dict[str, int]
    left_out: dict[str, int]
    problems: tuple[Problem, ...] = ()
    failed: int = 0
    recounted: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
