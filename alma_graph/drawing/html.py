"""A graph as one HTML page to explore: no server, no request, nothing beside the file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alma_graph.drawing.scene import Box, Route, Scene, caption, compose, evidence_texts
from alma_graph.drawing.style import EDGE_STYLES, NODE_STYLES, SHAPES, EdgeStyle, NodeStyle
from alma_graph.drawing.svg import scene_svg
from alma_graph.drawing.textfit import xml
from alma_graph.errors import InvalidInputError, shown

if TYPE_CHECKING:
    import networkx

# Shown in the panel, in this order.
_FACTS = {
    "status": "status",
    "confidence": "confidence",
    "success_count": "successes",
    "occurrence_count": "occurrences",
    "why_bad": "why it is bad",
    "better_alternative": "better",
    "level": "level",
    "strategy_used": "strategy",
    "error_message": "error",
    "feedback": "feedback",
    "agent": "agent",
    "user_id": "user",
    "speaker": "speaker",
    "task_type": "task type",
    "domain": "domain",
    "category": "category",
    "type": "type",
    "aliases": "also called",
    "valid_from": "valid from",
    "valid_to": "valid to",
    "recorded_at": "recorded",
    "retired_at": "retired",
    "retired_reason": "why retired",
    "session_id": "session",
    "authority": "authority",
    "use_count": "times used",
    "metadata": "metadata",
    "id": "id",
}
_EDGE_FACTS = ("signal", "score", "disposition", "mode", "predicate", "origin", "weight", "trust", "surface", "reason")


def to_html(
    graph: networkx.MultiDiGraph, path: str | os.PathLike[str] | None = None, *, title: str = "Knowledge graph"
) -> str:
    """The graph as the text of one HTML page, written to `path` as well where one is given.

    The page pans and zooms, searches, filters by kind and edge type, and shows what is known of the node under the
    pointer: its text, confidence and counts, its edges with their evidence. Its `<main>` has `data-node-count`.

    Raises:
        InvalidInputError: the folder of `path` does not exist, or `path` cannot be written.
    """
    scene = compose(graph, aspect=1.5)
    svg = scene_svg(scene, graph, legend=False)
    data = {
        "nodes": [_node_data(box) for box in scene.boxes],
        "edges": [_edge_data(route, scene) for route in scene.routes],
    }
    total = graph.graph.get("total_nodes", len(scene.boxes))
    nodes = f"{len(scene.boxes)} nodes" if total == len(scene.boxes) else f"{len(scene.boxes)} of {total} nodes"
    parts = {
        "title": xml(title),
        "count": str(len(scene.boxes)),
        "summary": xml(f"{nodes}, {graph.number_of_edges()} edges"),
        "style": _asset("explorer.css") + _colours(),
        "kinds": "".join(_kind_chip(style, scene) for style in NODE_STYLES.values()),
        "types": "".join(_type_chip(style, scene) for style in EDGE_STYLES.values()),
        "svg": svg,
        "data": _safe_json(data),
        "script": _asset("explorer.js"),
    }
    page = _filled(_asset("explorer.html"), parts)
    if path is not None:
        write_text(path, page)
    return page


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes UTF-8 with plain line ends.

    Raises:
        InvalidInputError: the path cannot be written.
    """
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InvalidInputError(
            f"path={shown(str(path))} cannot be written ({reason}); give a file in an existing folder"
        ) from None


def _asset(name: str) -> str:
    return resources.files("alma_graph.drawing").joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with every `[[name]]` replaced once; what is put in is never read again."""
    pieces = template.split("[[")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("]]", 1)
        filled += [parts[name], rest]
    return "".join(filled)


def _safe_json(data: Any) -> str:
    """JSON that can stand within a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _node_data(box: Box) -> dict[str, Any]:
    text = str(box.attributes.get("text") or caption(box.attributes))
    facts = [[title, _value(box.attributes[name])] for name, title in _FACTS.items() if _tells(box.attributes, name)]
    return {
        "kind": box.style.slug,
        "kindTitle": box.style.title,
        "caption": caption(box.attributes),
        "text": text,
        "facts": facts,
        "confidence": box.attributes.get("confidence"),
        "x": box.x,
        "y": box.y,
    }


def _tells(attributes: Mapping[str, Any], name: str) -> bool:
    value = attributes.get(name)
    if name == "category" and value in (attributes.get("domain"), attributes.get("task_type")):
        return False
    if name in ("success_count", "occurrence_count"):
        return bool(attributes.get("occurrence_count"))
    return value not in (None, "", 0, (), [], {})


def _value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _edge_data(route: Route, scene: Scene) -> dict[str, Any]:
    rows = []
    for row in route.rows:
        facts = [f"{name} {_value(row[name])}" for name in _EDGE_FACTS if row.get(name) is not None and row[name] != ""]
        rows.append({"facts": facts, "evidence": evidence_texts(row.get("evidence"))})
    return {"type": route.type, "slug": route.style.slug, "source": route.source, "target": route.target, "rows": rows}


def _kind_chip(style: NodeStyle, scene: Scene) -> str:
    count = sum(1 for box in scene.boxes if box.style == style)
    if not count:
        return ""
    size = 'viewBox="-9 -9 18 18" width="16" height="16"'
    icon = f'<svg class="{style.slug}" {size} aria-hidden="true">{SHAPES[style.shape]}</svg>'
    return _chip(f'data-kind="{style.slug}"', icon, style.title, count)


def _type_chip(style: EdgeStyle, scene: Scene) -> str:
    count = sum(len(route.rows) for route in scene.routes if route.style == style)
    if not count:
        return ""
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    line = f'<path class="line {style.slug}" d="M1 6H23" stroke-width="{max(style.width, 1.6)}"{dash}/>'
    icon = f'<svg viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">{line}</svg>'
    return _chip(f'data-type="{style.slug}"', icon, style.title, count, on=style.pulls)


def _chip(filtered: str, icon: str, title: str, count: int, *, on: bool = True) -> str:
    return (
        f'<button type="button" class="chip" {filtered} aria-pressed="{str(on).lower()}">'
        f"{icon}{xml(title)} <small>{count}</small></button>"
    )


def _colours() -> str:
    """The colours of kinds and edge types for what stands outside the picture: chips and panel."""
    sheets = []
    for pick in ("light", "dark"):
        rules = []
        for style in NODE_STYLES.values():
            colour = getattr(style, pick)
            rules.append(f".chip .{style.slug} .fill{{fill:{colour}}}")
            rules.append(f".chip .{style.slug} .ring,.chip .{style.slug} .stroke{{stroke:{colour}}}")
            rules.append(f".panel .{style.slug}{{color:{colour}}}")
        for edge in EDGE_STYLES.values():
            colour = getattr(edge, pick)
            rules.append(f".line.{edge.slug}{{stroke:{colour}}}")
            if edge.width > 1.5:  # the thin lines are too pale for words
                rules.append(f".panel .type.{edge.slug}{{color:{colour}}}")
        sheets.append("\n".join(rules))
    return f"{sheets[0]}\n@media (prefers-color-scheme:dark){{{sheets[1]}}}"
