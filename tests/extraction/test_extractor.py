"""The extractors as callers use them: offsets, sessions, batches, any script, bad input, threads."""

from __future__ import annotations

import copy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.errors import InvalidInputError, MissingDependencyError
from alma_graph.extraction import (
    ENTITY_TYPES,
    EntityExtractor,
    ExtractedEntity,
    Extraction,
    Extractor,
    RuleExtractor,
    SessionContext,
    create_extractor,
)
from alma_graph.extraction import factory as factory_module

SPACY = EntityExtractor()
RULES = RuleExtractor()
NOTES = [
    "The ledger service stores its events in Postgres 15.4.",
    "Mateo merged PR #91 and Hana approved it.",
    "Nobody owns the export job, so it broke twice in production.",
    "Disable retries before migrations.",
]


def found(entities: tuple[ExtractedEntity, ...]) -> list[tuple[str, str]]:
    return [(entity.surface, entity.type) for entity in entities]


def check(text: str, extraction: Extraction) -> None:
    """What must hold for every text."""
    end = 0
    for entity in extraction.entities:
        assert 0 <= end <= entity.start_char < entity.end_char <= len(text)
        assert text[entity.start_char : entity.end_char] == entity.surface
        assert entity.type in ENTITY_TYPES
        assert entity.canonical
        assert entity.name
        end = entity.end_char
    nodes = {node.canonical for node in extraction.nodes}
    for relation in extraction.linked:
        assert {relation.subject, relation.object} <= nodes
    for relation in extraction.relations:
        assert relation.subject != relation.object
        assert 0.0 < relation.confidence < 1.0
        assert 0 <= relation.start_char < relation.end_char <= len(text)


def test_import_loads_no_spacy() -> None:
    code = (
        "import sys, alma_graph.extraction as e; e.create_extractor(); e.query_mentions('Redis in src/a.py', {});"
        "e.create_extractor('rules').extract('Redis'); assert 'spacy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_negation_and_passive() -> None:
    _, relations = SPACY.extract("The gateway no longer depends on Redis. MySQL was replaced by Postgres.")
    triples = {(r.subject, r.predicate, r.object, r.negated) for r in relations}
    assert ("postgresql", "REPLACES", "mysql", False) in triples
    assert any(r.predicate == "DEPENDS_ON" and r.object == "redis" and r.negated for r in relations)


def test_a_question_states_nothing() -> None:
    assert SPACY.extract("Does the ledger service use Kafka?")[1] == ()
    assert SPACY.extract("The ledger service uses Kafka.")[1] != ()


def test_session_resolves_pronouns() -> None:
    context = SessionContext(speaker="Nadia")
    SPACY.extract("The upload worker is slow today.", context)
    _, relations = SPACY.extract("It calls Stripe. I prefer Adyen.", context)
    triples = {(r.subject, r.predicate, r.object) for r in relations}
    assert triples == {("upload worker", "CALLS", "stripe"), ("nadia", "PREFERS", "adyen")}


def test_without_a_session_a_pronoun_names_nothing() -> None:
    extraction = SPACY.extract_batch(["We use Kafka. It broke."])[0]
    assert [r.subject_type for r in extraction.relations] == ["PRONOUN"]
    assert extraction.linked == ()
    assert {node.canonical for node in extraction.nodes} == {"kafka"}


def test_session_is_bounded_and_belongs_to_the_caller() -> None:
    context = SessionContext()
    SPACY.extract_batch([f"Ada from team {n} uses Kafka and svc-{n}-worker." for n in range(60)], [context] * 60)
    assert max(len(context.people), len(context.orgs), len(context.things)) == 32
    before = copy.deepcopy(context)
    SPACY.extract("Kafka is fast.")
    assert context == before


def test_batch_equals_one_by_one() -> None:
    texts = NOTES * 20
    batch = SPACY.extract_batch(texts)
    assert batch == SPACY.extract_batch(texts)
    assert [(e.entities, e.relations) for e in batch] == [SPACY.extract(text) for text in texts]
    assert SPACY.extract_batch([]) == []


def test_nouns_of_short_phrases() -> None:
    nouns = SPACY.extract_batch([NOTES[3]])[0].nouns
    assert {"retries", "migrations"} <= nouns
    assert "before" not in nouns


def test_contexts_must_match_texts() -> None:
    with pytest.raises(InvalidInputError, match="1 for 2 texts"):
        SPACY.extract_batch(NOTES[:2], [None])
    with pytest.raises(InvalidInputError, match="model"):
        EntityExtractor(" ")
    with pytest.raises(InvalidInputError, match="rulez"):
        create_extractor("rulez")
    with pytest.raises(MissingDependencyError, match="no_such_model"):
        EntityExtractor("no_such_model").extract("Redis")


def test_factory(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("spacy", "rules", "none"):
        extractor = create_extractor(name)
        assert extractor.name == name
        assert isinstance(extractor, Extractor)
    assert create_extractor("none").extract("Redis") == ((), ())
    assert found(create_extractor("rules").extract("Redis failed in src/app.py")[0]) == [
        ("Redis", "TECH"),
        ("src/app.py", "FILE"),
    ]
    assert capsys.readouterr().err == ""
    factory_module._say_rules_only.cache_clear()
    assert create_extractor(model="no_such_model").name == "rules"
    assert create_extractor(model="no_such_model").name == "rules"
    assert capsys.readouterr().err.count("alma_graph[local]") == 1


def test_markdown_and_code_keep_offsets() -> None:
    text = (
        "# Notes\n\n- **Redis** is down\n- see `src/app.py`\n\n```python\nraise KeyError  # Kafka in conf/a.yaml\n```\n"
        "Then Kafka recovered. ```x = 1``` And `__init__.py` imports Flask 3.0.1."
    )
    extraction = SPACY.extract_batch([text])[0]
    check(text, extraction)
    assert found(extraction.entities) == [
        ("Redis", "TECH"),
        ("src/app.py", "FILE"),
        ("KeyError", "ERROR"),
        ("conf/a.yaml", "FILE"),
        ("Kafka", "TECH"),
        ("__init__.py", "FILE"),
        ("Flask", "TECH"),
        ("3.0.1", "VERSION"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("支付服务使用Redis缓存，版本7.2.1。", [("Redis", "TECH"), ("7.2.1", "VERSION")]),
        ("デプロイはKubernetesで失敗しました: KeyError", [("Kubernetes", "TECH"), ("KeyError", "ERROR")]),
        ("결제 서비스는 PostgreSQL을 사용합니다", [("PostgreSQL", "TECH")]),
        ("Сервис оплаты использует Redis и Kafka", [("Redis", "TECH"), ("Kafka", "TECH")]),
        ("خدمة الدفع تستخدم Redis", [("Redis", "TECH")]),
    ],
)
def test_any_script(text: str, expected: list[tuple[str, str]]) -> None:
    for extractor in (SPACY, RULES):
        extraction = extractor.extract_batch([text])[0]
        check(text, extraction)
        assert set(expected) <= set(found(extraction.entities))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00", "🙂" * 50, "\ud800", "a\u0301" * 9, "```", "`", "((("])
def test_odd_texts(text: str) -> None:
    for extractor in (SPACY, RULES):
        check(text, extractor.extract_batch([text])[0])


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    for extractor in (SPACY, RULES):
        check(text, extractor.extract_batch([text])[0])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([*NOTES, "\n", "```", "- ", "我们用", "src/a.py", "Kafka 3.7"]), max_size=8).map(" ".join)
)
def test_any_mix_of_notes(text: str) -> None:
    check(text, SPACY.extract_batch([text])[0])


def test_threads_share_one_pipeline() -> None:
    alone = SPACY.extract_batch(NOTES)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: EntityExtractor().extract_batch(NOTES), range(8)))
    assert all(result == alone for result in results)
