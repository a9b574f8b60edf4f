"""Export and import as a caller uses them: what is adopted, left, merged or refused, and what is true afterwards."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from alma_graph import (
    ALMA,
    AsyncALMA,
    DomainKnowledge,
    EmbedderMismatchError,
    Heuristic,
    IdConflictError,
    InvalidInputError,
    Memory,
    ReadOnlyError,
    StoreLockedError,
)
from alma_graph.backends import UnitOfWork, node_key
from alma_graph.index.following import load_whole
from alma_graph.store import store as store_module
from tests.alma.conftest import Open, Ticking
from tests.conftest import embedded_only

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def other() -> Iterator[ALMA]:
    """A store in memory, to move things from or to."""
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none", clock=Ticking()) as alma:
        yield alma


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "graph.jsonl"


def fact(alma: ALMA, text: str, **fields: Any) -> str:
    return alma.add_domain_knowledge("a", "d", text, **fields).id


def learn(alma: ALMA, numbers: range, outcome: str = "success", strategy: str = "Blue-green deployment") -> None:
    for number in numbers:
        alma.learn(
            "dev", f"Deploy it, run {number}", outcome, strategy, "deploy", id=f"{strategy[:4]}-{outcome}-{number}"
        )


def everything(alma: ALMA) -> list[Memory]:
    return list(alma.memories(status=None))


@embedded_only
def test_a_new_store_takes_over_the_embedder_of_the_file(
    other: ALMA, file: Path, location: str, open_alma: Open
) -> None:
    fact(other, "The service a runs in Lisbon.")
    other.export(file)
    summary = ALMA.import_(file, into=location)
    assert summary.written["Memory"] == 1
    alma = open_alma(extractor="none")
    assert alma.stats().embedder == other.stats().embedder
    assert everything(alma) == everything(other)
    assert (
        alma.retrieve("Where does service a run?").hits[0].parts
        == other.retrieve("Where does service a run?").hits[0].parts
    )


def test_an_empty_store_takes_over_the_embedder_too(other: ALMA, file: Path, open_alma: Open) -> None:
    class Vectors:
        name = "other-words"
        dimension = 384

        def embed(self, texts: Any) -> Any:
            raise AssertionError("nothing is embedded")

    alma = open_alma(embedder=Vectors(), extractor="none")
    fact(other, "The service a runs in Lisbon.")
    other.export(file)
    ALMA.import_(file, into=alma)
    assert alma.stats().embedder == other.stats().embedder
    assert alma.retrieve("Where does service a run?").hits
    fact(alma, "The service b runs in Porto.")
    assert alma.doctor().ok


@pytest.mark.parametrize("embedder", ["hashing:64", "hashing:384"])
def test_another_embedder_is_refused_with_both_cures(open_alma: Open, other: ALMA, file: Path, embedder: str) -> None:
    alma = open_alma(embedder=embedder, extractor="none")
    fact(alma, "Mine.")
    fact(other, "Theirs.")
    other.export(file)
    if embedder == "hashing:384":  # the same one by another spelling of its name
        assert ALMA.import_(file, into=alma).written["Memory"] == 1
        return
    with pytest.raises(EmbedderMismatchError, match=r"new store.*reembed") as caught:
        ALMA.import_(file, into=alma)
    assert "384" in str(caught.value)
    assert "64" in str(caught.value)
    assert [memory.text for memory in everything(alma)] == ["Mine."]


def test_the_same_questions_have_the_same_answers_after_a_move(open_alma: Open, file: Path) -> None:
    places, things = ("auth", "billing", "search", "ledger"), ("redis", "kafka", "postgres")
    alma = open_alma(embedder="hashing", extractor="rules", clock=lambda: NOW)
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="rules", clock=lambda: NOW) as other:
        learn(other, range(12))
        learn(other, range(3), "failure", "Rebuild everything by hand")
        for n in range(40):
            a, b = places[n % 4], things[n % 3]
            fact(other, f"The {a} service keeps its sessions in {b} for {n} minutes.", id=f"f{n}")
            other.observe("a", f"The {a} waited {n} s for {b}.", session_id=f"s{n // 8}", occurred_at=NOW, id=f"o{n}")
        other.export(file)
        ALMA.import_(file, into=alma)
        questions = [f"How long does {a} wait for {b}?" for a in places[:3] for b in things] + ["Deploy it again"]
        assert len(questions) == 10
        for question in questions:
            ours, theirs = (store.retrieve(question, top_k=10, asked_at=NOW).hits for store in (other, alma))
            assert [hit.memory.id for hit in ours] == [hit.memory.id for hit in theirs]
            assert ours
            for one, two in zip(ours, theirs, strict=True):
                assert one.parts == pytest.approx(two.parts, abs=1e-6)


def test_a_second_import_writes_nothing(plain: ALMA, other: ALMA, file: Path) -> None:
    learn(other, range(4))
    fact(other, "The service a runs in Lisbon.", id="f")
    other.observe("a", "Hello", session_id="s")
    other.observe("a", "Hello again", session_id="s")
    other.relate("f", "SUPPORTS", next(iter(other.memories(kind="observation"))).id, {"why": "said so"})
    other.export(file)
    first = ALMA.import_(file, into=plain)
    before, sequence = everything(plain), plain.stats()
    second = ALMA.import_(file, into=plain, on_conflict="error")
    assert second.written == second.merged == second.kept == second.left_out == {}
    assert second.present == first.written
    assert (everything(plain), plain.stats()) == (before, sequence)
    assert first.recounted == second.recounted == ()
    assert plain.doctor().ok


def test_an_import_that_was_broken_off_goes_on(plain: ALMA, other: ALMA, file: Path) -> None:
    other.add_batch([DomainKnowledge(agent="a", domain="d", fact=f"Fact number {n}.") for n in range(1500)])
    other.export(file)

    def stop(done: int, total: int) -> None:
        if done >= 1000:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        ALMA.import_(file, into=plain, progress=stop)
    assert 0 < len(everything(plain)) < 1500
    told: list[tuple[int, int]] = []
    summary = ALMA.import_(file, into=plain, progress=lambda done, total: told.append((done, total)))
    assert summary.present["Memory"] + summary.written["Memory"] == 1500
    assert told[-1][0] == told[-1][1] == sum(summary.present.values()) + sum(summary.written.values())
    assert everything(plain) == everything(other)
    assert plain.doctor().ok


def test_error_names_the_first_difference_and_writes_nothing(plain: ALMA, other: ALMA, file: Path) -> None:
    fact(plain, "The port is 80.", id="x")
    fact(other, "The port is 80.", id="x", metadata={"from": "there"})
    fact(other, "The host is blue.", id="y")
    other.export(file)
    with pytest.raises(IdConflictError, match=r"'x'.*metadata.*skip.*merge"):
        ALMA.import_(file, into=plain, on_conflict="error")
    assert [memory.id for memory in everything(plain)] == ["x"]
    assert ALMA.import_(file, into=plain).kept["Memory"] == 1
    assert {memory.id: memory.metadata for memory in everything(plain)} == {"x": {}, "y": {}}


def test_a_merge_unites_field_by_field(plain: ALMA, other: ALMA, file: Path) -> None:
    fact(plain, "The port is 80.", id="x", metadata={"seen": "here", "a": 1}, authority="agent")
    fact(other, "The port is 80.", id="x", metadata={"seen": "there", "b": 2}, authority="user", valid_to="2027-01-01")
    before, theirs = plain.get("x"), other.get("x")
    other.export(file)
    ALMA.import_(file, into=plain, on_conflict="merge")
    merged = plain.get("x")
    assert merged.metadata == {"seen": "here", "a": 1, "b": 2}
    assert merged.authority == "user"
    assert merged.valid_to == theirs.valid_to
    assert merged.created_at == min(filter(None, (before.created_at, theirs.created_at)))
    assert plain.doctor().ok
    again = ALMA.import_(file, into=plain, on_conflict="merge")
    assert again.merged == {}
    assert plain.get("x") == merged


@pytest.mark.parametrize("on_conflict", ["skip", "merge"])
def test_another_memory_under_one_id_stays_out_with_all_that_hangs_on_it(
    open_alma: Open, file: Path, on_conflict: str
) -> None:
    alma = open_alma(embedder="hashing", extractor="rules")
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="rules") as other:
        fact(alma, "The port of Redis is 6379.", id="x")
        fact(other, "Postgres runs in Lisbon with Kafka.", id="x")
        fact(other, "Redis runs in Porto.", id="y")
        other.relate("x", "SUPPORTS", "y")
        other.export(file)
    summary = ALMA.import_(file, into=alma, on_conflict=on_conflict)
    assert alma.get("x").text == "The port of Redis is 6379."
    assert alma.get("y").text == "Redis runs in Porto."
    assert summary.kept["Memory"] == 1
    assert summary.left_out["SUPPORTS"] == 1
    assert alma.why("x").supports == alma.why("y").supports == ()
    assert alma.doctor().ok


def test_lessons_of_two_stores_become_those_of_all_outcomes(plain: ALMA, other: ALMA, file: Path) -> None:
    learn(plain, range(4))
    learn(plain, range(1), "failure")
    learn(plain, range(1), "failure", "Rebuild everything by hand")
    learn(other, range(4, 9))
    learn(other, range(1, 3), "failure", "Rebuild everything by hand")
    other.export(file)
    summary = ALMA.import_(file, into=plain)
    assert summary.recounted == ("shop",)
    (heuristic,) = plain.memories(kind="heuristic")
    assert isinstance(heuristic, Heuristic)
    assert (heuristic.success_count, heuristic.occurrence_count) == (9, 10)
    assert len(plain.why(heuristic.id).supported_by) == 9
    (anti_pattern,) = plain.memories(kind="anti_pattern")
    assert "3 of 3" in anti_pattern.text + str(anti_pattern)
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none", clock=Ticking()) as whole:
        learn(whole, range(9))
        learn(whole, range(1), "failure")
        learn(whole, range(3), "failure", "Rebuild everything by hand")
        expected = {
            memory.id: memory.confidence for kind in ("heuristic", "anti_pattern") for memory in whole.memories(kind)
        }
    assert {heuristic.id: heuristic.confidence, anti_pattern.id: anti_pattern.confidence} == expected
    assert plain.doctor().ok
    assert ALMA.import_(file, into=plain).written == {}
    assert next(iter(plain.memories(kind="heuristic"))) == heuristic


def test_a_merge_that_retracts_an_outcome_counts_it_no_more(plain: ALMA, other: ALMA, file: Path) -> None:
    for alma in (plain, other):
        learn(alma, range(4))
    other.retract("Blue-success-0", reason="it was rolled back")
    other.export(file)
    assert ALMA.import_(file, into=plain, on_conflict="merge").recounted == ("shop",)
    (heuristic,) = plain.memories(kind="heuristic")
    assert isinstance(heuristic, Heuristic)
    assert heuristic.success_count == 3
    assert plain.doctor().ok


def test_lessons_are_true_of_what_could_be_salvaged(plain: ALMA, other: ALMA, file: Path) -> None:
    learn(other, range(5))
    other.export(file)
    lines = file.read_bytes().splitlines(keepends=True)
    broken = next(number for number, line in enumerate(lines) if b'"Blue-success-2"' in line)
    lines[broken] = lines[broken][:50] + b"\n"
    file.write_bytes(b"".join(lines))
    summary = ALMA.import_(file, into=plain, salvage=True)
    assert summary.problems[0].line == broken + 1
    (heuristic,) = plain.memories(kind="heuristic")
    assert isinstance(heuristic, Heuristic)
    assert heuristic.success_count == 4
    assert plain.doctor().ok


def test_projects_and_owners_are_made_again_for_what_was_salvaged(plain: ALMA, other: ALMA, file: Path) -> None:
    fact(other, "The service a runs in Lisbon.", id="f")
    other.add_user_preference("maya", "reports", "Short ones.")
    other.export(file)
    lines = file.read_bytes().splitlines(keepends=True)
    kept = [
        line for line in lines if not line.startswith((b'{"node":"Project"', b'{"node":"Agent"', b'{"node":"User"'))
    ]
    file.write_bytes(b"".join(kept))
    summary = ALMA.import_(file, into=plain, salvage=True)
    assert {problem.message.split()[0] for problem in summary.problems} == {"LEARNED", "ABOUT"}
    assert plain.projects() == ["shop"]
    assert plain.doctor().ok
    assert plain.stats().edges["LEARNED"] == 1
    assert plain.stats().edges["ABOUT"] == 1


def test_a_salvage_mends_the_projects_that_it_wrote_to_and_says_what(
    plain: ALMA, other: ALMA, file: Path, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.add_user_preference("maya", "reports", "Short ones.", id="wish")
    other.export(file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in lines if not line.startswith((b'{"node":"Project"', b'{"node":"User"'))))
    backend = plain._store.backend
    elsewhere = {"key": node_key("elsewhere", "idle"), "id": "idle", "project_id": "elsewhere"}
    backend.write(UnitOfWork(nodes={"Agent": [elsewhere]}))  # damaged: nothing holds it
    plain._store.shared.sequence = backend.sequence()
    read: list[str | None] = []
    nodes = type(backend).nodes

    def watched(self: Any, label: str, **options: Any) -> Any:
        if label == "Memory" and options.get("keys") is None:
            read.append(options.get("project_id"))
        return nodes(self, label, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(backend), "nodes", watched)
        patch.setattr("alma_graph.transfer.importing.require_embedder", lambda store: None)
        summary = ALMA.import_(file, into=plain, salvage=True)
    assert set(read) == {"shop"}
    assert summary.mended == ("made the node of 1 projects", "joined 1 memories to their agent or user")
    assert backend.nodes("Agent", keys=[elsewhere["key"]])
    assert [check.detail for check in plain.doctor().problems] == [f"Agent that no memory holds: {elsewhere['key']!r}"]
    assert ALMA.import_(file, into=plain, salvage=True).mended == ()


def test_an_import_leaves_the_arrays_of_other_projects_as_they_are(
    plain: ALMA, other: ALMA, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(other, range(4))
    other.export(file)
    idle = ALMA(plain._store, "idle")
    fact(idle, "The gateway runs in Lisbon.")
    assert idle.retrieve("Where does the gateway run?").hits
    fact(plain, "The ledger runs in Porto.")
    assert plain.retrieve("Deploy it").hits == ()
    loaded: list[str] = []

    def watched(backend: Any, project_id: str) -> Any:
        loaded.append(project_id)
        return load_whole(backend, project_id)

    monkeypatch.setattr(store_module, "load_whole", watched)
    ALMA.import_(file, into=plain)
    loaded.clear()
    assert idle.retrieve("Where does the gateway run?").hits
    assert loaded == []
    assert plain.retrieve("Deploy it").hits
    assert loaded == ["shop"]
    assert plain.doctor().ok


def test_a_lesson_of_a_lower_threshold_stays(plain: ALMA, file: Path) -> None:
    from alma_graph import MemoryScope

    scope = MemoryScope(agent_name="dev", min_occurrences_for_heuristic=2)
    with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none", scopes=[scope]) as other:
        learn(other, range(2))
        assert list(other.memories(kind="heuristic"))
        other.export(file)
    learn(plain, range(5, 6), strategy="Canary release")
    assert ALMA.import_(file, into=plain).recounted == ("shop",)
    assert [memory.text for memory in plain.memories(kind="heuristic")] == ["deploy: Blue-green deployment"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("Lisbon", "Madrid"), "checksum"),
        (lambda text: text.replace('"use_count":0', '"use_count":"many"'), "line 2: .*use_count"),
        (lambda text: text.replace('"kind":"domain_knowledge"', '"kind":"rumour"'), "line 2: .*rumour"),
        (lambda text: text.replace('"id":"f"', '"id":"g"'), "line 2: .*key"),
        (lambda text: text.replace('"edge":"LEARNED"', '"edge":"DESTROYED"'), "line 5: .*DESTROYED"),
        (lambda text: "\n".join(text.splitlines()[:1] + text.splitlines()[2:]), "line 4: LEARNED .* no Memory"),
        (lambda text: text.replace('"embedding":"', '"embedding":"!'), "line 2: .*base64"),
        (lambda text: text.replace("Lisbon", "\\ud800"), "line 2: .*surrogate"),
        (lambda text: text + text, "a line after the trailer"),
        (lambda text: text.splitlines()[0] + "\n", "trailer is missing"),
        (lambda text: "", "is empty"),
        (lambda text: "hello\n" + text, "line 1: .*alma-graph export"),
    ],
)
def test_nothing_is_written_of_a_file_that_was_changed(
    plain: ALMA, other: ALMA, file: Path, change: Callable[[str], str], words: str
) -> None:
    fact(other, "The service a runs in Lisbon.", id="f")
    other.export(file)
    content = file.read_text(encoding="utf-8")
    changed = change(content)
    assert changed != content
    file.write_text(changed, encoding="utf-8", newline="\n")
    with pytest.raises(InvalidInputError, match=words):
        ALMA.import_(file, into=plain)
    assert everything(plain) == []


def test_what_cannot_be_asked_is_refused(plain: ALMA, file: Path, tmp_path: Path) -> None:
    plain.export(file)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: ALMA.import_(file, into=":memory:"), "into=alma"),
        (lambda: ALMA.import_(tmp_path / "absent", into=plain), "absent"),
        (lambda: ALMA.import_(tmp_path, into=plain), "cannot be read"),
        (lambda: ALMA.import_(file, into=plain, on_conflict="both"), "on_conflict.*skip"),
        (lambda: ALMA.import_(file, into=plain, salvage="yes"), "salvage"),  # type: ignore[arg-type]
        (lambda: ALMA.import_(file, into=plain, progress=3), "progress"),  # type: ignore[arg-type]
        (lambda: plain.export(tmp_path / "no" / "folder"), "folder"),
        (lambda: plain.export(tmp_path), "folder"),
        (lambda: plain.export(file, project_id="nobody"), "no such project"),
    ]
    for ask, words in cases:
        with pytest.raises(InvalidInputError, match=words):
            ask()


@embedded_only
def test_a_store_that_is_open_for_reading_is_exported_and_takes_nothing(
    plain: ALMA, other: ALMA, file: Path, location: str
) -> None:
    fact(plain, "The service a runs in Lisbon.")
    plain.close()
    with ALMA.open(location, project_id="shop", extractor="none", read_only=True) as reader:
        assert reader.export(file).nodes["Memory"] == 1
        with pytest.raises(ReadOnlyError):
            ALMA.import_(file, into=reader)


_WRITER = """
import sys
from alma_graph import ALMA
with ALMA.open(sys.argv[1], project_id="shop", embedder="hashing", extractor="none") as alma:
    print("open", flush=True)
    for number in range(100_000):
        alma.add_domain_knowledge("a", "d", f"Fact {number}.", id=str(number))
"""


@embedded_only
def test_an_export_beside_a_writer_is_one_state_or_says_who_holds_the_file(
    plain: ALMA, other: ALMA, file: Path, location: str
) -> None:
    beside = plain.stats().engine.startswith("ladybug")
    plain.close()
    with subprocess.Popen([sys.executable, "-c", _WRITER, location], stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "open\n"
            if not beside:
                with pytest.raises(StoreLockedError, match=str(writer.pid)):
                    ALMA.open(location, project_id="shop", extractor="none", read_only=True, lock_timeout=0.2)
                return
            with ALMA.open(location, project_id="shop", extractor="none", read_only=True) as reader:
                reader.export(file)
                made = reader.export(file)
        finally:
            writer.kill()
    count = made.nodes.get("Memory", 0)
    ALMA.import_(file, into=other)
    assert {memory.id for memory in other.memories()} == {str(number) for number in range(count)}
    assert other.doctor().ok


def test_every_project_moves_and_they_stay_apart(plain: ALMA, other: ALMA, file: Path, location: str) -> None:
    fact(other, "The shop is in Lisbon.", id="one")
    other.export(file)
    header = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert header["project_id"] is None
    other.export(file, project_id="shop")
    header = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert header["project_id"] == "shop"
    ALMA.import_(file, into=plain)
    assert plain.projects() == ["shop"]
    assert plain.get("one") == other.get("one")


@embedded_only
def test_options_of_a_location_are_those_of_opening_it(
    plain: ALMA, other: ALMA, file: Path, location: str, tmp_path: Path
) -> None:
    fact(other, "The service a runs in Lisbon.")
    other.export(file)
    new = f"{location}.new"
    with pytest.raises(InvalidInputError, match="'username' is no option"):
        ALMA.import_(file, into=new, username="neo4j")
    assert not (tmp_path / "store.graph.new").exists()
    summary = ALMA.import_(file, into=new, buffer_pool_bytes=64 << 20, lock_timeout=1.0, username=None)
    assert summary.written["Memory"] == 1
    with pytest.raises(InvalidInputError, match="open already"):
        ALMA.import_(file, into=plain, username="neo4j")


def test_the_asynchronous_face_moves_too(plain: ALMA, file: Path) -> None:
    async def move() -> list[Any]:
        async with await AsyncALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none") as other:
            await other.observe(agent="a", text="hello", session_id="s")
            await other.export(file)
            await AsyncALMA.import_(file, into=AsyncALMA(plain))
            again = await AsyncALMA.import_(file, plain, on_conflict="merge")
            assert again.written == {}
            found: list[Any] = await other.memories()
            return found

    assert asyncio.run(move()) == everything(plain)


@pytest.mark.slow
def test_an_export_and_the_check_of_an_import_hold_a_batch_at_a_time(file: Path) -> None:
    def peaks(count: int) -> list[int]:
        with ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none") as alma:
            alma.add_batch([DomainKnowledge(domain="d", fact=f"Fact {n}. " + "x" * 2000) for n in range(count)])
            found = []
            for work in (lambda: alma.export(file), lambda: ALMA.import_(file, into=alma, on_conflict="error")):
                tracemalloc.start()
                work()
                found.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
        return found

    small, large = peaks(1500), peaks(4500)
    assert all(many < 1.5 * few for few, many in zip(small, large, strict=True)), (small, large)
