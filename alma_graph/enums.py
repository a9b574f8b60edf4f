"""The words that memories and edges are made of. Each accepts and equals its plain text and goes through JSON."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from alma_graph.errors import InvalidInputError, shown


class MemoryKind(StrEnum):
    """What sort of thing a memory is. The first five are what agents learn; an observation is raw evidence."""

    HEURISTIC = "heuristic"
    OUTCOME = "outcome"
    ANTI_PATTERN = "anti_pattern"
    DOMAIN_KNOWLEDGE = "domain_knowledge"
    USER_PREFERENCE = "user_preference"
    OBSERVATION = "observation"


class Status(StrEnum):
    """Where a memory stands: only active ones come back from `retrieve` unless others are asked for."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    ARCHIVED = "archived"


class Authority(StrEnum):
    """Whose word it is, the strongest first."""

    USER = "user"
    TOOL = "tool"
    AGENT = "agent"
    INFERRED = "inferred"


class Result(StrEnum):
    """How a task ended."""

    SUCCESS = "success"
    FAILURE = "failure"


class KnowledgeSource(StrEnum):
    """Where a fact comes from."""

    DOCUMENTATION = "documentation"
    CODE_ANALYSIS = "code_analysis"
    USER_STATED = "user_stated"


class PreferenceSource(StrEnum):
    """Where a preference comes from."""

    EXPLICIT_INSTRUCTION = "explicit_instruction"
    INFERRED_FROM_FEEDBACK = "inferred_from_feedback"


class AntiPatternLevel(StrEnum):
    """How strong the evidence is: failures lead (warning), or P(success rate < .5) >= .9 (established)."""

    WARNING = "warning"
    ESTABLISHED = "established"


class EdgeType(StrEnum):
    """The typed edges of the graph (DESIGN: SUPPORTS, CONTRADICTS and INHERITS_FROM join memories)."""

    SUPPORTS = "SUPPORTS"
    CONTRADICTS = "CONTRADICTS"
    INHERITS_FROM = "INHERITS_FROM"
    MENTIONS = "MENTIONS"
    RELATES_TO = "RELATES_TO"
    LEARNED = "LEARNED"
    ABOUT = "ABOUT"
    PART_OF = "PART_OF"
    NEXT = "NEXT"
    HAS_CHUNK = "HAS_CHUNK"


class Signal(StrEnum):
    """What showed a contradiction."""

    NEGATION = "negation"
    ANTONYM = "antonym"
    QUANTITY = "quantity"
    EXCLUSIVE_VALUE = "exclusive_value"
    OUTCOME = "outcome"
    STATE = "state"
    NLI = "nli"
    USER = "user"


class Disposition(StrEnum):
    """How a contradiction was settled; `open` until something settles it."""

    UPDATE = "update"
    CORRECTION = "correction"
    CONFLICT = "conflict"
    SCOPE_DIFFERENCE = "scope_difference"
    BOTH_TRUE = "both_true"
    OPEN = "open"


INHERITANCE_MODES = frozenset({"derived", "consolidated", "adopted"})
"""How one memory, or agent, comes from another: the `mode` of an INHERITS_FROM edge."""

ASSERTED = 0.7
"""Score from which a contradiction is asserted; below it is suspected: listed on request, held against nothing."""

_E = TypeVar("_E", bound=StrEnum)


def enum_of(cls: type[_E]) -> Callable[[Any], _E]:
    """Reads a member from its plain text, letter case aside; anything else is refused with the list of members."""

    def read(value: Any) -> _E:
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            try:
                return cls(value.strip().lower())
            except ValueError:
                pass
        raise ValueError(f"{shown(value)} is none of {', '.join(repr(str(member)) for member in cls)}")

    return read


def read_enum(cls: type[_E], value: Any, name: str) -> _E:
    """A member from its plain text.

    Raises:
        InvalidInputError: it is none of them; the message names the argument and lists them.
    """
    try:
        return enum_of(cls)(value)
    except ValueError as error:
        raise InvalidInputError(f"{name}: {error}") from None
