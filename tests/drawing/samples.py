"""Graphs to draw, with the attributes that `to_networkx` gives."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx

_OUTCOMES = [
    ("deploy checkout service", "blue-green deployment", "success"),
    ("deploy payment service", "blue-green deployment", "success"),
    ("deploy search service", "blue-green deployment", "success"),
    ("deploy checkout on Friday", "in-place restart", "failure"),
    ("deploy billing under load", "in-place restart", "failure"),
    ("fix flaky integration tests", "retry with backoff", "success"),
    ("fix flaky upload tests", "retry with backoff", "success"),
    ("fix flaky login tests", "retry with backoff", "success"),
    ("fix flaky report tests", "retry with backoff", "failure"),
]


def memory(graph: nx.MultiDiGraph, name: str, kind: str, **fields: Any) -> str:
    graph.add_node(name, **{"label": "Memory", "id": name, "kind": kind, "status": "active"} | fields)
    return name


def sample(repeat: int = 1) -> nx.MultiDiGraph:
    """A small team's graph with every kind, `repeat` times side by side, joined through shared entities."""
    graph = nx.MultiDiGraph(project_id="shop")
    for turn in range(repeat):
        mark = f"-{turn}"
        blue = memory(
            graph, "h1" + mark, "heuristic", strategy="blue-green deployment", text="deploy: blue-green deployment",
            success_count=3, occurrence_count=3, confidence=0.8, agent="deployer",
        )  # fmt: skip
        retry = memory(
            graph, "h2" + mark, "heuristic", strategy="retry with exponential backoff and a cap of five tries",
            text="retry", success_count=3, occurrence_count=4, confidence=0.67, agent="tester",
        )  # fmt: skip
        bad = memory(
            graph, "a1" + mark, "anti_pattern", pattern="in-place restart under load", why_bad="connections dropped",
            success_count=0, occurrence_count=2, text="in-place restart under load\nconnections dropped",
        )  # fmt: skip
        old = memory(
            graph, "k1" + mark, "domain_knowledge", fact="The payment API times out after 30 seconds.",
            text="The payment API times out after 30 seconds.", agent="deployer", status="superseded",
        )  # fmt: skip
        new = memory(
            graph, "k2" + mark, "domain_knowledge", fact="The payment API times out after 5 seconds since release 2.4.",
            text="The payment API times out after 5 seconds since release 2.4.", agent="tester",
        )  # fmt: skip
        wish = memory(graph, "p1" + mark, "user_preference", preference="Ana wants deployments before noon", text="Ana")
        turns = [
            memory(graph, f"o{at}{mark}", "observation", content=text, speaker=speaker, text=text)
            for at, (speaker, text) in enumerate(
                [("Ana", "Did the payment API change its timeout?"), ("Ben", "Yes, 5 seconds since release 2.4.")]
            )
        ]
        graph.add_edge(turns[0], turns[1], key="NEXT", type="NEXT")
        graph.add_edge(new, turns[1], key="INHERITS_FROM", type="INHERITS_FROM", mode="derived")
        graph.add_edge(
            new, old, key="CONTRADICTS", type="CONTRADICTS", signal="quantity", score=0.92, disposition="open",
            evidence=[{"memory_id": new, "text": "5 seconds"}, {"memory_id": old, "text": "30 seconds"}],
        )  # fmt: skip
        for at, (task, strategy, result) in enumerate(_OUTCOMES):
            node = memory(
                graph,
                f"t{at}{mark}",
                "outcome",
                task=task,
                strategy_used=strategy,
                outcome=result,
                text=f"{task}\n{strategy}",
            )
            rule = {"blue": blue, "in-p": bad, "retr": retry}[strategy[:4]]
            if rule is bad or result == "success":
                graph.add_edge(node, rule, key="SUPPORTS", type="SUPPORTS", weight=1.0, origin="outcome")
            else:
                graph.add_edge(
                    node, rule, key="CONTRADICTS", type="CONTRADICTS", signal="outcome", score=0.9, disposition="open"
                )
            _mention(graph, node, task.split()[1] + (mark if turn % 2 else ""))
        for node, names in (
            (old, ["payment API"]),
            (new, ["payment API", "release 2.4"]),
            (wish, ["Ana"]),
            (turns[0], ["payment API"]),
        ):
            for name in names:
                _mention(graph, node, name)
    return graph


def _mention(graph: nx.MultiDiGraph, node: str, name: str) -> None:
    graph.add_node(("Entity", name), label="Entity", key=name, name=name, type="service")
    graph.add_edge(node, ("Entity", name), key="MENTIONS", type="MENTIONS", surface=name)


def crowd(facts: int, names: int) -> nx.MultiDiGraph:
    """Many facts that mention two entities each, some entities far more often than others."""
    chance = random.Random(3)
    graph = nx.MultiDiGraph()
    for at in range(facts):
        memory(graph, f"m{at}", "domain_knowledge", fact=f"Fact {at} of a rather long list of facts", text=f"Fact {at}")
    for at in range(names):
        graph.add_node(("Entity", f"e{at}"), label="Entity", name=f"entity {at}", type="service")
    for at in range(facts):
        for _ in range(2):
            _mention_of(graph, f"m{at}", f"e{int(chance.random() ** 2 * names)}")
    return graph


def _mention_of(graph: nx.MultiDiGraph, node: str, name: str) -> None:
    graph.add_edge(node, ("Entity", name), key="MENTIONS", type="MENTIONS")
