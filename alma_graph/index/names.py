"""Names as they are compared when a query is read: without case, accents, possessives, punctuation and article."""

from __future__ import annotations

import re

from alma_graph.index.tokens import fold

_FOLDS = str.maketrans({"’": "'", "ı": "i", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ß": "ss", "æ": "ae", "đ": "d"})
_POSSESSIVE = re.compile(r"'s\b", re.IGNORECASE)
_OTHER = re.compile(r"[^\w]+|_")
_ARTICLE = re.compile(r"^(?:the|a|an) (?=.)")


def plain(text: str) -> str:
    """Lower case words with single spaces between them; no accents, no punctuation."""
    folded = fold(text.translate(_FOLDS)).casefold()
    return _OTHER.sub(" ", _POSSESSIVE.sub("", folded).replace("'", "")).strip()


def name_key(name: str) -> str:
    """The form two spellings of one name share: "The O'Brien Co." and "obrien co" are one."""
    return _ARTICLE.sub("", plain(name))
