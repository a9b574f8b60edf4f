"""Which memories of a batch are new, which the store has already, and which clash with what it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from alma_graph.errors import IdConflictError, InvalidInputError, RetractedError, shown
from alma_graph.ids import uuid7
from alma_graph.model import Memory, MemoryKind
from alma_graph.text import content_hash

ALWAYS_NEW = frozenset({MemoryKind.OUTCOME, MemoryKind.OBSERVATION})
"""Events: two equal ones are two events. Of the other kinds an equal text of one owner is one memory."""

_FILLED = frozenset({"id", "project_id", "created_at", "kind"})


class Known(Protocol):
    """What the store knows of a project, as far as identity goes."""

    def get(self, memory_id: str) -> Memory | None:
        """The stored memory with this id."""

    def same_content(self, memory: Memory, digest: str) -> Memory | None:
        """The active stored memory of the same kind and owner with this content hash."""

    def retracted(self, memory: Memory, digest: str) -> Memory | None:
        """As `same_content`, of those that were retracted."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A memory as it is, or is to be, stored."""

    memory: Memory
    new: bool
    named: bool = False
    """The caller gave the id."""


def owner(memory: Memory) -> tuple[str | None, str | None, str | None]:
    """Whose memory it is, and in which category: equal texts of two owners are two memories."""
    return (memory.agent, memory.user_id, memory.category_name)


def differing_fields(given: Memory, stored: Memory) -> list[str]:
    """Names of the fields the caller gave whose stored values differ."""
    names = sorted(given.model_fields_set - _FILLED)
    return [name for name in names if getattr(given, name) != getattr(stored, name)]


def place(memories: Sequence[Memory], project_id: str, known: Known, now: Callable[[], datetime]) -> list[Placed]:
    """Gives every memory its id, project and time; equal ones come back as they are stored.

    Raises:
        InvalidInputError: a memory names another project.
        IdConflictError: an id is taken by a memory with other fields, in the store or earlier in the batch.
        RetractedError: a text was retracted, and the memory is not that very one by its id.
    """
    placed: list[Placed] = []
    by_id: dict[str, Memory] = {}
    by_content: dict[tuple[object, ...], Memory] = {}
    for memory in memories:
        if memory.project_id and memory.project_id != project_id:
            raise InvalidInputError(
                f"the memory names project_id={memory.project_id!r}, this store handle is of {project_id!r}; "
                "leave project_id out or open that project"
            )
        digest = content_hash(memory.text)
        content = (memory.kind, owner(memory), digest)
        if memory.id:
            stored = by_id.get(memory.id) or known.get(memory.id)
            if stored is not None:
                _refuse_conflict(memory, stored)
        elif memory.kind in ALWAYS_NEW:
            stored = None
        else:
            stored = by_content.get(content) or known.same_content(memory, digest)
        if stored is not None:
            placed.append(Placed(stored, new=False, named=bool(memory.id)))
            continue
        refuse_retracted(memory, digest, known)
        moment = memory.created_at or now()
        filled = memory.model_copy(
            update={"id": memory.id or uuid7(moment), "project_id": project_id, "created_at": moment}
        )
        by_id[filled.id] = filled
        by_content[content] = filled
        placed.append(Placed(filled, new=True, named=bool(memory.id)))
    return placed


def confirm(placed: Sequence[Placed], known: Known) -> list[Placed]:
    """Looks again, right before the write: another thread may have stored an equal memory since `place`.

    Raises:
        IdConflictError: an id was taken meanwhile by a memory with other fields.
        RetractedError: the same text was retracted meanwhile.
    """
    confirmed: list[Placed] = []
    for item in placed:
        memory = item.memory
        stored: Memory | None = None
        if item.new and item.named:
            stored = known.get(memory.id)
            if stored is not None:
                _refuse_conflict(memory, stored)
        elif item.new and memory.kind not in ALWAYS_NEW:
            stored = known.same_content(memory, content_hash(memory.text))
        if item.new and stored is None:
            refuse_retracted(memory, content_hash(memory.text), known)
        confirmed.append(item if stored is None else Placed(stored, new=False, named=item.named))
    return confirmed


def refuse_retracted(memory: Memory, digest: str, known: Known) -> None:
    """Raises RetractedError where the same text of the same owner was retracted; events are new whatever they say."""
    gone = None if memory.kind in ALWAYS_NEW else known.retracted(memory, digest)
    if gone is not None:
        when = "" if gone.retired_at is None else f" on {gone.retired_at:%Y-%m-%d}"
        reason = gone.retired_reason or "no reason was given"
        raise RetractedError(
            f"{shown(memory.text, 80)} was retracted{when} as {gone.id!r}: {reason}; if it holds after all, call "
            f"restore({gone.id!r})",
            memory_id=gone.id,
            reason=gone.retired_reason or "",
        )


def _refuse_conflict(given: Memory, stored: Memory) -> None:
    if given.kind is not stored.kind:
        raise IdConflictError(f"id {given.id!r} is taken by a memory of kind {stored.kind}; choose another id")
    differing = differing_fields(given, stored)
    if differing:
        clash = "; ".join(
            f"{name}: stored {getattr(stored, name)!r}, given {getattr(given, name)!r}" for name in differing
        )
        raise IdConflictError(
            f"id {given.id!r} is taken by a memory with other fields ({clash}); choose another id, or revise the memory"
        )
