"""Retrieval, Cypher, lists, pictures and health, as a caller meets them."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from alma_graph import ALMA, AlmaGraphError, Memory, MemoryScope, ReadOnlyError, Status, UnsupportedError
from alma_graph.errors import InvalidInputError
from alma_graph.model import DomainKnowledge
from tests.alma.conftest import Open
from tests.conftest import durable_only, embedded_only

FACTS = [
    "The billing service listens on port 8080.",
    "Invoices are rendered by the pdf-worker in Dublin.",
    "The gateway returns ERR-503 when redis:6379 is down.",
    "Config is read from C:\\repo\\src\\main.py and some/path/file.yaml.",
    "El niño comió jalapeño",
    "我喜欢绿茶",
    "订单审批流程自动通知 ERP审批",
    "I've a Rubik's cube; children's party",
    "tier1-test AND unicode",
    "Then we started again from scratch.",
]


@pytest.fixture
def filled(alma: ALMA) -> ALMA:
    for number, fact in enumerate(FACTS):
        alma.add_domain_knowledge("dev", "ops", fact, id=f"f{number}")
    return alma


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("Which port does billing use?", 0),
        ("ERR-503", 2),
        ("C:\\repo\\src\\main.py", 3),
        ("some/path/file.yaml", 3),
        ("jalapeño", 4),
        ("niño", 4),
        ("绿茶", 5),
        ("审批流程", 6),
        ("ERP", 6),
        ("Rubik's", 7),
        ("tier1-test AND unicode", 8),
        ("again", 9),
    ],
)
def test_words_of_any_script_find_their_memory(filled: ALMA, query: str, wanted: int) -> None:
    assert filled.retrieve(query).hits[0].memory.id == f"f{wanted}"


@pytest.mark.parametrize(
    "query", ['+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ /', "AND", "OR NOT", "'", "`", "\x00", "{", "🛒"]
)
def test_no_text_is_an_error(filled: ALMA, query: str) -> None:
    filled.retrieve(query)


def test_nothing_relevant_is_an_empty_slice(filled: ALMA) -> None:
    assert filled.retrieve("How long should spaghetti carbonara simmer?").hits == ()


def test_parts_sum_to_the_score_and_hits_are_ranked(filled: ALMA) -> None:
    hits = filled.retrieve("billing gateway port", top_k=10, explain=True).hits
    assert len(hits) >= 2
    for hit in hits:
        assert sum(hit.parts.values()) == hit.score
        assert 0 <= hit.relevance <= 1
        assert math.isfinite(hit.score)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.score for hit in hits}) == len(hits)


def test_a_smaller_k_gives_a_prefix(filled: ALMA) -> None:
    full = [hit.memory.id for hit in filled.retrieve("the service in Dublin on a port", top_k=10).hits]
    for k in range(1, 10):
        assert [hit.memory.id for hit in filled.retrieve("the service in Dublin on a port", top_k=k).hits] == full[:k]


def test_retrieve_writes_nothing_and_parses_with_rules_only(filled: ALMA) -> None:
    before = filled.stats()
    extractor = filled._store.extractor

    class Untouchable:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"retrieve used the extractor: {name}")

    filled._store.extractor = Untouchable()  # type: ignore[assignment]
    try:
        assert filled.retrieve("billing port").hits
    finally:
        filled._store.extractor = extractor
    assert filled.stats() == before


def test_scopes_say_who_reads_what(open_alma: Open) -> None:
    scopes = [
        MemoryScope(agent_name="junior", inherit_from=["senior"]),
        MemoryScope(agent_name="lead", inherit_from=["*"]),
        MemoryScope(agent_name="ops", share_with=["qa"]),
    ]
    alma = open_alma(scopes=scopes)
    for agent in ("senior", "ops", "junior", None):
        alma.add_domain_knowledge(agent, "d", f"The deploy checklist of {agent or 'everybody'} has a rollback step.")
    query = "What does the deploy checklist say about rollback?"

    def readers(agent: str | None) -> set[str | None]:
        return {hit.memory.agent for hit in alma.retrieve(query, agent=agent, top_k=10).hits}

    assert readers("junior") == {"junior", "senior", None}
    assert readers("qa") == {"ops", None}
    assert readers("lead") == readers(None) == {"senior", "ops", "junior", None}
    assert readers("stranger") == {None}


def test_preferences_belong_to_their_user(alma: ALMA) -> None:
    alma.add_user_preference("test_user", "style", "Prefers terse answers about deployments.")
    assert alma.retrieve("deployments answers style", agent="dev", user_id="test_user1").preferences == []
    assert len(alma.retrieve("deployments answers style", agent="dev", user_id="test_user").preferences) == 1


def test_old_memories_are_found_and_as_of_looks_back(alma: ALMA) -> None:
    alma.add_domain_knowledge("dev", "d", "The CI server was Jenkins.", valid_from="2019-01-01", valid_to="2022-01-01")
    alma.add_domain_knowledge("dev", "d", "The CI server is Buildkite.", valid_from="2022-01-01")
    now = [hit.memory.text for hit in alma.retrieve("Which CI server?").hits]
    then = [hit.memory.text for hit in alma.retrieve("Which CI server?", as_of="2020-05-05").hits]
    assert now == ["The CI server is Buildkite."]
    assert then == ["The CI server was Jenkins."]
    assert alma.retrieve("Which CI server?", until="2021-01-01", include_superseded=True).hits[0].memory.text == then[0]


def test_superseded_memories_come_only_when_asked_for(plain: ALMA) -> None:
    plain.add_batch([DomainKnowledge(domain="d", fact="the old gateway address", status=Status.SUPERSEDED)])
    assert plain.retrieve("old gateway address").hits == ()
    [hit] = plain.retrieve("old gateway address", include_superseded=True).hits
    assert hit.status == "superseded"


def test_the_prompt_keeps_to_its_budget(filled: ALMA) -> None:
    found = filled.retrieve("billing gateway port", top_k=10)
    assert len(found.to_prompt(token_budget=16)) < len(found.to_prompt(token_budget=800))
    assert "8080" in found.to_prompt()


@durable_only
def test_a_query_without_its_model_still_answers(open_alma: Open) -> None:
    class Own:
        name, dimension = "somebody's own", 384

        def embed(self, texts: list[str]) -> object:
            from alma_graph.embedding import HashingEmbedder

            return HashingEmbedder(384).embed(texts)

    alma = open_alma(embedder=Own(), extractor="none")
    alma.add_domain_knowledge("dev", "d", "The CI server is Buildkite.")
    alma.close()
    alma = open_alma(extractor="none")
    found = alma.retrieve("Buildkite CI server")
    assert [hit.memory.text for hit in found.hits] == ["The CI server is Buildkite."]
    assert found.warnings
    assert alma.stats().embedder == "somebody's own"
    with pytest.raises(AlmaGraphError, match="somebody's own"):
        alma.add_domain_knowledge("dev", "d", "Another fact.")


def test_pages_cover_everything_once(plain: ALMA) -> None:
    ids = [plain.add_domain_knowledge("a", "d", f"fact {n}").id for n in range(50)]
    assert [memory.id for memory in plain.memories(limit=5)] == ids[::-1][:5]
    seen: list[Memory] = []
    while page := list(plain.memories(limit=7, after=seen[-1].id if seen else None)):
        seen.extend(page)
    assert [memory.id for memory in seen] == ids[::-1]


def test_cypher_answers_in_a_table(filled: ALMA, engine: str) -> None:
    if engine == "memory":
        with pytest.raises(UnsupportedError, match=r"(?i)ladybug"):
            filled.cypher("MATCH (m:Memory) RETURN count(*)")
        return
    table = filled.cypher("MATCH (m:Memory) RETURN m.kind AS kind, count(*) AS number")
    assert table.columns == ("kind", "number")
    assert table.rows == (("domain_knowledge", len(FACTS)),)
    assert list(table) == [{"kind": "domain_knowledge", "number": len(FACTS)}]
    assert table.to_pandas().to_dict("list")["number"] == [len(FACTS)]
    assert table.to_arrow().num_rows == 1
    assert "<td>domain_knowledge</td>" in table._repr_html_()
    found = filled.cypher("MATCH (m:Memory) WHERE m.text CONTAINS $word RETURN m.id", word="Rubik's")
    assert found.rows == (("f7",),)
    mine = filled.cypher("MATCH (m:Memory) WHERE m.project_id = $project_id RETURN count(*)")
    assert mine.rows == ((len(FACTS),),)


@pytest.mark.never("memory", reason="it has no Cypher", raises=UnsupportedError)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Entity {key: 'x'})",
        "MATCH (m:Memory) SET m.text = 'gone'",
        "MATCH (m:Memory) DETACH DELETE m",
        "COMMIT; CREATE (:Entity {key: 'x'})",
        "COPY (MATCH (m:Memory) RETURN m.id) TO 'out.csv'",
        "LOAD FROM 'pyproject.toml' RETURN *",
        "CALL threads=1",
    ],
)
def test_cypher_cannot_write(filled: ALMA, statement: str) -> None:
    before = filled.stats()
    with pytest.raises(ReadOnlyError):
        filled.cypher(statement)
    assert filled.stats() == before


def test_the_catalogue_is_at_hand(filled: ALMA, engine: str) -> None:
    assert len(filled.queries) >= 8
    if engine != "memory":
        assert len(filled.queries["recent-memories"](limit=3)) == 3


def test_the_page_shows_every_node(filled: ALMA, tmp_path: Path) -> None:
    page = filled.to_html(tmp_path / "graph.html")
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == page
    nodes = filled.to_networkx().number_of_nodes()
    assert f'data-node-count="{nodes}"' in page
    assert filled.stats().memories + filled.stats().entities <= nodes


def test_the_doctor_finds_a_well_store_well(filled: ALMA) -> None:
    report = filled.doctor()
    assert report.ok, str(report)
    assert {check.name for check in report.checks} >= {"engine", "schema", "embedder", "graph", "index", "round trip"}
    assert filled.projects() == ["shop"]


def test_fifty_kilobytes_without_extraction_are_quick(plain: ALMA) -> None:
    text = "The quarterly report lists revenue and costs. " * 1100
    start = time.perf_counter()
    plain.add_domain_knowledge("a", "d", text, extract=False)
    assert time.perf_counter() - start < 5


@pytest.mark.never("memory", reason="it keeps nothing after close", raises=IndexError)
def test_a_store_opened_again_answers_at_once(open_alma: Open) -> None:
    alma = open_alma()
    alma.observe(agent="a", text="We moved the standup to 9:30.", speaker="Ann", session_id="s")
    alma.close()
    assert open_alma().retrieve("When is standup?").hits[0].memory.text == "We moved the standup to 9:30."


@pytest.mark.never("memory", reason="a new store has nothing to read", raises=InvalidInputError)
def test_read_only_reads_and_refuses_to_write(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    alma.add_domain_knowledge("a", "d", "The vault is in Bern.")
    alma.close()
    reader = open_alma(read_only=True, extractor="none")
    assert reader.retrieve("vault Bern").hits
    with pytest.raises(ReadOnlyError, match="read-only"):
        reader.add_domain_knowledge("a", "d", "x")
    assert reader.doctor().ok


def test_a_dispute_is_shown_on_both_sides_and_a_suspicion_on_none(alma: ALMA) -> None:
    alma.add_domain_knowledge("dev", "ops", "The orders service listens on port 8080.")
    alma.add_domain_knowledge("ops", "ops", "The orders service listens on port 9090.")
    hits = alma.retrieve("Which port does the orders service listen on?").hits
    assert {hit.memory.text[-5:]: hit.status for hit in hits} == {"9090.": "disputed", "8080.": "contradicted"}
    assert "[DISPUTED]" in alma.retrieve("Which port does the orders service listen on?").to_prompt()


def test_a_named_speaker_is_enough_to_be_relevant(alma: ALMA) -> None:
    for speaker, text in (("Maya", "Hi, I moved from Berlin to Lisbon last week."), ("Tom", "Nice, congratulations!")):
        alma.observe(agent="a", session_id="s", speaker=speaker, text=text)
    assert alma.retrieve("Where does Maya live?").hits[0].memory.text.startswith("Hi, I moved")


def test_a_pasted_log_is_searched_by_its_beginning(plain: ALMA) -> None:
    plain.add_domain_knowledge("dev", "ops", "The orders service listens on port 8080.")
    found = plain.retrieve("orders service port " + "ERROR at line 7 " * 5000)
    assert any("characters" in warning for warning in found.warnings)


@embedded_only
def test_a_closed_store_is_one_file(open_alma: Open, location: str, tmp_path: Path) -> None:
    alma = open_alma(embedder="hashing", extractor="none")
    alma.learn_batch([{"agent": "a", "task": f"task {n}", "outcome": True} for n in range(40)])
    alma.close()
    path = Path(location.partition(":")[2])
    copy = tmp_path / "elsewhere" / "copy.graph"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    with ALMA.open(copy, project_id="shop", extractor="none") as again:
        assert again.stats().memories == 40
