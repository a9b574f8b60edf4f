"""SVG and HTML: well-formed, complete, the same every time, closed to what texts may hold, and without any request."""

from __future__ import annotations

import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alma_graph.drawing import GraphPicture, to_html, to_svg
from alma_graph.drawing.layout import Spring, place
from alma_graph.drawing.scene import compose, evidence_texts
from alma_graph.drawing.svg import NAMESPACE
from alma_graph.drawing.textfit import text_width, wrap
from alma_graph.errors import InvalidInputError
from tests.drawing.samples import crowd, memory, sample

ODD = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!-- ]]> --> & &amp; &lt;",
    "quotes ' \" ` and $& ${x} \\u003c \\",
    "[[title]] [[data]] ]] [[",
    "url(#arrow) </title></svg>",
    "\x00\x01\x1b control",
    "\ufffe\uffff not characters",
    "\u202egnp.exe\u2066",
    "支付服务在 30 秒后超时，重试时必须使用指数退避策略",
    "👩‍👩‍👧‍👦🚀 emoji",
    "a" * 500,
    "two\nlines\r\nand\ttabs",
    " ",
    "العربية עברית",
]


def _elements(svg: str, name: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [element for element in root.iter(f"{{{NAMESPACE}}}g") if name in element.get("class", "").split()]


class _Page(HTMLParser):
    """What a browser would find in a page: tags with attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._within = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._within = False

    def handle_data(self, data: str) -> None:
        if self._within:
            self.scripts.append(data)

    def one(self, tag: str) -> dict[str, str | None]:
        [found] = [attributes for name, attributes in self.tags if name == tag]
        return found

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])


def test_every_node_and_edge_is_drawn() -> None:
    graph = sample()
    svg = to_svg(graph, title="shop")
    assert len(_elements(svg, "node")) == graph.number_of_nodes()
    assert f'data-node-count="{graph.number_of_nodes()}"' in svg
    root = ElementTree.fromstring(svg)
    assert (
        len([e for e in root.iter() if "data-edge" in e.attrib and e.get("class") is None]) == graph.number_of_edges()
    )
    words = "".join(root.itertext())
    for said in ("quantity 0.92", "3 of 4 succeeded", "superseded", "heuristic", "CONTRADICTS", "“30 seconds”", "shop"):
        assert said in words


def test_the_page_has_the_nodes_of_the_graph() -> None:
    graph = sample()
    page = _Page(to_html(graph, title="shop"))
    assert page.one("main")["data-node-count"] == str(graph.number_of_nodes())
    assert len(page.data["nodes"]) == graph.number_of_nodes()
    assert sum(len(edge["rows"]) for edge in page.data["edges"]) == graph.number_of_edges()
    told = [row for edge in page.data["edges"] for row in edge["rows"] if "signal quantity" in row["facts"]]
    assert told == [
        {"facts": ["signal quantity", "score 0.92", "disposition open"], "evidence": ["“5 seconds”", "“30 seconds”"]}
    ]


def test_the_same_graph_gives_the_same_picture() -> None:
    graph = sample(2)
    turned = nx.MultiDiGraph(**graph.graph)
    turned.add_nodes_from(reversed(list(graph.nodes(data=True))))
    for source, target, key, attributes in reversed(list(graph.edges(keys=True, data=True))):
        turned.add_edge(source, target, key=key, **attributes)
    assert to_svg(graph) == to_svg(graph)
    assert to_svg(graph) == to_svg(turned)
    assert to_html(graph) == to_html(turned)


def test_nothing_is_requested_from_anywhere() -> None:
    graph = sample()
    for text in (to_svg(graph, title="shop"), to_html(graph, title="shop")):
        assert set(re.findall(r"https?://[^\s\"'<>]+", text)) <= {NAMESPACE}
        assert not re.search(r"@import|url\((?!#)|\bfetch\(|XMLHttpRequest|WebSocket|<link|\bsrc=", text)
    assert "default-src 'none'" in to_html(graph)


def test_rules_of_the_style_sheet_stay_in_the_picture() -> None:
    svg = to_svg(sample())
    name = ElementTree.fromstring(svg).get("id")
    sheet = re.search("<style>(.*)</style>", svg)
    assert name is not None and sheet is not None
    for selectors in re.findall(
        r"([^{}]+)\{[^{}]*\}", sheet.group(1).replace("@media (prefers-color-scheme:dark){", "")
    ):
        assert all(selector.startswith(f"#{name} ") for selector in selectors.split(","))
    assert "prefers-color-scheme:dark" in sheet.group(1)


def _odd_graph(text: str) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph(project_id=text)
    memory(
        graph,
        text + "1",
        "domain_knowledge",
        text=text,
        fact=text,
        agent=text,
        status="retracted",
        metadata={"k": text},
    )
    memory(graph, text + "2", "observation", text=text, content=text, speaker=text)
    graph.add_node(("Entity", text), label="Entity", key=text, name=text, type=text, aliases=[text])
    graph.add_edge(text + "1", ("Entity", text), key="MENTIONS", type="MENTIONS", surface=text)
    graph.add_edge(
        text + "1", text + "2", key="CONTRADICTS", type="CONTRADICTS", signal=text, score=0.5, evidence=[{"text": text}]
    )
    return graph


def _check_odd(text: str) -> None:
    graph = _odd_graph(text)
    svg = to_svg(graph, title=text)
    assert len(_elements(svg, "node")) == 3
    allowed = {"svg", "style", "defs", "marker", "path", "rect", "g", "title", "text", "circle", "polygon"}
    assert {element.tag.removeprefix(f"{{{NAMESPACE}}}") for element in ElementTree.fromstring(svg).iter()} <= allowed
    page = _Page(to_html(graph, title=text))
    assert len(page.scripts) == 2, "the data and the script, nothing of the text's"
    assert [node["text"] for node in page.data["nodes"]].count(text) >= 2, "the panel shows the text as it is"
    names = {name for _, attributes in page.tags for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    assert page.one("main")["data-node-count"] == "3"


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_only_text(text: str) -> None:
    _check_odd(text)


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_any_text_is_only_text(text: str) -> None:
    _check_odd(text)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(1, 4))
def test_wrapped_lines_fit(text: str, lines: int) -> None:
    wrapped = wrap(text, 12, 150, lines)
    assert len(wrapped) <= lines
    assert all(text_width(line, 12) <= 150 + 12 * 1.5 for line in wrapped)


def test_wrapping() -> None:
    assert wrap("one two", 12, 150, 2) == ["one two"]
    assert wrap("", 12, 150, 2) == []
    assert wrap("word " * 40, 12, 150, 2)[-1].endswith("…")
    assert "".join(wrap("支付服务在三十秒后超时重试", 12, 60, 9)) == "支付服务在三十秒后超时重试"
    family = "👩‍👩‍👧‍👦"
    assert all("\u200d" not in line[-1:] for line in wrap(family * 10, 12, 60, 20))


def test_an_empty_graph_says_so() -> None:
    graph = nx.MultiDiGraph()
    assert "no nodes yet" in to_svg(graph)
    assert 'data-node-count="0"' in to_html(graph)
    ElementTree.fromstring(to_svg(graph, 300, 200, title="nothing", legend=False))


def test_one_node() -> None:
    graph = nx.MultiDiGraph()
    memory(graph, "m", "heuristic", strategy="s", text="s")
    assert len(_elements(to_svg(graph), "node")) == 1
    graph.add_edge("m", "m", key="SUPPORTS", type="SUPPORTS")
    assert len(_elements(to_svg(graph), "node")) == 1


@pytest.mark.parametrize("repeat", [1, 4])
def test_no_box_covers_another_and_none_is_clipped(repeat: int) -> None:
    scene = compose(sample(repeat))
    frames = [(box.x, box.y, box.width, box.height) for box in scene.boxes]
    frames += [(route.label_x, route.label_y, route.label_width, 16) for route in scene.routes if route.label]
    for at, (x, y, width, height) in enumerate(frames):
        assert x - width / 2 + 0.1 >= 0 and x + width / 2 <= scene.width + 0.1
        assert y - height / 2 + 0.1 >= 0 and y + height / 2 <= scene.height + 0.1
        for other_x, other_y, other_width, other_height in frames[:at]:
            assert abs(x - other_x) >= (width + other_width) / 2 or abs(y - other_y) >= (height + other_height) / 2


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=40))
def test_any_layout_is_free_of_overlap(pairs: list[tuple[int, int]]) -> None:
    sizes = np.array([(60.0 + 7 * at, 20.0 + at) for at in range(20)])
    placed = place(sizes, [Spring(*pair) for pair in pairs])
    assert np.isfinite(placed.boxes).all()
    apart = np.abs(placed.boxes[:, None] - placed.boxes[None]) >= (sizes[:, None] + sizes[None]) / 2
    assert (apart.any(axis=2) | np.eye(20, dtype=bool)).all()


def test_five_hundred_nodes_take_under_three_seconds() -> None:
    graph = crowd(350, 150)
    to_svg(sample())  # loads scipy
    began = time.process_time()
    svg = to_svg(graph)
    assert time.process_time() - began < 3.0
    assert 'data-node-count="500"' in svg


def test_sizes_on_the_page() -> None:
    root = ElementTree.fromstring(to_svg(sample(), 800, 600))
    assert (root.get("width"), root.get("height")) == ("800", "600")
    root = ElementTree.fromstring(to_svg(sample(), width=800))
    box = [float(part) for part in str(root.get("viewBox")).split()]
    assert float(str(root.get("height"))) == pytest.approx(800 * box[3] / box[2], abs=0.1)
    for size in (0, -3, float("nan"), float("inf")):
        with pytest.raises(InvalidInputError, match="width"):
            to_svg(sample(), width=size)


def test_a_picture_shows_and_saves_itself(tmp_path: Path) -> None:
    picture = GraphPicture(sample(), title="shop")
    assert picture._repr_svg_() == to_svg(sample(), title="shop")
    assert "<svg" in picture._repr_html_() and "<script" not in picture._repr_html_()
    assert "<iframe srcdoc=" in GraphPicture(sample(), interactive=True)._repr_html_()
    assert picture.save(tmp_path / "p.svg").read_text(encoding="utf-8") == picture.svg
    assert picture.save(tmp_path / "p.html").read_text(encoding="utf-8") == picture.html
    with pytest.raises(InvalidInputError, match=r"\.png"):
        picture.save(tmp_path / "p.png")
    with pytest.raises(InvalidInputError, match="cannot be written"):
        to_html(sample(), tmp_path / "absent" / "p.html")


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (None, []),
        ("seen", ["seen"]),
        ({"context": "deploy", "n": 3}, ["context: deploy", "n: 3"]),
        ([{"memory_id": "a", "text": "5 s"}, {"memory_id": "b", "text": "30 s"}], ["“5 s”", "“30 s”"]),
        ({"spans": [{"text": "5 s"}]}, ["spans: “5 s”"]),
    ],
)
def test_evidence_in_words(evidence: Any, words: list[str]) -> None:
    assert evidence_texts(evidence) == words
