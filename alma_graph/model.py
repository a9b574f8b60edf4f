"""What a caller writes and reads: the six kinds of memory and the words they are made of. Frozen, strict, no I/O.

`None` means absent everywhere. A model made by a caller may leave out `id`, `project_id`, `created_at`, `metadata` and
`confidence`; the store fills them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from alma_graph.arguments import json_object
from alma_graph.clock import to_utc
from alma_graph.enums import (
    AntiPatternLevel,
    Authority,
    Disposition,
    EdgeType,
    KnowledgeSource,
    MemoryKind,
    PreferenceSource,
    Result,
    Signal,
    Status,
    enum_of,
    read_enum,
)
from alma_graph.errors import InvalidInputError, shown
from alma_graph.text import checked, checked_name

__all__ = [
    "KINDS",
    "AntiPattern",
    "AntiPatternLevel",
    "Authority",
    "Count",
    "Disposition",
    "DomainKnowledge",
    "EdgeType",
    "Event",
    "Heuristic",
    "KnowledgeSource",
    "Memory",
    "MemoryKind",
    "MemoryScope",
    "Metadata",
    "Model",
    "Name",
    "Observation",
    "OptionalText",
    "Outcome",
    "PreferenceSource",
    "Result",
    "Signal",
    "Status",
    "Text",
    "Texts",
    "Time",
    "Unit",
    "UserPreference",
    "enum_of",
    "read_enum",
    "readable",
]


def _result(value: Any) -> Result:
    if isinstance(value, bool):
        return Result.SUCCESS if value else Result.FAILURE
    try:
        return enum_of(Result)(value)
    except ValueError:
        raise ValueError(f"outcome={shown(value)} is not known; give 'success' or 'failure' (or True, False)") from None


def _metadata(value: Any) -> dict[str, Any]:
    return json_object(value, "metadata")


def _text(value: Any) -> str:
    return checked(value, "text")


def _name(value: Any) -> str:
    return checked_name(value, "text")


def _blank_text(value: Any) -> str:
    return checked(value, "text", blank=True)


Text = Annotated[str, BeforeValidator(_text)]
"""Any non-empty text, kept verbatim."""
Name = Annotated[str, BeforeValidator(_name)]
"""An id, or the name of an agent, a user, a session or a project: any text that can be part of a key."""
OptionalText = Annotated[str, BeforeValidator(_blank_text)]
"""Any text, kept verbatim; may be empty."""
Time = Annotated[datetime, BeforeValidator(to_utc)]
"""UTC and aware; naive input means UTC."""
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A number in [0, 1]."""
Count = Annotated[int, Field(ge=0, lt=2**63)]
"""How many, or how long, in 64 bits."""
Texts = Annotated[Sequence[Text], AfterValidator(tuple)]
"""Any number of non-empty texts; kept as a tuple."""
Metadata = Annotated[dict[str, Any], BeforeValidator(_metadata)]


def readable(error: ValidationError, what: str) -> str:
    """One line a person can act on from pydantic's list of errors."""
    parts = []
    errors = error.errors(include_url=False)
    moments = [item["input"] for item in errors if item["loc"] == ("occurred_at",)]
    for item in errors:
        if item["loc"] == ("valid_from",) and item["input"] in moments:
            continue  # an event's time, told as the caller names it
        where = ".".join(str(step) for step in item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        parts.append(f"{f'{where}: ' if where else ''}{message} (given {shown(item['input'], 80)})")
    return f"{what}: " + "; ".join(parts)


class Model(BaseModel):
    """Base of the public models: frozen, strict, no unknown fields; bad input is an `InvalidInputError`."""

    model_config = ConfigDict(defer_build=True, frozen=True, strict=True, extra="forbid")

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise InvalidInputError(readable(error, type(self).__name__)) from None

    @model_validator(mode="before")
    @classmethod
    def _none_is_absent(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if value is not None}
        return data


class Memory(Model):
    """What every memory has beside the fields of its kind.

    Attributes:
        id: any non-empty text, unique within its project; the store makes one where it is left out.
        agent: who learned it; None where nobody in particular did.
        created_at: when the store recorded it (system time).
        valid_from, valid_to: when it is true in the world (valid time).
        confidence: in [0, 1].
        status: only active memories are retrieved unless others are asked for.
        retired_at, retired_reason: since when and why it is no longer active.
        authority: whose word it is.
        metadata: a JSON object of the caller's.
    """

    own_fields: ClassVar[tuple[str, ...]] = ()
    """The fields of the kind itself, kept in the node's `data`."""
    text_field: ClassVar[str | None] = None
    """The own field that is the memory's whole text, where there is one."""

    id: Name = ""
    project_id: Name = ""
    agent: Name | None = None
    user_id: Name | None = None
    created_at: Time | None = None
    metadata: Metadata = Field(default_factory=dict)
    confidence: Unit | None = None
    status: Annotated[Status, BeforeValidator(enum_of(Status))] = Status.ACTIVE
    authority: Annotated[Authority, BeforeValidator(enum_of(Authority))] = Authority.AGENT
    valid_from: Time | None = None
    valid_to: Time | None = None
    retired_at: Time | None = None
    retired_reason: OptionalText | None = None
    use_count: Count = 0
    last_used_at: Time | None = None
    strength: Unit = 1.0

    kind: MemoryKind

    @property
    def text(self) -> str:
        """What is embedded and searched."""
        raise TypeError("Memory is the base of the six kinds; make one of them, such as DomainKnowledge")

    @property
    def category_name(self) -> str | None:
        """The kind's own grouping: category, domain or task type."""
        return None

    @model_validator(mode="after")
    def _times_in_order(self) -> Self:
        if self.valid_from is not None and self.valid_to is not None and self.valid_to < self.valid_from:
            raise ValueError(
                f"valid_to={self.valid_to.isoformat()} lies before valid_from={self.valid_from.isoformat()}"
            )
        return self

    def __hash__(self) -> int:
        return hash((self.kind, self.project_id, self.id))


def _headed(context: str, category: str, statement: str) -> str:
    """A lesson after what it is about, so that a task finds it."""
    about = context.strip() or ("" if category == "general" else category)
    return f"{about}: {statement}" if about else statement


class Heuristic(Memory):
    """A strategy that works, and the outcomes it rests on.

    `success_count` and `occurrence_count` (successes plus failures) are the true counts of the evidence, and
    `confidence` follows from them (alma_graph.learning.confidence). `similar` names strategies that are only alike;
    `context` is the task type, or a task, for which it was learned.
    """

    own_fields = (
        *("strategy", "category", "context", "supporting_outcomes", "success_count", "occurrence_count"),
        *("similar", "updated_at"),
    )
    kind: Literal[MemoryKind.HEURISTIC] = MemoryKind.HEURISTIC
    strategy: Text
    category: Text = "general"
    context: OptionalText = ""
    supporting_outcomes: Texts = ()
    success_count: Count = 0
    occurrence_count: Count = 0
    similar: Texts = ()
    updated_at: Time | None = None

    @property
    def text(self) -> str:
        return _headed(self.context, self.category, self.strategy)

    @property
    def category_name(self) -> str | None:
        return self.category

    @property
    def success_rate(self) -> float | None:
        """Successes over occurrences; None where nothing was counted."""
        return self.success_count / self.occurrence_count if self.occurrence_count else None


class Event(Memory):
    """A memory of something that happened at one time: `occurred_at`, which is its `valid_from`."""

    occurred_at: Time | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_time(cls, data: Any) -> Any:
        """Either name fills the other."""
        if isinstance(data, dict):
            moment = data.get("occurred_at", data.get("valid_from"))
            if moment is not None:
                data = {**data, "occurred_at": moment, "valid_from": data.get("valid_from", moment)}
        return data


class Outcome(Event):
    """How one task ended, and with what strategy. `duration_ms` in milliseconds."""

    own_fields = (
        "task",
        "task_type",
        "outcome",
        "strategy_used",
        "duration_ms",
        "error_message",
        "feedback",
        "session_id",
    )
    kind: Literal[MemoryKind.OUTCOME] = MemoryKind.OUTCOME
    task: Text
    outcome: Annotated[Result, BeforeValidator(_result)]
    strategy_used: OptionalText = ""
    task_type: Text | None = None
    duration_ms: Count | None = None
    error_message: OptionalText | None = None
    feedback: OptionalText | None = None
    session_id: Name | None = None

    @property
    def succeeded(self) -> bool:
        return self.outcome is Result.SUCCESS

    @property
    def text(self) -> str:
        parts = [self.task, self.strategy_used, self.error_message or "", self.feedback or ""]
        return "\n".join(part for part in parts if part.strip())

    @property
    def category_name(self) -> str | None:
        return self.task_type


class AntiPattern(Memory):
    """What not to do, why, and what works instead (empty where the store knows nothing better).

    `why_bad` belongs to the searched text only where a person stated it: what failures show grows with each of them,
    and the failures themselves, which carry their errors, are joined to it.
    """

    own_fields = (
        "pattern",
        "why_bad",
        "better_alternative",
        "category",
        "context",
        "level",
        "success_count",
        "occurrence_count",
    )
    kind: Literal[MemoryKind.ANTI_PATTERN] = MemoryKind.ANTI_PATTERN
    pattern: Text
    why_bad: OptionalText = ""
    better_alternative: OptionalText = ""
    category: Text = "general"
    context: OptionalText = ""
    level: Annotated[AntiPatternLevel, BeforeValidator(enum_of(AntiPatternLevel))] = AntiPatternLevel.WARNING
    success_count: Count = 0
    occurrence_count: Count = 0

    @property
    def text(self) -> str:
        head = _headed(self.context, self.category, self.pattern)
        asserted = not self.occurrence_count
        return f"{head}\n{self.why_bad}" if asserted and self.why_bad.strip() else head

    @property
    def category_name(self) -> str | None:
        return self.category


class DomainKnowledge(Memory):
    """A fact about the domain."""

    own_fields = ("domain", "fact", "source")
    text_field = "fact"
    kind: Literal[MemoryKind.DOMAIN_KNOWLEDGE] = MemoryKind.DOMAIN_KNOWLEDGE
    domain: Text
    fact: Text
    source: Annotated[KnowledgeSource, BeforeValidator(enum_of(KnowledgeSource))] = KnowledgeSource.USER_STATED

    @property
    def text(self) -> str:
        return self.fact

    @property
    def category_name(self) -> str | None:
        return self.domain


class UserPreference(Memory):
    """What one user wants."""

    own_fields = ("category", "preference", "source")
    text_field = "preference"
    kind: Literal[MemoryKind.USER_PREFERENCE] = MemoryKind.USER_PREFERENCE
    user_id: Name  # pyright: ignore[reportGeneralTypeIssues] - required here, and a keyword as all fields are
    category: Text
    preference: Text
    source: Annotated[PreferenceSource, BeforeValidator(enum_of(PreferenceSource))] = (
        PreferenceSource.EXPLICIT_INSTRUCTION
    )

    @property
    def text(self) -> str:
        return self.preference

    @property
    def category_name(self) -> str | None:
        return self.category


class Observation(Event):
    """A raw turn or event of an episode; `occurred_at` becomes `valid_from`."""

    own_fields = ("content", "speaker", "session_id")
    text_field = "content"
    kind: Literal[MemoryKind.OBSERVATION] = MemoryKind.OBSERVATION
    content: Text = Field(alias="text")
    session_id: Name
    speaker: Text | None = None

    @property
    def text(self) -> str:
        return self.content

    @property
    def category_name(self) -> str | None:
        return None


KINDS: dict[MemoryKind, type[Memory]] = {
    MemoryKind.HEURISTIC: Heuristic,
    MemoryKind.OUTCOME: Outcome,
    MemoryKind.ANTI_PATTERN: AntiPattern,
    MemoryKind.DOMAIN_KNOWLEDGE: DomainKnowledge,
    MemoryKind.USER_PREFERENCE: UserPreference,
    MemoryKind.OBSERVATION: Observation,
}


class MemoryScope(Model):
    """What an agent may learn, and whose memories it may read (ALMA's scope).

    Attributes:
        can_learn: categories (task types, domains) it may write; empty means any.
        cannot_learn: categories it may never write.
        min_occurrences_for_heuristic: successes of like strategy in like context before a heuristic is formed.
        inherit_from: agents whose memories it reads beside its own; `["*"]` is every agent of the project.
        share_with: agents that may read its memories.
    """

    agent_name: Text
    can_learn: Texts = ()
    cannot_learn: Texts = ()
    min_occurrences_for_heuristic: Annotated[int, Field(ge=1)] = 3
    inherit_from: Texts = ()
    share_with: Texts = ()
