"""`reembed`, `backup`, `migrate` as a caller types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from alma_graph import ALMA
from tests.cli.conftest import call


@pytest.fixture
def small(store: str) -> str:
    """A store of two projects with a few memories."""
    for project in ("shop", "other"):
        with ALMA.open(store, project_id=project, embedder="hashing:16", extractor="none") as alma:
            for at in range(5):
                alma.add_domain_knowledge("dev", "d", f"Fact number {at}.", id=f"f{at}")
    return store


def test_reembed(small: str) -> None:
    done = call("reembed", small, "--embedder", "hashing:32")
    assert done.code == 0
    assert "10 memories have vectors of hashing-32 (dimension 32); 5 of 5 texts were encoded now" in done.out
    assert "reembed: 10 memories" in done.err
    stats = call("stats", "--store", small, "--project", "other", "--json").json
    assert (stats["embedder"], stats["dimension"], stats["memories"]) == ("hashing-32", 32, 5)
    assert call("doctor", small).code == 0
    again = call("reembed", small, "--embedder", "hashing:24", "--json").json
    assert again == {"embedder": "hashing-24", "dimension": 24, "memories": 10, "texts": 5, "encoded": 5}


def test_what_cannot_be_reembedded(small: str, tmp_path: Path) -> None:
    for arguments in (
        (small, "--embedder", "word2vec"),
        (str(tmp_path / "nothing.graph"), "--embedder", "hashing"),
        (":memory:", "--embedder", "hashing"),
        (small,),
        (small, "--embedder", "hashing", "--lock-timeout", "-1"),
    ):
        failed = call("reembed", *arguments)
        assert failed.code == 2
        assert failed.err.startswith("error: ")
    assert call("stats", "--store", small, "--json").json["embedder"] == "hashing-16"


def test_backup(small: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.graph"
    done = call("backup", small, str(target))
    assert done.code == 0
    assert f"wrote {target}" in done.out
    assert call("stats", "--store", str(target), "--project", "shop", "--json").json["memories"] == 5
    refused = call("backup", small, str(target))
    assert refused.code == 2
    assert "exists already" in refused.err
    report = call("backup", small, str(tmp_path / "other.graph"), "--json").json
    assert report == {"path": str(tmp_path / "other.graph"), "bytes": (tmp_path / "other.graph").stat().st_size}


def test_migrate_of_a_store_that_is_up_to_date(small: str) -> None:
    done = call("migrate", small)
    assert done.code == 0
    assert "nothing was to be done" in done.out
    report = call("migrate", small, "--json").json
    assert (report["found"] == report["now"], report["steps"], report["backup"]) == (True, [], None)
    assert call("migrate", small + ".missing").code == 2
