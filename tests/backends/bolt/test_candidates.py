"""Candidates from the server's own indexes: near ones, and those with the words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from alma_graph import ALMA, DomainKnowledge, MemoryScope
from alma_graph.backends import UnitOfWork, open_backend
from alma_graph.backends.bolt import candidates
from alma_graph.backends.candidates import as_candidate_source
from alma_graph.errors import EmbeddingError, InvalidInputError, UnsupportedError
from alma_graph.index import ProjectIndex, partial
from alma_graph.testing.graphs import key, memory_row, vector
from tests.backends.bolt.conftest import Connect
from tests.backends.bolt.test_feed import QUERIES, answers, busy
from tests.servers.shared import ask

pytestmark = pytest.mark.engine


@pytest.fixture
def filled(backend: Any) -> Any:
    """300 memories of two projects."""
    work = UnitOfWork()
    for number in range(300):
        project = "shop" if number % 10 == 0 else "other"
        text = f"fact {number} about port {number % 7}"
        work.add_node("Memory", memory_row(f"m{number}", project, text=text, embedding=vector(number)))
    backend.write(work)
    return backend


def nearest(wanted: Any, numbers: Any, k: int) -> list[str]:
    cosine = {n: float(vector(n) @ wanted / np.linalg.norm(vector(n)) / np.linalg.norm(wanted)) for n in numbers}
    return [key(f"m{n}") for n in sorted(cosine, key=lambda n: -cosine[n])[:k]]


def recall(found: Any, wanted: list[str]) -> float:
    return len({name for name, _ in found} & set(wanted)) / len(wanted)


@pytest.mark.parametrize("k", [1, 5, 29, 30, 100])
def test_near_ones_of_the_project_come_as_brute_force_says(filled: Any, location: str, k: int) -> None:
    ask(location, "CALL db.awaitIndexes(60)")
    wanted = vector(1000)
    found = as_candidate_source(filled).vector_candidates("Memory", wanted, k, "shop")
    exact = nearest(wanted, range(0, 300, 10), k)
    assert len(found) == min(k, 30)
    assert recall(found, exact) >= 0.9
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert -1.0 <= found[0][1] <= 1.0


def test_a_scan_answers_where_the_index_cannot(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = vector(1000)
    monkeypatch.setattr(candidates, "_WIDEST", 0)
    found = filled.vector_candidates("Memory", wanted, 7, "shop")
    assert [name for name, _ in found] == nearest(wanted, range(0, 300, 10), 7)
    (own,) = filled.vector_candidates("Memory", vector(10), 1, "shop")
    assert own == (key("m10"), pytest.approx(1.0, abs=1e-6))


def test_words_of_the_project(filled: Any) -> None:
    found = {name for name, _ in filled.text_candidates("which port has fact 10?", 50, "shop")}
    assert key("m10") in found
    assert found <= {key(f"m{number}") for number in range(0, 300, 10)}
    assert filled.text_candidates("fact", 3, "shop")[0][1] > 0
    assert len(filled.text_candidates("fact", 3, "shop")) == 3
    assert filled.text_candidates("fact", 3, "nobody's") == []


@pytest.mark.parametrize(
    "query",
    ['"', "port:*", "AND OR NOT", "a) OR (project_id:other", "x~2 +y -z \\ / ^3 [a TO b]", "", " ", "🦜", "NOT port"],
)
def test_no_word_is_an_operator(filled: Any, query: str) -> None:
    found = filled.text_candidates(query, 500, "shop")
    assert {name for name, _ in found} <= {key(f"m{number}") for number in range(0, 300, 10)}


def test_what_cannot_be_asked(filled: Any) -> None:
    with pytest.raises(EmbeddingError):
        filled.vector_candidates("Memory", [1.0], 3, "shop")
    with pytest.raises(InvalidInputError):
        filled.vector_candidates("Agent", vector(1), 3, "shop")
    assert filled.vector_candidates("Memory", vector(1), 0, "shop") == []
    small = open_backend(":memory:")
    with pytest.raises(UnsupportedError, match="neo4j"):
        as_candidate_source(small)
    small.close()


def test_a_project_too_large_for_memory_is_answered_from_candidates(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = connect()
    busy(whole, "alpha")
    whole.add_batch([DomainKnowledge(domain="d", fact=f"The fact {number} is odd.") for number in range(60)])
    expected = [found[:5] for found in answers(whole)]
    part = connect(1, max_rows_in_memory=20, read_only=True)
    monkeypatch.setattr(ProjectIndex, "load", None)  # nobody reads it whole
    for query, best in zip(QUERIES, expected, strict=True):
        found = part.retrieve(query, top_k=5, user_id="maya")
        hits = found.hits
        assert any("max_rows_in_memory" in warning for warning in found.warnings)
        assert [hit.memory.id for hit in hits] == [memory_id for memory_id, _, _ in best]
    assert part.retrieve("standup", user_id="maya").preferences
    whole.add_domain_knowledge(agent="dev", domain="d", fact="The zebra gate is open.", id="new")
    assert [hit.memory.id for hit in part.retrieve("zebra gate", top_k=1).hits] == ["new"]


ASKED = "limit of the gate"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
FILTERS: dict[str, dict[str, Any]] = {
    "a kind": {"kinds": ["user_preference"], "user_id": "maya"},
    "two kinds": {"kinds": ["observation", "heuristic"]},
    "an agent": {"agent": "quiet"},
    "an agent and a user": {"agent": "quiet", "user_id": "maya"},
    "another user": {"agent": "quiet", "user_id": "noor", "since": datetime(2025, 2, 1, tzinfo=UTC)},
    "long ago": {"until": datetime(2025, 2, 1, tzinfo=UTC)},
    "a time": {"since": datetime(2025, 1, 20, tzinfo=UTC), "until": datetime(2025, 1, 25, tzinfo=UTC)},
    "what held": {"as_of": datetime(2025, 1, 30, tzinfo=UTC), "kinds": ["domain_knowledge"]},
    "also what does not hold": {"as_of": datetime(2025, 1, 30, tzinfo=UTC), "include_superseded": True},
    "superseded": {"include_superseded": True, "agent": "quiet"},
    "who inherits all": {"agent": "lead", "until": datetime(2025, 2, 1, tzinfo=UTC)},
}


def rare_among_many(alma: ALMA) -> None:
    """A few memories of each sort behind many that answer better."""
    loud = [
        DomainKnowledge(agent="loud", domain="d", fact=f"Gate limit {number}.", valid_from=NOW - timedelta(days=9))
        for number in range(150)
    ]
    alma.add_batch(loud)
    for number in range(4):
        fact = f"In building {number} of the harbour the night shift knows a limit of the gate."
        begun = datetime(2025, 1, 20 + 2 * number, tzinfo=UTC)
        alma.add_domain_knowledge("quiet", "d", fact, valid_from=begun, id=f"old{number}")
        alma.add_user_preference(
            "maya", "c", f"Of the gate in yard {number} she asks for the limit.", id=f"wish{number}"
        )
        text = f"On pier {number} someone mentioned that the gate has some limit."
        alma.observe("other", text, session_id="s", id=f"turn{number}", occurred_at=NOW - timedelta(days=number + 1))
        note = f"Noor says of quay {number} that the limit of its gate is low."
        alma.add_domain_knowledge("quiet", "n", note, user_id="noor", id=f"noor{number}")
    alma.add_heuristic("quiet", "c", "Ask at the harbour before the limit of a gate is raised.", id="rule")
    alma.revise("old1", fact="In building 1 of the harbour the gate lost its limit.")


@pytest.mark.parametrize("widest", [10_000, 60, 0])
def test_a_filtered_question_has_the_hits_of_the_whole_project(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, widest: int
) -> None:
    given: dict[str, Any] = {
        "clock": lambda: NOW,
        "scopes": [MemoryScope(agent_name="lead", inherit_from=["*"])],
        "max_rows_in_memory": 20,
    }
    whole = connect(**given)
    rare_among_many(whole)
    expected = {name: whole.retrieve(ASKED, top_k=4, **filters).hits for name, filters in FILTERS.items()}
    assert {name for name, hits in expected.items() if len(hits) < 2} == set()
    monkeypatch.setattr(partial, "CANDIDATES", 12)
    monkeypatch.setattr(candidates, "_WIDEST", widest)  # the index, the index and then a scan, a scan
    part = connect(1, read_only=True, **given)
    for name, filters in FILTERS.items():
        found = part.retrieve(ASKED, top_k=4, **filters)
        assert any("max_rows_in_memory" in warning for warning in found.warnings)
        wanted = {hit.memory.id for hit in expected[name]}
        assert {hit.memory.id for hit in found.hits} == wanted, name


def test_a_project_that_shrank_is_read_whole_again(connect: Connect) -> None:
    writer = connect()
    writer.add_batch(
        [DomainKnowledge(domain="d", fact=f"Fact {number} of the gate.", id=f"f{number}") for number in range(25)]
    )
    part = connect(1, max_rows_in_memory=20, read_only=True)
    assert part.retrieve("Fact 7 of the gate").warnings
    writer.forget(ids=[f"f{number}" for number in range(10, 25)])
    assert not part.retrieve("Fact 7 of the gate").warnings
