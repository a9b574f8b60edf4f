"""How the quantities of two claims relate: equal, in each other's range, in conflict, or not comparable."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from alma_graph.beliefs.claim_model import Claim, ClaimQuantity, Context
from alma_graph.beliefs.lexicon_function import LOCATING_NOUNS
from alma_graph.beliefs.quantities import Quantity
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import agrees_with_any, word_relation

CONFLICT, EQUAL, WITHIN, NOT_COMPARABLE = 1.0, -1.0, -0.6, 0.0
BYTE_TOLERANCE = 0.026
"""1 MB and 1 MiB are the same size in speech."""

_INTERCHANGEABLE = word_set("count port version")
_DATES = word_set("date weekday")
_KIND_FACTOR = {"date": 0.8, "weekday": 0.8, "clock": 0.9}


class Placed(NamedTuple):
    """A quantity with the words around it."""

    quantity: ClaimQuantity
    context: Context
    claim: Claim

    def clock(self) -> float | None:
        """Minutes of "at 10", a bare number that says when something starts; None for anything else."""
        value = self.quantity.value
        if value.kind != "count" or value.noun or not (value.low == value.high and value.low in _HOURS):
            return None
        hour = f"{value.low:g}"
        said = re.search(
            rf"\b(?:at|to|from|until|till|before|after|by) {hour}(?: sharp)?(?: \.)?(?:$| (?:on|in|every)\b)",
            self.claim.words,
        )
        return value.low * 60 if said else None


_HOURS = frozenset(range(1, 25))
_HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class QuantityRelation:
    """The best relation of the quantities of two claims.

    Attributes:
        relation: `CONFLICT`, `EQUAL`, `WITHIN` (one in the other's range) or `NOT_COMPARABLE`.
        kind: kind of the two quantities.
        factor: how much a conflict of this kind weighs, in [0, 1].
        shared_near: share of the nouns near them that agree, when at least two do; else 0.
        shared_weight: weight of the words around them that agree.
        counted: both count the same noun.
        presupposed: one stands in passing.
        equal: number of equal pairs.
        counts: values (identifiers aside) on each side.
        other_date: values of two sorts conflict, a date among them: the date may explain the other.
        ranged: a range or "about" is involved.
        one_sided: only one claim has quantities.
        spans: (start, end) on each side.
    """

    relation: float = NOT_COMPARABLE
    kind: str = ""
    factor: float = 0.0
    shared_near: float = 0.0
    shared_weight: float = 0.0
    counted: bool = False
    presupposed: bool = False
    equal: int = 0
    counts: tuple[int, int] = (0, 0)
    other_date: bool = False
    ranged: bool = False
    one_sided: bool = False
    spans: tuple[tuple[int, int], tuple[int, int]] | None = None


_NOTHING = QuantityRelation()


def relate_quantities(left: Claim, right: Claim) -> QuantityRelation:
    """Relation of the quantities of two claims; a quantity with an equal partner never conflicts."""
    if not left.quantities and not right.quantities:
        return _NOTHING
    many = len(left.quantities) > 1 or len(right.quantities) > 1
    related = [
        (relation, mine, yours)
        for mine in map(Placed, left.quantities, left.contexts, repeat(left))
        for yours in map(Placed, right.quantities, right.contexts, repeat(right))
        if (relation := _relation(mine, yours, many)) != NOT_COMPARABLE
    ]
    settled = {id(placed.quantity) for relation, *pair in related if relation < 0 for placed in pair}
    conflicts = [
        (mine, yours)
        for relation, mine, yours in related
        if relation > 0 and id(mine.quantity) not in settled and id(yours.quantity) not in settled
    ]
    agreements = [entry for entry in related if entry[0] < 0]
    quantities = (*left.quantities, *right.quantities)
    details = QuantityRelation()
    if conflicts:
        details = _described(CONFLICT, *conflicts[0])
    elif agreements:
        details = _described(*agreements[0])
    values = [sum(q.value.kind != "ident" for q in claim.quantities) for claim in (left, right)]
    return QuantityRelation(
        relation=details.relation,
        kind=details.kind,
        factor=details.factor,
        shared_near=details.shared_near,
        shared_weight=details.shared_weight,
        counted=details.counted,
        presupposed=details.presupposed,
        equal=len(agreements),
        counts=(values[0], values[1]),
        other_date=len({mine.quantity.value.kind in _DATES for mine, _ in conflicts}) == 2,
        ranged=any(quantity.value.comparison in ("[]", "~") for quantity in quantities),
        one_sided=bool(left.quantities) != bool(right.quantities) and not all(q.previous for q in quantities),
        spans=details.spans,
    )


def _described(relation: float, mine: Placed, yours: Placed) -> QuantityRelation:
    first, second = mine.quantity.value, yours.quantity.value
    my_context, your_context = mine.context, yours.context
    my_nouns = [word for word in my_context.near if my_context.weights.get(word, 0) >= 1]
    your_nouns = [word for word in your_context.near if your_context.weights.get(word, 0) >= 1]
    agreeing = sum(agrees_with_any(word, tuple(your_nouns)) for word in my_nouns)
    others = tuple(your_context.weights)
    shared = sum(weight for word, weight in my_context.weights.items() if agrees_with_any(word, others))
    smaller = min(sum(my_context.weights.values()), sum(your_context.weights.values()))
    return QuantityRelation(
        relation=relation,
        kind=next((kind for kind in ("age", "clock") if kind in (first.kind, second.kind)), first.kind),
        factor=_KIND_FACTOR.get(first.kind, 1.0),
        shared_near=agreeing / max(1, min(len(my_nouns), len(your_nouns))) if agreeing >= 2 else 0.0,
        shared_weight=shared / (1 + 0.12 * max(0.0, smaller - shared)),
        counted=first.kind == "count" and bool(first.noun) and bool(second.noun),
        presupposed=mine.quantity.presupposed or yours.quantity.presupposed,
        spans=((first.start, first.end), (second.start, second.end)),
    )


def _relation(mine: Placed, yours: Placed, many: bool) -> float:
    first, second = mine.quantity.value, yours.quantity.value
    kinds = {first.kind, second.kind}
    if is_location(mine.quantity) and is_location(yours.quantity) and first.noun == second.noun:
        return EQUAL if first.low == second.low else CONFLICT
    if "ident" in kinds or (kinds == {"version"} and mine.quantity.fronted and yours.quantity.fronted):
        return NOT_COMPARABLE
    if kinds == {"clock", "count"}:
        return _clock_relation(mine, yours)
    if first.kind != second.kind and not _bare_numbers(first, second):
        return NOT_COMPARABLE
    both_counted = first.kind == "count" and bool(first.noun) and bool(second.noun)
    if both_counted and word_relation(first.noun, second.noun).score < 0.7:
        return NOT_COMPARABLE
    my_name, your_name = mine.quantity.previous, yours.quantity.previous
    if first.kind == "version" and my_name and your_name and word_relation(my_name, your_name).score < 0.75:
        return NOT_COMPARABLE
    my_near, your_near = mine.context.near, yours.context.near
    near_matters = many and not both_counted and my_near and your_near
    if near_matters and not any(word_relation(x, y).score >= 0.75 for x in my_near for y in your_near):
        return NOT_COMPARABLE
    if "version" in kinds:
        return _version_relation(_version_text(first), _version_text(second))
    if first.kind == "date":
        return _date_relation(int(first.low), int(second.low))
    if first.kind == "weekday":
        return EQUAL if first.low == second.low else CONFLICT
    return _interval_relation(first, second)


def is_location(quantity: ClaimQuantity) -> bool:
    """ "in room 4": the number names a thing, but the thing is where something is."""
    value = quantity.value
    locates = value.kind == "ident" and value.noun in LOCATING_NOUNS
    return locates and quantity.role in ("x", "o") and not quantity.fronted


def _bare_numbers(first: Quantity, second: Quantity) -> bool:
    """A number without a noun may be a port or a version that the other side names as such."""
    kinds = {first.kind, second.kind}
    if not kinds <= _INTERCHANGEABLE and kinds != {"count", "age"}:
        return False
    return all(quantity.kind != "count" or not quantity.noun for quantity in (first, second))


def _clock_relation(mine: Placed, yours: Placed) -> float:
    """A clock time against a bare hour, of which nobody says whether it is before or after noon."""
    bare, full = (mine, yours) if mine.quantity.value.kind == "count" else (yours, mine)
    minutes = bare.clock()
    if minutes is None:
        return NOT_COMPARABLE
    return EQUAL if (full.quantity.value.low - minutes) % _HALF_DAY == 0 else CONFLICT


def _version_text(quantity: Quantity) -> str:
    return quantity.noun if quantity.kind == "version" else f"{quantity.low:g}"


def _version_relation(first: str, second: str) -> float:
    prefix = first == second or first.startswith(second + ".") or second.startswith(first + ".")
    return EQUAL if prefix else CONFLICT


def _date_relation(first: int, second: int) -> float:
    """Compare only what both say: year, month, day."""
    parts = [
        (mine, yours)
        for mine, yours in (
            (first // 10000, second // 10000),
            (first // 100 % 100, second // 100 % 100),
            (first % 100, second % 100),
        )
        if mine and yours
    ]
    if not parts:
        return NOT_COMPARABLE
    return EQUAL if all(mine == yours for mine, yours in parts) else CONFLICT


def _interval_relation(first: Quantity, second: Quantity) -> float:
    tolerance = BYTE_TOLERANCE if first.kind == "byte" else 1e-6

    def same(x: float, y: float) -> bool:
        return x == y or (math.isfinite(x) and math.isfinite(y) and abs(x - y) <= tolerance * max(abs(x), abs(y)))

    bounds = {first.comparison, second.comparison}
    if bounds == {">="}:
        return EQUAL if same(first.low, second.low) else CONFLICT
    if bounds == {"<="}:
        return EQUAL if same(first.high, second.high) else CONFLICT
    if bounds == {"="}:
        return EQUAL if same(first.low, second.low) else CONFLICT
    if bounds == {">=", "<="}:
        limits = [q.low if q.comparison == ">=" else q.high for q in (first, second)]
        if same(*limits):
            return EQUAL
    if max(first.low, second.low) <= min(first.high, second.high):
        return EQUAL if same(first.low, second.low) or same(first.high, second.high) else WITHIN
    return CONFLICT
