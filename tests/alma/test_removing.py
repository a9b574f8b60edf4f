"""Forgetting memories and deleting projects: nothing is left, nothing else is touched, and a crash loses neither."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from alma_graph import (
    ALMA,
    AntiPattern,
    ForgetReport,
    Heuristic,
    InvalidInputError,
    MemoryNotFoundError,
    ReadOnlyError,
)
from alma_graph.backends import EDGES, NODES, UnitOfWork
from alma_graph.errors import StoreChangedError
from alma_graph.testing.graphs import dump
from tests.alma.conftest import Open
from tests.conftest import durable_only, embedded_only

SECRET = "xyzzy-4711"


def everything(alma: ALMA) -> str:
    """All that the store holds, as text."""
    return repr(dump(alma._store.backend))


# ---------------------------------------------------------------- forget


def test_no_word_of_a_forgotten_outcome_is_left(alma: ALMA) -> None:
    """Its lesson may have its wording, its error and its task; another's edges may quote it."""
    for number in range(3):
        alma.learn("dev", f"Deploy service-{number}", False, "skip tests", task_type="deploy", error_message="timeout")
    before = everything(alma)
    said = alma.learn(
        "dev",
        f"Deploy {SECRET}",
        False,
        "Skip  tests",
        task_type="deploy",
        error_message=f"token {SECRET} leaked",
        feedback=f"see {SECRET}",
        metadata={"ticket": SECRET},
        session_id=SECRET,
        user_id=SECRET,
        id=SECRET,
    )
    [lesson] = alma.memories(kind="anti_pattern")
    assert isinstance(lesson, AntiPattern)
    assert lesson.occurrence_count == 4
    report = alma.forget(said.id)
    assert (report.memory_ids, len(report), int(report), report.dry_run) == ((SECRET,), 1, 1, False)
    assert SECRET not in everything(alma)
    assert said.strategy_used not in everything(alma)
    [lesson] = alma.memories(kind="anti_pattern")
    assert isinstance(lesson, AntiPattern)
    assert lesson.occurrence_count == 3
    assert len(everything(alma)) == len(before)
    assert alma.doctor().ok


def test_lessons_that_stand_no_longer_do_not_quote_what_was_forgotten(plain: ALMA) -> None:
    ids = [plain.learn("dev", f"t{n}", True, f"{SECRET} rollout", task_type="deploy").id for n in range(3)]
    plain.retract(ids[0], reason="faked")
    [archived] = plain.memories(kind="heuristic", status="archived")
    assert isinstance(archived, Heuristic)
    assert ids[0] in archived.supporting_outcomes
    for memory_id in ids:
        plain.forget(memory_id)
        assert memory_id not in everything(plain)
    assert SECRET not in everything(plain)
    assert plain.stats().nodes == 0


def test_a_retracted_lesson_does_not_quote_what_was_forgotten(plain: ALMA) -> None:
    ids = [plain.learn("dev", f"t{n}", True, f"{SECRET} rollout", task_type="deploy").id for n in range(4)]
    [lesson] = plain.memories(kind="heuristic")
    plain.retract(lesson.id, reason="luck")
    plain.forget(ids[0])
    assert ids[0] not in everything(plain)
    assert plain.get(lesson.id).status == "retracted"
    for memory_id in ids[1:]:
        plain.forget(memory_id)
    assert SECRET not in everything(plain)


def test_spellings_and_names_that_only_a_forgotten_memory_used_go_with_it(open_alma: Open) -> None:
    options = {"embedder": "hashing", "extractor": "rules"}
    alma = open_alma(**options)
    gone = alma.add_domain_knowledge("a", "d", "ACME Corp bought Acme Inc in May.")
    stays = ["Acme Corporation makes anvils.", "In June, Acme Corporation was renamed Acme GmbH."]
    for text in stays:
        alma.add_domain_knowledge("a", "d", text)
    [row] = alma._store.backend.nodes("Entity")
    assert row["name"] == "ACME Corp"
    assert set(row["aliases"]) == {"ACME Corp", "Acme Inc", "Acme Corporation", "Acme GmbH"}
    alma.forget(gone.id)
    assert "ACME Corp" not in everything(alma)
    assert "Acme Inc" not in everything(alma)
    assert alma.retrieve("Acme Corporation").hits
    # as if the other had never been there
    alone = open_alma(project_id="alone", **options)
    for text in stays:
        alone.add_domain_knowledge("a", "d", text)
    found = []
    for store in (alma, alone):
        [row] = store._store.backend.nodes("Entity", project_id=store.project_id)
        found.append((row["name"], row["canonical"], row["type"], row["aliases"]))
    assert found[0] == found[1]
    alma.forget(alma.retrieve("renamed").hits[0].memory.id)  # its second spelling is no mention of its own
    assert "Acme GmbH" not in alma._store.backend.nodes("Entity", project_id="shop")[0]["aliases"]
    with alma._store.lock:
        assert alma._store.index("shop").entity_key("Acme GmbH") is None


def test_a_name_that_everyone_knows_stays_with_the_entity(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing", extractor="rules")
    gone = alma.add_domain_knowledge("a", "d", "PostgreSQL keeps the sessions.")
    alma.add_domain_knowledge("a", "d", "postgres is slow today")
    alma.forget(gone.id)
    [row] = alma._store.backend.nodes("Entity")
    assert (row["name"], row["aliases"]) == ("PostgreSQL", ["PostgreSQL"])


def test_versions_around_a_forgotten_one_are_joined(plain: ALMA) -> None:
    ids = [plain.add_domain_knowledge("a", "d", "the limit is 1").id]
    for number in range(2, 6):
        ids.append(plain.revise(ids[-1], fact=f"the limit is {number}", reason=f"raised to {number}").id)
    plain.forget(ids=[ids[1], ids[2]])
    assert [version.memory.id for version in plain.history(ids[0])] == [ids[0], ids[3], ids[4]]
    plain.forget(ids[4])
    assert plain.restore(ids[0]).status == "active"
    assert plain.get(ids[3]).status == "superseded"
    plain.forget(ids[0])
    assert ids[0] not in everything(plain)
    assert plain.doctor().ok


def test_criteria_are_all_to_be_met_and_can_be_tried(plain: ALMA) -> None:
    old = [plain.observe("a", f"turn {n}", session_id="s").id for n in range(3)]
    middle = plain.get(old[-1]).created_at
    new = [plain.observe(agent, f"later {agent}", session_id="s").id for agent in ("a", "b")]
    fact = plain.add_domain_knowledge("a", "d", "unsure", confidence=0.2)
    before = everything(plain)
    tried = plain.forget(kind="observation", agent="a", dry_run=True)
    assert tried == ForgetReport(tuple(sorted([*old, new[0]])), dry_run=True)
    assert str(tried) == "would forget 4 memories"
    assert plain.forget(older_than=middle, dry_run=True).memory_ids == tuple(sorted(old[:2]))
    assert plain.forget(below_confidence=0.3, dry_run=True).memory_ids == (fact.id,)
    assert plain.forget(older_than_days=1, dry_run=True).memory_ids == ()
    assert everything(plain) == before
    assert plain.forget(kind="observation", agent="a").memory_ids == tried.memory_ids
    assert {memory.id for memory in plain.memories()} == {new[1], fact.id}
    assert len(plain.forget(agent="nobody")) == 0
    assert plain.forget(older_than_days=0.0, agent="b").memory_ids == (new[1],)
    assert plain.doctor().ok


def test_nothing_is_forgotten_where_it_is_not_clear_what(plain: ALMA) -> None:
    kept = plain.add_domain_knowledge("a", "d", "x")
    bad: list[dict[str, Any]] = [
        {},
        {"memory_id": kept.id, "agent": "a"},
        {"ids": kept.id},
        {"ids": [kept.id, 3]},
        {"kind": "facts"},
        {"agent": ""},
        {"older_than": "yesterday"},
        {"older_than": "2026-01-01", "older_than_days": 3},
        {"older_than_days": -1},
        {"older_than_days": 800_000},
        {"older_than_days": 1e300},
        {"below_confidence": "low"},
        {"ids": [kept.id], "dry_run": "yes"},
    ]
    for options in bad:
        with pytest.raises(InvalidInputError):
            plain.forget(**options)
    unknown: list[dict[str, Any]] = [{"memory_id": "nobody"}, {"ids": [kept.id, "nobody"]}]
    for options in unknown:
        with pytest.raises(MemoryNotFoundError, match="nobody"):
            plain.forget(**options)
    assert plain.stats().memories == 1
    assert len(plain.forget(ids=[])) == 0


def test_many_are_forgotten_in_units_with_their_lessons(plain: ALMA) -> None:
    items = [
        {"agent": "a", "task": f"t{n}", "outcome": True, "strategy_used": "canary", "task_type": "x"}
        for n in range(1200)
    ]
    plain.learn_batch(items)
    kept = plain.add_domain_knowledge("b", "d", "stays")
    sequence = plain._store.sequence
    assert len(plain.forget(agent="a")) == 1201
    assert plain._store.sequence - sequence in (3, 4)
    assert [memory.id for memory in plain.memories(status=None)] == [kept.id]
    assert plain.stats().nodes == 2
    assert plain.doctor().ok


# ---------------------------------------------------------------- delete_project


def fill(alma: ALMA, size: int = 40) -> None:
    """A bit of everything."""
    name = alma.project_id
    alma.observe_batch(
        [
            {"agent": f"agent {n % 3}", "text": f"turn {n}: the auth-service of {name} calls service-{n % 7}"}
            | {"session_id": f"s{n % 5}", "user_id": f"user {n % 4}"}
            for n in range(size)
        ]
    )
    alma.learn_batch(
        [{"agent": "a", "task": f"t{n}", "outcome": n % 3 > 0, "strategy_used": "canary"} for n in range(size)]
    )
    fact = alma.add_domain_knowledge("a", "d", "word " * 1000 + f"The auth-service of {name} uses Redis.")
    alma.retract(alma.revise(fact.id, fact="It does not.", reason="no").id, reason="yes")


def left_of(alma: ALMA, project_id: str) -> dict[str, int]:
    """How many nodes and edges a project has."""
    backend = alma._store.backend
    labels = [label for label in NODES if label != "Meta"]
    return {name: found for name in (*labels, *EDGES) if (found := backend.count(name, project_id=project_id))}


def test_nothing_is_left_of_a_deleted_project_and_no_other_is_touched(open_alma: Open, engine: str) -> None:
    options = {"embedder": "hashing", "extractor": "rules"}
    one, two = open_alma(project_id="one", **options), open_alma(project_id="two", **options)
    fill(one)
    fill(two)
    shared = one._store.shared is two._store.shared
    before = left_of(two, "two")
    for confirm in ("two", "", None, "ONE"):
        with pytest.raises(InvalidInputError, match="confirm"):
            two.delete_project("one", confirm=confirm)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="no project"):
        two.delete_project("nobody", confirm="nobody")
    deleter = two if shared else one
    count = one.stats().memories
    assert deleter.delete_project("one", confirm="one") == count
    assert left_of(one, "one") == {}
    assert "one" not in one.projects()
    assert left_of(two, "two") == before
    assert list(one.memories(status=None)) == []
    assert one.retrieve("auth-service").hits == ()
    assert two.retrieve("auth-service").hits
    assert deleter.doctor().ok
    fill(one, 3)  # the handle goes on, in a new project of that name
    assert "one" in one.projects()
    assert one.retrieve("auth-service").hits
    assert one.delete_project("one", confirm="one") == 8
    if shared:
        assert one.projects() == ["two"]


def test_a_deletion_that_others_were_faster_than_drops_nothing_of_other_projects(
    open_alma: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    alma = open_alma(embedder="hashing", extractor="rules")
    fill(alma, 5)
    other = ALMA(alma._store, "other")
    other.add_domain_knowledge("a", "d", "The gateway runs in Lisbon.")
    assert other.retrieve("Where does the gateway run?").hits
    kept = alma._store.kept_index("other")
    backend, refused = alma._store.backend, 0
    write = backend.write

    def slower(work: UnitOfWork, **options: Any) -> None:
        nonlocal refused
        if refused < 2:
            refused += 1
            raise StoreChangedError("another process wrote")
        write(work, **options)

    monkeypatch.setattr(backend, "write", slower)
    assert alma.delete_project("shop", confirm="shop") == 12
    assert refused == 2
    assert kept is not None
    assert alma._store.kept_index("other") is kept
    assert left_of(alma, "shop") == {}
    assert other.retrieve("Where does the gateway run?").hits
    assert alma.doctor().ok


@durable_only
def test_a_project_that_is_read_only_is_not_deleted(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    alma.add_domain_knowledge("a", "d", "x")
    alma.close()
    reader = open_alma(read_only=True)
    for call in (
        lambda: reader.delete_project("shop", confirm="shop"),
        lambda: reader.forget(agent="a"),
        lambda: reader.retract("x", reason="y"),
        lambda: reader.restore("x"),
    ):
        with pytest.raises(ReadOnlyError):
            call()
    assert len(reader.forget(agent="a", dry_run=True)) == 1
    assert reader.history(next(reader.memories()).id)


def test_a_deletion_stopped_at_any_unit_leaves_a_sound_graph(open_alma: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alma_graph.lifecycle.deleting.UNIT_SIZE", 7)
    alma = open_alma(embedder="hashing", extractor="rules")
    fill(alma, 25)
    backend = alma._store.backend
    write = backend.write
    stops = 0

    class StopError(Exception):
        pass

    while alma.projects():
        done = 0

        def stopping(work: UnitOfWork, **options: Any) -> None:
            nonlocal done
            if done == 2:
                raise StopError
            done += 1
            write(work, **options)

        monkeypatch.setattr(backend, "write", stopping)
        try:
            alma.delete_project("shop", confirm="shop")
        except StopError:
            stops += 1
        monkeypatch.setattr(backend, "write", write)
        assert alma.doctor().ok, str(alma.doctor())
        assert len(list(alma.memories(status=None))) == alma.stats().memories
    assert stops > 3
    assert left_of(alma, "shop") == {}


@embedded_only
@pytest.mark.parametrize("kills", [3, pytest.param(15, marks=pytest.mark.slow)])
def test_a_killed_deletion_is_finished_by_a_second_call(location: str, tmp_path: Path, kills: int) -> None:
    with ALMA.open(location, project_id="other", embedder="hashing", extractor="none") as alma:
        fill(alma, 10)
        other = left_of(alma, "other")
    program = """
        import sys
        from alma_graph import ALMA
        from alma_graph.lifecycle import deleting
        deleting.UNIT_SIZE = 20
        with ALMA.open(sys.argv[1], project_id="shop", extractor="none") as alma:
            print("open", flush=True)
            alma.delete_project("shop", confirm="shop")
            print("done", flush=True)
    """
    interrupted = 0
    for number in range(kills):
        with ALMA.open(location, project_id="shop", extractor="none") as alma:
            if "shop" not in alma.projects():
                fill(alma, 150)
            total = alma.stats().memories
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), location], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        try:
            child.wait(0.02 + 0.05 * number)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
        finished = "done" in child.communicate()[0]
        with ALMA.open(location, project_id="shop", extractor="none") as alma:
            assert alma.doctor().ok, str(alma.doctor())
            assert left_of(alma, "other") == other
            left = alma.stats().memories
            assert left == 0 if finished else left <= total
            interrupted += 0 < left < total
    with ALMA.open(location, project_id="shop", extractor="none") as alma:
        if "shop" in alma.projects():
            alma.delete_project("shop", confirm="shop")
        assert left_of(alma, "shop") == {}
        assert alma.projects() == ["other"]
        assert alma.doctor().ok


def test_an_owner_goes_with_its_last_memory_whatever_else_has_its_name(plain: ALMA) -> None:
    only = plain.add_domain_knowledge("x", "d", "The only fact of agent x.", id="one").id
    plain.add_domain_knowledge("y", "d", "a", id="x")
    plain.add_domain_knowledge("y", "d", "b", id="z")
    plain.relate("x", "SUPPORTS", "z")
    plain.forget(only)
    assert plain._store.backend.count("Agent") == 1
    assert plain.doctor().ok


def test_a_turn_between_two_that_bear_an_agent_s_name_leaves_no_agent(plain: ALMA) -> None:
    for name in ("first", "x", "last"):
        plain.observe(agent="x" if name == "x" else "y", text=f"turn {name}", session_id="s", id=f"{name}")
    plain.observe(agent="y", text="another", session_id="x", id="other")
    plain.forget("first")
    plain.forget("x")
    assert [row["id"] for row in plain._store.backend.nodes("Agent", columns=("id",))] == ["y"]
    assert plain.doctor().ok
