"""Extractors by name."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache

from alma_graph.errors import InvalidInputError, shown
from alma_graph.extraction.protocol import DEFAULT_MODEL, Extractor

EXTRACTORS = ("spacy", "rules", "none")


def check_extractor(extractor: str | Extractor) -> None:
    """Raises InvalidInputError where no extractor has this name, or the object is none; loads nothing."""
    if not isinstance(extractor, str):
        _checked(extractor)
    elif extractor not in EXTRACTORS:
        raise InvalidInputError(f"Unknown extractor {shown(extractor)}: choose one of {', '.join(EXTRACTORS)}.")


def create_extractor(name: str | Extractor = "spacy", *, model: str = DEFAULT_MODEL) -> Extractor:
    """The extractor of this name, of which nothing is loaded before its first text; an extractor is checked and
    returned as it is.

    - "spacy": patterns, gazetteer, spaCy and rules. Where spaCy or the model is not installed, "rules" takes its
      place and says so once on stderr.
    - "rules": patterns and gazetteer; entities only.
    - "none": finds nothing.

    Raises:
        InvalidInputError: no extractor has this name, or the object is none.
    """
    check_extractor(name)
    if not isinstance(name, str):
        return name
    from alma_graph.extraction.rules import NullExtractor, RuleExtractor  # rules and lexicons, which reading needs not

    if name == "none":
        return NullExtractor()
    if name == "rules":
        return RuleExtractor()
    if not _installed("spacy") or not _installed(model):
        _say_rules_only(model)
        return RuleExtractor()
    from alma_graph.extraction.pipeline import EntityExtractor

    return EntityExtractor(model)


def _checked(extractor: Extractor) -> Extractor:
    """The object, if it has what an extractor needs."""
    named = isinstance(getattr(extractor, "name", None), str)
    if isinstance(extractor, type) or not named or not callable(getattr(extractor, "extract_batch", None)):
        raise InvalidInputError(
            f"extractor={shown(extractor)} is no extractor: give one of {', '.join(EXTRACTORS)}, or an object with "
            "name, extract and extract_batch"
        )
    return extractor


def _installed(name: str) -> bool:
    """Whether a module can be imported, or the name is a folder with a model."""
    if "/" in name or "\\" in name:
        return True  # a path: spaCy says what is wrong with it
    return importlib.util.find_spec(name) is not None


@cache
def _say_rules_only(model: str) -> None:
    print(
        f"alma_graph: spaCy or its model {model} is not installed, so entities are found by patterns and known names "
        "only and no relations are. Install it with: pip install 'alma_graph[local]'",
        file=sys.stderr,
    )
