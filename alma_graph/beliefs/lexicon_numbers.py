"""Numbers, dates, units and comparison words as people write them. Plain data."""

from __future__ import annotations

import re

from alma_graph.beliefs.wordlist import word_set

_SMALL_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
NUMBER_WORDS: dict[str, float] = {word: float(value) for value, word in enumerate(_SMALL_NUMBERS.split())} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "hundred": 100,
    "dozen": 12,
    "half": 0.5,
    "twice": 2,
    "once": 1,
    "single": 1,
    "couple": 2,
}

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
MONTHS: dict[str, int] = {name: number + 1 for number, name in enumerate(_MONTH_NAMES.split())}
WEEKDAYS: tuple[str, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

# Unit -> (kind of quantity, factor to that kind's base unit: seconds, bytes, metres, per minute, ...).
UNITS: dict[str, tuple[str, float]] = {
    unit: (kind, float(factor))
    for kind, listing in {
        "time": "ms:.001 millisecond:.001 s:1 sec:1 second:1 min:60 minute:60 h:3600 hr:3600 hour:3600 day:86400 "
        "week:604800 month:2592000 year:31536000",
        "byte": "kb:1e3 mb:1e6 gb:1e9 tb:1e12 kib:1024 mib:1048576 gib:1073741824 tib:1099511627776",
        "money": "$:1 dollar:1 usd:1 €:1 euro:1 eur:1 £:1 pound:1",
        "percent": "%:1 percent:1 pct:1",
        "distance": "km:1000 kilometer:1000 kilometre:1000 mile:1609 m:1 meter:1 metre:1",
        "temperature": "degree:1 celsius:1 °c:1",
        "rate": "rpm:1 rps:60 qps:60",
        "mass": "kg:1 lb:.4536",
    }.items()
    for unit, factor in (entry.rsplit(":", 1) for entry in listing.split())
}

# Words before a number that make it a version rather than a count.
VERSIONED = word_set("version python node go react java postgres postgresql django android pandas")

_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_YEAR = r"(?:19|20)\d\d"
DATE = re.compile(
    rf"(?P<iso>\b{_YEAR}-\d\d-\d\d\b)"
    rf"|\b(?P<day_first>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month_second>{_MONTH})[a-z]*\.?,?\s*"
    rf"(?P<year_a>{_YEAR})?"
    rf"|\b(?P<month_first>{_MONTH})[a-z]*\.?\s+(?P<day_second>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*%),?\s*"
    rf"(?P<year_b>{_YEAR})?"
    r"|\b(?P<month_only>january|february|march|april|may|june|july|august|september|october|november|december)\b,?\s*"
    rf"(?P<year_c>{_YEAR})?"
    r"|\bthe (?P<day_only>\d{1,2})(?:st|nd|rd|th)\b"
    rf"|(?P<year_only>\b{_YEAR}\b)"
    r"|\b(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE | re.ASCII,
)
CLOCK = re.compile(
    r"\b(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?\s*(?P<half>am|pm)?\b|\b(?P<bare_hour>\d{1,2})\s*(?P<bare_half>am|pm)\b",
    re.IGNORECASE | re.ASCII,
)
VERSION = re.compile(r"\bv?\d+\.\d+\.\d+(?:[-.\w]*)\b|\bv\d+(?:\.\d+)*\b", re.IGNORECASE)
NUMBER = re.compile(
    r"(?P<currency>[$€£])?\s?(?P<digits>-?\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m)?(?P<unit>\s?(?:%|[a-zA-Z°]+))?",
    re.IGNORECASE,
)

AT_LEAST, AT_MOST, ABOUT, EXACT, RANGE = ">=", "<=", "~", "=", "[]"
# What stands right before the number.
COMPARISONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        AT_LEAST,
        re.compile(
            r"(at least|minimum(?: of)?|no less than|no fewer than|more than|over|above|exceeds?|as of|from|min)\W*$",
            re.IGNORECASE,
        ),
    ),
    (
        AT_MOST,
        re.compile(
            r"(at most|up to|maximum(?: of)?|no more than|not more than|never (?:take |exceed )?(?:more than)?|under"
            r"|below|fewer than|less than|within|max|limited to|as short as)\W*$",
            re.IGNORECASE,
        ),
    ),
    (ABOUT, re.compile(r"(about|around|approximately|roughly|almost|nearly|some|circa|~|ca\.)\W*$", re.IGNORECASE)),
)
# "the count is up to 340 now" states a value, not a bound.
GROWN_TO = re.compile(r"\b(is|are|'m|am|'s|now|was|were|me)\s+(now )?up to\W*$")
MORE_AFTER = re.compile(r"\s*([a-z%]+\s+)?(or more|and up|\+|or higher)")
MINIMUM_BEFORE = re.compile(r"\b(minimum|at least|min)\b", re.IGNORECASE)
MAXIMUM_ANYWHERE = re.compile(r"\b(maximum|at most|limit\w*|max|cap)\b", re.IGNORECASE)
PER_YEAR = re.compile(r"(\s*(dollars?|euros?))?\s*(a|per|/)\s*(year|yr)")
