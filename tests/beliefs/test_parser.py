"""The parser loads once a process, from any thread, and says what to install when it cannot."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from alma_graph.beliefs import parse_claims
from alma_graph.beliefs.parser import load_parser
from alma_graph.errors import MissingDependencyError


def test_one_pipeline_without_entity_recognition_for_all_threads() -> None:
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(load_parser())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(pipeline) for pipeline in seen}) == 1
    assert "ner" not in load_parser().pipe_names


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
        load_parser("no_such_model")


def test_importing_beliefs_loads_no_parser() -> None:
    code = "import sys, alma_graph.beliefs; sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
