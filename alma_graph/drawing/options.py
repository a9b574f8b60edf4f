"""The options of the drawing functions, checked: unknown ones and values that cannot be drawn are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from alma_graph.arguments import flag, listed, number, whole
from alma_graph.errors import InvalidInputError, shown
from alma_graph.text import checked

_SWITCHES = ("include_entities", "include_agents", "interactive")


def check_options(options: Mapping[str, Any], *functions: Callable[..., Any]) -> None:
    """Refuses an option that none of the functions has by keyword.

    Raises:
        InvalidInputError: names the option and lists those there are.
    """
    known = {
        name
        for function in functions
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    for name in options:
        if name not in known:
            raise InvalidInputError(f"{name}={shown(options[name])} is no option; there are {', '.join(sorted(known))}")


def check_values(**options: Any) -> None:
    """Refuses values of the wrong kind; those that are left out are not looked at.

    Raises:
        InvalidInputError: names the option, the value and the cure.
    """
    for name in _SWITCHES:
        if name in options:
            flag(options[name], name)
    for name in ("width", "height"):
        if options.get(name) is not None:
            number(options[name], name, above=0)
    if options.get("limit") is not None:
        whole(options["limit"], "limit", least=1)
    if "hops" in options:
        whole(options["hops"], "hops")
    if options.get("title") is not None:
        checked(options["title"], "title", blank=True)


def centres_of(around: object) -> list[str]:
    """The ids that a drawing is made around; none for None."""
    if around is None:
        return []
    ids = [around] if isinstance(around, str) else listed(around, "around", of="ids of memories")
    return [checked(name, "around") for name in ids]
