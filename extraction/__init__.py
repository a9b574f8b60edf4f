"""Entities and relations from what agents and users write, without a language model.

`create_extractor("spacy")` is the default: patterns for what has a form of its own (files, URLs, errors, versions), a
gazetteer, spaCy's parse of the masked text, rules over its tree. Importing this package loads no spaCy; the first
text does. `query_mentions` reads a query without spaCy at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.extraction.canonical import alias_keys, canonical, digits
from alma_graph.extraction.gazetteer import KnownName, gazetteer, gazetteer_key, known_name
from alma_graph.lazy import attach

if TYPE_CHECKING:
    from alma_graph.extraction.factory import EXTRACTORS, check_extractor, create_extractor
    from alma_graph.extraction.mentions import Mention, query_mentions
    from alma_graph.extraction.pipeline import EntityExtractor, load_pipeline, shared_pipeline
    from alma_graph.extraction.protocol import DEFAULT_MODEL, Extractor
    from alma_graph.extraction.records import (
        ENTITY_TYPES,
        PRONOUN,
        TERM,
        ExtractedEntity,
        ExtractedRelation,
        Extraction,
        SessionContext,
    )
    from alma_graph.extraction.rules import NullExtractor, RuleExtractor

__all__ = [
    "DEFAULT_MODEL",
    "ENTITY_TYPES",
    "EXTRACTORS",
    "PRONOUN",
    "TERM",
    "EntityExtractor",
    "ExtractedEntity",
    "ExtractedRelation",
    "Extraction",
    "Extractor",
    "KnownName",
    "Mention",
    "NullExtractor",
    "RuleExtractor",
    "SessionContext",
    "alias_keys",
    "canonical",
    "check_extractor",
    "create_extractor",
    "digits",
    "gazetteer",
    "gazetteer_key",
    "known_name",
    "load_pipeline",
    "query_mentions",
    "shared_pipeline",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "alma_graph.extraction.factory": (
            "EXTRACTORS",
            "check_extractor",
            "create_extractor",
        ),
        "alma_graph.extraction.mentions": (
            "Mention",
            "query_mentions",
        ),
        "alma_graph.extraction.pipeline": (
            "EntityExtractor",
            "load_pipeline",
            "shared_pipeline",
        ),
        "alma_graph.extraction.protocol": (
            "DEFAULT_MODEL",
            "Extractor",
        ),
        "alma_graph.extraction.records": (
            "ENTITY_TYPES",
            "PRONOUN",
            "TERM",
            "ExtractedEntity",
            "ExtractedRelation",
            "Extraction",
            "SessionContext",
        ),
        "alma_graph.extraction.rules": (
            "NullExtractor",
            "RuleExtractor",
        ),
    },
)
