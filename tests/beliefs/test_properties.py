"""Invariants on arbitrary text, with the parser really running."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from alma_graph.beliefs import Claims, Side, SymbolicDetector, parse_claims

WORDS = st.sampled_from(
    "the a API service port timeout is are was not no never runs listens enabled disabled on in at 8080 9090 30 s ms "
    "minutes Monday Tuesday v1.2.0 3.11 I my you we love hate like tea coffee if when might said before after only all "
    "None 2024-13-45 12:99 $5 5% , . ? ! ; : \n - ` ``` \" ' 我 不 喜欢 ない n't don't can't stop stopped from to "
    "moved ſix ﬁve ² ٣ 😀 \u202e \x00 \ud800 of by because although first last".split(" ")
)
TEXTS = st.one_of(
    st.lists(WORDS, max_size=14).map(" ".join),
    st.text(max_size=60),
    st.text(alphabet=st.characters(codec=None), max_size=30),
)
RELAXED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@RELAXED
@given(first=TEXTS, second=TEXTS)
@example(first="I love tea", second="I hate tea")
@example(first="The port is 8080.", second="the `port`  is — 9090!")
@example(first="1 to 0 days", second="\ud800 0-0 0:0 may 99")
@example(first="```", second="``` not ```")
def test_judging_is_total_and_its_evidence_lies_in_the_texts(first: str, second: str) -> None:
    claims = parse_claims([first, second])
    newer, older = Side(second, claims[1]), Side(first, claims[0])
    verdict = SymbolicDetector().judge(newer, older)
    reverse = SymbolicDetector().judge(older, newer)
    assert (verdict is None) == (reverse is None)
    if verdict is None or reverse is None:
        return
    assert (verdict.relation, verdict.signal, verdict.score) == (reverse.relation, reverse.signal, reverse.score)
    assert 0 <= verdict.score <= 1
    assert {span.side for span in verdict.evidence} == {"newer", "older"}
    for span in verdict.evidence:
        text = (newer if span.side == "newer" else older).text
        assert 0 <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text


@RELAXED
@given(text=TEXTS)
@example(text="I love tea. I hate tea. The port is 80. The port is 81.")
def test_no_text_contradicts_itself(text: str) -> None:
    claims = parse_claims([text])[0]
    verdict = SymbolicDetector().judge(Side(text, claims), Side(text, claims))
    assert verdict is None or verdict.relation == "supports"


@RELAXED
@given(text=TEXTS)
@example(text="9" * 400)
@example(text="at least 5 or more, up to 1e9 GB")
def test_stored_claims_come_back_the_same(text: str) -> None:
    claims = parse_claims([text])[0]
    stored = claims.to_json()
    assert Claims.from_json(stored) == claims
    assert Claims.from_json(stored).to_json() == stored
    for claim in claims.claims:
        assert 0 <= claim.start < claim.end <= len(text)
        for token in claim.tokens:
            assert 0 <= token.start < token.end <= len(text)
