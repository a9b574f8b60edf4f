"""Every query of the catalogue, run on the real engine over a store that has rows for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from alma_graph import ALMA, InvalidInputError, Table
from alma_graph.queries import load_catalogue
from tests.conftest import store_location

pytestmark = pytest.mark.engine

GIVEN: dict[str, dict[str, Any]] = {
    "entity-companions": {"entity": "orders-api"},
    "entity-neighbourhood": {"entity": "ORDERS-API"},
    "evidence-of": {"memory_id": "limit-old"},
    "infected-by": {"memory_id": "limit-old"},
    "preferences-of": {"user_id": "maya"},
    "session-timeline": {"session_id": "standup"},
}


def fill(alma: ALMA) -> None:
    """A store in which every query finds something."""
    canary, all_at_once = "Release to a canary, then to everyone", "Deploy to all hosts at once"
    runs = [(canary, True)] * 3 + [(canary, False)] + [(all_at_once, False)] * 3 + [(all_at_once, True)]
    alma.learn_batch(
        {
            "id": f"run-{at}",
            "agent": "deployer",
            "task": f"Deploy orders-api 1.{at}",
            "task_type": "deploy",
            "strategy_used": strategy,
            "outcome": success,
            "session_id": "releases",
            "occurred_at": f"2026-03-{at + 1:02d}",
        }
        for at, (strategy, success) in enumerate(runs)
    )
    for name, agent, fact, day in (
        ("limit-old", "builder", "The orders-api uses PostgreSQL with a limit of 10 MB.", 2),
        ("limit-new", "tester", "The orders-api uses PostgreSQL with a limit of 25 MB.", 3),
        ("alone", "tester", "The gateway has no owner.", 4),
        ("derived", "builder", "Uploads to the gateway stay below 10 MB.", 5),
        ("heir", "builder", "The client refuses files of more than 10 MB.", 6),
        ("plan", "builder", "The invoice export ships to partners.", 7),
    ):
        alma.add_domain_knowledge(agent=agent, domain="gateway", fact=fact, id=name, valid_from=f"2026-03-{day:02d}")
    alma.add_domain_knowledge(agent="oncall", domain="gateway", fact="the GATEWAY has no owner.", id="copy")
    alma.add_user_preference(user_id="maya", category="style", preference="Short bullet lists", id="wish")
    for day, said in ((9, "Third, PostgreSQL."), (8, "Second, the gateway."), (7, "First, the export.")):
        alma.observe(agent="oncall", text=said, session_id="standup", occurred_at=f"2026-03-{day:02d}")
    if not alma.contradictions():
        alma.relate("limit-new", "CONTRADICTS", "limit-old", {"why": "two limits"})
    alma.relate("limit-old", "SUPPORTS", "derived")
    alma.relate("heir", "INHERITS_FROM", "derived")
    alma.revise("plan", fact="The invoice export ships to customers.", reason="the billing service is late")


@pytest.fixture(scope="module")
def alma(tmp_path_factory: pytest.TempPathFactory, cypher_engine: str) -> Iterator[ALMA]:
    location = store_location(tmp_path_factory.mktemp("catalogue"), cypher_engine)
    with ALMA.open(location, project_id="shop", embedder="hashing") as opened:
        fill(opened)
        with ALMA.open(location, project_id="other 'project'") as other:
            fill(other)
        yield opened


@pytest.mark.parametrize("name", sorted(load_catalogue()))
def test_columns_are_those_of_the_header_and_there_are_rows(alma: ALMA, name: str) -> None:
    query = alma.queries[name]
    table = query(**GIVEN.get(name, {}))
    assert table.columns == query.query.returns
    assert len(table) > 0


@pytest.mark.parametrize("name", sorted(load_catalogue()))
def test_no_row_comes_from_another_project(alma: ALMA, name: str) -> None:
    table = alma.queries[name](**GIVEN.get(name, {}))
    stores_own = {memory.id for memory in alma.memories(status=None)}
    for row in table:
        for column, value in row.items():
            if column.endswith("memory_id") or column in ("newer_id", "older_id"):
                assert value in stores_own
    empty = ALMA.open(alma._store.location, project_id="nobody's")
    try:
        assert len(empty.queries[name](**GIVEN.get(name, {}))) == 0
    finally:
        empty.close()


@pytest.mark.parametrize("name", sorted(load_catalogue()))
def test_the_same_rows_come_twice_in_the_same_order(alma: ALMA, name: str) -> None:
    given = GIVEN.get(name, {})
    assert alma.queries[name](**given) == alma.queries[name](**given)


def limited() -> list[str]:
    return [name for name, query in load_catalogue().items() if any(p.name == "limit" for p in query.parameters)]


@pytest.mark.parametrize("name", limited())
def test_a_limit_gives_the_first_rows(alma: ALMA, name: str) -> None:
    given = GIVEN.get(name, {})
    whole = alma.queries[name](**given)
    first = alma.queries[name](**given, limit=1)
    assert first.rows == whole.rows[:1]


def rows(table: Table) -> list[dict[str, Any]]:
    return list(table)


def test_strategies_have_their_true_counts(alma: ALMA) -> None:
    (found,) = rows(alma.queries["strategies-that-work"]())
    assert (found["supports"], found["failures"], found["success_rate"]) == (3, 1, pytest.approx(0.75))
    assert len(alma.queries["strategies-that-work"](min_supports=4)) == 0
    assert len(alma.queries["thin-evidence"](max_supports=2)) == 0
    (bad,) = rows(alma.queries["standing-anti-patterns"]())
    assert (bad["failures"], bad["successes"]) == (3, 1)


def test_contradictions_leave_counted_outcomes_out_unless_asked(alma: ALMA) -> None:
    found = {(row["newer_id"], row["older_id"]) for row in alma.queries["contradiction-map"]()}
    assert ("limit-new", "limit-old") in found
    with_outcomes = alma.queries["contradiction-map"](include_outcomes=True, min_score=0)
    assert {row["newer_id"] for row in with_outcomes} - {newer for newer, _ in found} == {"run-3", "run-7"}
    (pair,) = rows(alma.queries["agents-disagree"]())
    assert (pair["agent"], pair["other_agent"], pair["contradictions"], pair["unsettled"]) == (
        "builder",
        "tester",
        1,
        1,
    )


def test_infection_goes_through_both_kinds_of_edges(alma: ALMA) -> None:
    found = {row["memory_id"]: row["steps"] for row in alma.queries["infected-by"](memory_id="limit-old")}
    assert {name: found.get(name) for name in ("derived", "heir")} == {"derived": 1, "heir": 2}
    assert "limit-new" not in found


def test_a_session_is_told_in_the_order_of_its_times(alma: ALMA) -> None:
    told = [row["text"] for row in alma.queries["session-timeline"](session_id="standup")]
    assert told == ["First, the export.", "Second, the gateway.", "Third, PostgreSQL."]


def test_what_was_superseded_names_its_successor(alma: ALMA) -> None:
    (found,) = rows(alma.queries["superseded-and-why"]())
    assert (found["memory_id"], found["status"]) == ("plan", "superseded")
    assert found["now"] == "The invoice export ships to customers."
    assert "billing service is late" in found["evidence"]


def test_texts_that_only_look_alike_are_repeated(alma: ALMA) -> None:
    found = rows(alma.queries["repeated-texts"]())
    assert {(row["copies"], row["agent"], row["memory_id"]) for row in found} == {
        (2, "oncall", "copy"),
        (2, "tester", "alone"),
    }


def test_narrowing_parameters(alma: ALMA) -> None:
    assert {row["kind"] for row in alma.queries["recent-memories"](kind="outcome")} == {"outcome"}
    assert {row["agent"] for row in alma.queries["recent-memories"](agent="oncall")} == {"oncall"}
    types = {row["type"] for row in alma.queries["most-mentioned-entities"](entity_type="TECH")}
    assert types == {"TECH"}
    assert len(alma.queries["entity-companions"](entity="nothing like it")) == 0


def test_a_value_cannot_become_part_of_the_query(alma: ALMA) -> None:
    before = alma.stats()
    assert len(alma.queries["evidence-of"](memory_id="x'}) DETACH DELETE m //")) == 0
    with pytest.raises(InvalidInputError):
        alma.queries["recent-memories"](limit="1; MATCH (m) DELETE m")
    assert alma.stats() == before
