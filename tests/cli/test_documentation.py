"""The page about the command line and the catalogue say what there is."""

from __future__ import annotations

import re
from pathlib import Path

from alma_graph.cli.app import COMMANDS
from alma_graph.importers.values import SOURCES, STEPS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_command_is_documented_and_no_other() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    described = {match.split()[0] for match in re.findall(r"^\| `([a-z][^`]*)` \|", page, re.MULTILINE)}
    assert described == set(COMMANDS)


def test_every_source_and_step_of_a_map_is_documented() -> None:
    page = (DOCS / "ingest.md").read_text(encoding="utf-8")
    for word in (*SOURCES, *STEPS):
        assert re.search(rf"`{word}[`:]", page), word
