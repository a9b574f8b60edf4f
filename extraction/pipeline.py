"""The default extractor: patterns, gazetteer, spaCy and rules."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from alma_graph.errors import InvalidInputError, MissingDependencyError
from alma_graph.extraction.build import entity_from, relation_from
from alma_graph.extraction.cues import add_late_cues, add_parsed_cues, add_worded_cues
from alma_graph.extraction.heads import add_head_nouns
from alma_graph.extraction.parse import Parse, masked_doc
from alma_graph.extraction.pieces import pieces
from alma_graph.extraction.plain import latin_share, plain
from alma_graph.extraction.protocol import DEFAULT_MODEL
from alma_graph.extraction.records import (
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    SessionContext,
)
from alma_graph.extraction.relations import relations
from alma_graph.extraction.spans import Span, SpanSet, scan
from alma_graph.extraction.statistical import add_statistical

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_BATCH = 64
_LEAST_LATIN = 0.3  # below this share of Latin letters an English parse is noise
_SHORT_PIECE = 300  # tokens
_LEAST_CHARS_A_TOKEN = 2.5  # English has some 5, blanks included
_NOUN_TAGS = frozenset({"NOUN", "PROPN"})

_pipelines: dict[str, Language] = {}
_loading = threading.Lock()
_parsing = threading.Lock()  # spaCy's string store is shared by all threads


def load_pipeline(model: str) -> Language:
    """The spaCy pipeline of this name, loaded once a process (2 to 4 s).

    Raises:
        MissingDependencyError: spaCy or the model is not installed.
    """
    with _loading:
        if model not in _pipelines:
            try:
                import spacy

                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # W095: a model of a neighbouring version, which works
                    _pipelines[model] = spacy.load(model)
            except (ImportError, OSError) as error:
                raise MissingDependencyError(
                    f"The extractor 'spacy' needs spaCy and its model {model!r}: {error}. "
                    "Install them with: pip install 'alma_graph[local]' "
                    "(or name an installed model, or choose the extractor 'rules')."
                ) from error
        return _pipelines[model]


@contextmanager
def shared_pipeline(model: str = DEFAULT_MODEL, *, without: Sequence[str] = ()) -> Iterator[Language]:
    """The pipeline for the time of the block, some of its parts off; other threads wait, since it has shared state.

    Raises:
        MissingDependencyError: spaCy or the model is not installed.
    """
    nlp = load_pipeline(model)
    with _parsing, nlp.select_pipes(disable=[name for name in without if name in nlp.pipe_names]):
        yield nlp


@dataclass(slots=True)
class _Piece:
    """A part of a text on its way through the parser."""

    start: int
    text: str
    prose: str
    spans: list[Span]
    doc: Doc | None = None
    offsets: list[tuple[int, int]] = field(default_factory=list)


class EntityExtractor:
    """Entities and relations by patterns, gazetteer, spaCy's parse and rules.

    Args:
        model: name of an installed spaCy pipeline with tagger, parser, lemmatizer and entity recogniser.
        statistical: use spaCy's own entity labels too; without them .01 to .04 F1 less, and 45 % faster.

    A text of any length and script is taken. It is parsed in pieces of at most 5,000 characters, in time linear in
    its length; pieces that are hardly Latin get pattern and gazetteer entities only. Safe to share among threads.
    """

    name = "spacy"

    def __init__(self, model: str = DEFAULT_MODEL, *, statistical: bool = True) -> None:
        if not model.strip():
            raise InvalidInputError(f"model must be the name of a spaCy pipeline, got {model!r}.")
        self.model = model
        self.statistical = statistical

    def extract(
        self, text: str, context: SessionContext | None = None
    ) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
        """Entities and relations of one text, offsets into `text`; `context` is read and updated."""
        found = self.extract_batch([text], [context])[0]
        return found.entities, found.relations

    def extract_batch(
        self, texts: Sequence[str], contexts: Sequence[SessionContext | None] | None = None
    ) -> list[Extraction]:
        """One `Extraction` for each text, parsed in batches of 64.

        Raises:
            InvalidInputError: `contexts` is not as long as `texts`.
            MissingDependencyError: spaCy or the model is not installed.
        """
        sessions = list(contexts) if contexts is not None else [None] * len(texts)
        if len(sessions) != len(texts):
            raise InvalidInputError(
                f"contexts must have one entry for each text: got {len(sessions)} for {len(texts)} texts."
            )
        nlp = load_pipeline(self.model)
        results: list[Extraction] = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            with _parsing, nlp.memory_zone():
                parsed = self._parsed(nlp, batch)
                for text, session, (found, parts) in zip(batch, sessions[start:], parsed, strict=False):
                    results.append(self._finish(text, session or SessionContext(), found, parts))
        return results

    def _parsed(self, nlp: Language, texts: Sequence[str]) -> list[tuple[SpanSet, list[_Piece]]]:
        prepared = [_prepare(nlp, text) for text in texts]
        waiting = [part for _, parts in prepared for part in parts if part.doc is not None]
        disabled = [] if self.statistical else [name for name in nlp.pipe_names if name == "ner"]
        with nlp.select_pipes(disable=disabled):
            docs: Iterator[Doc] = nlp.pipe((part.doc for part in waiting if part.doc is not None), batch_size=_BATCH)
            for part, doc in zip(waiting, docs, strict=True):
                part.doc = doc
        return prepared

    def _finish(self, text: str, session: SessionContext, found: SpanSet, parts: list[_Piece]) -> Extraction:
        spans: list[Span] = []
        triples: list[ExtractedRelation] = []
        nouns: set[str] = set()
        for part in parts:
            entities = part.spans
            if part.doc is not None:
                parse = Parse(part.text, part.doc, part.offsets)
                entities = self._entities(parse, part)
                parse.bind(entities)
                triples += [
                    relation
                    for triple in relations(parse, entities, session)
                    if (relation := relation_from(triple, part.start)) is not None
                ]
                nouns |= _nouns(parse)
            for span in entities:
                session.mention(part.text[span.start : span.end], span.type)
            spans += [Span(s.start + part.start, s.end + part.start, s.type, s.source, s.name) for s in entities]
        spans += [span for span in found.spans if _crosses(span, parts)]
        spans.sort(key=lambda span: span.start)
        return Extraction(tuple(entity_from(text, s) for s in spans), tuple(dict.fromkeys(triples)), frozenset(nouns))

    def _entities(self, parse: Parse, part: _Piece) -> list[Span]:
        found = SpanSet(part.text)
        for span in part.spans:
            found.add(span.start, span.end, span.type, span.source, span.name)
        parse.bind(part.spans)
        add_worded_cues(part.prose, found)
        add_parsed_cues(parse, found)
        add_head_nouns(parse, found)
        if self.statistical:
            add_statistical(parse, found)
        add_late_cues(parse, found)
        return found.ordered()


def _prepare(nlp: Language, text: str) -> tuple[SpanSet, list[_Piece]]:
    """Scan a text and cut it into pieces with unparsed documents."""
    found = scan(text)
    prose = plain(text)
    spans = found.ordered()
    parts: list[_Piece] = []
    position = 0
    for start, end in pieces(prose):
        inside: list[Span] = []
        while position < len(spans) and spans[position].start < end:
            span = spans[position]
            if span.start >= start and span.end <= end:
                inside.append(Span(span.start - start, span.end - start, span.type, span.source, span.name))
            position += 1
        part = _Piece(start, text[start:end], prose[start:end], inside)
        if latin_share(part.prose) >= _LEAST_LATIN:
            doc, part.offsets = masked_doc(nlp, part.prose, inside)
            part.doc = doc if _reads_like_prose(part) else None
        parts.append(part)
    return found, parts


def _reads_like_prose(part: _Piece) -> bool:
    """Whether a piece is worth a parse: a long run of tokens of one or two characters is not."""
    return len(part.offsets) < _SHORT_PIECE or len(part.prose) >= _LEAST_CHARS_A_TOKEN * len(part.offsets)


def _crosses(span: Span, parts: list[_Piece]) -> bool:
    """Whether a cut between pieces goes through a span."""
    return any(part.start < span.end and span.start < part.start for part in parts[1:])


def _nouns(parse: Parse) -> set[str]:
    """Casefolded surface forms and lemmas of nouns and names, and the words of masked names."""
    nouns: set[str] = set()
    for token in parse.tokens():
        if token.pos_ not in _NOUN_TAGS:
            continue
        written = parse.raw(token.i).casefold()
        nouns.update(written.replace("-", " ").split())
        nouns.add(written)
        if token.lower_ == written:
            nouns.add(token.lemma_.casefold())
    return nouns
