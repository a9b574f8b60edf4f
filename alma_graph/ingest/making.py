"""Models out of the mappings that callers hand in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from alma_graph.errors import AlmaGraphError, InvalidInputError, shown
from alma_graph.model import Memory, Outcome

_M = TypeVar("_M", bound=Memory)


def made(cls: type[_M], item: Mapping[str, Any] | _M, at: int | None = None) -> _M:
    """The model of one item of a batch, or of the keywords of a call. `occurred_at` is the memory's `valid_from`.

    Raises:
        InvalidInputError: the item cannot become one; the message names its place and the field.
    """
    where = "" if at is None else f"items[{at}]: "
    if isinstance(item, cls):
        return item
    if not isinstance(item, Mapping):
        raise InvalidInputError(f"{where}{shown(item)} is neither a mapping of keywords nor {cls.__name__}")
    for key in item:
        if not isinstance(key, str):
            raise InvalidInputError(f"{where}the keyword {shown(key)} is no text")
    fields = {key: value for key, value in item.items() if value is not None}
    if "occurred_at" in fields:
        fields.setdefault("valid_from", fields.pop("occurred_at"))
    try:
        return cls(**fields)
    except AlmaGraphError as error:
        raise InvalidInputError(f"{where}{error}") from None


def by_someone(outcome: Outcome, what: str) -> Outcome:
    """The outcome, which must have an agent; `what` names it in the error."""
    if outcome.agent is None:
        raise InvalidInputError(f"{what} has no agent; say who did the task")
    return outcome
