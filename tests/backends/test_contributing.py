"""What CONTRIBUTING says about a backend of one's own holds as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.backends.distributions import SHELF, install
from tests.backends.test_shipped_suite import ROOT


def test_the_ten_lines_run_the_contract_on_an_installed_backend(tmp_path: Path) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [section] = re.findall(r"^## A backend of your own\n(.*?)^## ", guide, re.M | re.S)
    [group, entry] = re.findall(r"```toml\n\[project\.entry-points\.\"(.+?)\"\]\n(\w+ = \"\w+:\w+\")", section)[0]
    [suite] = re.findall(r"```python\n(.*?)```", section, re.S)
    assert len(suite.strip().splitlines()) <= 10
    assert (group, entry) == ("alma_graph.backends", 'mine = "alma_mine:open_mine"')
    site, work = tmp_path / "site", tmp_path / "work"
    site.mkdir()
    work.mkdir()
    install(site, "alma-mine", entry.replace('"', ""), SHELF.replace("shelf", "mine"))
    (work / "test_mine.py").write_text(suite, encoding="utf-8")
    (work / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not random_work", "."]
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 80
