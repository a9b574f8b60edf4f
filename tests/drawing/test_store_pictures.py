"""Pictures of a store straight after a write, through the public API."""

from __future__ import annotations

import re
from pathlib import Path

from alma_graph import ALMA
from tests.conftest import durable_only


def _node_count(page: str) -> int:
    [found] = re.findall(r'<main data-node-count="(\d+)">', page)
    return int(found)


def test_the_page_shows_what_was_just_written(location: str, tmp_path: Path) -> None:
    """P094: a picture of another store than the one just written is empty while search works."""
    with ALMA.open(location, project_id="shop", embedder="hashing", extractor="none") as alma:
        assert _node_count(alma.to_html()) == alma.stats().nodes == 0
        alma.add_domain_knowledge(agent="builder", domain="gateway", fact="The gateway listens on port 8080.")
        before = _node_count(alma.to_html())
        assert before == alma.stats().nodes > 0
        alma.observe(agent="builder", text="Port 8080 is taken by nginx 1.27.", session_id="monday", speaker="Ana")
        page = alma.to_html(tmp_path / "graph.html")
        assert (tmp_path / "graph.html").read_text(encoding="utf-8") == page
        assert _node_count(page) == alma.stats().nodes == alma.to_networkx().number_of_nodes() > before
        assert "The gateway listens on port 8080." in page
        assert "The gateway listens" in alma.draw().svg


@durable_only
def test_projects_of_one_store_have_pictures_of_their_own(location: str) -> None:
    with (
        ALMA.open(location, project_id="one", embedder="hashing", extractor="none") as one,
        ALMA.open(location, project_id="two", embedder="hashing", extractor="none") as two,
    ):
        one.add_domain_knowledge(agent="a", domain="d", fact="Only the first project knows it.")
        assert _node_count(two.to_html()) == 0
        assert _node_count(one.to_html()) == one.stats().nodes == 2
