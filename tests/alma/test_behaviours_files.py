"""Behaviours about files that users of such stores asked for, mostly after being bitten; each test names its number.

Kinds: migration, file-lock (of a migration), disk-blowup.
"""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from alma_graph import ALMA, DomainKnowledge, StoreCorruptError, StoreVersionError
from alma_graph.backends import create_backend, open_backend
from alma_graph.backends.migrations import MIGRATIONS, Migration
from alma_graph.backends.schema import SCHEMA_VERSION
from alma_graph.cli import cli
from tests.alma.conftest import Open
from tests.conftest import EMBEDDED, embedded_only

MEGABYTE = 1 << 20

NEXT = (*MIGRATIONS, Migration(SCHEMA_VERSION + 1, "a colour", ("ALTER TABLE Memory ADD colour STRING",)))


def command(*arguments: str) -> Any:
    """What a command line did, in this process."""
    return CliRunner(env={"ALMA_GRAPH_STORE": "", "ALMA_GRAPH_PROJECT": ""}).invoke(cli, list(arguments))


# ---------------------------------------------------------------- migration


@embedded_only
def test_p057_an_older_store_is_migrated_with_a_backup(
    plain: ALMA, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.add_domain_knowledge("a", "d", "Kept through the migration.", id="kept")
    plain.close()
    monkeypatch.setattr("alma_graph.backends.registry.MIGRATIONS", NEXT)
    done = command("migrate", location)
    assert done.exit_code == 0
    kept = tmp_path / f"store.graph.schema-{SCHEMA_VERSION}.backup"
    assert f"schema version {SCHEMA_VERSION} -> {SCHEMA_VERSION + 1}" in done.stdout
    assert str(kept) in done.stdout
    assert "nothing was to be done" in command("migrate", location).stdout
    monkeypatch.undo()
    with ALMA.open(kept, project_id="shop", extractor="none") as alma:
        assert alma.get("kept").text == "Kept through the migration."


@embedded_only
def test_p057_a_newer_store_is_refused_with_both_versions_and_left_alone(
    plain: ALMA, location: str, tmp_path: Path
) -> None:
    plain.add_domain_knowledge("a", "d", "From the future.")
    plain.close()
    create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT).close()
    content = (tmp_path / "store.graph").read_bytes()
    with pytest.raises(StoreVersionError) as caught:
        ALMA.open(location, project_id="shop", extractor="none")
    assert (caught.value.found, caught.value.supported) == (SCHEMA_VERSION + 1, SCHEMA_VERSION)
    for asked in (("migrate", location), ("stats", "--store", location), ("doctor", location)):
        done = command(*asked)
        assert done.exit_code == 1
        assert done.stderr.count("\n") == 1
        for word in (f"version {SCHEMA_VERSION + 1}", f"up to {SCHEMA_VERSION}", "install a newer"):
            assert word in done.stderr
    assert (tmp_path / "store.graph").read_bytes() == content


@embedded_only
def test_p057_what_a_store_holds_can_be_exported_raw_whatever_made_it(
    plain: ALMA, location: str, tmp_path: Path
) -> None:
    plain.add_domain_knowledge("a", "d", "From the future: 東京.", id="new")
    plain.add_domain_knowledge("a", "d", "Another fact.", id="other")
    plain.relate("new", "SUPPORTS", "other")
    counts = plain.stats()
    plain.close()
    create_backend(EMBEDDED, tmp_path / "store.graph", migrations=NEXT).close()
    assert command("export", location, str(tmp_path / "plain.jsonl")).exit_code == 1
    done = command("export", location, str(tmp_path / "raw.jsonl"), "--raw")
    assert done.exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "raw.jsonl").read_text(encoding="utf-8").splitlines()]
    assert f"{len(rows)} lines" in done.stdout
    nodes = [row for row in rows if "node" in row]
    assert sorted(row["properties"]["text"] for row in nodes if row["node"] == "Memory") == [
        "Another fact.",
        "From the future: 東京.",
    ]
    assert len(next(row for row in nodes if row["node"] == "Memory")["properties"]["embedding"]) == counts.dimension
    assert [row["properties"]["schema_version"] for row in nodes if row["node"] == "Meta"] == [SCHEMA_VERSION + 1]
    [edge] = [row for row in rows if row.get("edge") == "SUPPORTS"]
    assert (edge["from"], edge["to"]) == (["Memory", "4:shop/new"], ["Memory", "4:shop/other"])
    assert edge["properties"]["origin"] == "user"
    assert len([row for row in rows if "edge" in row]) == sum(counts.edges.values())
    assert command("export", location, str(tmp_path / "raw.jsonl"), "--raw").exit_code == 2  # replaces nothing
    assert command("export", location + ".no", str(tmp_path / "none.jsonl"), "--raw").exit_code == 2
    assert not (tmp_path / "none.jsonl").exists()
    assert command("export", location, "-", "--raw").stdout.count("\n") == len(rows)


@embedded_only
def test_what_can_be_read_of_a_damaged_store_is_taken_out(plain: ALMA, location: str, tmp_path: Path) -> None:
    for at in range(12):
        plain.add_domain_knowledge("a", "d", f"The fact that has number {at:04}.", id=f"fact-{at}")
    plain.relate("fact-7", "SUPPORTS", "fact-3", evidence={"note": "Not to be read any longer."})
    plain.close()
    file = tmp_path / "store.graph"
    content = file.read_bytes()
    for hit in (b"The fact that has number 0007.", b"Not to be read any longer."):
        assert hit in content
        content = content.replace(hit, b"\xff" * len(hit))
    file.write_bytes(content)
    with ALMA.open(location, project_id="shop", extractor="none", read_only=True) as alma:
        with pytest.raises(StoreCorruptError, match=r"damaged.*restore a backup, or .* alma-graph export .* --raw"):
            alma.get("fact-7")
        assert alma.get("fact-3").text == "The fact that has number 0003."
    done = command("export", location, str(tmp_path / "raw.jsonl"), "--raw", "--json")
    assert done.exit_code == 1
    rows = [json.loads(line) for line in (tmp_path / "raw.jsonl").read_text(encoding="utf-8").splitlines()]
    told = json.loads(done.stdout)
    assert told["lines"] == len(rows)
    assert told["unread"]
    assert [f"damaged: {line}" for line in told["unread"]] == done.stderr.splitlines()
    assert any(line.startswith("Memory, row 7: ") and "without" in line for line in told["unread"])
    assert any(line.startswith("SUPPORTS (Memory to Memory), row 0: ") for line in told["unread"])
    memories = {row["properties"]["id"]: row for row in rows if row.get("node") == "Memory"}
    assert len(memories) == 12
    assert "text" in memories["fact-7"]["unread"]
    assert memories["fact-7"]["properties"]["agent"] == "a"
    assert all(memories[f"fact-{at}"]["properties"]["text"].endswith(f"{at:04}.") for at in range(12) if at != 7)
    [edge] = [row for row in rows if row.get("edge") == "SUPPORTS"]
    assert (edge["from"], edge["unread"]) == (["Memory", "4:shop/fact-7"], ["evidence"])


@embedded_only
@pytest.mark.parametrize("options", [(), ("--raw",)], ids=["export", "raw"])
@pytest.mark.parametrize("failing", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=str)
def test_an_export_that_does_not_come_to_its_end_leaves_no_file(
    plain: ALMA,
    location: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    failing: BaseException,
) -> None:
    plain.add_domain_knowledge("a", "d", "A fact.")
    plain.close()
    before = sorted(tmp_path.iterdir())

    class Filling(io.BufferedRandom):
        """A file for which there is little room."""

        def write(self, data: Any) -> int:
            if self.tell() > 200:
                raise failing
            return super().write(data)

    def fdopen(descriptor: int, mode: str) -> Filling:
        assert mode == "w+b"
        return Filling(io.FileIO(descriptor, mode))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", fdopen)
        done = command("export", location, str(tmp_path / "a.jsonl"), *options)
    assert done.exit_code == (130 if isinstance(failing, KeyboardInterrupt) else 1)
    if done.exit_code == 1:
        assert "No space left" in done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert command("export", location, str(tmp_path / "a.jsonl"), *options).exit_code == 0


HOLDER = """
import sys
from alma_graph.backends import open_backend
store = open_backend(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
store.close()
"""


@embedded_only
def test_p119_a_migration_of_a_store_that_is_held_waits_or_says_so_in_one_line(
    plain: ALMA, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.add_domain_knowledge("a", "d", "A fact.")
    plain.close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, location], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    monkeypatch.setattr("alma_graph.backends.registry.MIGRATIONS", NEXT)
    held = command("migrate", location, "--lock-timeout", "0.1")
    assert held.exit_code == 1
    assert held.stderr.startswith("error: ")
    assert held.stderr.count("\n") == 1
    assert f"process {holder.pid}" in held.stderr
    assert "Traceback" not in held.stderr
    assert not list(tmp_path.glob("*.backup*"))
    holder.communicate("\n", timeout=60)
    assert command("migrate", location).exit_code == 0  # later: it goes through


# ---------------------------------------------------------------- disk-blowup


@embedded_only
def test_p056_one_memory_in_a_new_project_beside_10000_grows_the_store_by_little(open_alma: Open) -> None:
    alma = open_alma(embedder="hashing:32", extractor="none")
    alma.add_batch([DomainKnowledge(domain="d", fact=f"Fact number {at} of the archive.") for at in range(10_000)])
    alma.close()
    alma = open_alma(extractor="none")
    other = open_alma(project_id="new", extractor="none")
    other.add_domain_knowledge("a", "d", "The first: the engine takes some room for its log once.")
    sizes = [alma._store.backend.size_bytes()]
    for at in range(5):
        other.add_domain_knowledge("a", "d", f"One more, number {at}.")
        sizes.append(alma._store.backend.size_bytes())
    assert max(later - earlier for earlier, later in pairwise(sizes)) < MEGABYTE
    assert alma.stats().memories == 10_000
    other.close()
    alma.close()


@pytest.mark.slow
@embedded_only
def test_p056_what_is_written_and_forgotten_again_does_not_pile_up(open_alma: Open, location: str) -> None:
    """Writing and forgetting the same thousand again and again, or re-embedding it, keeps the store at a size."""
    alma = open_alma(embedder="hashing:32", extractor="none")
    facts = [DomainKnowledge(id=f"f{at}", domain="d", fact=f"Fact number {at}.") for at in range(300)]
    sizes = []
    for _ in range(6):
        alma.add_batch(facts)
        alma.close()
        alma = open_alma(extractor="none")
        sizes.append(alma._store.backend.size_bytes())
        for fact in facts:
            alma.forget(fact.id)
    assert sizes[-1] < 2 * sizes[1] + MEGABYTE
    alma.add_batch(facts)
    for _ in range(4):
        alma.reembed("hashing:32")
        sizes.append(alma._store.backend.size_bytes())
    assert sizes[-1] == sizes[-2]
    assert sizes[-1] <= sizes[0] + MEGABYTE  # what had been left behind is gone
    alma.close()
    store = open_backend(location)
    assert store.verify() == []
    store.close()


@embedded_only
def test_p056_side_files_are_counted_and_gone_in_the_end(open_alma: Open, tmp_path: Path) -> None:
    alma = open_alma(embedder="hashing:32", extractor="none")
    alma.add_batch([DomainKnowledge(domain="d", fact=f"Fact number {at}.") for at in range(300)])
    alma.reembed("hashing:16")
    counted = alma._store.backend.size_bytes()
    assert counted == sum(path.stat().st_size for path in tmp_path.iterdir())
    alma.close()
    assert {path.name for path in tmp_path.iterdir()} <= {"store.graph", "store.graph.lock", "store.graph.readers"}
