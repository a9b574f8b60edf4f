"""Quantities in text: numbers with their unit in base units, dates, clock times, versions, identifiers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from alma_graph.beliefs import lexicon_numbers as numbers
from alma_graph.beliefs.lexicon_function import IDENTIFYING_NOUNS

ABOUT_TOLERANCE = 0.25
"""How far "about n" reaches, as a share of n."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a text.

    Attributes:
        kind: count, time (seconds), byte, money (per month), percent, port, version, date, weekday, clock (minutes),
            ident (a number that names something), ...
        low, high: bounds in base units; a date is year * 10000 + month * 100 + day with 0 for what is not said.
        comparison: `=`, `>=`, `<=`, `~` or `[]` (a range).
        noun: what is counted, or the text of a version.
        start, end: characters of the parsed text, later of the original text.
    """

    kind: str
    low: float
    high: float
    comparison: str
    noun: str
    start: int
    end: int


class _Value(NamedTuple):
    kind: str
    amount: float
    noun: str
    end: int
    factor: float = 1.0


def find_quantities(text: str, offset: int = 0) -> list[Quantity]:
    """All quantities of `text`, dates first, then clocks, versions and plain numbers; spans are shifted by `offset`."""
    found: list[Quantity] = []
    _add_dates(text, found)
    _add_clocks(text, found)
    for match in numbers.VERSION.finditer(text):
        if _is_free(found, *match.span()):
            found.append(Quantity("version", 0, 0, numbers.EXACT, match.group().lower().lstrip("v"), *match.span()))
    _add_shares(text, found)
    _add_numbers(text, found)
    return [
        Quantity(q.kind, q.low, q.high, q.comparison, q.noun, q.start + offset, q.end + offset)
        for q in found
        if q.end > q.start
    ]


def _is_free(found: list[Quantity], start: int, end: int) -> bool:
    return all(end <= q.start or start >= q.end for q in found)


_COUNTED_AFTER = re.compile(r" (?!(?:was|is|has|as|this|its|plans|does|goes|starts|ends)\b)[a-z]{2,}s\b")


def _add_dates(text: str, found: list[Quantity]) -> None:
    for match in numbers.DATE.finditer(text):
        said = match.group()
        end = match.start() + len(said.rstrip(" ,"))
        if said.strip().lower() in ("may", "march") and (
            not said[0].isupper() or (match.start() == 0 and text[match.end() :].strip())
        ):
            continue  # the verbs, not the months
        part = match.groupdict()
        if part["year_only"] and _COUNTED_AFTER.match(text[match.end() : match.end() + 30]):
            continue  # "2000 entries" counts
        if part["weekday"]:
            day = numbers.WEEKDAYS.index(part["weekday"][:3].lower())
            found.append(Quantity("weekday", day, day, numbers.EXACT, "", match.start(), end))
            continue
        if part["iso"]:
            year, month, day = (int(piece) for piece in part["iso"].split("-"))
        else:
            year = int(part["year_a"] or part["year_b"] or part["year_c"] or part["year_only"] or 0)
            name = part["month_second"] or part["month_first"] or part["month_only"]
            month = numbers.MONTHS[name[:3].lower()] if name else 0
            day = int(part["day_first"] or part["day_second"] or part["day_only"] or 0)
        value = year * 10000 + month * 100 + day
        found.append(Quantity("date", value, value, numbers.EXACT, "", match.start(), end))


_NOON = re.compile(r"\b(?:at|until|till|by|before|after|from|around) (midnight|noon|midday)\b", re.IGNORECASE)


def _add_clocks(text: str, found: list[Quantity]) -> None:
    for match in numbers.CLOCK.finditer(text):
        if not _is_free(found, *match.span()):
            continue
        hour = int(match["hour"] or match["bare_hour"])
        afternoon = (match["half"] or match["bare_half"] or "").lower() == "pm"
        minutes = (hour % 12 + 12 if afternoon else hour % 24) * 60 + int(match["minute"] or 0)
        found.append(Quantity("clock", minutes, minutes, numbers.EXACT, "", *match.span()))
    for match in _NOON.finditer(text):
        minutes = 0 if match[1].lower() == "midnight" else 720
        found.append(Quantity("clock", minutes, minutes, numbers.EXACT, "", *match.span(1)))


_WORD_NUMBER = re.compile(rf"\b({'|'.join(numbers.NUMBER_WORDS)})\b", re.IGNORECASE | re.ASCII)
_HUNDREDS = re.compile(r"\b(\d+)( *)100 ")


_PART_OF_UNIT = re.compile(
    r"\b(?P<part>half|(?:a |three )?quarters? of|a third of) an? "
    r"(?P<unit>hour|day|minute|second|year|week|month|dozen)\b",
    re.IGNORECASE,
)
_ONE_AND_A_HALF = re.compile(r"\b(?:an?|one) (hour|minute|day|week|month|year) and a half\b", re.IGNORECASE)
_ONE_UNIT = re.compile(
    r"(\b(?:takes?|took|lasts?|lasted|is|every|after|for) )(an? (hour|minute|second|day|week|month|year))\b"
    r"(?! (?:away|off|ago|long|from|and))",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\b(?:(?P<half>half)(?= (?:of|the|our|my|its|their|all)\b)"
    r"|(?:(?P<count>a|one|two|three) )?(?P<part>third|quarter|fifth|tenth)s?(?= of\b))",
    re.IGNORECASE,
)
_PARTS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}
_TIMES = {"a": 1, "one": 1, "two": 2, "three": 3}


def _add_shares(text: str, found: list[Quantity]) -> None:
    """Half of the requests is a share, in percent, no count of requests."""
    for match in _SHARE.finditer(text):
        percent = 100 * _PARTS[(match["half"] or match["part"]).lower()] * _TIMES[(match["count"] or "a").lower()]
        if _PART_OF_UNIT.match(text, match.start()) is None:
            low, high = percent * (1 - ABOUT_TOLERANCE), percent * (1 + ABOUT_TOLERANCE)
            found.append(Quantity("percent", low, high, numbers.ABOUT, "", *match.span()))


def _digits_for_parts(match: re.Match[str]) -> str:
    """ "half an hour" as "0.5hour", padded."""
    part = match["part"].lower()
    times = 3 if part.startswith("three") else 1
    share = times * next(value for word, value in _PARTS.items() if word in part)
    written = f"{share:.3g}{match['unit']}"
    return written.ljust(len(match.group())) if len(written) <= len(match.group()) else match.group()


def _digits_for_words(text: str) -> str:
    """Number words as digits, padded so that offsets stay the same."""
    text = _ONE_AND_A_HALF.sub(lambda match: f"1.5{match[1]}".ljust(len(match.group())), text)
    text = _PART_OF_UNIT.sub(_digits_for_parts, text)
    text = _ONE_UNIT.sub(lambda match: match[1] + f"1{match[3]}".ljust(len(match[2])), text)

    def digits(match: re.Match[str]) -> str:
        value = f"{numbers.NUMBER_WORDS[match.group().lower()]:g}"
        return value.ljust(len(match.group())) if len(value) <= len(match.group()) else match.group()

    replaced = _WORD_NUMBER.sub(digits, text)
    return _HUNDREDS.sub(lambda match: str(int(match[1]) * 100).ljust(len(match.group())), replaced)


_COMPOUND_SUFFIXES = ("min", "day", "hou", "wee", "sec", "mon", "yea", "mb ", "gb ")
_RANGE_JOIN = re.compile(r"^\s*(?:and|to|-)\s*$")
_RANGE_START = re.compile(r"\b(between|from|-|to)\b")
_OF_NOUN = re.compile(r"\s*of (?:the|my|our|its|their) ([a-z]+)")
_AND_A_HALF = re.compile(r"and a\s*(?:.5|half)")
_WORD = re.compile(r"[A-Za-z_]+")
_LETTERS_OR_PERCENT = re.compile(r"[a-zA-Z%]+")


def _add_numbers(original: str, found: list[Quantity]) -> None:
    text = _digits_for_words(original)
    for match in numbers.NUMBER.finditer(text):
        start, end = match.span("digits")
        if not _is_free(found, start, end) or _belongs_to_a_word(text, start, end):
            continue
        value = _value(text, match)
        if value is None:
            continue
        if original[start : start + 6].lower() == "single" and not _SINGLE_THING.match(original, start):
            continue  # "she is single" counts nothing
        written_end = _end_of_word(original, value.end)
        comparison = _comparison(text, start, end)
        amount = value.amount
        if value.kind == "money" and numbers.PER_YEAR.match(text[end : end + 24].lower()):
            amount /= 12
        if value.kind == "time" and _AND_A_HALF.search(text[start : start + 24]):
            amount *= 1.5
        if _extends_range(text, found, value.kind, start):
            first = found.pop()
            bounds = sorted((first.low if first.kind == value.kind else first.low * value.factor, amount))
            found.append(
                Quantity(value.kind, bounds[0], bounds[1], numbers.RANGE, value.noun, first.start, written_end)
            )
            continue
        low, high = {
            numbers.EXACT: (amount, amount),
            numbers.AT_LEAST: (amount, math.inf),
            numbers.AT_MOST: (-math.inf, amount),
            numbers.ABOUT: (amount * (1 - ABOUT_TOLERANCE), amount * (1 + ABOUT_TOLERANCE)),
        }[comparison]
        found.append(Quantity(value.kind, low, high, comparison, value.noun, start, written_end))


_OLD = re.compile(r"[ -]old\b", re.IGNORECASE)
_YEAR_SECONDS = 31536000
_SINGLE_THING = re.compile(r"single \w+", re.IGNORECASE)


def _end_of_word(text: str, end: int) -> int:
    """Digits that stand for a word may be shorter than it: the end of that word."""
    while end < len(text) and end and text[end - 1].isalpha() and text[end].isalpha():
        end += 1
    return end


def _belongs_to_a_word(text: str, start: int, end: int) -> bool:
    """The digits are part of a name: `p95`, `utf-8`, `3-way`; units after a hyphen (`30-minute`) are not."""
    if start and (
        text[start - 1].isalpha() or (text[start - 1] in "_/#.-" and start > 1 and text[start - 2].isalnum())
    ):
        return True
    hyphenated = end + 1 < len(text) and text[end] in "-_" and text[end + 1].isalpha()
    return hyphenated and text[end + 1 : end + 4].lower() not in _COMPOUND_SUFFIXES


def _value(text: str, match: re.Match[str]) -> _Value | None:
    """Kind, amount in base units and counted noun of a matched number; None where it is not a number after all."""
    start, end = match.span("digits")
    try:
        amount = float(match["digits"].replace(",", ""))
    except ValueError:
        return None
    if not math.isfinite(amount):
        return None
    unit, scale, currency = (match["unit"] or "").strip().lower(), (match["scale"] or "").lower(), match["currency"]
    if scale == "k" and not unit.isalpha():
        amount *= 1e3
    elif scale == "m" and not unit and not currency:
        unit = "m"
    elif scale and unit:
        unit = scale + unit
    elif scale == "m" and currency:
        amount *= 1e6
    before = _WORD.findall(text[max(0, start - 30) : start])
    previous = before[-1].lower() if before else ""
    if not unit:
        following = _LETTERS_OR_PERCENT.match(text[match.end() :].lstrip(" -"))
        if following and following.group().lower().rstrip("s") in numbers.UNITS:
            unit = following.group().lower()
    of_noun = _OF_NOUN.match(text[end:]) if unit in ("", "of") else None
    if of_noun:
        unit = of_noun[1]
    base = unit if unit in numbers.UNITS else unit.rstrip("s")
    if currency:
        return _Value("money", amount, "", match.end() if base in numbers.UNITS else end)
    if base in numbers.UNITS:
        kind, factor = numbers.UNITS[base]
        old = _OLD.match(text, match.end()) if kind == "time" else None
        if old:
            return _Value("age", amount * factor / _YEAR_SECONDS, "", old.end())
        return _Value(kind, amount * factor, "", match.end(), factor)
    if text[end : end + 1] == "%":
        return _Value("percent", amount, "", match.end())
    if previous == "port" or (previous == "on" and amount >= 1000 and amount.is_integer()):
        return _Value("port", amount, "", end)
    if previous in IDENTIFYING_NOUNS:
        return _Value("ident", amount, previous, end)
    if previous in numbers.VERSIONED:
        return _Value("version", amount, match["digits"].replace(",", ""), end)
    return _Value("count", amount, unit.rstrip("s"), end)


def _comparison(text: str, start: int, end: int) -> str:
    before = text[max(0, start - 26) : start]
    comparison = numbers.EXACT
    if not numbers.GROWN_TO.search(before):
        for symbol, pattern in numbers.COMPARISONS:
            if pattern.search(before.rstrip("$€£ ")):
                comparison = symbol
                break
    if numbers.MORE_AFTER.match(text[end : end + 24].lower()):
        return numbers.AT_LEAST
    if comparison == numbers.EXACT and numbers.MINIMUM_BEFORE.search(text[:start]):
        return numbers.AT_LEAST
    if comparison == numbers.EXACT and numbers.MAXIMUM_ANYWHERE.search(text):
        return numbers.AT_MOST
    return comparison


def _extends_range(text: str, found: list[Quantity], kind: str, start: int) -> bool:
    if not found or found[-1].kind not in (kind, "count") or found[-1].end > start:
        return False
    between = text[found[-1].end : start]
    return bool(
        _RANGE_JOIN.search(between)
        and (_RANGE_START.search(text[max(0, found[-1].start - 10) : start]) or "-" in between)
    )
