"""A slice as text that an agent can act on, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from alma_graph.errors import InvalidInputError, shown
from alma_graph.index.tokens import is_spaceless
from alma_graph.model import AntiPattern, DomainKnowledge, Heuristic, Memory, Observation, Outcome, UserPreference

CHARS_PER_TOKEN = 4
_LONGEST_ITEM = 600
"""Characters of one memory that are shown."""

_WORKS, _FAILS = "Strategies that work:", "Strategies that failed more often than not:"
_SECTIONS = (
    (_WORKS, Heuristic),
    (_FAILS, Heuristic),
    ("Warnings:", AntiPattern),
    ("Facts:", DomainKnowledge),
    ("Preferences:", UserPreference),
    ("Evidence:", Outcome),
    ("Said or seen:", Observation),
)


class Hit(Protocol):
    """As much of a hit as is shown."""

    @property
    def memory(self) -> Memory: ...
    @property
    def status(self) -> str: ...
    @property
    def context(self) -> tuple[Memory, ...]: ...


def estimate_tokens(text: str) -> int:
    """Tokens of a text, estimated from above for common tokenizers: one for every four characters begun, and one for
    every character of a script without spaces."""
    dense = sum(map(is_spaceless, text)) if not text.isascii() else 0
    return dense + -(-(len(text) - dense) // CHARS_PER_TOKEN)


def prompt(hits: Sequence[Hit], preferences: Sequence[UserPreference], token_budget: int) -> str:
    """Hits and standing preferences as text: grouped by kind, best first within each, never over the budget.

    The best hits are taken first, so that what does not fit is the least relevant; then the groups are written in a
    fixed order. A memory's text stands in one line, its white space folded.

    Raises:
        InvalidInputError: the budget is below 1.
    """
    if isinstance(token_budget, bool) or not isinstance(token_budget, int) or token_budget < 1:
        raise InvalidInputError(f"token_budget={shown(token_budget)} is no budget; give 1 or more tokens")
    lines: dict[str, list[str]] = {title: [] for title, _ in _SECTIONS}
    written: set[str] = set()
    used = 0
    entries: list[tuple[Memory, str, tuple[Memory, ...]]] = [(hit.memory, hit.status, hit.context) for hit in hits]
    entries += [(memory, "active", ()) for memory in preferences]
    for memory, status, context in entries:
        if memory.id in written:
            continue
        title = _title(memory)
        line = _line(memory, status)
        around = [_turn(turn) for turn in context if turn.id not in written]
        for block in ([line, *around], [line]) if around else ([line],):
            cost = sum(estimate_tokens(text + "\n") for text in block)
            cost += 0 if lines[title] else estimate_tokens(title + "\n") + 1
            if used + cost <= token_budget:
                lines[title] += block
                used += cost
                written.add(memory.id)
                break
    return "\n\n".join("\n".join([title, *lines[title]]) for title, _ in _SECTIONS if lines[title])


def _title(memory: Memory) -> str:
    if isinstance(memory, Heuristic) and 2 * memory.success_count < memory.occurrence_count:
        return _FAILS
    return next(title for title, cls in _SECTIONS if isinstance(memory, cls))


def _line(memory: Memory, status: str) -> str:
    label = "" if status == "active" else f"[{status.upper()}] "
    return f"- {label}{_told(memory)}"


def _told(memory: Memory) -> str:
    if isinstance(memory, Heuristic):
        counts = f" ({memory.success_count} of {memory.occurrence_count} succeeded)" if memory.occurrence_count else ""
        about = memory.context or ("" if memory.category == "general" else memory.category)
        context = f"{_folded(about)}: " if about else ""
        return f"{context}{_folded(memory.strategy)}{counts}"
    if isinstance(memory, AntiPattern):
        why = f" Why: {_folded(memory.why_bad).rstrip('.')}." if memory.why_bad.strip() else ""
        instead = f" Instead: {_folded(memory.better_alternative)}" if memory.better_alternative.strip() else ""
        failures = memory.occurrence_count - memory.success_count
        counted = memory.occurrence_count and not memory.why_bad.startswith("Failed ")  # which counts already
        counts = f" ({failures} of {memory.occurrence_count} failed)" if counted else ""
        about = f"{_folded(memory.context)}: " if memory.context else ""
        return f"Avoid: {about}{_folded(memory.pattern)}{counts}.{why}{instead}"
    if isinstance(memory, Outcome):
        how = f" by {_folded(memory.strategy_used)}" if memory.strategy_used.strip() else ""
        error = f" ({_folded(memory.error_message)})" if memory.error_message else ""
        return f"{'Succeeded' if memory.succeeded else 'Failed'}: {_folded(memory.task)}{how}{error}"
    if isinstance(memory, Observation):
        return _spoken(memory)
    if isinstance(memory, UserPreference):
        return f"{_folded(memory.category)}: {_folded(memory.preference)}"
    return _folded(memory.text)


def _spoken(memory: Observation) -> str:
    who = f"{_folded(memory.speaker)}: " if memory.speaker else ""
    return f"{_date(memory.occurred_at)}{who}{_folded(memory.content)}"


def _turn(memory: Memory) -> str:
    return f"    beside it: {_spoken(memory) if isinstance(memory, Observation) else _told(memory)}"


def _date(moment: datetime | None) -> str:
    return f"({moment.date().isoformat()}) " if moment else ""


def _folded(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= _LONGEST_ITEM else folded[: _LONGEST_ITEM - 3] + "..."
