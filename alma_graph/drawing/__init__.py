"""Pictures of the graph: a networkx graph, a self-contained SVG, a self-contained HTML explorer. No network, ever."""

from __future__ import annotations

from alma_graph.drawing.graph import to_networkx
from alma_graph.drawing.html import to_html
from alma_graph.drawing.picture import GraphPicture, draw, explore
from alma_graph.drawing.svg import to_svg

__all__ = ["GraphPicture", "draw", "explore", "to_html", "to_networkx", "to_svg"]
