"""A disk that is full is one clear error; when there is space again, the open store goes on."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.conftest import embedded_only

PROGRAM = """
    import resource, sys
    from alma_graph import ALMA
    from alma_graph.errors import BackendError
    from pathlib import Path

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def write(number):
        alma.add_domain_knowledge("a", "valves", f"Valve {number} is rated {number} bar. " + "x" * 2000)

    path = sys.argv[1]
    stored = 0
    with ALMA.open(path, project_id="p", embedder="hashing", extractor="none") as alma:
        write(stored := stored + 1)
        folder = Path(path.partition(":")[2]).parent
        limit(max(file.stat().st_size for file in folder.iterdir()) + 40_000)
        for _ in range(3):
            try:
                while stored < 500:
                    write(stored + 1)
                    stored += 1
            except BackendError as error:
                assert "free space on the disk" in str(error), error
            else:
                raise AssertionError("the disk was never full")
            assert alma.stats().memories == stored
            assert alma.retrieve("Valve 1", agent="a").hits
        limit(resource.RLIM_INFINITY)
        write(stored := stored + 1)
        limit(max(file.stat().st_size for file in folder.iterdir()) - 1)
    limit(resource.RLIM_INFINITY)
    with ALMA.open(path, project_id="p", extractor="none") as alma:
        assert alma.stats().memories == stored, (alma.stats().memories, stored)
        assert alma.doctor().ok, str(alma.doctor())
    print(stored, sorted(file.name for file in folder.iterdir()))
"""


@embedded_only
def test_a_full_disk_is_told_and_an_open_store_goes_on_when_there_is_space(location: str, tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), location], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    assert int(child.stdout.split()[0]) > 3
    assert "torn" not in child.stdout  # nothing of each failed write is kept
