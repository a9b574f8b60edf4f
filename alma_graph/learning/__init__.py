"""From outcomes to heuristics and anti-patterns: pure algorithms, no store."""

from __future__ import annotations

from alma_graph.learning.lessons import (
    AntiPatternLesson,
    HeuristicLesson,
    LearnedOutcome,
    Lesson,
    LessonUpdate,
    Standing,
)
from alma_graph.learning.strategies import DEFAULT_LEAST_SUCCESSES, StrategyBook

__all__ = [
    "DEFAULT_LEAST_SUCCESSES",
    "AntiPatternLesson",
    "HeuristicLesson",
    "LearnedOutcome",
    "Lesson",
    "LessonUpdate",
    "Standing",
    "StrategyBook",
]
