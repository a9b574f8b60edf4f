"""What the graph finds that words do not, and what speaks against it."""

from __future__ import annotations

from tests.index.world import World, fact, turn


def test_a_shared_entity_leads_to_what_shares_no_word() -> None:
    world = World()
    world.add(
        fact("film", "The Silent Harbour is a film directed by Mara Lindqvist"),
        fact("person", "Mara Lindqvist was born at Uppsala"),
        fact("noise", "Uppsala has a cathedral"),
        *(fact(f"x{n}", f"An unrelated note about gardening, number {n}") for n in range(30)),
        mentions={
            "film": ["The Silent Harbour", "Mara Lindqvist"],
            "person": ["Mara Lindqvist", "Uppsala"],
            "noise": ["Uppsala"],
        },
    )
    answer = world.ask("Where does the maker of The Silent Harbour come from?", top_k=3)
    assert [hit.memory.id for hit in answer][:2] == ["film", "person"]
    second = answer.hits[1]
    assert second.parts["graph"] > 0
    assert [(node.edge, node.label, node.name) for node in second.path] == [
        ("", "Memory", "film"),
        ("MENTIONS", "Entity", "Mara Lindqvist"),
        ("MENTIONS", "Memory", "person"),
    ]
    assert answer.hits[0].parts["entity"] > 0
    assert answer.hits[0].path[1].name == "The Silent Harbour"
    assert "person" not in world.found("Where does the maker of The Silent Harbour come from?", without=["graph"])[:2]


def test_a_lesson_is_found_through_its_evidence() -> None:
    world = World()
    world.add(fact("seen", "checkout deploy broke at noon"), fact("lesson", "always take a snapshot first"))
    assert world.found("checkout deploy broke") == ["seen"]
    world.relate("seen", "SUPPORTS", "lesson", weight=1.0, origin="user")
    answer = world.ask("checkout deploy broke")
    assert [hit.memory.id for hit in answer] == ["seen", "lesson"]
    assert [node.edge for node in answer.hits[1].path] == ["", "SUPPORTS"]
    world.delete_edges("SUPPORTS", "seen", "lesson")
    assert world.found("checkout deploy broke") == ["seen"]


def test_a_contradicted_memory_is_labelled_and_inhibited() -> None:
    world = World()
    world.add(fact("old", "the redis timeout is 30 seconds"), fact("new", "the redis timeout is 10 seconds"))
    before = {hit.memory.id: hit.score for hit in world.ask("redis timeout seconds")}
    world.relate("new", "CONTRADICTS", "old", id="c", score=0.9, signal="quantity", disposition="open", origin="rules")
    answer = world.ask("redis timeout seconds")
    hits = {hit.memory.id: hit for hit in answer}
    assert hits["old"].status == "contradicted"
    assert hits["old"].contradicted_by == ("new",)
    assert hits["old"].parts["contradicted"] < 0
    assert hits["old"].score < before["old"]
    assert hits["new"].status == "disputed" and hits["new"].score == before["new"]
    assert "[CONTRADICTED]" in answer.to_prompt()


def test_a_contradiction_that_was_settled_as_both_true_counts_no_more() -> None:
    world = World()
    world.add(fact("a", "staging runs redis 6"), fact("b", "production runs redis 7"))
    world.relate("b", "CONTRADICTS", "a", id="c", score=0.9, signal="quantity", disposition="both_true", origin="user")
    assert {hit.status for hit in world.ask("runs redis")} == {"active"}


def test_paths_do_not_pass_through_what_may_not_be_read() -> None:
    world = World()
    world.add(
        fact("start", "Quicksilver incident began in the Atlas cluster", agent="ann"),
        fact("hidden", "Atlas cluster belongs to Borealis", agent="bob"),
        fact("end", "Borealis pays the bill", agent="ann"),
        mentions={"start": ["Quicksilver", "Atlas"], "hidden": ["Atlas", "Borealis"], "end": ["Borealis"]},
    )
    assert "hidden" in world.found("Quicksilver incident", top_k=5)
    assert world.found("Quicksilver incident", top_k=5, readable={"ann"}) == ["start"]


def test_what_everything_mentions_leads_nowhere() -> None:
    world = World()
    world.add(
        *(turn(f"t{n}", f"Ann and I talked about topic{n}", f"s{n}", "Bob") for n in range(60)),
        mentions={f"t{n}": ["Ann", "I"] for n in range(60)},
    )
    answer = world.ask("what did Ann say about topic7", top_k=5)
    assert answer.hits[0].memory.id == "t7"
    assert all("graph" not in hit.parts and "entity" not in hit.parts for hit in answer)
