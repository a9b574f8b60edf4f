"""How each kind of node and edge looks: colour for light and dark, shape, words of the legend.

Colours follow Okabe and Ito (2008), "Color universal design", which readers with any common colour vision tell apart;
no meaning rests on colour alone: every kind has a shape and every edge type a dash or an arrow of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from alma_graph.model import EdgeType, MemoryKind


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """Look of one kind of node. `slug` names its CSS class; colours are hex, for a light and a dark page."""

    slug: str
    title: str
    shape: str
    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """Look of one type of edge. `dash` as in SVG; `width` in pixels. A type that does not pull has no say in where the
    nodes go (agents and sessions have edges to nearly everything), and waits in the explorer to be switched on."""

    slug: str
    title: str
    light: str
    dark: str
    width: float
    dash: str = ""
    arrow: bool = True
    pulls: bool = True


NODE_STYLES: dict[str, NodeStyle] = {
    MemoryKind.HEURISTIC: NodeStyle("heuristic", "heuristic", "hexagon", "#008a64", "#2fc79b"),
    MemoryKind.ANTI_PATTERN: NodeStyle("anti-pattern", "anti-pattern", "octagon", "#d55e00", "#ff8c42"),
    "success": NodeStyle("success", "outcome: success", "tick", "#1f83c0", "#63bdf5"),
    "failure": NodeStyle("failure", "outcome: failure", "cross", "#1f83c0", "#63bdf5"),
    MemoryKind.DOMAIN_KNOWLEDGE: NodeStyle("knowledge", "domain knowledge", "square", "#3b4cc0", "#8c9eff"),
    MemoryKind.USER_PREFERENCE: NodeStyle("preference", "user preference", "diamond", "#b84b87", "#e79ac4"),
    MemoryKind.OBSERVATION: NodeStyle("observation", "observation", "bubble", "#6b7280", "#a8b0bd"),
    "Entity": NodeStyle("entity", "entity", "pill", "#9a6700", "#e0b050"),
    "Agent": NodeStyle("agent", "agent", "person", "#1f2937", "#e5e7eb"),
    "User": NodeStyle("user", "user", "person", "#b84b87", "#e79ac4"),
    "Session": NodeStyle("session", "session", "bubble", "#6b7280", "#a8b0bd"),
}
"""In the order of the legend."""

EDGE_STYLES: dict[str, EdgeStyle] = {
    EdgeType.SUPPORTS: EdgeStyle("supports", "SUPPORTS", "#008a64", "#2fc79b", 1.8),
    EdgeType.CONTRADICTS: EdgeStyle("contradicts", "CONTRADICTS", "#cf222e", "#ff6b6b", 2.0, "7 4"),
    EdgeType.INHERITS_FROM: EdgeStyle("inherits", "INHERITS_FROM", "#6f42c1", "#b794f4", 1.8, "10 3 2 3"),
    EdgeType.MENTIONS: EdgeStyle("mentions", "MENTIONS", "#b4bac4", "#525b69", 1.0, "", False),
    EdgeType.RELATES_TO: EdgeStyle("relates", "RELATES_TO", "#c09553", "#8a6d3b", 1.2, "2 3"),
    EdgeType.NEXT: EdgeStyle("next", "NEXT", "#8b93a1", "#7a8494", 1.0, "1 3"),
    EdgeType.LEARNED: EdgeStyle("learned", "LEARNED", "#b4bac4", "#525b69", 1.0, "4 3", True, False),
    EdgeType.ABOUT: EdgeStyle("about", "ABOUT", "#d9a3c0", "#7d5069", 1.0, "4 3", True, False),
    EdgeType.PART_OF: EdgeStyle("part-of", "PART_OF", "#b4bac4", "#525b69", 1.0, "4 3", True, False),
}
"""In the order of the legend; the heavy ones are drawn last, above the thin ones."""

_OTHER_NODE = NodeStyle("other", "other", "square", "#6b7280", "#a8b0bd")
_OTHER_EDGE = EdgeStyle("other", "other", "#8b93a1", "#7a8494", 1.0)


def node_style(attributes: dict[str, Any]) -> NodeStyle:
    """The style of a node of `to_networkx`, from its attributes."""
    kind = attributes.get("kind")
    if kind == MemoryKind.OUTCOME:
        return NODE_STYLES["success" if attributes.get("outcome") == "success" else "failure"]
    return NODE_STYLES.get(str(kind or attributes.get("label")), _OTHER_NODE)


def edge_style(type_name: str) -> EdgeStyle:
    """The style of an edge type."""
    return EDGE_STYLES.get(type_name, _OTHER_EDGE)


def _polygon(corners: int, radius: float, turn: float) -> str:
    angles = [turn + 2 * math.pi * corner / corners for corner in range(corners)]
    points = " ".join(f"{radius * math.cos(angle):.2f},{radius * math.sin(angle):.2f}" for angle in angles)
    return f'<polygon class="fill" points="{points}"/>'


SHAPES: dict[str, str] = {
    "hexagon": _polygon(6, 8, 0),
    "octagon": _polygon(8, 8, math.pi / 8) + '<path class="mark" d="M-3.5 0H3.5"/>',
    "tick": '<circle class="fill" r="7.5"/><path class="mark" d="M-3.4 0.2L-0.9 2.8L3.6 -2.6"/>',
    "cross": '<circle class="ring" r="6.7"/><path class="stroke" d="M-2.7 -2.7L2.7 2.7M-2.7 2.7L2.7 -2.7"/>',
    "square": '<rect class="fill" x="-7" y="-7" width="14" height="14" rx="2.5"/>',
    "diamond": '<polygon class="fill" points="0,-8.5 8.5,0 0,8.5 -8.5,0"/>',
    "bubble": (
        '<path class="fill" d="M-5 -7H5A3 3 0 0 1 8 -4V1A3 3 0 0 1 5 4H0L-4.5 8V4H-5'
        'A3 3 0 0 1 -8 1V-4A3 3 0 0 1 -5 -7Z"/>'
    ),
    "pill": '<rect class="ring" x="-8" y="-4.5" width="16" height="9" rx="4.5"/>',
    "person": '<circle class="fill" cy="-4" r="3.8"/><path class="fill" d="M-7 8A7 7 0 0 1 7 8Z"/>',
}
"""SVG of each shape, centred on the origin, some 16 pixels wide; the style sheet gives its classes their colour."""
