"""Behaviours that users of such stores asked for, mostly after being bitten; each test names its number.

Kinds: backend-index, silent-loss, datetime-tz, file-lock, concurrency, vector-index, fulltext-escape, unicode-cjk,
cypher-injection, embedding-dim, id-handling, ranking, windows.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alma_graph import ALMA, AlmaGraphError, DomainKnowledge, StoreLockedError
from alma_graph.retrieval import engine as retrieval_engine
from tests.alma.conftest import Open
from tests.conftest import durable_only, embedded_only


def found(alma: ALMA, query: str, **options: Any) -> list[str]:
    return [hit.memory.text for hit in alma.retrieve(query, **options).hits]


def fact(alma: ALMA, text: str, **fields: Any) -> str:
    return alma.add_domain_knowledge("a", "d", text, **fields).id


# ---------------------------------------------------------------- backend-index


def test_p001_a_fresh_store_takes_a_batch_and_answers_without_any_setup(open_alma: Open) -> None:
    alma = open_alma()
    alma.add_batch(
        [DomainKnowledge(domain="d", fact="Alice wrote the parser."), DomainKnowledge(domain="d", fact="Bob sleeps.")]
    )
    assert found(alma, "alice")[0] == "Alice wrote the parser."


# ---------------------------------------------------------------- silent-loss


def test_p035_a_relation_is_made_once_and_says_so(plain: ALMA) -> None:
    one, two = fact(plain, "one"), fact(plain, "two")
    assert plain.relate(one, "SUPPORTS", two).created is True
    assert plain.relate(one, "SUPPORTS", two).created is False
    assert plain.stats().edges["SUPPORTS"] == 1
    with pytest.raises(AlmaGraphError, match="nobody"):
        plain.relate(one, "SUPPORTS", "nobody")


# ---------------------------------------------------------------- datetime-tz


def test_p009_naive_and_aware_times_compare(alma: ALMA) -> None:
    early = fact(alma, "The retry limit is 3.", valid_from=datetime(2024, 1, 1))
    late = fact(alma, "The retry limit is 5.", valid_from=datetime.fromisoformat("2024-06-01T00:00+02:00"))
    [contradiction] = alma.contradictions()
    assert (contradiction.newer.id, contradiction.older.id) == (late, early)
    assert all(memory.valid_from is not None and memory.valid_from.tzinfo for memory in alma.memories())


def test_p089_a_day_is_the_same_day_in_every_zone(location: str, engine: str) -> None:
    program = """
        import sys
        from alma_graph import ALMA
        with ALMA.open(sys.argv[1], project_id="p", embedder="hashing", extractor="none") as alma:
            alma.add_domain_knowledge("a", "d", "the night deploy", valid_from="2026-08-28T23:30:00Z", id="n")
            day = {"since": "2026-08-28", "until": "2026-08-28T23:59:59"}
            print(len(alma.retrieve("night deploy", **day).hits), alma.get("n").valid_from.isoformat())
            print(len(alma.retrieve("night deploy", since="2026-08-29").hits))
    """
    seen = set()
    for zone in ("UTC", "Asia/Shanghai", "America/Los_Angeles"):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), location],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(done.stdout)
    assert seen == {"1 2026-08-28T23:30:00+00:00\n0\n"}


def test_p127_an_aware_time_makes_the_round_trip(plain: ALMA) -> None:
    moment = datetime.fromisoformat("2026-02-03T12:00:00.123456+05:30")
    assert plain.get(fact(plain, "x", valid_from=moment)).valid_from == moment


# ---------------------------------------------------------------- file-lock


def test_p031_a_second_open_shares_the_handle(open_alma: Open, engine: str) -> None:
    one, two = open_alma(embedder="hashing"), open_alma(embedder="hashing")
    assert (one._store.shared is two._store.shared) is (engine != "memory")


@embedded_only
def test_p119_another_process_gets_one_clear_line(open_alma: Open, location: str) -> None:
    open_alma(embedder="hashing")
    program = "import sys; from alma_graph import ALMA; ALMA.open(sys.argv[1], project_id='p', lock_timeout=0.2)"
    done = subprocess.run([sys.executable, "-c", program, location], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert StoreLockedError.__name__ in last
    assert str(os.getpid()) in last


# ---------------------------------------------------------------- concurrency


def test_p032_calls_of_one_event_loop_all_land(plain: ALMA) -> None:
    async def together() -> None:
        await asyncio.gather(*(asyncio.to_thread(fact, plain, f"entity {n}") for n in range(20)))

    asyncio.run(together())
    assert plain.stats().memories == 20


@embedded_only
def test_p055_two_processes_never_corrupt_the_store(location: str) -> None:
    program = """
        import sys
        from alma_graph import ALMA
        with ALMA.open(sys.argv[1], project_id="p", embedder="hashing", extractor="none", lock_timeout=60) as alma:
            me = sys.argv[2]
            items = [{"agent": me, "task": f"task {n}", "outcome": True, "id": f"{me}-{n}"} for n in range(500)]
            alma.learn_batch(items)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), location]
    writers = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in ("a", "b")]
    for writer in writers:
        _, stderr = writer.communicate(timeout=120)
        assert writer.returncode == 0, stderr
    with ALMA.open(location, project_id="p", extractor="none") as alma:
        assert alma.stats().memories == 1000
        assert alma.doctor().ok


def test_p129_eight_threads_add_without_an_error(plain: ALMA) -> None:
    async def together() -> None:
        def fifty(thread: int) -> None:
            for n in range(50):
                plain.observe(agent="a", text=f"turn {n} of {thread}", session_id=f"s{thread}")

        await asyncio.gather(*(asyncio.to_thread(fifty, thread) for thread in range(8)))

    asyncio.run(together())
    assert plain.stats().memories == 400
    assert plain.stats().edges["NEXT"] == 8 * 49


# ---------------------------------------------------------------- vector-index


def test_p040_p130_after_everything_was_removed_new_memories_are_found(plain: ALMA) -> None:
    for memory_id in [fact(plain, text) for text in ("red apples", "green pears", "blue plums")]:
        plain.forget(memory_id)
    for text in ("red apples", "green pears", "blue plums"):
        fact(plain, text)
    assert {text for query in ("apples", "pears", "plums") for text in found(plain, query)} == {
        "red apples",
        "green pears",
        "blue plums",
    }


def test_p131_a_changed_text_is_found_by_its_new_words_and_keeps_its_edges(alma: ALMA) -> None:
    first = fact(alma, "The cache lives in Redis.")
    basis = fact(alma, "Redis was chosen in the March review.")
    alma.relate(basis, "SUPPORTS", first)
    second = alma.revise(first, fact="The cache lives in Memcached.")
    assert found(alma, "Memcached cache")[0] == "The cache lives in Memcached."
    assert [link.memory.id for link in alma.why(first).supported_by] == [basis]
    assert [link.memory.id for link in alma.why(second.id).sources] == [first]


# ---------------------------------------------------------------- fulltext-escape


def test_p005_a_hundred_tenants_named_by_uuid(open_alma: Open) -> None:
    for _ in range(100):
        tenant = open_alma(project_id=str(uuid.uuid4()), embedder="hashing", extractor="none")
        fact(tenant, "Tokens expire in 24h")
        assert found(tenant, "when do tokens expire") == ["Tokens expire in 24h"]


def test_p007_paths_and_operators_are_text(alma: ALMA) -> None:
    text = "see C:\\repo\\src\\main.py and some/path/file"
    fact(alma, text)
    assert found(alma, "C:\\repo\\src\\main.py") == [text]
    assert found(alma, "some/path/file") == [text]
    for query in '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ / AND OR NOT'.split():
        alma.retrieve(query)


def test_p087_a_hyphen_is_no_operator(plain: ALMA) -> None:
    fact(plain, "tier1-test AND unicode")
    assert found(plain, "tier1-test AND unicode") == ["tier1-test AND unicode"]


# ---------------------------------------------------------------- unicode-cjk


def test_p046_a_part_of_a_chinese_sentence_finds_it(alma: ALMA) -> None:
    fact(alma, "我喜欢绿茶")
    assert found(alma, "绿茶") == ["我喜欢绿茶"]


def test_p104_two_chinese_facts_stay_two(alma: ALMA) -> None:
    assert fact(alma, "我喜欢健身") != fact(alma, "我喜欢普洱茶")
    assert alma.stats().memories == 2


def test_p105_a_chinese_negation_is_a_conflict_and_no_duplicate(alma: ALMA) -> None:
    fact(alma, "我喜欢咖啡")
    fact(alma, "我不喜欢咖啡")
    assert alma.stats().memories == 2
    assert len(alma.contradictions(suspected=True)) == 1


def test_p132_mixed_scripts_and_a_query_of_stop_words(alma: ALMA) -> None:
    text = "订单审批流程自动通知 ERP审批"
    fact(alma, text)
    fact(alma, "Then we started again from scratch.")
    assert found(alma, "审批流程") == [text]
    assert found(alma, "ERP") == [text]
    assert found(alma, "again") == ["Then we started again from scratch."]


def test_p152_accents_are_letters(alma: ALMA) -> None:
    fact(alma, "El niño comió jalapeño")
    for query in ("jalapeño", "niño", "jalapeno"):
        assert found(alma, query) == ["El niño comió jalapeño"]


# ---------------------------------------------------------------- cypher-injection


def test_p023_a_predicate_is_data(engine: str, plain: ALMA) -> None:
    one, two = fact(plain, "one"), fact(plain, "two")
    with pytest.raises(AlmaGraphError):
        plain.relate(one, "definiert_icp-kriterien_für", two)
    plain.relate(one, "SUPPORTS", two, evidence={"relation": "definiert_icp-kriterien_für `x` 'y'\n🛒"})
    [link] = plain.why(two).supported_by
    assert link.evidence["evidence"] == {"relation": "definiert_icp-kriterien_für `x` 'y'\n🛒"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_p069_no_name_is_ever_part_of_a_query(plain: ALMA, name: str) -> None:
    before = plain.stats().memories
    stored = plain.learn(agent=name, task=name, outcome=True, task_type=name, user_id=name, session_id=name)
    assert plain.get(stored.id) == stored
    assert plain.stats().memories == before + 1
    plain.forget(stored.id)
    assert plain.stats().memories == before


def test_p069_an_injection_is_a_name_like_any_other(open_alma: Open) -> None:
    for name in ("Entity) DETACH DELETE n //", "x' OR 1=1", "`; MATCH (n) DETACH DELETE n; //"):
        alma = open_alma(project_id=name, embedder="hashing", extractor="none")
        fact(alma, "still here")
        assert found(alma, "still here") == ["still here"]
    assert len(alma.projects()) >= 1


def test_p082_p122_apostrophes_are_kept_and_searched(alma: ALMA) -> None:
    text = "I've a Rubik's cube; children's party"
    assert alma.get(fact(alma, text)).text == text
    fact(alma, "Alice's cat sleeps on the keyboard")
    assert found(alma, "Alice's cat")[0] == "Alice's cat sleeps on the keyboard"


# ---------------------------------------------------------------- embedding-dim


def test_p050_the_dimension_comes_from_the_embedder(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing:384", extractor="none")
    fact(alma, "no dimension was configured")
    assert alma.stats().dimension == 384
    assert found(alma, "dimension configured")


class Liar:
    name, dimension = "liar", 1536

    def embed(self, texts: list[str]) -> Any:
        return np.ones((len(texts), 1024), np.float32)


def test_p052_both_numbers_are_named_before_any_write(open_alma: Open) -> None:
    alma = open_alma(embedder=Liar(), extractor="none")
    with pytest.raises(AlmaGraphError, match=r"1536.*1024|1024.*1536"):
        fact(alma, "x")
    assert alma.stats().nodes == 0


# ---------------------------------------------------------------- id-handling


def test_p066_every_id_shown_is_taken(alma: ALMA) -> None:
    fact(alma, "The billing service listens on port 8080.")
    [hit] = alma.retrieve("billing port").hits
    assert len(alma.forget(hit.memory.id)) == 1
    assert alma.retrieve("billing port").hits == ()


def test_p086_an_id_is_exact_in_its_project(open_alma: Open) -> None:
    one, two = (open_alma(project_id=name, embedder="hashing", extractor="none") for name in "AB")
    for alma in (one, two):
        for name in ("sprint-4", "sprint-4-done"):
            fact(alma, f"{name} of {alma.project_id}", id=name)
    if one._store.shared is two._store.shared:
        assert one.get("sprint-4").text == "sprint-4 of A"
        assert two.get("sprint-4").text == "sprint-4 of B"


# ---------------------------------------------------------------- ranking


CORPUS = [
    ("Which port does billing use?", "The billing service listens on port 8080."),
    ("Who renders invoices?", "Invoices are rendered by the pdf-worker."),
    ("What returns ERR-503?", "The gateway returns ERR-503 when Redis is down."),
    ("Where does staging run?", "The staging cluster runs in Frankfurt."),
    ("How long do tokens live?", "Access tokens expire after 24 hours."),
    ("What is the retry policy?", "Failed requests are retried three times with backoff."),
    ("Who approves releases?", "Maria signs off every production release."),
    ("What broke the nightly build?", "The nightly build failed on a missing certificate."),
]


def hits_at_five(alma: ALMA, without: tuple[str, ...]) -> int:
    count = 0
    for query, answer in CORPUS:
        with alma._store.lock:
            index = alma._store.index(alma.project_id)
            store = alma._store
            hits = retrieval_engine.retrieve(
                index, store.memories_by_key, store.encoder, query, top_k=5, without=without
            )
        count += answer in [hit.memory.text for hit in hits]
    return count


def test_p114_an_arm_more_never_loses_what_was_found(alma: ALMA) -> None:
    for _, answer in CORPUS:
        fact(alma, answer)
    arms = ("dense", "lexical", "entity", "graph")
    everything = hits_at_five(alma, ())
    assert everything == len(CORPUS)
    for arm in arms:
        assert hits_at_five(alma, (arm,)) <= everything


def test_p118_a_cue_of_who_spoke_never_empties_the_answer(alma: ALMA) -> None:
    fact(alma, "We suggested moving the cron jobs to Temporal.")
    assert found(alma, "what did you suggest about the cron jobs") == ["We suggested moving the cron jobs to Temporal."]


def test_p120_scores_differ_and_their_parts_add_up(alma: ALMA) -> None:
    for _, answer in CORPUS:
        fact(alma, answer)
    hits = alma.retrieve("billing service port in the staging cluster", top_k=5, explain=True).hits
    scores = [hit.score for hit in hits]
    assert len(scores) > 1
    assert scores == sorted(set(scores), reverse=True)
    assert all(sum(hit.parts.values()) == hit.score for hit in hits)


# ---------------------------------------------------------------- windows


@durable_only
def test_p058_a_narrow_console_shows_everything(open_alma: Open, location: str, tmp_path: Path) -> None:
    alma = open_alma(embedder="hashing", extractor="none", project_id="店 🛒")
    fact(alma, "我喜欢绿茶 ─ 🛒")
    alma.close()
    program = str(Path(sys.executable).parent / "alma-graph")
    for command in (["stats"], ["retrieve", "绿茶"], ["doctor", location]):
        options = [] if command[0] == "doctor" else ["--store", location, "--project", "店 🛒"]
        done = subprocess.run(
            [program, *command, *options],
            env={**os.environ, "PYTHONIOENCODING": "cp1252"},
            capture_output=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr.decode("cp1252", "replace")
        assert b"UnicodeEncodeError" not in done.stderr
