"""Backends of other distributions, found by name through the entry points of the group `alma_graph.backends`.

An entry point's name is the backend's name and the scheme of its locations; its value is a callable:

    def open(location, *, read_only, create, lock_timeout, **options) -> Backend

`location` is what stands behind "NAME:" ("PATH" of "mine:PATH", "//host/db" of "mine://host/db"), `options` are the
keywords of `ALMA.open` that are not its own. It is called at every open; where it gives one object to several, that
object counts its closes. It raises `AlmaGraphError`s. `alma_graph.testing` is the suite for it. The names of our own
backends are not looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from alma_graph.backends.protocol import Backend
from alma_graph.errors import AlmaGraphError, BackendError, InvalidInputError, UnsupportedError, shown, without_secrets

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "alma_graph.backends"

_NAME = re.compile(r"[A-Za-z][\w-]+")
"""Two characters or more: one is the drive of a path on Windows."""


class Opener(Protocol):
    """What an entry point names."""

    def __call__(
        self, location: str, *, read_only: bool, create: bool, lock_timeout: float, **options: Any
    ) -> Backend: ...


def plugin_names() -> tuple[str, ...]:
    """The names of all backends that other distributions offer, in alphabetical order."""
    return tuple(sorted({entry.name for entry in _offered()}))


def is_plugin(name: str) -> bool:
    """Whether some distribution offers a backend of this name."""
    return _NAME.fullmatch(name) is not None and any(True for _ in _offered(name=name))


def open_plugin(
    name: str, location: str, *, read_only: bool, create: bool, lock_timeout: float, options: dict[str, Any]
) -> Backend:
    """Opens a store of a backend that `is_plugin`.

    Raises:
        UnsupportedError: two distributions offer the name, or what is offered cannot be loaded or is no backend; the
            message names the distributions.
        BackendError: the backend failed with an error that is not ours.
    """
    entry = _entry(name)
    try:
        opener: Opener = entry.load()
    except Exception as error:  # importing runs code of others: whatever it raises
        raise UnsupportedError(
            f"the backend {name!r} of {_home(entry)} cannot be loaded from {entry.value!r} "
            f"({type(error).__name__}: {error}); install that distribution again, or another version of it"
        ) from error
    if not callable(opener):
        raise UnsupportedError(
            f"the backend {name!r} of {_home(entry)} is {shown(opener)}, no callable; {entry.value!r} must open a store"
        )
    try:
        backend = opener(location, read_only=read_only, create=create, lock_timeout=lock_timeout, **options)
    except AlmaGraphError:
        raise
    except Exception as error:
        raise BackendError(
            f"the backend {name!r} of {_home(entry)} failed to open {shown(location)}: {type(error).__name__}: "
            f"{without_secrets(str(error))}"
        ) from error
    missing = [member for member in _members() if not hasattr(backend, member)]
    if missing:
        raise UnsupportedError(
            f"the backend {name!r} of {_home(entry)} opened {shown(backend)}, which has no {', '.join(missing)}; it "
            "must do all of alma_graph.backends.Backend"
        )
    return backend


def _offered(name: str | None = None) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # slow to load, and most stores are our own

    return entry_points(group=GROUP) if name is None else entry_points(group=GROUP, name=name)


def _entry(name: str) -> EntryPoint:
    found: dict[tuple[str, str], EntryPoint] = {}
    for entry in _offered(name=name):  # one distribution may be on the path twice
        found.setdefault((_home(entry), entry.value), entry)
    if not found:
        raise InvalidInputError(f"no distribution offers a backend named {name!r}")
    if len(found) > 1:
        offers = " and ".join(sorted(f"{home} ({value})" for home, value in found))
        raise UnsupportedError(f"the backend {name!r} is offered more than once, by {offers}; uninstall all but one")
    return next(iter(found.values()))


def _home(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unnamed distribution"


def _members() -> list[str]:
    return sorted({*Backend.__annotations__, *(name for name in vars(Backend) if not name.startswith("_"))})
