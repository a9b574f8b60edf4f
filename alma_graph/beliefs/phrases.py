"""Idioms and wordings that a parser takes apart, each with a plain wording of the same meaning.

Patterns are applied in order to the cleaned text. A replacement may name groups (`\\1`). Plain data.
"""

from __future__ import annotations

import re

_INTENSELY = r"(?:really |quite |very |absolutely |just |exactly |so |still |particularly |such )?"
_FOND = rf"{_INTENSELY}(?:an? (?:big |huge |great |massive )?(?:fan|lover) of|fond of|keen on|crazy about|big on|into)"
_PHRASE_START = r"(?:^|(?<=[.!?;,] ))"
_SHORT_SUBJECT = r"([A-Z][\w'-]*(?: [\w'-]+){0,3}?)"
_AFTER_ADJECTIVE = r"(?=\s*(?:[.,;!)]|$|\b(?:and|but|since|now|so|for|because|these)\b))"
_BAD = r"(?:disgusting|gross|awful|horrible|terrible|unbearable|annoying|boring|repulsive)"
_GOOD = r"(?:delicious|lovely|wonderful|great|amazing|fantastic)"


def _rules(*rules: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.MULTILINE), replacement) for pattern, replacement in rules)


PHRASES: tuple[tuple[re.Pattern[str], str], ...] = _rules(
    (r"\b([Tt])ime(s|d)? out\b", r"\1imeout"),
    (r"\bturn(?:s|ed)? down\b", "rejected"),
    (r"\bcan(?:'t|not| not) wait\b", "am eager"),
    (r"\bout of (?:order|service)\b", "broken"),
    (r"(?i)\bread[ -]only\b", "readonly"),
    (r"\b[Nn]o (?:way|problem|worries|doubt|kidding|big deal)(?=\s*[,!.;]|$)", "wow"),
    # likes and dislikes
    (rf"(?:'m| am|'re| are) (?:not |no longer ){_FOND}\b", " dislike"),
    (rf"(?:'s not| is not| isn't|'s no longer| is no longer) {_FOND}\b", " dislikes"),
    (rf" aren't {_FOND}\b", " dislike"),
    (rf"(?:'m| am|'re| are) {_FOND}\b", " love"),
    (rf" is {_FOND}\b(?! \w+ing)", " loves"),
    (r"\b(?:don't|do not) (?:really |much )?care for\b", "dislike"),
    (r"\b(?:doesn't|does not) (?:really |much )?care for\b", "dislikes"),
    (rf"\bfind ((?:[\w-]+ ){{0,2}}[\w-]+) {_INTENSELY}{_BAD}\b", r"hate \1"),
    (rf"\bfinds ((?:[\w-]+ ){{0,2}}[\w-]+) {_INTENSELY}{_BAD}\b", r"hates \1"),
    (rf"\bfind ((?:[\w-]+ ){{0,2}}[\w-]+) {_INTENSELY}{_GOOD}\b", r"love \1"),
    (rf"\bfinds ((?:[\w-]+ ){{0,2}}[\w-]+) {_INTENSELY}{_GOOD}\b", r"loves \1"),
    (
        rf"{_PHRASE_START}{_SHORT_SUBJECT} (?:is|are)(?:n't| not) {_INTENSELY}my (?:thing|cup of tea|jam)\b",
        r"I dislike \1",
    ),
    (rf"{_PHRASE_START}{_SHORT_SUBJECT} (?:do|does)(?:n't| not) bother me\b", r"I like \1"),
    (rf"{_PHRASE_START}{_SHORT_SUBJECT} (?:bothers?|annoys?|drives?) me(?: crazy| mad| nuts)?\b", r"I hate \1"),
    (r"\b[Gg]o-to\b", "favourite"),
    # diets
    (
        rf"(?:'m| am|'re| are) {_INTENSELY}(?:now )?(?:an? )?(?:strict )?(?:vegetarian|vegan)s?\b{_AFTER_ADJECTIVE}",
        " avoid meat",
    ),
    (rf" is {_INTENSELY}(?:now )?(?:an? )?(?:strict )?(?:vegetarian|vegan)\b{_AFTER_ADJECTIVE}", " avoids meat"),
    (r"\bgave up\b", "quit"),
    (r"\bgiven up\b", "quit"),
    (r"\bstepped down (?:as|from being)\b", "quit as"),
    # how often
    (r"(?i)\bonce (?:a|per|every|each) hour\b|\bevery hour\b", "hourly"),
    (r"(?i)\bonce (?:a|per|every|each) day\b|\b(?:every|each) day\b", "daily"),
    (r"(?i)\bonce (?:a|per|every|each) week\b|\b(?:every|each) week\b", "weekly"),
    (r"(?i)\bonce (?:a|per|every|each) month\b|\b(?:every|each) month\b", "monthly"),
    (r"(?i)\bonce (?:a|per|every|each) year\b|\b(?:every|each) year\b|\bannually\b", "yearly"),
    (r"(?i)\b(?:every (?:other|two|second) weeks?|fortnightly|bi-?weekly)\b", "fortnightly"),
    (r"(?i)\b(?:twice|two times) (?:a|per) week\b", "semiweekly"),
    (r"(?i)\b(?:full)[ -]time\b", "fulltime"),
    (r"(?i)\b(?:part)[ -]time\b", "parttime"),
    (r"(?i)\bonce (?:a|per|every|each) quarter\b|\b(?:every|each) quarter\b", "quarterly"),
    (r"\b(?:don't|doesn't|do not|does not) (?:need|have) to\b", "need not"),
    # begin, last and end
    (r"\b(is|are) (?:still |currently |now )?(?:in progress|under way|being worked on)\b", r"\1 ongoing"),
    (rf"\b(is|are) (?:already |now |all )?done{_AFTER_ADJECTIVE}", r"\1 finished"),
    (r"\b(?:runs|lasts|continues) (?:until|till|through)\b", "ends in"),
    (r"\bruns out\b", "ends"),
    (r"\b(?:takes|took) place\b", "is"),
    (r"\bget(?:s|ting)? rid of\b|\bgot rid of\b", "dropped"),
    (r"\b(was|were|been|got) shut down\b", r"\1 retired"),
    (r"\b(was|were|been|got|is|are) (?:switched|turned|taken) off(?:line)?\b", r"\1 disabled"),
    (r"\b(was|were|been|got|is|are) (?:switched|turned) on\b", r"\1 enabled"),
    (r"\bphased out\b", "retired"),
)
