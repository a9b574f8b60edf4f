"""What one text is: the normal form that equality is asked on, its hash, and what no store can hold."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from alma_graph.errors import InvalidInputError, shown

_SPACE = re.compile(r"\s+")

MAX_NAME_BYTES = 32_000
"""Longest id or name of an agent, a user, a session or a project, in UTF-8 bytes: two of them make the key of a node,
and an engine indexes keys of 65,536 bytes."""


def normalise(text: str) -> str:
    """NFKC, case-folded, white space folded: two texts with one normal form are the same text to the store."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def content_hash(text: str) -> str:
    """32 hexadecimal digits of BLAKE2b over the normal form."""
    return hashlib.blake2b(normalise(text).encode(), digest_size=16).hexdigest()


def checked(text: object, name: str, *, blank: bool = False) -> str:
    """The text as given, if a store can hold it.

    Raises:
        InvalidInputError: it is no text, is blank (unless `blank`), or has a lone surrogate, which is no character.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"{name}={shown(text)} is {type(text).__name__}, not text; give a str")
    if not blank and not text.strip():
        raise InvalidInputError(f"{name}={shown(text)} is empty; give some text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{name} has a lone surrogate {text[error.start]!r} at position {error.start}, which is no character; "
            "decode the text properly or replace it"
        ) from None
    return text


def checked_name(text: object, name: str) -> str:
    """As `checked`, for ids and names, which become keys.

    Raises:
        InvalidInputError: also where it is longer than `MAX_NAME_BYTES`.
    """
    found = checked(text, name)
    size = len(found.encode())
    if size > MAX_NAME_BYTES:
        raise InvalidInputError(
            f"{name}={shown(found, 60)} has {size:,} bytes and may have {MAX_NAME_BYTES:,}; give a shorter one"
        )
    return found
