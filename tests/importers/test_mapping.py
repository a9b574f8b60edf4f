"""Maps as a whole: what a row becomes, ids, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from alma_graph.errors import ConfigError, InvalidInputError
from alma_graph.importers import load_map, packaged_maps
from alma_graph.importers.mapping import FieldMap, parse_map
from alma_graph.model import Memory, Observation, Outcome

DATA = Path(os.environ.get("ALMA_BENCH_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))


def made(field_map: FieldMap, *rows: Any) -> list[Memory]:
    return [draft.memory for line, row in enumerate(rows, 1) for draft in field_map.drafts(row, line)]


def test_packaged_maps_are_documented_and_named_like_their_files() -> None:
    maps = packaged_maps()
    assert {"tau", "reflexion", "reflexion-base", "locomo-turns", "outcomes", "observations", "memories"} <= set(maps)
    for name, field_map in maps.items():
        assert field_map.name == name
        assert len(field_map.description) > 40


def test_tau() -> None:
    row = {
        "task_id": 3,
        "trial": 1,
        "reward": 1.0,
        "instruction": "Cancel my trip.",
        "gold_actions": [{"name": "get_user_details"}, {"name": "cancel_reservation"}],
        "tool_sequence": ["update_reservation_flights", "think", "cancel_reservation", "cancel_reservation"],
    }
    (outcome,) = made(load_map("tau"), row)
    assert isinstance(outcome, Outcome)
    assert outcome.id == "tau:airline:3:1"
    assert outcome.succeeded
    assert outcome.task_type == "cancel the reservation"
    assert outcome.strategy_used == "cancel the reservation and update the flights"
    idle = dict(row, trial=0, reward=0.0, tool_sequence=["think"], gold_actions=[])
    (outcome,) = made(load_map("tau"), idle)
    assert isinstance(outcome, Outcome)
    assert (outcome.succeeded, outcome.task_type) == (False, "change nothing")
    assert outcome.strategy_used == "answer and change nothing"


def test_reflexion_makes_an_outcome_of_every_trial() -> None:
    row = {"env": "env_2", "solved_at": 2, "lessons": ["first lesson", "second lesson"]}
    outcomes = [memory for memory in made(load_map("reflexion"), row) if isinstance(memory, Outcome)]
    assert [(o.id, o.succeeded, o.strategy_used, o.feedback, o.metadata) for o in outcomes] == [
        ("reflexion:alfworld:env_2:0", False, "", "first lesson", {}),
        ("reflexion:alfworld:env_2:1", False, "", "second lesson", {"went_by": "first lesson"}),
        ("reflexion:alfworld:env_2:2", True, "second lesson", None, {}),
    ]
    (unsolved,) = made(load_map("reflexion"), {"env": "env_3", "solved_at": None, "lessons": ["only"]})
    assert isinstance(unsolved, Outcome)
    assert not unsolved.succeeded


def test_reflexion_base_leaves_out_what_was_solved_before() -> None:
    solved = {"run": "base", "trial": 1, "env": "e", "memory": ["a"], "is_success": True, "newly_solved": True}
    again = dict(solved, trial=2, newly_solved=False)
    failed = dict(solved, trial=0, is_success=False, newly_solved=False)
    first, second = made(load_map("reflexion-base"), solved, again, failed)
    assert isinstance(first, Outcome)
    assert isinstance(second, Outcome)
    assert (first.succeeded, first.strategy_used) == (True, "a")
    assert (second.succeeded, second.strategy_used, second.feedback) == (False, "", "a")


def test_locomo_turns() -> None:
    row = {
        "conv": "conv-1",
        "session": 2,
        "date": "1:56 pm on 8 May, 2023",
        "dia_id": "D2:1",
        "speaker": "Ann",
        "text": "Look!",
        "image_caption": "a red kite",
    }
    (turn,) = made(load_map("locomo-turns"), row)
    assert isinstance(turn, Observation)
    assert (turn.id, turn.session_id, turn.speaker) == ("conv-1:D2:1", "conv-1:session-2", "Ann")
    assert turn.text == "Look! [picture: a red kite]"
    assert turn.occurred_at is not None
    assert turn.occurred_at.isoformat() == "2023-05-08T13:56:00+00:00"
    (plain,) = made(load_map("locomo-turns"), dict(row, image_caption=None))
    assert plain.text == "Look!"


def test_ids_follow_from_content_where_none_is_given() -> None:
    row = {"agent": "a", "task": "t", "outcome": "success"}
    first = [memory.id for memory in made(load_map("outcomes"), row, row, dict(row, task="u"))]
    assert first == [memory.id for memory in made(load_map("outcomes"), row, row, dict(row, task="u"))]
    assert len(set(first)) == 3
    assert first[1] == f"{first[0]}:2"


def test_fields_that_the_kind_lacks_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        made(load_map("outcomes"), {"agent": "a", "task": "t", "outcome": "success", "colour": "red"})
    with pytest.raises(InvalidInputError, match="no agent"):
        made(load_map("outcomes"), {"task": "t", "outcome": "success"})
    with pytest.raises(InvalidInputError, match="kind"):
        made(load_map("memories"), {"kind": "thought", "text": "x"})
    with pytest.raises(InvalidInputError, match="no object"):
        made(load_map("outcomes"), ["x"])


def test_overrides_go_before_the_map() -> None:
    drafts = load_map("outcomes").drafts({"task": "t", "outcome": "success"}, 1, {"agent": "ci"})
    assert drafts[0].memory.agent == "ci"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- 1", "must be a mapping"),
        ("memories: []", "at least one"),
        ("{memories: [{kind: outcome}]}", "needs fields"),
        ("{memories: [{fields: {}}]}", "with a kind"),
        ("{memories: [{kind: outcome, fields: {}, run: x}]}", "unknown run"),
        ("{code: x, memories: [{kind: outcome, fields: {}}]}", "unknown code"),
        ("{memories: [{kind: outcome, fields: {}, when: [{path: $.a}]}]}", "exactly one of"),
        ("{memories: [{kind: outcome, fields: {}, each: a}]}", "no path"),
        ("{memories: [{kind: outcome, fields: {task: '{'}}]}", "fields.task"),
        ("a: [", "no YAML"),
        ("a: !!python/object/apply:os.system [ls]", "no YAML"),
    ],
)
def test_bad_maps_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_map(text, "mine")
    assert complaint in str(caught.value)


def test_an_unknown_map_names_the_packaged_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"packaged are .*tau"):
        load_map(tmp_path / "none.yaml")


def test_conditions() -> None:
    text = """
memories:
  - kind: domain_knowledge
    when:
      - {path: $.state, in: [open, new]}
      - {path: $.author, is_not: bot}
      - {path: $.text, present: true}
    fields: {domain: x, fact: $.text}
"""
    field_map = parse_map(text, "mine")
    good = {"state": "open", "author": "ann", "text": "x"}
    assert len(made(field_map, good)) == 1
    for change in ({"state": "closed"}, {"author": "bot"}, {"text": " "}, {"state": None}):
        assert made(field_map, {**good, **change}) == []


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "name", "memories"),
    [
        ("tau_airline_gpt4o_compact.jsonl", "tau", 100),
        ("reflexion_alfworld_lessons.jsonl", "reflexion", 334),
        ("reflexion_alfworld_base.jsonl", "reflexion-base", 364),
        ("locomo_turns.jsonl", "locomo-turns", 5882),
    ],
)
def test_public_sets_go_through_their_maps(file: str, name: str, memories: int) -> None:
    path = DATA / file
    if not path.is_file():
        pytest.skip(f"{path} is not there; see ALMA_BENCH_DATA")
    field_map = load_map(name)
    with path.open(encoding="utf-8") as lines:
        ids = [memory.id for memory in made(field_map, *(json.loads(line) for line in lines))]
    assert len(ids) == len(set(ids)) == memories
