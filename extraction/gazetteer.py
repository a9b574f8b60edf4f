"""Names that are known beforehand (technologies, firms, practices), read once from `gazetteer.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MAX_WORDS = 4
"""Longest known name, in words."""

_GAP = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class KnownName:
    """One known name.

    Attributes:
        type: entity type.
        name: the spelling to show.
        canonical: key of the name and of all its aliases.
        spellings: the only spellings that count, or empty when any letter case does.
    """

    type: str
    name: str
    canonical: str
    spellings: frozenset[str]


def gazetteer_key(name: str) -> str:
    """Casefolded, with blanks, hyphens and underscores as one blank."""
    return _GAP.sub(" ", name.casefold())


def packaged_lines(filename: str) -> Iterator[str]:
    """Lines of a text file of this package, without comments and blank lines."""
    content = files("alma_graph.extraction").joinpath(filename).read_text(encoding="utf-8")
    for line in content.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


@cache
def gazetteer() -> dict[str, KnownName]:
    """All known names and aliases by `gazetteer_key`; hyphenated ones by their casefolded spelling too."""
    entries: dict[str, KnownName] = {}
    section = ""
    for line in packaged_lines("gazetteer.txt"):
        if line.startswith("["):
            section = line.strip("[]")
            continue
        head, _, rest = line.partition(" = ")
        forms = [head, *rest.split(", ")] if rest else [head]
        shown = head.rstrip("!")
        spellings: dict[str, set[str]] = {}
        free: set[str] = set()
        for form in forms:
            plain = form.rstrip("!")
            keys = [gazetteer_key(plain), plain.casefold()] if "-" in plain else [gazetteer_key(plain)]
            for key in keys:
                spellings.setdefault(key, set()).add(plain)
                if not form.endswith("!"):
                    free.add(key)
        for key, spelled in spellings.items():
            only = frozenset() if key in free else frozenset(spelled)
            entries.setdefault(key, KnownName(section, shown, gazetteer_key(shown), only))
    return entries


def known_name(name: str) -> KnownName | None:
    """The known name with this spelling, or None."""
    found = gazetteer().get(gazetteer_key(name)) or gazetteer().get(name.casefold())
    if found is None or (found.spellings and name not in found.spellings):
        return None
    return found
