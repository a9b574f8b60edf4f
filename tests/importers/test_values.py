"""Paths, templates, sources and steps of field maps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.errors import ConfigError, InvalidInputError
from alma_graph.importers.paths import Scope, parse_path, parse_template
from alma_graph.importers.values import parse_value

ROW = {
    "a": {"b": [{"c": 1}, {"c": None}, {"c": 3}]},
    "odd name": "x",
    "n": 4.0,
    "flag": True,
    "empty": "",
    "none": None,
    "tools": ["read", "write", "read", "book"],
    "when": "1:56 pm on 8 May, 2023",
}


def value_of(spec: Any, row: Any = ROW, **extra: Any) -> Any:
    return parse_value(spec, "here").read(Scope(row, 7, **extra))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", ROW),
        ("$.a.b[0].c", 1),
        ("$.a.b[-1].c", 3),
        ("$.a.b[9].c", None),
        ("$.a.b[*].c", [1, 3]),
        ('$["odd name"]', "x"),
        ("$.none.further", None),
        ("$.n.further", None),
        ("$.tools.further", None),
        ("$.a[*]", None),
        ("$line", 7),
        ("$item", None),
    ],
)
def test_paths(path: str, expected: Any) -> None:
    assert parse_path(path).read(Scope(ROW, 7)) == expected


@pytest.mark.parametrize("path", ["", "a.b", "$.", "$..a", "$other.a", "$.a[", "$.a[x]", "$.a b", "$.a{b}"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ConfigError):
        parse_path(path)


def test_paths_of_an_element() -> None:
    scope: dict[str, Any] = {"item": {"x": 1}, "previous": "before", "index": 2}
    assert value_of("$item.x", **scope) == 1
    assert value_of("$previous", **scope) == "before"
    assert value_of("{n}/{$index}/{$item.x}", **scope) == "4/2/1"


def test_templates() -> None:
    assert parse_template("{n}:{flag}").read(Scope(ROW, 1)) == "4:true"
    assert parse_template("{{{n}}}").read(Scope(ROW, 1)) == "{4}"
    assert parse_template("x {none} y").read(Scope(ROW, 1)) is None
    assert parse_template("x {empty} y").read(Scope(ROW, 1)) is None
    with pytest.raises(InvalidInputError, match="list"):
        parse_template("{tools}").read(Scope(ROW, 1))
    for text in ("{", "}", "{a", "{}", "{a..b}", "{a.__class__ }x{"):
        with pytest.raises(ConfigError):
            parse_template(text)


def test_a_template_reaches_nothing_but_the_row() -> None:
    assert value_of("{n.__class__}") is None
    assert value_of("$.a.__dict__") is None


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (5, 5),
        ("plain", "plain"),
        ({"value": "$.n"}, "$.n"),
        ({"text": "{n}!"}, "4!"),
        ({"first": ["$.none", "$.empty", "$.n"]}, 4.0),
        ({"parts": ["$.none", "$.n", "[{flag}]"], "join": " "}, "4 [true]"),
        ({"object": {"n": "$.n", "gone": "$.none"}}, {"n": 4.0}),
        ({"path": "$.tools", "keep": ["read", "book"]}, ["read", "read", "book"]),
        ({"path": "$.tools", "drop": ["read"]}, ["write", "book"]),
        ({"path": "$.tools", "unique": True, "sort": True, "join": "+"}, "book+read+write"),
        ({"path": "$.tools", "pick": "first"}, "read"),
        ({"path": "$.tools", "pick": "last"}, "book"),
        ({"path": "$.tools", "keep": ["fly"], "pick": "first", "default": "nothing"}, "nothing"),
        ({"path": "$.tools", "values": {"book": "B"}, "others": "absent"}, ["B"]),
        ({"path": "$.tools", "values": {"book": "B"}, "others": "keep", "pick": "last"}, "B"),
        ({"path": "$.flag", "values": {True: "yes", 0: "none"}}, "yes"),
        ({"path": "$.n", "values": {4: "four"}}, "four"),
        ({"path": "$.when", "time": "%I:%M %p on %d %B, %Y"}, datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ({"value": 1000, "time": "epoch_ms"}, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ({"value": "2026-05-01T12:00:00+02:00", "time": "iso"}, datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ({"path": "$.none", "time": "iso", "default": "never"}, "never"),
    ],
)
def test_sources_and_steps(spec: Any, expected: Any) -> None:
    assert value_of(spec) == expected


def test_true_is_not_the_number_one() -> None:
    with pytest.raises(InvalidInputError, match="True is not in the map's table"):
        value_of({"path": "$.flag", "values": {1: "one"}})


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"path": "$.a", "text": "b"},
        {"path": "$.a", "eval": "1"},
        {"path": "no path"},
        {"path": "$.a", "pick": "middle"},
        {"path": "$.a", "values": ["x"]},
        {"path": "$.a", "others": "keep"},
        {"path": "$.a", "keep": "x"},
        {"first": []},
        {"object": 3},
    ],
)
def test_bad_specs_are_refused(spec: Any) -> None:
    with pytest.raises(ConfigError, match="here"):
        parse_value(spec, "here")


def test_a_time_in_another_format_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="8 May"):
        value_of({"path": "$.when", "time": "%Y"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["$.a", "$.a[*].b", "$.a.b[0]", "$.a[-1].c", "$"]))
def test_no_row_makes_a_path_fail(row: Any, path: str) -> None:
    parse_path(path).read(Scope(row, 1))
