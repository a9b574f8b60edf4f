"""Odd values in every argument of every public call: each is refused by an `AlmaGraphError`, and nothing is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alma_graph import ALMA, AsyncALMA, DomainKnowledge, MemoryScope
from alma_graph.errors import AlmaGraphError, InvalidInputError
from tests.conftest import ENGINES, store_location


class Unshowable:
    """Has no `repr`, no truth and no equality."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no equality")

    __hash__ = None  # type: ignore[assignment]


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def within_itself() -> Any:
    """A list whose item it is."""
    value: list[Any] = []
    value.append(value)
    return value


ODD: dict[str, Any] = {
    "None": None,
    "True": True,
    "zero": 0,
    "five": 5,
    "minus one": -1,
    "65 bits": 2**64,
    "5000 digits": 10**5000,
    "half": 0.5,
    "nan": float("nan"),
    "infinity": float("inf"),
    "empty": "",
    "blank": " \n",
    "word": "abc",
    "surrogate": "a\ud800b",
    "NUL": "a\0b",
    "40,000 bytes": "x" * 40_000,
    "bytes": b"abc",
    "list": [],
    "list of a list": [[]],
    "tuple": (1, 2),
    "dict": {},
    "dict of dicts": {"a": {"b": object()}},
    "set": {1},
    "object": object(),
    "class": int,
    "function": lambda: 5,
    "array": np.array([1.0, 2.0]),
    "5000 deep": nested(5000),
    "within itself": within_itself(),
    "dict 5000 deep": {"a": nested(5000)},
    "unshowable": Unshowable(),
    "before all times": datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
    "after all times": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
}

TEXTS = {"word", "NUL"}
LONG = TEXTS | {"40,000 bytes"}
ANY_TEXT = LONG | {"empty", "blank"}
ABSENT = {"None"}
WHOLE = {"zero", "five"}
FRACTION = {"zero", "half"}
TIMES = {"zero", "five", "half", "minus one"}
JSON = {"dict"}

Call = Callable[[ALMA, Any], object]


def _fields(method: str, required: dict[str, Any], **fits: set[str]) -> dict[str, tuple[Call, set[str]]]:
    """One entry for each argument of a method: how it is called with a value there, and the odd values that fit."""

    def calling(name: str) -> Call:
        def call(alma: ALMA, value: Any) -> object:
            found = getattr(alma, method)(**{**required, name: value})
            return list(found) if isinstance(found, Iterator) else found

        return call

    return {f"{method}({name})": (calling(name), fitting) for name, fitting in fits.items()}


FACT = {"agent": "a", "domain": "d", "fact": "f"}
COMMON = {"metadata": ABSENT | JSON, "authority": ABSENT, "id": ABSENT | TEXTS, "extract": {"True"}}
WITH_TIMES = {"valid_from": ABSENT | TIMES, "valid_to": ABSENT | TIMES}
CONFIDENCE = {"confidence": ABSENT | FRACTION}
OUTCOME = {"agent": "a", "task": "t", "outcome": True}

WRITING: dict[str, tuple[Call, set[str]]] = {
    **_fields(
        "learn",
        OUTCOME,
        agent=TEXTS,
        task=LONG,
        outcome={"True"},
        strategy_used=ABSENT | ANY_TEXT,
        task_type=ABSENT | LONG,
        duration_ms=ABSENT | WHOLE,
        error_message=ABSENT | ANY_TEXT,
        feedback=ABSENT | ANY_TEXT,
        session_id=ABSENT | TEXTS,
        occurred_at=ABSENT | TIMES,
        user_id=ABSENT | TEXTS,
        **COMMON,
    ),
    **_fields("learn_batch", {"items": [OUTCOME]}, items={"list"}, progress=ABSENT | {"function", "class"}),
    **_fields("observe_batch", {"items": []}, items={"list"}, progress=ABSENT | {"function", "class"}),
    **_fields("add_batch", {"memories": []}, memories={"list"}, progress=ABSENT | {"function", "class"}),
    **_fields("add_batch", {"memories": []}, extract={"True"}),
    **_fields("learn_batch", {"items": []}, extract={"True"}),
    **_fields("observe_batch", {"items": []}, extract={"True"}),
    **_fields(
        "add_domain_knowledge",
        FACT,
        agent=ABSENT | TEXTS,
        domain=LONG,
        fact=LONG,
        source=ABSENT,
        user_id=ABSENT | TEXTS,
        **CONFIDENCE,
        **WITH_TIMES,
        **COMMON,
    ),
    **_fields(
        "add_user_preference",
        {"user_id": "u", "category": "c", "preference": "p"},
        user_id=TEXTS,
        category=LONG,
        preference=LONG,
        source=ABSENT,
        agent=ABSENT | TEXTS,
        **CONFIDENCE,
        **WITH_TIMES,
        **COMMON,
    ),
    **_fields(
        "add_anti_pattern",
        {"agent": "a", "pattern": "p"},
        agent=ABSENT | TEXTS,
        pattern=LONG,
        why_bad=ABSENT | ANY_TEXT,
        better_alternative=ABSENT | ANY_TEXT,
        category=ABSENT | LONG,
        **CONFIDENCE,
        **COMMON,
    ),
    **_fields(
        "add_heuristic",
        {"agent": "a", "strategy": "s"},
        agent=ABSENT | TEXTS,
        category=ABSENT | LONG,
        strategy=LONG,
        **CONFIDENCE,
        **COMMON,
    ),
    **_fields(
        "observe",
        {"agent": "a", "text": "t", "session_id": "s"},
        agent=ABSENT | TEXTS,
        text=LONG,
        speaker=ABSENT | LONG,
        session_id=TEXTS,
        occurred_at=ABSENT | TIMES,
        user_id=ABSENT | TEXTS,
        **COMMON,
    ),
    **_fields(
        "relate",
        {"source_id": "one", "type": "SUPPORTS", "target_id": "two"},
        source_id=set(),
        type=set(),
        target_id=set(),
        evidence=ABSENT | JSON,
    ),
    **_fields(
        "revise",
        {"memory_id": "one", "fact": "another"},
        memory_id=set(),
        reason=ABSENT | ANY_TEXT,
        fact=LONG,
        domain=LONG,
        metadata=ABSENT | JSON,
        confidence=ABSENT | FRACTION,
        valid_from=ABSENT | TIMES,
        use_count=ABSENT | WHOLE,
        no_field=set(),
        id=set(),
    ),
    **_fields("forget", {}, memory_id=set()),
}

READING: dict[str, tuple[Call, set[str]]] = {
    **_fields(
        "retrieve",
        {"task": "t"},
        task=LONG,
        agent=ABSENT | LONG,
        user_id=ABSENT | LONG,
        top_k={"five", "65 bits", "5000 digits"},
        kinds=ABSENT,
        as_of=ABSENT | TIMES,
        asked_at=ABSENT | TIMES,
        since=ABSENT | TIMES,
        until=ABSENT | TIMES,
        include_superseded={"True"},
        token_budget=ABSENT | {"five", "65 bits", "5000 digits"},
        explain={"True"},
    ),
    **_fields("get", {}, memory_id=set()),
    **_fields(
        "memories",
        {},
        kind=ABSENT,
        agent=ABSENT | LONG,
        status=ABSENT,
        order=set(),
        limit=ABSENT | WHOLE | {"65 bits", "5000 digits"},
        after=ABSENT,
    ),
    **_fields("contradictions", {}, agent=ABSENT | LONG, disposition=ABSENT, suspected={"True"}),
    **_fields("why", {}, memory_id=set()),
    **_fields(
        "to_networkx",
        {},
        kinds=ABSENT | {"list"},
        limit=ABSENT | {"five"},
        around=ABSENT | {"list"},
        hops=WHOLE,
        include_entities={"True"},
        include_agents={"True"},
        no_option=set(),
    ),
    **_fields(
        "draw",
        {},
        title=ABSENT | ANY_TEXT,
        width=ABSENT | {"five", "half", "65 bits"},
        height=ABSENT | {"five", "half", "65 bits"},
        interactive={"True"},
        limit=ABSENT | {"five"},
        kinds=ABSENT | {"list"},
        no_option=set(),
    ),
    **_fields(
        "to_html",
        {},
        path=ABSENT | {"word"},
        title=ABSENT | ANY_TEXT,
        limit=ABSENT | {"five"},
        hops=WHOLE,
        no_option=set(),
    ),
    "cypher(statement)": (lambda alma, value: alma.cypher(value), set()),
    "cypher($x)": (
        lambda alma, value: alma.cypher("RETURN $x", x=value),
        ABSENT
        | ANY_TEXT
        | TIMES
        | {"True", "nan", "infinity", "list", "list of a list", "tuple", "dict", "set", "array"},
    ),
    "cypher($project_id)": (lambda alma, value: alma.cypher("RETURN 1", project_id=value), set()),
    "queries[]": (lambda alma, value: alma.queries[value], set()),
    "queries(limit)": (
        lambda alma, value: alma.queries["recent-memories"](limit=value),
        ABSENT | WHOLE,
    ),
    "queries(no_parameter)": (lambda alma, value: alma.queries["recent-memories"](no_parameter=value), set()),
    "to_prompt(token_budget)": (
        lambda alma, value: alma.retrieve("t").to_prompt(token_budget=value),
        ABSENT | {"five", "65 bits", "5000 digits"},
    ),
}


@pytest.fixture(scope="module", params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ALMA]:
    """A store with two memories, shared by the calls of this module, none of which may change it."""
    place = store_location(tmp_path_factory.mktemp("odd"), request.param)
    with ALMA.open(place, project_id="shop", embedder="hashing", extractor="none") as alma:
        for name in ("one", "two"):
            alma.add_domain_knowledge(agent="a", domain="d", fact=f"number {name}", id=name)
        yield alma


def refusals(call: Callable[[Any], object], fits: set[str]) -> list[str]:
    """What is wrong with how a call takes the odd values that do not fit: one line for each."""
    wrong: list[str] = []
    for name, value in ODD.items():
        if name in fits:
            continue
        try:
            call(value)
        except AlmaGraphError as error:
            if not str(error).strip() or len(str(error)) > 5_000:
                wrong.append(f"{name}: a message of {len(str(error))} characters")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        else:
            wrong.append(f"{name}: taken")
    return wrong


@pytest.mark.parametrize("call", sorted([*WRITING, *READING]))
def test_an_odd_value_is_refused_and_nothing_is_written(store: ALMA, call: str) -> None:
    made, fits = (WRITING | READING)[call]
    before = store.stats()
    assert refusals(lambda value: made(store, value), fits) == []
    assert store.stats().to_dict() | {"size_bytes": 0} == before.to_dict() | {"size_bytes": 0}


SETTINGS: dict[str, set[str]] = {
    "location": set(),
    "project_id": TEXTS,
    "embedder": ABSENT,
    "extractor": set(),
    "scopes": ABSENT | {"list"},
    "scoring": ABSENT,
    "cache": ABSENT,
    "clock": {"function", "class"},
    "read_only": {"True"},
    "create": {"True"},
    "lock_timeout": WHOLE | {"half"},
    "buffer_pool_bytes": ABSENT,
    "threads": ABSENT | WHOLE,
    "query_timeout": ABSENT | {"five", "half"},
    "username": ABSENT,
    "no_option": ABSENT,
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_odd_setting_is_refused_before_a_file_is_made(
    tmp_path: Path, embedded_engine: str, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.chdir(tmp_path)
    good = {"location": f"{embedded_engine}:store", "project_id": "shop", "embedder": "hashing", "extractor": "none"}
    fits = SETTINGS[setting] | ({"word"} if setting == "location" else set())
    assert refusals(lambda value: ALMA.open(**{**good, setting: value}), fits) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scopes", "named"),
    [
        ("abc", "list"),
        ([{"agent_name": "a"}], "MemoryScope"),
        (MemoryScope(agent_name="a"), "list"),
        ([MemoryScope(agent_name="a"), MemoryScope(agent_name="a")], "second"),
        ({"a": MemoryScope(agent_name="a")}, "list"),
    ],
)
def test_scopes_are_a_list_of_scopes(scopes: Any, named: str) -> None:
    with pytest.raises(AlmaGraphError, match=named):
        ALMA.open(":memory:", project_id="shop", embedder="hashing", extractor="none", scopes=scopes)


def test_odd_configurations_are_refused(tmp_path: Path) -> None:
    assert refusals(ALMA.from_config, set()) == []
    path = tmp_path / "config.yaml"
    for text in ("[" * 5000, "project_id: " + "9" * 5000, "a: &a [*a]\nproject_id: p", "project_id: 2026-13-45", "\0"):
        path.write_text(text)
        with pytest.raises(AlmaGraphError):
            ALMA.from_config(path)


BATCHES: dict[str, Any] = {
    "metadata with a lone surrogate": {"metadata": {"deep": [{"x": "a\ud800"}]}},
    "a lone surrogate as a key": {"metadata": {"deep": [{"a\ud800": 1}]}},
    "metadata within itself": {"metadata": {"deep": within_itself()}},
    "a long number": {"metadata": {"n": 10**5000}},
    "a long duration": {"duration_ms": 2**63},
    "a long id": {"id": "x" * 70_000},
    "a long agent": {"agent": "ä" * 35_000},
    "a long session": {"session_id": "x" * 70_000},
    "a long user": {"user_id": "x" * 70_000},
    "a time before all times": {"occurred_at": ODD["before all times"]},
    "no keyword": {"no_keyword": 1},
    "a keyword that is no text": {5: 1},
}


@pytest.mark.parametrize("last", BATCHES)
def test_a_bad_last_item_keeps_a_batch_out(store: ALMA, last: str) -> None:
    good = [{"agent": "a", "task": f"task {n}", "outcome": True} for n in range(599)]
    bad = {"agent": "a", "task": "the last", "outcome": True, **BATCHES[last]}
    before = store.stats().memories
    with pytest.raises(AlmaGraphError, match=r"items\[599\]"):
        store.learn_batch([*good, bad])
    assert store.stats().memories == before


def test_the_longest_names_can_be_stored(store: ALMA) -> None:
    alma = ALMA(store._store, "p" * 32_000)
    name = "ä" * 16_000
    alma.observe(agent=name, text="x" * 70_000, session_id=name, user_id=name, id=name)
    try:
        assert alma.get(name).agent == name
        assert alma.doctor().ok
    finally:
        alma.forget(name)


def test_first_and_last_times_make_the_round_trip(store: ALMA) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    fact = store.add_domain_knowledge(agent="a", domain="d", fact="always", valid_from=first, valid_to=last)
    try:
        store.retrieve("always", as_of=first, since=first, until=last)
        store.retrieve("always", as_of=last, asked_at=last)
        store._store.shared.memories.clear()
        stored = store.get(fact.id)
        assert (stored.valid_from, stored.valid_to) == (first, last)
    finally:
        store.forget(fact.id)


def test_a_memory_of_a_first_time_gets_an_id(store: ALMA) -> None:
    old = DomainKnowledge(domain="d", fact="recorded long ago", created_at=datetime.min.replace(tzinfo=UTC))
    [kept] = store.add_batch([old])
    assert store.forget(kept.id).memory_ids == (kept.id,)


def test_a_naive_clock_tells_utc() -> None:
    with ALMA.open(
        ":memory:", project_id="p", embedder="hashing", extractor="none", clock=lambda: datetime(2026, 5, 1)
    ) as alma:
        fact = alma.add_domain_knowledge(agent="a", domain="d", fact="f")
        assert fact.created_at == datetime(2026, 5, 1, tzinfo=UTC)
        assert alma.retrieve("f").hits


def test_a_clock_that_tells_no_time_is_refused() -> None:
    clock: Any = lambda: "yesterday"  # noqa: E731
    with ALMA.open(":memory:", project_id="p", embedder="hashing", extractor="none", clock=clock) as alma:
        with pytest.raises(AlmaGraphError, match="clock"):
            alma.add_domain_knowledge(agent="a", domain="d", fact="f")
        assert alma.stats().memories == 0


def test_what_fits_is_taken_by_the_async_face(store: ALMA) -> None:
    async def story() -> None:
        with pytest.raises(AlmaGraphError):
            await AsyncALMA(store).retrieve(task=5)
        with pytest.raises(AlmaGraphError):
            await AsyncALMA(store).queries["recent-memories"](limit="x")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda alma: alma.learn(agent="a", task="t", outcome=True, duration_ms=-4),
            "Outcome: duration_ms: Input should be greater than or equal to 0 (given -4)",
        ),
        (
            lambda alma: alma.learn(agent=None, task="t", outcome=True),
            "agent=None: the outcome has no agent; say who did the task",
        ),
        (
            lambda alma: alma.observe(agent="a", text="x", session_id="s", occurred_at="nope"),
            "Observation: occurred_at: time='nope' is no ISO 8601 time; write e.g. 2026-05-01T12:00:00Z (given 'nope')",
        ),
        (
            lambda alma: alma.forget(older_than_days=-1),
            "older_than_days=-1 is out of range; give a finite number of 0 or more",
        ),
        (
            lambda alma: alma.forget(older_than_days=10**12),
            "older_than_days=1000000000000 is before the calendar begins; give fewer days",
        ),
    ],
)
def test_a_message_speaks_of_what_the_caller_gave_once(plain: ALMA, call: Any, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        call(plain)
    assert str(caught.value) == message


def test_an_error_of_the_whole_memory_names_its_kind_once(plain: ALMA) -> None:
    with pytest.raises(InvalidInputError, match=r"^DomainKnowledge: valid_to=.* lies before"):
        plain.add_domain_knowledge("a", "d", "x", valid_from="2026-05-02", valid_to="2026-05-01")
