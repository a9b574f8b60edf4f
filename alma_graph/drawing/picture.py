"""A picture of a store's graph as a value: shows itself in a notebook, saves itself to a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alma_graph.arguments import path_text
from alma_graph.backends.protocol import Backend
from alma_graph.drawing.graph import to_networkx
from alma_graph.drawing.html import to_html, write_text
from alma_graph.drawing.options import check_options, check_values
from alma_graph.drawing.svg import to_svg
from alma_graph.drawing.textfit import xml
from alma_graph.errors import InvalidInputError

if TYPE_CHECKING:
    import networkx

DRAWN_NODES = 40
"""How many nodes a still picture shows unless told otherwise: as many as stay readable in a notebook's width."""
EXPLORED_NODES = 400
"""How many nodes a page to explore shows unless told otherwise."""


@dataclass(frozen=True)
class GraphPicture:
    """A drawn graph.

    Attributes:
        graph: what is drawn, from `to_networkx`.
        title: heading of the picture; None for none.
        width, height: size on the page in pixels; None for the natural size.
        interactive: whether a notebook shows the page to explore rather than the still picture.
    """

    graph: networkx.MultiDiGraph
    title: str | None = None
    width: float | None = None
    height: float | None = None
    interactive: bool = False

    @cached_property
    def svg(self) -> str:
        """The still picture, one self-contained SVG."""
        return to_svg(self.graph, self.width, self.height, title=self.title)

    @cached_property
    def html(self) -> str:
        """The page to explore, one self-contained HTML document."""
        return to_html(self.graph, title=self.title or "Knowledge graph")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture (`.svg`) or the page (`.html`) and gives the path.

        Raises:
            InvalidInputError: another suffix, or the path cannot be written.
        """
        target = Path(path_text(path, "path"))
        if target.suffix.lower() not in (".svg", ".html", ".htm"):
            raise InvalidInputError(f"path={str(target)!r} ends in {target.suffix!r}; give a .svg or .html file")
        write_text(target, self.svg if target.suffix.lower() == ".svg" else self.html)
        return target

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        if self.interactive:
            height = int(self.height or 620)
            width = f"{int(self.width)}px" if self.width else "100%"
            return (
                f'<iframe srcdoc="{xml(self.html)}" sandbox="allow-scripts" title="Knowledge graph" '
                f'style="width:{width};height:{height}px;border:1px solid #8b93a1;border-radius:8px"></iframe>'
            )
        fitting = "" if self.width or self.height else ' style="max-width:100%;height:auto"'
        return f'<div class="alma-graph-picture">{self.svg.replace("<svg", f"<svg{fitting}", 1)}</div>'

    def __repr__(self) -> str:
        return f"GraphPicture({self.graph.number_of_nodes()} nodes, {self.graph.number_of_edges()} edges)"


def draw(
    backend: Backend,
    project_id: str,
    *,
    title: str | None = None,
    width: float | None = None,
    height: float | None = None,
    interactive: bool = False,
    limit: int | None = DRAWN_NODES,
    include_agents: bool = False,
    **options: Any,
) -> GraphPicture:
    """A picture of one project's graph; `options` (`kinds`, `around`, `hops`, ...) are those of `to_networkx`."""
    check_options(options, draw, to_networkx)
    check_values(title=title, width=width, height=height, interactive=interactive)
    graph = to_networkx(backend, project_id, limit=limit, include_agents=include_agents, **options)
    return GraphPicture(graph, title, width, height, interactive)


def explore(
    backend: Backend,
    project_id: str,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    limit: int | None = EXPLORED_NODES,
    **options: Any,
) -> str:
    """One project's graph as an HTML page to explore, see `to_html`; `options` are those of `to_networkx`."""
    check_options(options, explore, to_networkx)
    check_values(title=title)
    place = None if path is None else path_text(path, "path")
    graph = to_networkx(backend, project_id, limit=limit, **options)
    return to_html(graph, place, title=title or f"{project_id}: what is known")
