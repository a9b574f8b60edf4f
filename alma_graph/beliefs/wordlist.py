"""Word lists written as one string."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which spaces and line ends separate."""
    return frozenset(text.split())


def word_sequence(text: str) -> tuple[str, ...]:
    """The same in the order of the text."""
    return tuple(text.split())
