"""A store opened from a file of settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from alma_graph import ALMA
from alma_graph.errors import ConfigError

GOOD = """
alma:
  project_id: ${SHOP_PROJECT}
  store: ":memory:"
  embedder: hashing
  extractor: rules
  scoring: {recency: 0.3}
  cache: {max_size: 10}
  agents:
    junior:
      can_learn: [testing]
      min_occurrences_for_heuristic: 2
      inherit_from: [senior]
"""


def test_everything_open_takes_can_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PROJECT", "shop")
    path = tmp_path / "config.yaml"
    path.write_text(GOOD)
    with ALMA.from_config(path) as alma:
        assert alma.project_id == "shop"
        assert alma.scopes["junior"].min_occurrences_for_heuristic == 2
        assert alma.stats().embedder.startswith("hashing")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("project_id: ${NOBODY_SET_THIS}", "NOBODY_SET_THIS"),
        ("project_id: p\nstorage: sqlite", "storage"),
        ("project_id: p\nagents: {a: {can_lern: [x]}}", "can_lern"),
        ("store: x", "project_id"),
        ("project_id: [", "no YAML"),
        ("- 1", "mapping"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=named):
        ALMA.from_config(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        ALMA.from_config(tmp_path / "nowhere.yaml")
