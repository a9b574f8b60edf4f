"""What can be seen of who speaks and whether they ask."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^.!?？。！\n]+[.!?？。！\n]*")

ROLES = frozenset({"user", "human", "assistant", "ai", "agent", "bot", "system", "tool"})
"""Speakers that are parts in a dialogue with an assistant, not people with names."""


def question_share(text: str) -> float:
    """The share of a text that stands in questions, by characters, in [0, 1]."""
    if "?" not in text and "？" not in text:
        return 0.0
    asked = total = 0
    for sentence in _SENTENCE.findall(text):
        size = len(sentence.strip())
        total += size
        if "?" in sentence[-3:] or "？" in sentence[-3:]:
            asked += size
    return asked / total if total else 0.0
