"""What one process keeps follows what another writes, at the cost of what it changed."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from alma_graph import ALMA
from alma_graph.backends import NODES, open_backend
from alma_graph.backends.bolt import feed
from alma_graph.backends.changes import changes_since
from alma_graph.errors import InvalidInputError, MemoryNotFoundError, StoreChangedError
from alma_graph.index import ProjectIndex
from alma_graph.testing.graphs import key, unit_of
from tests.backends.bolt.conftest import Connect
from tests.servers.shared import ask

pytestmark = pytest.mark.engine

QUERIES = ("Which port has auth?", "Deploy the orders service", "standup", "gateway limit")


def answers(alma: ALMA) -> list[Any]:
    """What retrieval gives, with every part of every score."""
    given: dict[str, Any] = {"top_k": 20, "user_id": "maya", "asked_at": datetime(2030, 1, 1, tzinfo=UTC)}
    found = [alma.retrieve(query, **given).hits for query in QUERIES]
    parts = [[{name: round(value, 5) for name, value in hit.parts.items()} for hit in hits] for hits in found]
    return [
        [(hit.memory.id, hit.status, part) for hit, part in zip(hits, own, strict=True)]
        for hits, own in zip(found, parts, strict=True)
    ]


@pytest.fixture
def no_loading(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts how often a whole project is read."""
    loaded: list[str] = []
    load = ProjectIndex.load.__func__  # type: ignore[attr-defined]

    def counted(cls: Any, /, backend: Any, project_id: str, **options: Any) -> Any:
        loaded.append(project_id)
        return load(cls, backend, project_id, **options)

    monkeypatch.setattr(ProjectIndex, "load", classmethod(counted))
    return loaded


def busy(alma: ALMA, mark: str) -> None:
    """Work of every kind."""
    for number in range(4):
        strategy = "Blue-green deployment" if number else "All hosts at once"
        given: dict[str, Any] = {
            "task": f"Deploy the orders service {mark}{number}",
            "strategy_used": strategy,
            "task_type": "deploy",
        }
        alma.learn(agent="dev", outcome=bool(number), session_id=f"s{mark}", id=f"{mark}-run-{number}", **given)
    alma.add_domain_knowledge(agent="dev", domain="auth", fact=f"The {mark} auth service has port 80.", id=f"{mark}-a")
    alma.add_domain_knowledge(agent="ops", domain="auth", fact=f"The {mark} auth service has port 90.", id=f"{mark}-b")
    alma.add_user_preference(user_id="maya", category="style", preference=f"Short {mark} standup notes")
    for said in ("First.", "Second.", "Third."):
        alma.observe(agent="ops", text=f"{mark} standup: {said}", session_id=f"standup-{mark}")
    alma.relate(f"{mark}-a", "SUPPORTS", f"{mark}-b")


def test_following_gives_what_reading_everything_gives(connect: Connect, no_loading: list[str]) -> None:
    one, two = connect(extractor="rules"), connect(1)
    busy(one, "alpha")
    answers(two)
    del no_loading[:]
    busy(one, "beta")
    one.relate("beta-a", "CONTRADICTS", "alpha-a")
    one.revise("alpha-b", fact="The alpha auth service has port 91.", reason="moved")
    one.retract("beta-b", reason="wrong")
    one.forget("alpha-run-3")
    followed = answers(two)
    assert no_loading == []
    assert followed == answers(one)
    assert followed == answers(connect(2))
    assert {(c.newer.id, c.older.id) for c in two.contradictions()} == {
        (c.newer.id, c.older.id) for c in one.contradictions()
    }
    with pytest.raises(MemoryNotFoundError):
        two.get("alpha-run-3")


def test_what_is_written_while_a_project_is_read_is_there_whole(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = connect(extractor="rules"), connect(1)
    busy(one, "alpha")
    backend = two._store.backend
    read, written = backend.vectors, list[str]()

    def read_slowly(label: str, *, project_id: str) -> Any:
        found = read(label, project_id=project_id)
        if not written:  # the vectors are read, the edges are not yet
            written.append("beta")
            busy(one, "beta")
        return found

    monkeypatch.setattr(backend, "vectors", read_slowly)
    two._store.drop_index(two.project_id)
    found = answers(two)
    assert written
    assert found == answers(one)


def test_both_write_and_lessons_count_everything(connect: Connect) -> None:
    both = [connect(), connect(1)]
    for number in range(12):
        both[number % 2].learn(
            agent="dev",
            task=f"Deploy {number}",
            outcome=number % 4 != 3,
            strategy_used="Blue-green deployment",
            task_type="deploy",
        )
    for alma in both:
        (lesson,) = alma.memories(kind="heuristic")
        assert (lesson.success_count, lesson.occurrence_count) == (9, 12)  # type: ignore[attr-defined]
        assert alma.doctor().ok


def test_where_the_feed_does_not_reach_everything_is_read(connect: Connect, location: str, no_loading: Any) -> None:
    one, two = connect(), connect(1)
    one.add_domain_knowledge(agent="dev", domain="d", fact="A first fact.", id="one")
    assert len(two.retrieve("fact").hits) == 1
    one.add_domain_knowledge(agent="dev", domain="d", fact="A second fact.", id="two")
    ask(location, "MATCH (c:Change) DETACH DELETE c")
    del no_loading[:]
    assert len(two.retrieve("fact").hits) == 2
    assert no_loading == ["shop"]


def test_old_entries_go(backend: Any, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "KEPT_UNITS", 10)
    monkeypatch.setattr(feed, "_PRUNE_EVERY", 5)
    for number in range(25):
        backend.write(unit_of(f"m{number}"))
    assert ask(location, "MATCH (c:Change) RETURN count(*) AS n, min(c.sequence) AS first") == [{"n": 10, "first": 16}]
    assert changes_since(backend, 14) is None
    found = changes_since(backend, 20)
    assert found is not None
    assert found.sequence == 25
    assert found.touched["Memory"] == {key(f"m{number}") for number in range(20, 25)}


def test_nothing_of_a_forgotten_memory_is_left_in_the_database(connect: Connect, location: str) -> None:
    alma = connect()
    alma.add_domain_knowledge(agent="dev", domain="d", fact="Xylophones are loud.", id="telling-name")
    alma.add_domain_knowledge(agent="dev", domain="d", fact="Others stay.", id="other")
    alma.forget("telling-name")
    everything = str(ask(location, "MATCH (n) RETURN properties(n) AS p"))
    assert "telling-name" not in everything
    assert "ylophone" not in everything
    assert "other" in everything


def test_the_feed_is_no_part_of_the_store(connect: Connect) -> None:
    alma = connect()
    alma.add_domain_knowledge(agent="dev", domain="d", fact="One.", id="one")
    backend = alma._store.backend
    assert set(backend.meta() or {}) == {column.name for column in NODES["Meta"].columns}
    with pytest.raises(InvalidInputError, match="Change"):
        backend.nodes("Change")
    assert alma.doctor().ok


def test_a_writer_that_was_too_slow_gets_a_turn(backend: Any, location: str) -> None:
    other = open_backend(location, query_timeout=59)
    backend.write(unit_of("a"), expected=0)
    with pytest.raises(StoreChangedError):
        other.write(unit_of("b"), expected=0)
    done: list[float] = []

    def write() -> None:
        backend.write(unit_of("c"))
        done.append(time.monotonic())

    waiting = threading.Thread(target=write)
    waiting.start()
    time.sleep(0.5)
    assert done == []
    other.write(unit_of("b"), expected=1)
    waiting.join(timeout=feed.TURN_SECONDS + 10)
    assert len(done) == 1
    assert backend.sequence() == 3
    other.close()
