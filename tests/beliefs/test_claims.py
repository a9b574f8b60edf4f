"""Text into claims: what is read, where it stands in the original, and how it is stored."""

from __future__ import annotations

import pytest

from alma_graph.beliefs import Claims, parse_claims
from alma_graph.beliefs.claims import MAX_CLAIMS
from alma_graph.beliefs.cleaning import MAX_CHARACTERS, clean
from alma_graph.beliefs.languages import detect_language
from alma_graph.errors import InvalidInputError


def _one(text: str) -> Claims:
    return parse_claims([text])[0]


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("The API supports webhooks.", False),
        ("The API does not support webhooks.", True),
        ("The API no longer supports webhooks.", True),
        ("Nobody uses the old API.", True),
        ("The job failed to start.", True),
        ("I don't think that the API supports webhooks.", True),
        ("Nick stopped drinking tea.", True),
        ("The user avoids spicy food.", True),
        ("The parser is free of bugs.", True),
        ("Not only the API was slow.", False),
        ("The bus stops at the office.", False),
    ],
)
def test_polarity(text: str, negated: bool) -> None:
    assert any(claim.negated for claim in _one(text).claims) is negated


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("The cache is enabled.", "fact"),
        ("Is the cache enabled?", "question"),
        ("The cache may be enabled.", "hedge"),
        ("We will enable the cache.", "plan"),
        ("The cache used to be enabled.", "past"),
        ("Use the cache.", "norm"),
        ("It would enable the cache.", "hypothesis"),
    ],
)
def test_modality(text: str, modality: str) -> None:
    assert [claim.modality for claim in _one(text).claims] == [modality]


def test_coordinated_verbs_are_claims_with_the_same_subject() -> None:
    claims = _one("Priya wrote the importer and reviewed the exporter.").claims
    assert [claim.predicate for claim in claims] == ["write", "review"]
    assert all("priya" in claim.lemma_set for claim in claims)


def test_spans_are_those_of_the_original_text() -> None:
    text = "```\ncode\n```\n*  “The `API`” —  listens on   port 8080"
    claims = _one(text).claims
    assert claims
    for claim in claims:
        for token in claim.tokens:
            assert text[token.start : token.end].lower().strip("`") == token.surface
    values = [text[q.value.start : q.value.end] for claim in claims for q in claim.quantities]
    assert values == ["8080"]


def test_texts_come_back_in_order_and_empty_ones_claim_nothing() -> None:
    parsed = parse_claims(["", "The cache is on.", "   \n", "我喜欢咖啡", "```only code```"])
    assert [len(each.claims) for each in parsed] == [0, 1, 0, 0, 0]
    assert [each.language for each in parsed] == ["en", "en", "en", "zh", "en"]
    assert parse_claims([]) == []


def test_parsing_in_bulk_and_alone_gives_the_same_claims() -> None:
    texts = ["The API listens on port 8080.", "Priya owns Ledger.", "We never deploy on Fridays."]
    assert parse_claims(texts) == [_one(text) for text in texts]


def test_long_texts_are_cut_at_a_sentence_and_claims_are_bounded() -> None:
    text = "The worker restarts the queue. " * 400
    cleaned = clean(text)
    assert len(cleaned.text) <= MAX_CHARACTERS and cleaned.text.endswith("queue.")
    assert len(_one(text).claims) == MAX_CLAIMS
    assert len(clean("x" * 10_000).text) == MAX_CHARACTERS


def test_the_stored_form_is_short_and_keeps_everything() -> None:
    text = "Since 3 March 2024 the billing service runs on port 8443 in Frankfurt, and it must not use more than 2 GB."
    claims = _one(text)
    stored = claims.to_json()
    assert len(stored.encode()) <= 1500
    assert Claims.from_json(stored) == claims


@pytest.mark.parametrize("stored", ["", "{}", "[]", '[99,"en",[]]', '[1,"en",[[1]]]', "null", '[1,"en",3]'])
def test_a_broken_stored_form_is_refused(stored: str) -> None:
    with pytest.raises(InvalidInputError, match="parse the memory's text again"):
        Claims.from_json(stored)


def test_lemmas_are_what_a_look_up_by_shared_words_needs() -> None:
    assert {"api", "listen", "port"} <= _one("The API listens on port 8080.").lemmas
    assert _one("").lemmas == frozenset()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The API listens on port 8080.", "en"),
        ("node_modules/foo.js:12", "en"),
        ("", "en"),
        ("我喜欢咖啡", "zh"),
        ("コーヒーが好きです", "ja"),
        ("커피를 좋아합니다", "ko"),
        ("Я люблю кофе", "ru"),
        ("Me gusta el café", "es"),
        ("Je n'aime pas le café", "fr"),
        ("Ich mag keinen Kaffee", "de"),
        ("أحب القهوة", "und"),
        ("El Niño is a climate pattern in the Pacific", "en"),
        ("Die Hard is my favourite film", "en"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert detect_language(text) == language
