"""From spans and triples to the values that callers get."""

from __future__ import annotations

from alma_graph.extraction.canonical import canonical
from alma_graph.extraction.records import ExtractedEntity, ExtractedRelation
from alma_graph.extraction.reference import Argument
from alma_graph.extraction.spans import Span
from alma_graph.extraction.triples import Triple


def entity_from(text: str, span: Span) -> ExtractedEntity:
    """The entity of a span over `text`."""
    surface = text[span.start : span.end]
    return ExtractedEntity(
        name=span.name or " ".join(surface.split()),
        surface=surface,
        start_char=span.start,
        end_char=span.end,
        type=span.type,
        canonical=canonical(surface, span.type) or surface,
    )


def relation_from(triple: Triple, offset: int) -> ExtractedRelation | None:
    """The relation of a triple whose piece starts at `offset`; None when both sides are one name."""
    subject, object_ = _key(triple.subject), _key(triple.object)
    if subject == object_:
        return None
    return ExtractedRelation(
        subject=subject,
        predicate=triple.predicate,
        object=object_,
        negated=triple.negated,
        confidence=triple.confidence,
        start_char=offset + min(triple.subject.start, triple.object.start),
        end_char=offset + max(triple.subject.end, triple.object.end),
        subject_text=triple.subject.text,
        object_text=triple.object.text,
        subject_type=triple.subject.type,
        object_type=triple.object.type,
    )


def _key(argument: Argument) -> str:
    kind = argument.type if argument.type not in {"TERM", "PRONOUN"} else ""
    return canonical(argument.text, kind) or argument.text
