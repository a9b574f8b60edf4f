"""Extraction finds what people labelled: on texts of our own, and on the development set where it is at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from alma_graph.extraction import EntityExtractor, Extraction
from tests.extraction.labelled import LABELLED
from tests.extraction.scoring import Span, entity_score, relation_score

DATA = Path(os.environ.get("ALMA_BENCH_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
DEVELOPMENT = DATA / "agent_sentences_dev.jsonl"


def spans(text: str, entities: tuple[tuple[str, str], ...]) -> list[Span]:
    """Character spans of labelled surfaces, in order."""
    found: list[Span] = []
    position = 0
    for surface, kind in entities:
        start = text.index(surface, position)
        position = start + len(surface)
        found.append((start, position, kind))
    return found


@pytest.fixture(scope="module")
def own() -> list[Extraction]:
    return EntityExtractor().extract_batch([text for text, _, _ in LABELLED])


def test_entities_of_our_own_texts(own: list[Extraction]) -> None:
    gold = [spans(text, entities) for text, entities, _ in LABELLED]
    assert entity_score(own, gold).f1 >= 0.95


def test_relations_of_our_own_texts(own: list[Extraction]) -> None:
    gold = [triples for _, _, triples in LABELLED]
    assert relation_score(own, gold).recall >= 0.9
    assert relation_score(own, gold).precision >= 0.7  # the labels do not hold every true triple
    assert relation_score(own, gold, predicates=True).recall >= 0.9


@pytest.mark.data
@pytest.mark.skipif(not DEVELOPMENT.is_file(), reason="needs agent_sentences_dev.jsonl (set ALMA_BENCH_DATA)")
def test_development_set() -> None:
    rows = [json.loads(line) for line in DEVELOPMENT.read_text(encoding="utf-8").splitlines()]
    found = EntityExtractor().extract_batch([row["text"] for row in rows])
    typed = entity_score(found, [[(e[0], e[1], e[2]) for e in row["entities"]] for row in rows])
    assert typed.f1 >= 0.95
    triples = [[(r["subject"], r["predicate"], r["object"], r["negated"]) for r in row["relations"]] for row in rows]
    assert relation_score(found, triples).f1 >= 0.85


def test_the_example_of_alma() -> None:
    entities, relations = EntityExtractor().extract("Alice from Acme Corp reviewed the PR that Bob submitted.")
    assert [(e.name, e.type) for e in entities] == [("Alice", "PERSON"), ("Acme Corp", "ORG"), ("Bob", "PERSON")]
    assert [(e.start_char, e.end_char) for e in entities] == [(0, 5), (11, 20), (42, 45)]
    triples = {(r.subject_text, r.predicate, r.object_text) for r in relations}
    assert triples == {
        ("Alice", "WORKS_FOR", "Acme Corp"),
        ("Alice", "REVIEWED", "PR"),
        ("Bob", "SUBMITTED", "PR"),
    }
