"""ALMA's own file: a database that alma-memory 0.11.0 wrote through its API, as SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alma_graph import ALMA, AntiPattern, DomainKnowledge, Heuristic, InvalidInputError, Outcome, UserPreference
from alma_graph.importers import AlmaReport, import_alma

SQL = Path(__file__).with_name("alma_0_11.sql")
MOMENT = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "alma.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SQL.read_text(encoding="utf-8"))
    return path


class Projects:
    """The projects of one store, opened once each."""

    def __init__(self, location: str, stack: ExitStack) -> None:
        self._location = location
        self._stack = stack
        self.opened: dict[str, ALMA] = {}

    def __call__(self, project: str) -> ALMA:
        if project not in self.opened:
            opened = ALMA.open(self._location, project_id=project, embedder="hashing", extractor="none")
            self.opened[project] = self._stack.enter_context(opened)
        return self.opened[project]


@pytest.fixture
def projects(location: str) -> Iterator[Projects]:
    with ExitStack() as stack:
        yield Projects(location, stack)


def counts(report: AlmaReport, name: str) -> dict[str, dict[str, int]]:
    return {project: dict(getattr(done, name)) for project, done in report.projects.items()}


def test_five_kinds_come_with_their_ids_times_and_projects(file: Path, projects: Projects) -> None:
    report = import_alma(file, projects)
    assert counts(report, "written") == {
        "bank": {"outcome": 1, "user_preference": 1},
        "shop": {"outcome": 5, "heuristic": 1, "anti_pattern": 1, "domain_knowledge": 2, "user_preference": 1},
    }
    assert report.failed == 0
    shop = projects("shop")
    outcome = shop.get("out_1")
    assert isinstance(outcome, Outcome)
    assert (outcome.agent, outcome.task_type, outcome.strategy_used) == ("victor", "deploy", "blue-green deployment")
    assert outcome.occurred_at == outcome.created_at == MOMENT.replace(hour=10)
    assert (outcome.duration_ms, outcome.feedback, outcome.metadata) == (1201, "fine", {"run": 1})
    fact = shop.get("know_2")
    assert isinstance(fact, DomainKnowledge)
    assert fact.fact == "It's O'Brien's \"service\" – naïve 東京"
    assert fact.metadata == {"alma": {"source": "hearsay"}}
    assert fact.created_at == MOMENT
    for project in ("shop", "bank"):  # ALMA's preferences hold in every project
        preference = projects(project).get("pref_1")
        assert isinstance(preference, UserPreference)
        assert preference.preference == "no emojis in documentation"
    assert shop.doctor().ok
    assert shop.retrieve("How does the login expire?").hits[0].memory.id == "know_1"


def test_what_alma_counted_is_kept_as_evidence_and_invents_no_outcomes(file: Path, projects: Projects) -> None:
    import_alma(file, projects)
    shop = projects("shop")
    heuristic = shop.get("heur_1")
    assert isinstance(heuristic, Heuristic)
    assert (heuristic.strategy, heuristic.context, heuristic.confidence) == (
        "test the happy path first",
        "form validation",
        0.85,
    )
    assert (heuristic.occurrence_count, heuristic.success_count, heuristic.supporting_outcomes) == (0, 0, ())
    assert heuristic.metadata["note"] == "kept"
    assert heuristic.metadata["alma"]["occurrence_count"] == 10
    assert heuristic.metadata["alma"]["success_count"] == 8
    assert heuristic.metadata["alma"]["last_validated"] == MOMENT.isoformat()
    anti_pattern = shop.get("anti_1")
    assert isinstance(anti_pattern, AntiPattern)
    assert anti_pattern.metadata["alma"]["occurrence_count"] == 4
    assert (anti_pattern.occurrence_count, anti_pattern.better_alternative) == (0, "wait for the condition")
    learned = [memory for memory in shop.memories(kind="heuristic") if memory.id != "heur_1"]
    assert [memory.text for memory in learned] == ["deploy: blue-green deployment"]  # three real outcomes
    assert learned[0].supporting_outcomes == ("out_0", "out_1", "out_2")  # type: ignore[attr-defined]


def test_a_second_run_adds_nothing(file: Path, projects: Projects) -> None:
    first = import_alma(file, projects)
    before = [list(projects(name).memories(status=None)) for name in ("shop", "bank")]
    second = import_alma(file, projects)
    assert counts(second, "written") == {"bank": {}, "shop": {}}
    assert counts(second, "present") == counts(first, "written")
    assert [list(projects(name).memories(status=None)) for name in ("shop", "bank")] == before


def test_what_is_not_taken_is_said(file: Path, projects: Projects) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("UPDATE outcomes SET task_description = '  ' WHERE id = 'out_4'")
        database.execute("UPDATE domain_knowledge SET confidence = 7 WHERE id = 'know_1'")
        database.commit()
    told: list[tuple[int, int]] = []
    report = import_alma(file, projects, progress=lambda rows, handed: told.append((rows, handed)))
    assert report.not_taken == {"memory_strength": 1}
    assert report.failed == 1
    assert "outcomes 'out_4'" in str(report.projects["shop"].errors[0])
    assert projects("shop").get("know_1").confidence == 1.0
    assert projects("shop").get("know_1").metadata == {"alma": {"confidence": 7.0}}
    assert told[-1] == (12, 11)


def test_other_files_are_refused(tmp_path: Path, projects: Projects) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be taken for one" * 40)
    empty = tmp_path / "empty.db"
    with closing(sqlite3.connect(empty)) as database:
        database.execute("CREATE TABLE notes (id TEXT)")
    for path, words in ((text, "no SQLite"), (empty, "none of ALMA's tables"), (tmp_path / "absent.db", "no file")):
        with pytest.raises(InvalidInputError, match=words):
            import_alma(path, projects)
    assert projects.opened == {}


def test_rows_without_a_project_and_texts_that_are_none_are_told(file: Path, projects: Projects) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, 'project_id TEXT NOT NULL', 'project_id TEXT')")
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE domain_knowledge SET project_id = NULL WHERE rowid = 1")
        database.execute("UPDATE domain_knowledge SET fact = CAST(x'ff41' AS TEXT) WHERE rowid = 2")
    report = import_alma(file, projects)
    assert report.not_taken["domain_knowledge without a project"] == 1
    assert "None" not in report.projects


def test_a_table_of_another_shape_is_one_clear_error(file: Path, projects: Projects) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("ALTER TABLE heuristics RENAME COLUMN project_id TO tenant")
    with pytest.raises(InvalidInputError, match="not known here"):
        import_alma(file, projects)
