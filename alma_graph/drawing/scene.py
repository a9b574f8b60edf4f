"""A graph turned into things to draw: boxes with their words and places, and routes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from alma_graph.drawing.graph import NodeId, edge_order, node_order
from alma_graph.drawing.layout import Array, Spring, place
from alma_graph.drawing.style import EDGE_STYLES, EdgeStyle, NodeStyle, edge_style, node_style
from alma_graph.drawing.textfit import text_width, wrap
from alma_graph.model import EdgeType, MemoryKind

if TYPE_CHECKING:
    import networkx

FONT = 12.5
NOTE_FONT = 10.5
LABEL_FONT = 10.5
LABEL_HEIGHT = 16.5
LINE = 15.5
_TEXT_WIDTH = 158.0
_ICON_ROOM = 26.0
_PADDING = 8.0
_BEND = 26.0  # pixels between two edges of one pair
_SUSPECTED_BELOW = 0.7

_CAPTION_FIELDS = {
    MemoryKind.HEURISTIC: "strategy",
    MemoryKind.ANTI_PATTERN: "pattern",
    MemoryKind.OUTCOME: "task",
    MemoryKind.DOMAIN_KNOWLEDGE: "fact",
    MemoryKind.USER_PREFERENCE: "preference",
    MemoryKind.OBSERVATION: "content",
}


@dataclass(slots=True)
class Box:
    """A node to draw. `x`, `y` is the centre; all in pixels."""

    node: NodeId
    attributes: dict[str, Any]
    style: NodeStyle
    lines: list[str]
    note: str
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    @property
    def compact(self) -> bool:
        """Whether it is a pill (an entity, agent, user or session) rather than a card."""
        return self.attributes.get("label") != "Memory"


@dataclass(slots=True)
class Route:
    """All edges of one type from one box to another, drawn as one line; `rows` has the properties of each."""

    source: int
    target: int
    type: str
    style: EdgeStyle
    rows: list[dict[str, Any]]
    label: str
    path: str = ""
    label_x: float = 0.0
    label_y: float = 0.0

    @property
    def label_width(self) -> float:
        return text_width(self.label, LABEL_FONT) + 10.0 if self.label else 0.0

    @property
    def suspected(self) -> bool:
        """Whether a contradiction is only suspected."""
        scores = [row.get("score") for row in self.rows]
        return self.type == EdgeType.CONTRADICTS and all(
            isinstance(score, float) and score < _SUSPECTED_BELOW for score in scores
        )


@dataclass(frozen=True, slots=True)
class Scene:
    """Boxes and routes within (0, 0) and (`width`, `height`)."""

    boxes: Sequence[Box]
    routes: Sequence[Route]
    width: float
    height: float


def caption(attributes: Mapping[str, Any]) -> str:
    """The words a node is known by: a strategy, a task, a fact, a name."""
    field = _CAPTION_FIELDS.get(attributes.get("kind", ""))
    if field is not None:
        text = str(attributes.get(field) or attributes.get("text") or attributes.get("id", ""))
        speaker = attributes.get("speaker")
        return f"{speaker}: {text}" if speaker else text
    return str(attributes.get("name") or attributes.get("text") or attributes.get("id") or attributes.get("key", ""))


def evidence_texts(evidence: Any) -> list[str]:
    """What an edge rests on, in words: the quoted spans, or each property with its value."""
    if evidence is None:
        return []
    if isinstance(evidence, Mapping):
        if isinstance(evidence.get("text"), str):
            return [f"“{evidence['text']}”"]
        found: list[str] = []
        for name, value in evidence.items():
            inner = evidence_texts(value) if isinstance(value, (Mapping, list)) else [str(value)]
            found.extend(f"{name}: {text}" for text in inner if text)
        return found
    if isinstance(evidence, (list, tuple)):
        return [text for part in evidence for text in evidence_texts(part)]
    return [str(evidence)]


def compose(graph: networkx.MultiDiGraph, *, aspect: float = 1.5) -> Scene:
    """Sets every node and edge of a graph of `to_networkx` in its place."""
    nodes = node_order(graph)
    boxes = [_box(node, graph.nodes[node]) for node in nodes]
    routes = _routes(graph, {node: at for at, node in enumerate(nodes)})
    sizes = np.array([(box.width, box.height) for box in boxes], dtype=np.float64).reshape(-1, 2)
    springs = [
        Spring(route.source, route.target, (route.label_width, LABEL_HEIGHT) if route.label else None)
        for route in routes
        if route.style.pulls
    ]
    placed = place(sizes, springs, aspect=aspect)
    for box, (x, y) in zip(boxes, placed.boxes.tolist(), strict=True):
        box.x, box.y = round(x, 1), round(y, 1)
    labelled = [route for route in routes if route.label]
    for route, (x, y) in zip(labelled, placed.labels.tolist(), strict=True):
        route.label_x, route.label_y = round(x, 1), round(y, 1)
    _draw_routes(routes, boxes)
    right = [box.x + box.width / 2 for box in boxes] + [route.label_x + route.label_width / 2 for route in labelled]
    bottom = [box.y + box.height / 2 for box in boxes] + [route.label_y + LABEL_HEIGHT / 2 for route in labelled]
    return Scene(boxes, routes, max(right, default=0.0), max(bottom, default=0.0))


def _box(node: NodeId, attributes: dict[str, Any]) -> Box:
    style = node_style(attributes)
    words = caption(attributes)
    if attributes.get("label") != "Memory":
        icon = 0.0 if attributes.get("label") == "Entity" else 18.0
        lines = wrap(words, NOTE_FONT + 1, _TEXT_WIDTH, 1) or [""]
        return Box(node, attributes, style, lines, "", text_width(lines[0], NOTE_FONT + 1) + 20 + icon, 23.0)
    short = attributes.get("kind") in (MemoryKind.OUTCOME, MemoryKind.OBSERVATION)
    lines = wrap(words, FONT, _TEXT_WIDTH, 2 if short else 3) or [""]
    note = "".join(wrap(_note(attributes), NOTE_FONT, _TEXT_WIDTH, 1))
    width = max([text_width(line, FONT) for line in lines] + [text_width(note, NOTE_FONT)])
    height = LINE * len(lines) + (13.0 if note else 0.0) + 2 * _PADDING - 2
    return Box(node, attributes, style, lines, note, _ICON_ROOM + width + 2 * _PADDING, height)


def _note(attributes: Mapping[str, Any]) -> str:
    """The small line under the caption: the counts of what was learned, the strategy of an outcome, a lost status."""
    parts = []
    total = attributes.get("occurrence_count")
    if total:
        parts.append(f"{attributes.get('success_count', 0)} of {total} succeeded")
    elif attributes.get("kind") == MemoryKind.OUTCOME:
        parts.append(str(attributes.get("strategy_used") or ""))
    status = attributes.get("status", "active")
    if status != "active":
        parts.insert(0, str(status))
    return " · ".join(part for part in parts if part)


def _routes(graph: networkx.MultiDiGraph, index: Mapping[NodeId, int]) -> list[Route]:
    routes: dict[tuple[int, int, str], Route] = {}
    for source, target, key, attributes in edge_order(graph):
        type_name = str(attributes.get("type", key))
        place_of = (index[source], index[target], type_name)
        if place_of not in routes:
            routes[place_of] = Route(*place_of, edge_style(type_name), [], _edge_label(type_name, attributes))
        routes[place_of].rows.append(attributes)
    heavy = {name: at for at, name in enumerate(EDGE_STYLES)}
    # The heavy types come last, so that they are drawn above the thin ones.
    return sorted(routes.values(), key=lambda route: -heavy.get(route.type, len(heavy)))


def _edge_label(type_name: str, attributes: Mapping[str, Any]) -> str:
    if type_name != EdgeType.CONTRADICTS:
        return ""
    parts = [str(attributes.get("signal", "")).replace("_", " ")]
    score = attributes.get("score")
    if isinstance(score, (int, float)):
        parts.append(f"{score:.2f}")
    disposition = attributes.get("disposition", "open")
    if disposition != "open":
        parts.append(f"· {str(disposition).replace('_', ' ')}")
    return " ".join(part for part in parts if part)


def _draw_routes(routes: Sequence[Route], boxes: Sequence[Box]) -> None:
    lanes: dict[tuple[int, int], list[Route]] = {}
    for route in routes:
        lanes.setdefault((min(route.source, route.target), max(route.source, route.target)), []).append(route)
    frames = np.array([_frame(box.x, box.y, box.width, box.height) for box in boxes]).reshape(-1, 4)
    for (first, second), together in lanes.items():
        others = np.delete(frames, [first, second], axis=0)
        plain = [route for route in together if not route.label]
        for route in together:
            if route.label and first != second:
                tags = [_tag(other) for other in routes if other.label and other is not route]
                curve = _labelled_curve(route, boxes[first], boxes[second], np.vstack([others, *tags]))
            else:
                bend = (plain.index(route) - (len(plain) - 1) / 2) * _BEND if route in plain else 0.0
                if len(together) == 1 and first != second and route.style.width > 1.5:
                    bend = _clear_bend(boxes[first], boxes[second], others)
                curve = _curve(boxes[first], boxes[second], bend)
            if route.source != first:
                curve = curve[::-1]
            start, middle, end = curve.round(1).tolist()
            route.path = f"M{start[0]} {start[1]}Q{middle[0]} {middle[1]} {end[0]} {end[1]}"


_BENDS = (0.0, 16.0, -16.0, 32.0, -32.0, 52.0, -52.0, 76.0, -76.0)
_SHARES = np.linspace(0.04, 0.96, 32)[:, None]


def _clear_bend(first: Box, second: Box, others: Array) -> float:
    """The slightest bend, in pixels, with which a line passes under as little of the other boxes as it can."""
    best = (np.inf, 0.0)
    for bend in _BENDS:
        hidden = _hidden(_curve(first, second, bend), others)
        best = min(best, (hidden + abs(bend) * 0.01, bend))
        if hidden == 0:
            break
    return best[1]


def _labelled_curve(route: Route, first: Box, second: Box, others: Array) -> Array:
    """A curve through the place of its label; both move aside where another box would hide the line."""
    start = np.array([route.label_x, route.label_y])
    across = np.array([second.x - first.x, second.y - first.y])
    normal = np.array([-across[1], across[0]]) / max(float(np.hypot(*across)), 1e-9)
    best: tuple[float, float] = (np.inf, 0.0)
    blocked = np.vstack([others, [_frame(box.x, box.y, box.width, box.height) for box in (first, second)]])
    for bend in _BENDS:
        x, y = start + normal * bend
        left, top, right, bottom = _frame(x, y, route.label_width, LABEL_HEIGHT)
        away = (blocked[:, 0] > right) | (blocked[:, 2] < left) | (blocked[:, 1] > bottom) | (blocked[:, 3] < top)
        outside = left < 0 or top < 0
        if bend and (outside or not away.all()):
            continue
        hidden = _hidden(_curve_through(first, second, start + normal * bend), others)
        best = min(best, (hidden + abs(bend) * 0.01, bend))
        if hidden == 0:
            break
    route.label_x, route.label_y = (start + normal * best[1]).round(1).tolist()
    return _curve_through(first, second, np.array([route.label_x, route.label_y]))


def _hidden(curve: Array, others: Array) -> float:
    """How many of some points of a curve lie under the boxes."""
    points = (1 - _SHARES) ** 2 * curve[0] + 2 * _SHARES * (1 - _SHARES) * curve[1] + _SHARES**2 * curve[2]
    within = (points[:, None, :] > others[None, :, :2] - 3) & (points[:, None, :] < others[None, :, 2:] + 3)
    return float(within.all(axis=2).any(axis=1).sum())


def _tag(route: Route) -> tuple[float, float, float, float]:
    return _frame(route.label_x, route.label_y, route.label_width, LABEL_HEIGHT)


def _frame(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _curve(first: Box, second: Box, bend: float) -> Array:
    """Start, control point and end of a line between two boxes, `bend` pixels beside the straight one; (3, 2)."""
    start, end = np.array([first.x, first.y]), np.array([second.x, second.y])
    if first is second:
        side, rise = np.array([first.width / 2, 0]), np.array([0, first.height / 2])
        return np.array([start + side, start + 1.2 * side - 3.2 * rise, start - rise])
    if not bend:
        ends = _border(first, end), _border(second, start)
        return np.array([ends[0], (ends[0] + ends[1]) / 2, ends[1]])
    across = end - start
    normal = np.array([-across[1], across[0]]) / max(float(np.hypot(*across)), 1e-9)
    control = (start + end) / 2 + normal * bend * 2
    return np.array([_border(first, control), control, _border(second, control)])


def _curve_through(first: Box, second: Box, point: Array) -> Array:
    """Start, control point and end of a line between two boxes whose middle is the point; (3, 2)."""
    start, end = _border(first, point), _border(second, point)
    # A quadratic curve passes half-way between its control point and the middle of its ends.
    return np.array([start, 2 * point - (start + end) / 2, end])


def _border(box: Box, towards: Array) -> Array:
    """Where the line from a box's centre leaves it, with a little air."""
    centre = np.array([box.x, box.y])
    way = towards - centre
    half = np.array([box.width / 2 + 2.0, box.height / 2 + 2.0])
    leaving: Array = centre + way * min(float(np.min(half / np.maximum(np.abs(way), 1e-9))), 1.0)
    return leaving
