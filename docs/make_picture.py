"""Draws `docs/first_light.svg`, the picture of the README, from the store that `alma-graph demo` makes.

    python docs/make_picture.py [STORE]

Without a store the demo runs in a temporary folder first.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alma_graph import ALMA
from alma_graph.cli.demo import PROJECT, STORE, demo_command

PICTURE = Path(__file__).resolve().parent / "first_light.svg"


SHOWN = "deploy"
"""The category whose lessons are shown with the outcomes they rest on: all of them would be too small to read."""


def main(store: Path) -> None:
    """Draws the demo's store at `store`: some lessons with their outcomes, and the facts that cannot both hold."""
    with ALMA.open(store, project_id=PROJECT, read_only=True) as alma:
        lessons = [*alma.memories("heuristic"), *alma.memories("anti_pattern")]
        disputed = [item.newer for item in alma.contradictions() if item.newer.kind == "domain_knowledge"]
        centres = [memory.id for memory in lessons if memory.category_name == SHOWN] + [item.id for item in disputed]
        picture = alma.draw(
            title="What works, what does not, what cannot both hold: from the outcomes of four agents",
            around=centres,
            include_entities=False,
        )
        picture.save(PICTURE)
    print(f"{PICTURE.name}: {picture}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            demo_command.main(["--folder", folder], standalone_mode=False)
            main(Path(folder) / STORE)
