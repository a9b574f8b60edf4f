"""The catalogue's headers: what is declared is what is there, and parameters are checked."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import pytest

from alma_graph.errors import ConfigError, InvalidInputError, UnknownQueryError
from alma_graph.queries import Catalogue, load_catalogue, parse_query
from alma_graph.results import Table

HEADER = "// name: some-query\n// What it shows.\n// parameters: {parameters}\n// returns: a, b\n"
BODY = "MATCH (m:Memory {project_id: $project_id}) RETURN m.id AS a, m.text AS b"


def query_text(parameters: str = "", body: str = BODY) -> str:
    return HEADER.format(parameters=parameters) + body


def test_every_file_of_the_folder_is_a_documented_query() -> None:
    names = {entry.name for entry in files("alma_graph.queries").iterdir() if entry.name.endswith(".cypher")}
    catalogue = load_catalogue()
    assert names == {f"{name}.cypher" for name in catalogue}
    assert len(catalogue) >= 10
    for query in catalogue.values():
        assert len(query.description) > 20
        assert query.returns


def test_a_header_is_read() -> None:
    body = (
        "MATCH (m:Memory {project_id: $project_id}) WHERE m.text = $name AND $share > 0 AND $all AND m.kind = $kind "
        "RETURN m.id AS a, m.text AS b LIMIT $limit // not $one"
    )
    declared = 'limit: int = 20, name: text, share: float = 0.5, all: bool = false, kind: text = "a, b"'
    query = parse_query(query_text(declared, body), "x.cypher")
    assert [str(parameter) for parameter in query.parameters] == [
        "limit: int = 20",
        "name: text",
        "share: float = 0.5",
        "all: bool = false",
        'kind: text = "a, b"',
    ]
    assert query.returns == ("a", "b")
    assert query.bind({"name": "n", "limit": "3"}) == {
        "limit": 3,
        "name": "n",
        "share": 0.5,
        "all": False,
        "kind": "a, b",
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("// name: a\n// x\n// returns: b\nMATCH", "no '// parameters:'"),
        ("// name: a\n// parameters:\n// returns: b\n" + BODY, "what the query is for"),
        (query_text("limit: int = 20"), "disagree about the parameters limit"),
        (query_text("", BODY + " LIMIT $limit"), "disagree about the parameters limit"),
        (query_text("limit: number"), "does not read as"),
        (query_text("limit: int = many"), "does not fit"),
        (query_text("project_id: text"), "always bound"),
        (query_text("", "MATCH (m:Memory) RETURN m.id AS a"), "does not filter by"),
        (query_text().replace("some-query", "Some Query"), "lower-case words"),
    ],
)
def test_a_bad_header_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_query(text, "bad.cypher")
    assert str(caught.value).startswith("bad.cypher: ")
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        ("int", [(0, 0), ("12", 12)], [-1, 1.5, True, "x", 2**63, None]),
        ("float", [(1, 1.0), ("0.25", 0.25)], ["x", float("nan"), float("inf"), True]),
        ("bool", [(True, True), ("no", False), ("TRUE", True)], [1, "maybe"]),
        ("text", [("", ""), ("'; DROP", "'; DROP")], [1, "\ud800"]),
        ("time", [("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC))], [5, "yesterday"]),
    ],
)
def test_parameters_are_checked(type_: str, good: list[tuple[Any, Any]], bad: list[Any]) -> None:
    query = parse_query(query_text(f"x: {type_}").replace("RETURN", "WHERE m.id = $x RETURN"), "x.cypher")
    for given, bound in good:
        assert query.bind({"x": given}) == {"x": bound}
    for given in bad:
        with pytest.raises(InvalidInputError, match="some-query"):
            query.bind({"x": given})


def test_unknown_and_missing_parameters_are_refused() -> None:
    query = load_catalogue()["evidence-of"]
    with pytest.raises(InvalidInputError, match="needs memory_id"):
        query.bind({})
    with pytest.raises(InvalidInputError, match="no parameter 'limt'; it takes: memory_id: text"):
        query.bind({"memory_id": "m", "limt": 3})


def test_the_catalogue_binds_project_and_defaults() -> None:
    ran: list[tuple[str, dict[str, Any]]] = []

    def run(statement: str, parameters: dict[str, Any]) -> Table:
        ran.append((statement, parameters))
        return Table(("a",), ((1,),))

    catalogue = Catalogue(run, "shop 'quoted'")
    assert list(catalogue) == sorted(catalogue)
    assert "thin-evidence" in catalogue
    assert "nothing-like-it" not in catalogue
    assert catalogue.get("nothing-like-it") is None
    assert catalogue["thin-evidence"](limit=5).rows == ((1,),)
    assert ran[0][1] == {"max_supports": 3, "limit": 5, "project_id": "shop 'quoted'"}
    page = catalogue._repr_html_()
    assert all(name in page for name in catalogue)
    assert "thin-evidence(max_supports: int = 3" in repr(catalogue["thin-evidence"])


def test_an_unknown_name_suggests_the_near_one() -> None:
    catalogue = Catalogue(lambda statement, parameters: Table((), ()), "p")
    with pytest.raises(UnknownQueryError, match="did you mean 'contradiction-map'"):
        catalogue["contradictions-map"]
    with pytest.raises(KeyError):
        catalogue["zzz"]


def test_a_default_may_not_be_passed_as_project() -> None:
    catalogue = Catalogue(lambda statement, parameters: Table((), ()), "p")
    with pytest.raises(InvalidInputError, match="no parameter 'project_id'"):
        catalogue["sessions"](project_id="another")
