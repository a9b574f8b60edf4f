"""Long and hostile texts take time in proportion to their length."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from alma_graph.extraction import EntityExtractor, RuleExtractor, query_mentions
from alma_graph.extraction.pieces import pieces

HOSTILE = [
    "a", "/", "(", "a.", "-_", "a-", "A.", "A-", "a@", "1,", "1.", "/-", "a..", "a.py", ".py(", "x ", "Aa", "aA", "A_",
    "`", "$", "**", "http://", "a.com/(", "GET /(", "Go ", "\n- ", "~~~\n", "\n", "E", "v1.", "a'", "Inc. ", "I am A",
]  # fmt: skip
SENTENCE = "The ledger service uses Kafka 3.7 and calls src/app.py because Ada approved it on Monday. "


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_scanned_in_linear_time(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    start = time.process_time()
    RuleExtractor().extract(text)
    assert time.process_time() - start < 6.0  # some .1 to .5 s; a quadratic pattern takes minutes


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "(", "a.", "-_", "x ", "\n", "deadbeef01 "])
def test_hostile_text_is_parsed_in_bounded_time(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    start = time.process_time()
    EntityExtractor().extract(text)
    assert time.process_time() - start < 30.0


@pytest.mark.slow
def test_a_text_of_200_kb() -> None:
    text = (SENTENCE * 3_000)[:200_000]
    entities, relations = EntityExtractor().extract(text)
    assert len(entities) > 8_000
    assert entities[-1].start_char > 199_000
    assert relations
    assert all(text[e.start_char : e.end_char] == e.surface for e in entities)


def test_query_of_any_length() -> None:
    start = time.process_time()
    query_mentions("auth service " * 50_000, {"auth service": "e1"})
    query_mentions("支付" * 100_000, {"支付服务": "e1"})
    assert time.process_time() - start < 6.0


def test_pieces_cover_the_text() -> None:
    text = ("One sentence here. Another one. " * 40 + "\n\n") * 12 + "x" * 13_000
    spans = pieces(text, 1_000)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    assert all(0 < end - start <= 1_000 for start, end in spans)
    assert pieces("") == [(0, 0)]
    assert text[: spans[0][1]].endswith(". ")
