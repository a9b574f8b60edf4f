"""Which language a text is in: enough to keep the English parser away from the others."""

from __future__ import annotations

import re
import unicodedata

from alma_graph.beliefs.lexicon_languages import FUNCTION_WORDS

ENGLISH = "en"
UNDETERMINED = "und"

_SAMPLE = 2000
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SCRIPT_SHARE = 0.3
_MARGIN = 2
"""How many more function words another language needs than English."""


def detect_language(text: str) -> str:
    """A language code, by script, then by function words: `en` unless something speaks for another, else `und`."""
    sample = text[:_SAMPLE]
    if sample.isascii() and not sample.strip():
        return ENGLISH
    by_script = None if sample.isascii() else _language_of_script(sample)
    if by_script is not None:
        return by_script
    words = [word.replace("’", "'").lower() for word in _WORD.findall(sample)]
    counts = {language: sum(word in known for word in words) for language, known in FUNCTION_WORDS.items()}
    english = counts.pop(ENGLISH)
    best = max(counts, key=lambda language: (counts[language], language))
    if counts[best] >= english + _MARGIN:
        return best
    accented = sum(not word.isascii() for word in words)
    if not english and len(words) >= 4 and accented >= 0.25 * len(words):
        return best if counts[best] else UNDETERMINED
    return ENGLISH


def _language_of_script(sample: str) -> str | None:
    """The language that the text's letters give away; None for Latin letters or no letters."""
    counts = dict.fromkeys(("LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "CYRILLIC", "other"), 0)
    for character in sample:
        if not character.isalpha():
            continue
        if character.isascii():
            counts["LATIN"] += 1
            continue
        script = unicodedata.name(character, "other").split(" ", 1)[0]
        counts[script if script in counts else "other"] += 1
    total = sum(counts.values())
    if not total:
        return None
    if counts["HANGUL"] > _SCRIPT_SHARE * total:
        return "ko"
    kana = counts["HIRAGANA"] + counts["KATAKANA"]
    if kana + counts["CJK"] > _SCRIPT_SHARE * total:
        return "ja" if counts["HIRAGANA"] or kana > counts["CJK"] else "zh"
    if counts["CYRILLIC"] > _SCRIPT_SHARE * total:
        return "ru"
    return UNDETERMINED if counts["other"] > _SCRIPT_SHARE * total else None
