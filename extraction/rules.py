"""Extractors without a model: patterns and gazetteer only, or nothing at all."""

from __future__ import annotations

from collections.abc import Sequence

from alma_graph.extraction.build import entity_from
from alma_graph.extraction.cues import add_worded_cues
from alma_graph.extraction.plain import plain
from alma_graph.extraction.records import ExtractedEntity, ExtractedRelation, Extraction, SessionContext
from alma_graph.extraction.spans import SpanSet, scan


def rule_spans(text: str) -> SpanSet:
    """Entities by pattern, gazetteer and wording cues."""
    found = scan(text)
    add_worded_cues(plain(text), found)
    return found


class RuleExtractor:
    """Entities by patterns, gazetteer and wording cues; no relations. Needs no model, about .2 ms for a short note."""

    name = "rules"

    def extract(
        self, text: str, context: SessionContext | None = None
    ) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
        """Entities of one text, and no relations; `context` gets the names."""
        found = self.extract_batch([text], [context])[0]
        return found.entities, found.relations

    def extract_batch(
        self, texts: Sequence[str], contexts: Sequence[SessionContext | None] | None = None
    ) -> list[Extraction]:
        """One `Extraction` for each text."""
        results: list[Extraction] = []
        for text, session in zip(texts, contexts or [None] * len(texts), strict=True):
            entities = tuple(entity_from(text, span) for span in rule_spans(text).ordered())
            if session is not None:
                for entity in entities:
                    session.mention(entity.surface, entity.type)
            results.append(Extraction(entities))
        return results


class NullExtractor:
    """Finds nothing: for stores that keep text and vectors only."""

    name = "none"

    def extract(
        self, text: str, context: SessionContext | None = None
    ) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
        """Nothing."""
        return (), ()

    def extract_batch(
        self, texts: Sequence[str], contexts: Sequence[SessionContext | None] | None = None
    ) -> list[Extraction]:
        """An empty `Extraction` for each text."""
        return [Extraction() for _ in texts]
