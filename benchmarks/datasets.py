"""Readers of the public evaluation sets that the retrieval benchmark measures on. None is part of the project."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alma_graph.model import DomainKnowledge, Memory, Observation

DATA_VARIABLE = "ALMA_BENCH_DATA"
_MOMENT = re.compile(r"(\d{1,2}):(\d\d) (am|pm) on (\d{1,2}) (\w+),? (\d{4})")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the memories that answer it."""

    text: str
    gold: frozenset[str]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """One project's memories, in order, and the questions asked of it."""

    name: str
    memories: list[Memory]
    questions: list[Question] = field(default_factory=list)


def data_folder() -> Path:
    """`ALMA_BENCH_DATA`, else `../shared/data` beside the repository."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def locomo(folder: Path, *, half: str) -> Iterator[Store]:
    """LoCoMo's conversations as stores of turns; `half` is "dev" (even ones) or "test" (odd ones)."""
    turns = read_lines(folder / "locomo_turns.jsonl")
    questions = read_lines(folder / "locomo_questions.jsonl")
    for number, conversation in enumerate(dict.fromkeys(turn["conv"] for turn in turns)):
        if (number % 2 == 0) != (half == "dev"):
            continue
        memories: list[Memory] = []
        for turn in (turn for turn in turns if turn["conv"] == conversation):
            shown = f" [shared image: {turn['image_caption']}]" if turn["image_caption"] else ""
            memories.append(
                Observation(
                    id=turn["dia_id"],
                    project_id=conversation,
                    text=(turn["text"] or "") + shown,
                    session_id=f"session-{turn['session']}",
                    speaker=turn["speaker"],
                    occurred_at=_moment(turn["date"]),
                )
            )
        known = {memory.id for memory in memories}
        asked = [
            Question(row["question"], frozenset(row["evidence_ids"]) & known, row["category_name"])
            for row in questions
            if row["conv"] == conversation
        ]
        yield Store(conversation, memories, [question for question in asked if question.gold])


def two_wiki(folder: Path, *, titles: bool = True) -> Store:
    """2WikiMultihopQA's 101 questions over 6,119 pooled passages; without `titles` the text alone is stored."""
    passages = read_lines(folder / "2wiki_hipporag_corpus.jsonl")
    memories: list[Memory] = [
        DomainKnowledge(
            id=row["title"],
            project_id="2wiki",
            domain="wiki",
            fact=f"{row['title']}. {row['text']}" if titles else row["text"],
        )
        for row in passages
    ]
    questions = [
        Question(row["question"], frozenset(row["gold_titles"]), f"{len(row['gold_titles'])} passages")
        for row in read_lines(folder / "2wiki_101_questions.jsonl")
    ]
    return Store("2wiki" if titles else "2wiki-untitled", memories, questions)


def _moment(text: str) -> datetime:
    match = _MOMENT.search(text)
    if match is None:
        raise ValueError(f"{text!r} is no date of LoCoMo")
    hour, minute, half, day, month, year = match.groups()
    parsed = datetime.strptime(f"{day} {month} {year} {hour}:{minute} {half}", "%d %B %Y %I:%M %p")
    return parsed.replace(tzinfo=UTC)
