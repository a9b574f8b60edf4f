"""What the detector promises: which pairs it flags, by which signal, on what evidence, and for whom."""

from __future__ import annotations

import pytest

from alma_graph.beliefs import EDGE, ContradictionDetector, Side, SymbolicDetector, parse_claims
from tests.beliefs.conftest import JudgeTexts


def test_the_default_is_a_detector() -> None:
    detector: ContradictionDetector = SymbolicDetector()
    assert callable(detector.judge)


@pytest.mark.parametrize(
    ("older", "newer", "signal"),
    [
        ("The vendor API supports webhooks.", "The vendor API does not support webhooks.", "negation"),
        ("I love sushi", "I hate sushi", "antonym"),
        ("The feature flag beta is enabled.", "The feature flag beta is disabled.", "antonym"),
        ("The API listens on port 8080.", "The API listens on port 9090.", "quantity"),
        ("Session tokens expire after 15 minutes.", "Session tokens expire after 24 hours.", "quantity"),
        ("The owner of Ledger is Priya.", "The owner of Ledger is Tomasz.", "exclusive_value"),
        ("Raising the timeout fixed the login test.", "Raising the timeout did not fix the login test.", "outcome"),
        ("Nick drinks green tea", "Nick stopped drinking green tea", None),
        ("Nick drinks green tea", "Nick is not drinking green tea", "negation"),
    ],
)
def test_contradictions_name_their_signal(judge: JudgeTexts, older: str, newer: str, signal: str | None) -> None:
    verdict = judge(older, newer)
    assert verdict is not None
    assert verdict.relation == "contradicts"
    assert signal is None or verdict.signal == signal
    assert verdict.score >= EDGE


def test_other_facts_about_one_subject_do_not_conflict(judge: JudgeTexts) -> None:
    assert judge("Ann works at Acme", "Ann administers Acme's GitHub org") is None
    assert judge("Ann WORKS_AT Acme", "Ann administers Acme's GitHub org") is None


def test_evidence_of_a_number_is_the_number_in_the_text_as_given(judge: JudgeTexts) -> None:
    older = "Note:\n\n- the `API`  listens on port 8080 ."
    newer = "The API listens on port 9090."
    verdict = judge(older, newer)
    assert verdict is not None
    spans = {span.side: span for span in verdict.evidence}
    assert spans["newer"].text == newer[spans["newer"].start : spans["newer"].end] == "9090"
    assert spans["older"].text == older[spans["older"].start : spans["older"].end] == "8080"


def test_evidence_of_opposites_and_values_are_those_words(judge: JudgeTexts) -> None:
    opposites = judge("The cache is enabled.", "The cache is disabled.")
    values = judge("The default branch is main.", "The default branch is trunk.")
    assert opposites is not None and {span.text for span in opposites.evidence} == {"enabled", "disabled"}
    assert values is not None and {span.text for span in values.evidence} == {"main", "trunk"}


def test_evidence_of_a_negation_is_the_claim_among_others(judge: JudgeTexts) -> None:
    older = "We met on Tuesday. The vendor API supports webhooks. Lunch was good."
    verdict = judge(older, "The vendor API does not support webhooks.")
    assert verdict is not None
    assert [span.text for span in verdict.evidence if span.side == "older"] == ["The vendor API supports webhooks"]


def test_first_person_claims_of_two_speakers_do_not_conflict(judge: JudgeTexts) -> None:
    mine, yours = "My dog is called Rex.", "My dog is called Luna."
    assert judge(mine, yours) is not None
    assert judge(mine, yours, older_side={"speaker": "ann"}, newer_side={"speaker": "ann"}) is not None
    assert judge(mine, yours, older_side={"speaker": "ann"}, newer_side={"speaker": "bob"}) is None


def test_facts_of_two_speakers_do_conflict(judge: JudgeTexts) -> None:
    verdict = judge(
        "The API listens on port 8080.",
        "The API listens on port 9090.",
        older_side={"speaker": "ann"},
        newer_side={"speaker": "bob"},
    )
    assert verdict is not None and verdict.relation == "contradicts"


def test_preferences_of_two_users_never_conflict(judge: JudgeTexts) -> None:
    older = {"user_id": "u1", "kind": "user_preference", "category": "food"}
    assert judge("I love sushi", "I hate sushi", older_side=older, newer_side=older | {"user_id": "u2"}) is None
    assert judge("I love sushi", "I hate sushi", older_side=older, newer_side=older) is not None


def test_one_category_is_one_slot(judge: JudgeTexts) -> None:
    side = {"user_id": "u1", "kind": "user_preference", "category": "language"}
    verdict = judge("Answers in German.", "Answers in English.", older_side=side, newer_side=side)
    assert verdict is not None and verdict.relation == "contradicts"


def test_another_domain_is_another_thing(judge: JudgeTexts) -> None:
    auth = {"kind": "domain_knowledge", "category": "auth"}
    same = judge("The timeout is 30 seconds.", "The timeout is 60 seconds.", older_side=auth, newer_side=auth)
    other = judge(
        "The timeout is 30 seconds.",
        "The timeout is 60 seconds.",
        older_side=auth,
        newer_side=auth | {"category": "billing"},
    )
    assert same is not None and same.relation == "contradicts"
    assert other is None


def test_equal_texts_support_each_other_unless_they_say_nothing(judge: JudgeTexts) -> None:
    verdict = judge("The API listens on port 8080.", "the API listens on  port 8080.")
    assert verdict is not None and verdict.relation == "supports" and verdict.score == 1.0
    assert judge("Thanks!", "Thanks!") is None


def test_a_text_that_contradicts_itself_does_not_contradict_its_copy(judge: JudgeTexts) -> None:
    text = "I love sushi. I hate sushi."
    verdict = judge(text, text)
    assert verdict is None or verdict.relation == "supports"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("我不再喜歡咖啡了", "我喜歡咖啡"),
        ("毎日コーヒーを飲みます", "毎日コーヒーを飲みません"),
        ("커피를 좋아합니다", "커피를 좋아하지 않습니다"),
        ("Me gusta el café", "No me gusta el café"),
        ("Le serveur est en ligne.", "Le serveur n'est pas en ligne."),
        ("Der Dienst läuft auf dem Server.", "Der Dienst läuft nicht auf dem Server."),
        ("Сервер работает", "Сервер не работает"),
    ],
)
def test_negation_in_other_languages(judge: JudgeTexts, older: str, newer: str) -> None:
    verdict = judge(older, newer)
    assert verdict is not None
    assert (verdict.relation, verdict.signal) == ("contradicts", "negation")
    assert {span.text for span in verdict.evidence} == {older, newer}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("我喜欢咖啡", "我不喜欢绿茶"),
        ("我喜欢健身", "我喜欢普洱茶"),
        ("服务不错", "服务错"),
        ("Me gusta el café", "No me gusta el té"),
        ("我喜欢咖啡", "I do not like coffee"),
        ("أحب القهوة", "لا أحب القهوة"),
    ],
)
def test_other_languages_are_not_guessed(judge: JudgeTexts, older: str, newer: str) -> None:
    assert judge(older, newer) is None


def test_non_english_first_person_of_two_speakers_does_not_conflict(judge: JudgeTexts) -> None:
    two = {"older_side": {"speaker": "ann"}, "newer_side": {"speaker": "bob"}}
    assert judge("我喜欢咖啡", "我不喜欢咖啡", **two) is None


def test_long_texts_are_judged_by_the_claims_that_share_words(judge: JudgeTexts) -> None:
    filler = " ".join(f"Item {number} went to shelf {number} near door {number}." for number in range(60))
    verdict = judge(f"The API listens on port 8080. {filler}", f"The API listens on port 9090. {filler}")
    assert verdict is not None and verdict.relation == "contradicts"


def test_claims_without_text_of_their_own_are_judged_from_their_stored_form() -> None:
    older, newer = "The API listens on port 8080.", "The API listens on port 9090."
    first, second = parse_claims([older, newer])
    stored = type(first).from_json(first.to_json())
    detector = SymbolicDetector()
    assert detector.judge(Side(newer, second), Side(older, stored)) == detector.judge(
        Side(newer, second), Side(older, first)
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "The station API refused half of our requests this morning.",
            "The station API allows 20 requests per minute.",
        ),
        ("The station API refused many requests this morning.", "The station API allows 60 requests per minute."),
        (
            "Since May the station API allows 20 requests per minute, not 60.",
            "The station API allows 20 requests per minute.",
        ),
        ("Customer data must stay in the EU.", "Customer data is stored in Frankfurt."),
        ("The demo may fail.", "The demo must not fail."),
        ("Rita is my sister.", "Olga is my sister."),
    ],
)
def test_events_shares_contrasts_and_regions_raise_no_alarm(judge: JudgeTexts, older: str, newer: str) -> None:
    verdict = judge(older, newer)
    assert verdict is None or verdict.relation == "supports"


@pytest.mark.parametrize(
    ("older", "newer", "evidence"),
    [
        (
            "The station API allows 60 requests per minute.",
            "Since May the station API allows 20 requests per minute, not 60.",
            {"60", "20"},
        ),
        ("The invoice went to Bergen.", "The invoice went to Oslo, not Bergen.", {"Bergen", "Oslo"}),
        ("Customer data must stay in the EU.", "Customer data is stored in Virginia.", {"EU", "Virginia"}),
        ("My sister is 31.", "My sister is 28 years old.", {"31", "28 years old"}),
        ("Priya owns the payments API", "The payments API is owned by Tomasz", None),
        ("Interns may merge to main.", "Interns must not merge to main.", None),
        ("Leo joined the platform team. He reports to Ines.", "Leo reports to Martin.", {"Ines", "Martin"}),
    ],
)
def test_kinds_seen_in_real_use_are_found(judge: JudgeTexts, older: str, newer: str, evidence: set[str] | None) -> None:
    verdict = judge(older, newer)
    assert verdict is not None and verdict.relation == "contradicts"
    assert evidence is None or {span.text for span in verdict.evidence} == evidence
