"""A graph as one self-contained SVG that reads well on light and dark pages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from alma_graph.drawing.scene import (
    FONT,
    LABEL_FONT,
    LABEL_HEIGHT,
    LINE,
    NOTE_FONT,
    Box,
    Route,
    Scene,
    caption,
    compose,
    evidence_texts,
)
from alma_graph.drawing.style import EDGE_STYLES, NODE_STYLES, SHAPES, EdgeStyle, NodeStyle
from alma_graph.drawing.textfit import text_width, wrap, xml
from alma_graph.errors import InvalidInputError

if TYPE_CHECKING:
    import networkx

NAMESPACE = "http://www.w3.org/2000/svg"
_EDGE = 22.0  # free frame around the picture, in pixels
_LEGEND_FONT = 11.5
_LEGEND_LINE = 24.0
_MIN_WIDTH = 560.0
_FACES = "'Helvetica Neue',Helvetica,Arial,'Liberation Sans','Noto Sans',sans-serif"


def to_svg(
    graph: networkx.MultiDiGraph,
    width: float | None = None,
    height: float | None = None,
    *,
    title: str | None = None,
    legend: bool = True,
) -> str:
    """The graph as SVG text: the same graph gives the same text, byte for byte.

    Args:
        graph: from `to_networkx`, or one whose nodes and edges carry the same attributes.
        width, height: size on the page in pixels; None takes the natural size, at which letters are 12.5 pixels high.
        title: a heading above the picture.
        legend: whether to say below what the shapes and lines mean.

    Raises:
        InvalidInputError: a width or height that is not positive.
    """
    for name, size in (("width", width), ("height", height)):
        if size is not None and not 0 < size < float("inf"):
            raise InvalidInputError(f"{name}={size!r} is no size; give pixels above 0, or None for the natural size")
    aspect = width / height if width is not None and height is not None else 1.45
    scene = compose(graph, aspect=min(max(aspect, 0.4), 4.0))
    return scene_svg(scene, graph, width=width, height=height, title=title, legend=legend)


def scene_svg(
    scene: Scene,
    graph: networkx.MultiDiGraph,
    *,
    width: float | None = None,
    height: float | None = None,
    title: str | None = None,
    legend: bool = True,
) -> str:
    """A composed scene as SVG; see `to_svg`."""
    name = _name(scene, title)
    full_width = max(scene.width + 2 * _EDGE, _MIN_WIDTH if legend or title else 120.0)
    top = _EDGE
    heading: list[str] = []
    if title is not None:
        shown = "".join(wrap(title, 16, full_width - 2 * _EDGE, 1))
        heading = [f'<text class="heading" x="{_EDGE}" y="{_n(top + 12)}">{xml(shown)}</text>']
        top += 34
    left = (full_width - scene.width) / 2
    body = [f'<g transform="translate({_n(left)} {_n(top)})">']
    body += ['<g class="edges">', *(_edge(route, at, name) for at, route in enumerate(scene.routes)), "</g>"]
    body += ['<g class="nodes">', *(_node(box, at) for at, box in enumerate(scene.boxes)), "</g>"]
    body += ['<g class="labels">', *(_label(route, at) for at, route in enumerate(scene.routes) if route.label), "</g>"]
    body += ["</g>"]
    bottom = top + scene.height
    if not scene.boxes:
        bottom = top + 60
        body = [f'<text class="empty" x="{_n(full_width / 2)}" y="{_n(top + 34)}">This graph has no nodes yet.</text>']
    if legend:
        rows, bottom = _legend(scene, graph, name, full_width, bottom + _EDGE * 0.8)
        body += rows
    full_height = bottom + _EDGE
    edge_styles = _used(route.style for route in scene.routes)
    size = f'width="{_n(width or full_width)}" height="{_n(height or full_height)}"'
    if width is not None and height is None:
        size = f'width="{_n(width)}" height="{_n(width * full_height / full_width)}"'
    elif height is not None and width is None:
        size = f'width="{_n(height * full_width / full_height)}" height="{_n(height)}"'
    summary = f"Knowledge graph, {len(scene.boxes)} nodes and {graph.number_of_edges()} edges"
    return "\n".join(
        [
            f'<svg xmlns="{NAMESPACE}" id="{name}" class="alma-graph" {size} '
            f'viewBox="0 0 {_n(full_width)} {_n(full_height)}" role="img" aria-label="{xml(title or summary)}" '
            f'data-node-count="{len(scene.boxes)}" data-edge-count="{graph.number_of_edges()}">',
            f"<style>{_sheet(name, _used(box.style for box in scene.boxes), edge_styles)}</style>",
            "<defs>",
            *(_arrow(name, style) for style in edge_styles if style.arrow),
            "</defs>",
            f'<rect class="page" width="{_n(full_width)}" height="{_n(full_height)}" rx="10"/>',
            *heading,
            *body,
            "</svg>",
        ]
    )


def _name(scene: Scene, title: str | None) -> str:
    """An id for the picture, from what it shows: its style sheet and arrows are found by it."""
    shown = [(box.lines, box.x, box.y) for box in scene.boxes], [route.path for route in scene.routes], title
    return "g" + hashlib.blake2b(repr(shown).encode(), digest_size=5).hexdigest()


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _used(styles: Iterable[Any]) -> list[Any]:
    return sorted(set(styles), key=lambda style: style.slug)


def _sheet(name: str, nodes: Sequence[NodeStyle], edges: Sequence[EdgeStyle]) -> str:
    """The style sheet, every rule of it held to this picture: it may stand in a page with others."""
    light = [
        ("text", f"font-family:{_FACES};font-size:{FONT}px;fill:#1f2328"),
        (".page", "fill:#ffffff;stroke:#d8dee4"),
        (".heading", "font-size:16px;font-weight:600"),
        (".card", "fill:#ffffff;stroke-width:1.4"),
        (".note,.legend text,.remark", "fill:#57606a"),
        (".note", f"font-size:{NOTE_FONT}px"),
        (".compact text", f"font-size:{NOTE_FONT + 1}px"),
        (".legend text,.remark", f"font-size:{_LEGEND_FONT}px"),
        (".remark", "text-anchor:end"),
        (".empty", "fill:#57606a;text-anchor:middle"),
        (".past", "opacity:.6"),
        (".past .card", "stroke-dasharray:4 3"),
        (".mark", "fill:none;stroke:#ffffff;stroke-width:1.9;stroke-linecap:round;stroke-linejoin:round"),
        (".ring,.stroke", "fill:none;stroke-width:1.9;stroke-linecap:round"),
        (".edge", "fill:none"),
        (".hit", "fill:none;stroke:transparent;stroke-width:11"),
        (".tag rect", "fill:#ffffff;stroke-width:1"),
        (".tag text", f"font-size:{LABEL_FONT}px;text-anchor:middle"),
    ]
    dark = [
        ("text", "fill:#e6edf3"),
        (".page", "fill:#0d1117;stroke:#30363d"),
        (".card,.tag rect", "fill:#161b22"),
        (".note,.legend text,.remark,.empty", "fill:#9aa4b0"),
        (".mark", "stroke:#0d1117"),
    ]
    for style in nodes:
        for rules, colour in ((light, style.light), (dark, style.dark)):
            rules.append((f".{style.slug} .card,.{style.slug} .ring,.{style.slug} .stroke", f"stroke:{colour}"))
            rules.append((f".{style.slug} .fill", f"fill:{colour}"))
    for edge in edges:
        dash = f";stroke-dasharray:{edge.dash}" if edge.dash else ""
        light.append((f".edge.{edge.slug}", f"stroke-width:{edge.width}{dash}"))
        for rules, colour in ((light, edge.light), (dark, edge.dark)):
            hollow = edge.slug == "inherits"
            rules.append((f".edge.{edge.slug},.tag.{edge.slug} rect", f"stroke:{colour}"))
            if edge.arrow:
                page = "#ffffff" if rules is light else "#0d1117"
                rules.append((f".tip.{edge.slug}", f"fill:{page if hollow else colour};stroke:{colour}"))
            rules.append((f".tag.{edge.slug} text", f"fill:{colour}"))
    light.append((".edge.suspected", "opacity:.65;stroke-dasharray:2 4"))
    bright = "".join(_rule(name, selector, body) for selector, body in light)
    night = "".join(_rule(name, selector, body) for selector, body in dark)
    return f"{bright}@media (prefers-color-scheme:dark){{{night}}}"


def _rule(name: str, selector: str, body: str) -> str:
    scoped = ",".join(f"#{name} {part}" for part in selector.split(","))
    return f"{scoped}{{{body}}}"


def _arrow(name: str, style: EdgeStyle) -> str:
    size = 9 if style.width > 1.5 else 7
    return (
        f'<marker id="{name}-{style.slug}" viewBox="-1 -1 12 12" refX="9.5" refY="5" markerWidth="{size}" '
        f'markerHeight="{size}" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path class="tip {style.slug}" d="M0 0L10 5L0 10Z"/></marker>'
    )


def _edge(route: Route, at: int, name: str) -> str:
    tip = f' marker-end="url(#{name}-{route.style.slug})"' if route.style.arrow else ""
    kind = f"edge {route.style.slug}" + " suspected" * route.suspected
    words = xml("\n".join(edge_words(route)))
    return (
        f'<g data-edge="{at}"><title>{words}</title><path class="hit" d="{route.path}"/>'
        f'<path class="{kind}" d="{route.path}"{tip}/></g>'
    )


def edge_words(route: Route) -> list[str]:
    """What an edge says, line by line: its type with the score, then what it rests on."""
    lines = []
    for row in route.rows:
        head = [route.type]
        for field in ("signal", "predicate", "mode", "origin", "surface", "disposition"):
            if row.get(field):
                head.append(str(row[field]))
        for field in ("score", "weight", "trust"):
            if isinstance(row.get(field), (int, float)):
                head.append(f"{field} {row[field]:.2f}")
        lines.append(", ".join(head))
        lines.extend(evidence_texts(row.get("evidence")))
    return lines


def _node(box: Box, at: int) -> str:
    past = box.attributes.get("status", "active") != "active"
    kind = f"node {box.style.slug}" + " compact" * box.compact + " past" * past
    left, top = box.x - box.width / 2, box.y - box.height / 2
    radius = box.height / 2 if box.compact else 7
    parts = [
        f'<g class="{kind}" data-node="{at}"><title>{xml(_tooltip(box))}</title>'
        f'<rect class="card" x="{_n(left)}" y="{_n(top)}" width="{_n(box.width)}" height="{_n(box.height)}" '
        f'rx="{_n(radius)}"/>'
    ]
    if box.compact:
        text_left = left + 10
        if box.style.shape != "pill":
            place = f"translate({_n(left + 16)} {_n(box.y)}) scale(.85)"
            parts.append(f'<g transform="{place}">{SHAPES[box.style.shape]}</g>')
            text_left += 18
        parts.append(f'<text x="{_n(text_left)}" y="{_n(box.y + 4)}">{xml(box.lines[0])}</text></g>')
        return "".join(parts)
    parts.append(f'<g transform="translate({_n(left + 17)} {_n(top + 16)})">{SHAPES[box.style.shape]}</g>')
    text_left = left + 32
    for number, line in enumerate(box.lines):
        parts.append(f'<text x="{_n(text_left)}" y="{_n(top + 20 + number * LINE)}">{xml(line)}</text>')
    if box.note:
        baseline = top + 19 + len(box.lines) * LINE
        parts.append(f'<text class="note" x="{_n(text_left)}" y="{_n(baseline)}">{xml(box.note)}</text>')
    return "".join([*parts, "</g>"])


def _tooltip(box: Box) -> str:
    attributes = box.attributes
    head = [box.style.title]
    if attributes.get("status", "active") != "active":
        head.append(str(attributes["status"]))
    if isinstance(attributes.get("confidence"), (int, float)):
        head.append(f"confidence {attributes['confidence']:.2f}")
    if attributes.get("type") and box.compact:
        head.append(str(attributes["type"]))
    if attributes.get("agent"):
        head.append(f"agent {attributes['agent']}")
    return f"{', '.join(head)}\n{attributes.get('text') or caption(attributes)}"


def _label(route: Route, at: int) -> str:
    width, height = route.label_width, LABEL_HEIGHT
    left, top = route.label_x - width / 2, route.label_y - height / 2
    return (
        f'<g class="tag {route.style.slug}" data-edge="{at}">'
        f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(height / 2)}"/>'
        f'<text x="{_n(route.label_x)}" y="{_n(route.label_y + 3.8)}">{xml(route.label)}</text></g>'
    )


def _legend(scene: Scene, graph: networkx.MultiDiGraph, name: str, width: float, top: float) -> tuple[list[str], float]:
    """The legend from `top` on, of what the picture has; and where it ends."""
    nodes = {box.style for box in scene.boxes}
    edges = {route.style for route in scene.routes}
    rows = ['<g class="legend">']
    baseline = top + 14
    for group in (
        [(style.title, _key(style)) for style in NODE_STYLES.values() if style in nodes],
        [(style.title, _line(style, name)) for style in EDGE_STYLES.values() if style in edges],
    ):
        left = _EDGE
        for title, drawn in group:
            room = 42 + text_width(title, _LEGEND_FONT) + 18
            if left > _EDGE and left + room > width - _EDGE + 18:
                left, baseline = _EDGE, baseline + _LEGEND_LINE
            rows.append(f'<g transform="translate({_n(left + 15)} {_n(baseline - 4)})">{drawn}</g>')
            rows.append(f'<text x="{_n(left + 38)}" y="{_n(baseline)}">{xml(title)}</text>')
            left += room
        if group:
            baseline += _LEGEND_LINE
    rows.append("</g>")
    total = graph.graph.get("total_nodes", len(scene.boxes))
    if total > len(scene.boxes):
        remark = f"{len(scene.boxes)} of {total} nodes"
        rows.append(f'<text class="remark" x="{_n(width - _EDGE)}" y="{_n(baseline)}">{xml(remark)}</text>')
        baseline += _LEGEND_LINE
    return rows, baseline - _LEGEND_LINE


def _key(style: NodeStyle) -> str:
    return f'<g class="{style.slug}">{SHAPES[style.shape]}</g>'


def _line(style: EdgeStyle, name: str) -> str:
    tip = f' marker-end="url(#{name}-{style.slug})"' if style.arrow else ""
    return f'<path class="edge {style.slug}" d="M-14 0H16"{tip}/>'
