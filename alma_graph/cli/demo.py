"""`alma-graph demo`: a small team ships a service for two weeks, and the store says what it learned from that."""

from __future__ import annotations

import textwrap
import time
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alma_graph.backends.locks import FileLock, StoreLock
from alma_graph.cli.options import json_option
from alma_graph.cli.output import Progress, cell, clean, console, day, one_line, path_line, print_json, shorten
from alma_graph.errors import InvalidInputError, StoreLockedError
from alma_graph.model import AntiPattern, Heuristic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from alma_graph.alma import ALMA
    from alma_graph.importers import ImportReport
    from alma_graph.results import Contradiction
    from alma_graph.retrieval.slice import MemorySlice

PROJECT = "parcel-shop"
MARKER = ".alma-demo"
STORE = "team.graph"
PICTURE = "graph.html"
TASK = "Deploy orders-api 1.7.0 to production"
QUESTION = "Which port does the orders-api listen on?"
CYPHER = (
    "MATCH (m:Memory {project_id: $project_id})-[:MENTIONS]->(e:Entity)\n"
    "WITH e, count(DISTINCT m.id) AS memories, count(DISTINCT m.agent) AS agents\n"
    "WHERE agents > 1\n"
    "RETURN e.name AS thing, e.type AS type, memories, agents\n"
    "ORDER BY memories DESC, thing LIMIT 6"
)


class Story:
    """Tells the demo step by step on stdout."""

    def __init__(self) -> None:
        self.out: Console = console()
        self._step = 0

    def step(self, title: str) -> None:
        """A numbered heading."""
        self._step += 1
        self.out.print()
        self.out.print(f"{self._step}. {title}", style="bold")

    def tell(self, text: str, indent: int = 3, *, hang: int = 0, style: str = "") -> None:
        """A paragraph, wrapped and indented; further lines stand `hang` deeper."""
        first, further = " " * indent, " " * (indent + hang)
        width = max(40, self.out.width - 1)
        for line in textwrap.wrap(
            clean(text), width, initial_indent=first, subsequent_indent=further, break_on_hyphens=False
        ) or [""]:
            self.out.print(line, style=style)

    def show(self, line: str, indent: int = 5) -> None:
        """A line as it stands."""
        self.out.print(" " * indent + clean(line), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A small table."""
        from rich import box
        from rich.padding import Padding
        from rich.table import Table

        shape = box.ASCII if self.out.options.ascii_only else box.SIMPLE
        table = Table(box=shape, pad_edge=False)
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(cell(value) for value in row))
        self.out.print(Padding(table, (0, 0, 0, 3)))


@click.command("demo")
@click.option("--folder", default="alma-demo", show_default=True, help="Where the store and the picture go.")
@click.option(
    "--engine",
    type=click.Choice(["ladybug", "kuzu"]),
    default="ladybug",
    show_default=True,
    help="The embedded engine (kuzu needs the extra of that name).",
)
@click.option("--embedder", metavar="NAME", help="The embedder (hashing needs no model).")
@json_option
def demo_command(folder: str, engine: str, embedder: str | None, as_json: bool) -> None:
    """Tell the whole story on a small example: what is learned, contradicted, found and asked, and a picture of it.

    Writes FOLDER/team.graph and FOLDER/graph.html, asks nothing and opens no browser. A second run starts afresh; a
    folder that another program made is left alone.
    """
    from alma_graph.alma import ALMA

    started = time.monotonic()
    place = Path(folder)
    story = Story()
    if as_json:
        story.out.quiet = True
    story.out.print("alma-graph demo", style="bold")
    story.tell(
        "Four agents (builder, tester, deployer, oncall) ship a parcel shop for two weeks in March 2026. What they "
        "did, were told and noted goes into a graph of its own. Nothing leaves this machine, no language model is "
        "asked."
    )
    location = f"{engine}:{place / STORE}"
    with _prepared(place), ALMA.open(location, project_id=PROJECT, embedder=embedder) as alma:
        report = _ingest(story, alma, place)
        lessons = _lessons(story, alma)
        contradictions = _contradictions(story, alma)
        found = _retrieve(story, alma)
        _why(story, alma, lessons)
        answers = _ask(story, alma)
        picture = _picture(story, alma, place)
        stats = alma.stats()
    seconds = time.monotonic() - started
    story.step("What now")
    store = place / STORE
    for line in (
        f"alma-graph retrieve --store {store} --project {PROJECT} --explain 'make a test stable'",
        f"alma-graph query --store {store} --project {PROJECT} strategies-that-work",
        f"alma-graph stats --store {store} --project {PROJECT}",
    ):
        story.show(line, 3)
    story.tell(
        f"{stats.memories} memories, {stats.entities} entities, {sum(stats.edges.values())} edges; {seconds:.1f} s."
    )
    if as_json:
        print_json(
            {
                "store": str(store),
                "picture": str(picture),
                "seconds": round(seconds, 2),
                "ingested": report,
                "lessons": lessons,
                "contradictions": contradictions,
                "retrieved": found,
                "answers": answers,
                "stats": stats,
            }
        )


@contextmanager
def _prepared(place: Path) -> Iterator[None]:
    """An empty demo folder: makes it, or removes what an earlier demo wrote there, and nothing else.

    The marker says whose folder it is, and is locked until the demo ends, so that two demos never share a folder.

    Raises:
        InvalidInputError: the folder is not the demo's.
        StoreLockedError: a process has the store of an earlier demo open, or another demo is at work there.
    """
    marker = FileLock(str(place / MARKER))
    if place.exists() and not place.is_dir():
        raise InvalidInputError(f"{str(place)!r} is a file; give --folder another name")
    if place.is_dir() and not (place / MARKER).is_file() and any(place.iterdir()):
        raise InvalidInputError(
            f"the folder {str(place)!r} was not made by this demo and is not empty; it is left alone: "
            "give --folder another name"
        )
    place.mkdir(parents=True, exist_ok=True)
    if not marker.acquire():
        raise StoreLockedError(
            f"another demo is at work in {str(place)!r}; wait for it, or give --folder another name",
            path=str(place),
            pid=None,
        )
    try:
        marker.write(b"This folder was made by `alma-graph demo`, which writes it anew.\n")
        _remove_store(place / STORE)
        (place / PICTURE).unlink(missing_ok=True)
        yield
    finally:
        marker.release()


def _remove_store(path: Path) -> None:
    """Removes a store's files, if nobody has it open; its lock file stays, as others may be waiting for it."""
    if not path.exists():
        return
    lock = StoreLock(str(path))
    lock.acquire(shared=False, timeout=0.0, cure="close it, or give --folder another name")
    try:
        for old in sorted(path.parent.glob(f"{path.name}*")):
            if old.is_file() and old.suffix not in (".lock", ".readers"):
                old.unlink()
    finally:
        lock.release()


def _ingest(story: Story, alma: ALMA, place: Path) -> ImportReport:
    from alma_graph.importers import import_rows, load_map, read_rows

    story.step("What happened goes in")
    progress = Progress("demo")
    progress.tell("reading two weeks of notes")
    start = time.monotonic()
    with (files("alma_graph.cli") / "demo_team.jsonl").open("rb") as stream:
        report = import_rows(alma, read_rows(stream), load_map("memories"))
    progress.done(f"{report.rows} memories ingested")
    counts = ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in sorted(report.written.items()))
    story.tell(
        f"{counts}, in {time.monotonic() - start:.1f} s, into {place / STORE}. Entities, relations, lessons and "
        "contradictions were found on the way in, by rules, a parser and a small embedding model."
    )
    return report


def _lessons(story: Story, alma: ALMA) -> list[Heuristic | AntiPattern]:
    story.step("What was learned")
    heuristics = [memory for memory in alma.memories("heuristic") if isinstance(memory, Heuristic)]
    heuristics.sort(key=lambda memory: (-(memory.confidence or 0.0), memory.id))
    story.tell("Strategies that worked at least three times became heuristics, with their true counts:")
    story.table(
        ("strategy", "for", "worked", "confidence"),
        [
            (item.strategy, item.category, f"{item.success_count} of {item.occurrence_count}", item.confidence)
            for item in heuristics
        ],
    )
    warnings = [memory for memory in alma.memories("anti_pattern") if isinstance(memory, AntiPattern)]
    warnings.sort(key=lambda memory: (-memory.occurrence_count, memory.id))
    story.tell("What failed at least twice became an anti-pattern, with the reason and what works instead:")
    for item in warnings:
        failures = item.occurrence_count - item.success_count
        story.tell(f"- {item.pattern} ({item.category}; {failures} of {item.occurrence_count} failed; {item.level})")
        story.tell(f"why bad: {shorten(item.why_bad, 200)}", 5, hang=9)
        story.tell(f"instead: {item.better_alternative or 'nothing better is known yet'}", 5, hang=9)
    return [*heuristics, *warnings]


def _contradictions(story: Story, alma: ALMA) -> list[Contradiction]:
    story.step("What cannot both hold")
    lessons = ("heuristic", "anti_pattern")
    found = [
        item for item in alma.contradictions() if not (item.newer.kind == "outcome" and item.older.kind in lessons)
    ]
    story.tell("Contradictions are kept with the words that show them; nobody has settled these yet:")
    for item in found:
        story.tell(f"- {item.signal}, score {item.score:.2f}, {item.disposition}")
        for side, memory in (("newer", item.newer), ("older", item.older)):
            spans = ", ".join(repr(span.text) for span in item.evidence if span.memory_id == memory.id)
            story.tell(f"{side} ({memory.agent}, {day(memory.valid_from)}): {one_line(memory)}", 5, hang=2)
            story.tell(f"evidence: {spans or 'none'}", 12)
    if not found:
        story.tell("(none were found)")
    return found


def _retrieve(story: Story, alma: ALMA) -> list[MemorySlice]:
    story.step("What an agent gets before its next task")
    before_task = alma.retrieve(TASK, agent="deployer", user_id="maya", top_k=4, explain=True)
    story.tell(f"alma.retrieve({TASK!r}, agent='deployer', user_id='maya', top_k=4, explain=True):", style="italic")
    _tell_hits(story, alma, before_task)
    story.tell("The same as text for the agent's prompt, .to_prompt(token_budget=250):", style="italic")
    for line in before_task.to_prompt(token_budget=250).splitlines():
        story.tell(line, 5, hang=2)
    answer = alma.retrieve(QUESTION, top_k=3, explain=True)
    story.tell(f"alma.retrieve({QUESTION!r}, top_k=3, explain=True):", style="italic")
    _tell_hits(story, alma, answer)
    return [before_task, answer]


def _tell_hits(story: Story, alma: ALMA, found: MemorySlice) -> None:
    """Each hit with the parts that its score is the sum of, and the walk that led to it."""
    for hit in found.hits:
        story.tell(f"{hit.score:.3f}  {hit.memory.kind}: {shorten(one_line(hit.memory), 150)}", 5, hang=7)
        story.tell("= " + " ".join(f"{part:+.3f} {name}" for name, part in hit.parts.items()), 12, hang=2)
        if hit.path:
            story.tell("path: " + path_line(hit.path, alma.get), 12, hang=2)
        if hit.contradicted_by:
            story.tell(f"contradicted by {', '.join(hit.contradicted_by)}", 12)


def _why(story: Story, alma: ALMA, lessons: Sequence[Heuristic | AntiPattern]) -> None:
    if not lessons:
        return
    story.step("Why it holds that")
    best = max(lessons, key=lambda item: (item.occurrence_count, item.id))
    explanation = alma.why(best.id)
    story.tell(f"alma.why({best.id!r}): {one_line(best)}", style="italic")
    for word, links in (("supported by", explanation.supported_by), ("contradicted by", explanation.contradicted_by)):
        ids = ", ".join(link.memory.id for link in links)
        story.tell(f"{word} {len(links)} outcomes: {ids or '-'}", 5, hang=2)


def _ask(story: Story, alma: ALMA) -> dict[str, Any]:
    story.step("What an analyst asks, in Cypher")
    story.tell("What do several agents speak of?")
    for line in CYPHER.splitlines():
        story.show(line)
    counted = alma.cypher(CYPHER)
    story.table(counted.columns, counted.rows)
    story.tell("And by name, from the catalogue, alma.queries['agents-disagree']():")
    disagree = alma.queries["agents-disagree"]()
    story.table(disagree.columns, disagree.rows)
    return {"spoken_of_by_several": list(counted), "agents-disagree": list(disagree)}


def _picture(story: Story, alma: ALMA, place: Path) -> Path:
    story.step("The picture")
    path = place / PICTURE
    alma.to_html(path)
    story.tell(f"{path} shows the whole graph ({path.stat().st_size / 1000:.0f} kB, one file, needs no network).")
    return path
