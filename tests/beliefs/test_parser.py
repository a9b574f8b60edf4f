"""The parser loads once a process, from any thread, and says what to install when it cannot."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from alma_graph.beliefs import parse_claims
from alma_graph.beliefs.parser import parse
from alma_graph.errors import MissingDependencyError
from alma_graph.extraction import DEFAULT_MODEL, load_pipeline, shared_pipeline


def test_one_pipeline_serves_claims_and_entities_in_all_threads() -> None:
    seen: list[object] = []

    def look() -> None:
        with shared_pipeline(without=("ner",)) as pipeline:
            seen.append(pipeline)
            assert "ner" not in pipeline.pipe_names

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert {id(pipeline) for pipeline in seen} == {id(load_pipeline(DEFAULT_MODEL))}


def test_threads_get_the_claims_of_their_own_texts() -> None:
    texts = [f"The service {name} listens on port {port}." for port, name in enumerate("abcdefgh", start=8000)]
    expected = [parse_claims([text])[0] for text in texts]
    got: dict[str, object] = {}
    threads = [threading.Thread(target=lambda text=text: got.update({text: parse_claims([text])[0]})) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [got[text] for text in texts] == expected


def test_a_missing_model_names_the_line_that_installs_it() -> None:
    with pytest.raises(MissingDependencyError, match="pip install"):
        list(parse(["x"], model="no_such_model"))


def test_importing_beliefs_loads_no_parser() -> None:
    code = "import sys, alma_graph.beliefs; sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
