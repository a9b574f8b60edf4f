"""An import that is killed, again and again, and in the end goes through: the store holds the file, once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from alma_graph import ALMA
from tests.transfer.test_engines import fill

_IMPORT = """
import sys
from alma_graph.transfer import import_file
import_file(sys.argv[1], sys.argv[2], progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_import_that_is_killed_between_any_two_units_goes_on(tmp_path: Path, embedded_engine: str) -> None:
    source, target = (f"{embedded_engine}:{tmp_path / name}" for name in ("source.graph", "target.graph"))
    fill(source, 3_000)
    file = tmp_path / "graph.jsonl"
    with ALMA.open(source, project_id="shop", extractor="none") as alma:
        made = alma.export(file)
    for units in (1, 1, 2, 3, 4, 6):
        command = [sys.executable, "-c", _IMPORT, str(file), target]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(units):
                assert child.stdout.readline()
            child.kill()
    with ALMA.open(target, project_id="shop", extractor="none") as alma:
        summary = ALMA.import_(file, into=alma)
        assert summary.kept == summary.merged == {}
        assert summary.present["Memory"] == made.nodes["Memory"]
        assert alma.export(tmp_path / "again.jsonl").sha256 == made.sha256
        assert alma.doctor().ok
