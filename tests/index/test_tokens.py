"""Terms of texts in any script, and of code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.index.tokens import document_terms, query_concepts


def matches(query: str, text: str) -> bool:
    terms = document_terms(text)[0]
    return any(term in terms for concept in query_concepts(query) for term in concept.terms)


def matches_all(query: str, text: str) -> bool:
    """Every part of the query that has to be there is there."""
    terms = document_terms(text)[0]
    needed = [concept for concept in query_concepts(query) if not concept.optional]
    return bool(needed) and all(any(term in terms for term in concept.terms) for concept in needed)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("绿茶", "我喜欢绿茶"),
        ("茶", "我喜欢绿茶"),
        ("审批流程", "订单审批流程自动通知 ERP审批"),
        ("ERP", "订单审批流程自动通知 ERP审批"),
        ("日本語", "これは日本語の文です"),
        ("데이터베이스", "데이터베이스를 재시작했다"),
        ("jalapeño", "El niño comió jalapeño"),
        ("jalapeno", "El niño comió jalapeño"),
        ("niño", "El nin\u0303o comió"),
        ("СЕРВЕР", "сервер упал"),
        ("STRASSE", "Die Straße ist gesperrt"),
        ("ﬁle", "the file"),
        ("getUserName", "calls getUserName() twice"),
        ("user name", "calls getUserName() twice"),
        ("max_retries", "set maxRetries to 3"),
        ("MAX-RETRIES", "set max_retries to 3"),
        ("main.py", r"see C:\repo\src\main.py"),
        (r"C:\repo\src\main.py", r"see C:\repo\src\main.py"),
        ("src/main.py", r"see C:\repo\src\main.py"),
        ("ERR_4521", "failed with ERR_4521 at start"),
        ("v1.2.3", "released v1.2.3 today"),
        ("550e8400-e29b-41d4-a716-446655440000", "id 550e8400-e29b-41d4-a716-446655440000 is gone"),
        ("C++", "written in C++"),
        ("retries", "retry it"),
        ("caching", "cached values"),
        ("O'Brien", "O’Brien signed"),
    ],
)
def test_query_finds_text(query: str, text: str) -> None:
    assert matches_all(query, text) or (matches(query, text) and all(c.optional for c in query_concepts(query)))


@pytest.mark.parametrize(
    ("query", "text"),
    [("3.11", "uses 3.12"), ("v1.2.3", "uses w1.2.4"), ("C++", "the letter d"), ("绿茶", "我喜欢健身")],
)
def test_different_things_share_no_exact_term(query: str, text: str) -> None:
    terms = document_terms(text)[0]
    assert not all(any(term in terms for term in concept.terms) for concept in query_concepts(query))


def test_stop_words_are_asked_for_only_when_nothing_else_is_left() -> None:
    assert [concept.terms for concept in query_concepts("again")] == [("again",)]
    assert [concept.terms for concept in query_concepts("try it again with redis")] == [("tri",), ("redi",)]


def test_length_counts_content_words() -> None:
    assert document_terms("the cat and the hat")[1] == 2
    assert document_terms("src/main.py")[1] == 3


@pytest.mark.parametrize("text", ["", "   ", '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ /', "\ud800", "\x00\x01", "'" * 9])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert document_terms(text) == ({}, 0)
    assert query_concepts(text) == []


@given(st.text())
def test_no_text_raises(text: str) -> None:
    counts, length = document_terms(text)
    query_concepts(text)
    assert length <= sum(counts.values())


@given(st.text(min_size=1))
def test_a_text_matches_itself(text: str) -> None:
    terms = document_terms(text)[0]
    for concept in query_concepts(text):
        assert concept.terms[0] in terms
