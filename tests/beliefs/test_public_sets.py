"""Measured targets on the public development sets (see `benchmarks/contradiction_f1.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from alma_graph.beliefs import SUSPECTED
from benchmarks.contradiction_f1 import (
    chat_judgements,
    chat_pairs,
    contradiction_quality,
    data_folder,
    judged,
    read_jsonl,
)

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def folder() -> Path:
    found = data_folder()
    if not found.is_dir():
        pytest.skip(f"the public evaluation sets are not in {found}; name their folder in ALMA_BENCH_DATA")
    return found


def test_development_pairs_reach_the_target(folder: Path) -> None:
    quality = contradiction_quality(judged(read_jsonl(folder / "belief_pairs_dev.jsonl")), SUSPECTED)
    assert quality.f1 >= 0.85
    assert quality.precision >= 0.9


def test_random_turns_of_one_speaker_are_hardly_ever_flagged(folder: Path) -> None:
    judgements = chat_judgements(chat_pairs(folder, 300))
    alarms = [verdict for verdict in judgements if verdict is not None and verdict.relation == "contradicts"]
    assert len(alarms) <= 3
