"""Which place lies in which: enough to tell "in the EU" and "in Frankfurt" from "in the EU" and "in Virginia"."""

from __future__ import annotations

import re
from typing import Literal

from alma_graph.beliefs.wordlist import word_set

_EU = word_set("""
    amsterdam athens austria belgium berlin bonn brussels bulgaria cologne copenhagen croatia cyprus czechia denmark
    dublin estonia finland france frankfurt germany greece hamburg helsinki hungary ireland italy latvia lisbon
    lithuania luxembourg lyon madrid malta milan munich netherlands paris poland porto portugal prague romania rome
    slovakia slovenia spain stockholm sweden turin vienna warsaw
""")
_UK = word_set("britain england london manchester leeds bristol edinburgh glasgow scotland wales cardiff belfast")
_US = word_set("""
    arizona atlanta austin boston california chicago colorado dallas denver florida georgia houston illinois iowa
    miami nevada ohio oregon seattle texas utah virginia washington
""")
_ASIA = word_set("""
    bangalore beijing china delhi hyderabad india indonesia jakarta japan korea malaysia mumbai osaka seoul shanghai
    shenzhen singapore taipei taiwan thailand tokyo vietnam
""")
_OTHER_EUROPE = word_set("bergen geneva iceland norway oslo reykjavik serbia switzerland ukraine zurich kyiv belgrade")
REGIONS: dict[str, frozenset[str]] = {
    "eu": _EU,
    "europe": _EU | _UK | _OTHER_EUROPE | {"eu", "uk"},
    "uk": _UK,
    "us": _US,
    "usa": _US,
    "america": _US | {"us", "usa", "canada", "mexico", "brazil"},
    "asia": _ASIA,
}
"""Region -> countries, states and cities in it that people name; far from complete, an unknown place tells nothing."""

_KNOWN = frozenset().union(*REGIONS.values()) | frozenset(REGIONS)
_CLOUD_REGION = re.compile(r"^(eu|us|ap|uk|europe|asia)-")
_CLOUD_PREFIXES = {"ap": "asia"}

Containment = Literal["apart", "inside", "unknown"]


def containment(left: str, right: str) -> Containment:
    """How two places lie to each other; `unknown` also where neither is a region."""
    left, right = _region_of_cloud(left), _region_of_cloud(right)
    if left not in REGIONS and right not in REGIONS:
        return "unknown"
    if left == right or right in REGIONS.get(left, ()) or left in REGIONS.get(right, ()):
        return "inside"
    if REGIONS.get(left) is not None and REGIONS.get(left) == REGIONS.get(right):
        return "inside"
    return "apart" if left in _KNOWN and right in _KNOWN else "unknown"


def is_region(place: str) -> bool:
    """A region that has places of its own in it."""
    return _region_of_cloud(place) in REGIONS


def _region_of_cloud(place: str) -> str:
    match = _CLOUD_REGION.match(place)
    return _CLOUD_PREFIXES.get(match[1], match[1]) if match else place
