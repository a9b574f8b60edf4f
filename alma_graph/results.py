"""What questions give back: tables, contradictions, explanations. Frozen values, no I/O."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from alma_graph.errors import MissingDependencyError
from alma_graph.model import Authority, Disposition, EdgeType, Memory, Signal, Status

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a Cypher query. Iterates over dicts; `rows` are tuples; a table in Jupyter."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with these columns.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingDependencyError("to_pandas() needs pandas: pip install 'alma_graph[notebooks]'") from None
        return pd.DataFrame(list(self.rows), columns=list(self.columns))

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table with these columns; types are those that Arrow infers."""
        import pyarrow as pa

        return pa.table({name: [row[at] for row in self.rows] for at, name in enumerate(self.columns)})

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        shown = self.rows[:100]
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row) + "</tr>" for row in shown)
        more = f"<p>{len(self.rows) - len(shown)} more rows</p>" if len(self.rows) > len(shown) else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """The words a claim of the store rests on: `text` is the memory's text from `start` to `end` (characters)."""

    memory_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both hold, as the store sees it.

    Attributes:
        newer, older: the memories; an outcome is always the newer side of the heuristic it speaks against.
        signal: what showed it.
        score: in [0, 1]; from .7 on it is asserted, from .5 on suspected.
        evidence: spans of both texts.
        disposition: how it was settled; `open` until then.
    """

    id: str
    newer: Memory
    older: Memory
    signal: Signal
    score: float
    evidence: tuple[EvidenceSpan, ...]
    disposition: Disposition
    recorded_at: datetime | None
    resolved_at: datetime | None
    suspected: bool

    def __str__(self) -> str:
        spans = " / ".join(repr(span.text) for span in self.evidence)
        return f"{self.signal} {self.score:.2f}: {self.newer.text!r} against {self.older.text!r} [{spans}]"


@dataclass(frozen=True, slots=True)
class Link:
    """One edge at a memory, seen from it."""

    type: EdgeType
    memory: Memory
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory.

    Attributes:
        since, until: when the store believed it (system time); `until` is None while it is active.
        reason: why it was superseded, retracted or archived, as far as anyone said.
        agent: who learned this version; None where nobody in particular did.
        authority: whose word it is.
    """

    memory: Memory
    since: datetime | None
    until: datetime | None
    status: Status
    reason: str | None
    agent: str | None
    authority: Authority


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten, or would be. `len` and `int` of it are how many memories.

    Attributes:
        memory_ids: in the order of their ids; lessons that went with their outcomes are not among them.
        dry_run: nothing was removed.
    """

    memory_ids: tuple[str, ...]
    dry_run: bool = False

    def __len__(self) -> int:
        return len(self.memory_ids)

    def __int__(self) -> int:
        return len(self.memory_ids)

    def __str__(self) -> str:
        return (
            f"{'would forget' if self.dry_run else 'forgot'} {len(self)} {'memory' if len(self) == 1 else 'memories'}"
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the store holds a memory: what supports it, what speaks against it, where it came from, what it mentions."""

    memory: Memory
    supported_by: tuple[Link, ...]
    contradicted_by: tuple[Link, ...]
    supports: tuple[Link, ...]
    contradicts: tuple[Link, ...]
    sources: tuple[Link, ...]
    derived: tuple[Link, ...]
    entities: tuple[str, ...]
    history: tuple[Memory, ...]

    def __str__(self) -> str:
        lines = [f"{self.memory.kind} {self.memory.id}: {self.memory.text}"]
        if self.memory.confidence is not None:
            lines.append(f"  confidence {self.memory.confidence:.2f}, {self.memory.status}")
        groups = (
            ("supported by", self.supported_by),
            ("contradicted by", self.contradicted_by),
            ("supports", self.supports),
            ("contradicts", self.contradicts),
            ("comes from", self.sources),
            ("gave rise to", self.derived),
        )
        for title, links in groups:
            lines.extend(f"  {title} {_named(link.memory)}" for link in links)
        if self.entities:
            lines.append("  mentions " + ", ".join(self.entities))
        return "\n".join(lines)


def _named(memory: Memory) -> str:
    """A memory in a line; what holds no longer says so."""
    line = f"{memory.kind} {memory.id}: {memory.text!r}"
    if memory.status is Status.ACTIVE:
        return line
    return f"{line} ({memory.status}{f': {memory.retired_reason}' if memory.retired_reason else ''})"
