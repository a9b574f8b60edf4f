"""Answers given lately, so that the same question need not be worked out twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from datetime import datetime

from alma_graph.config import CacheConfig
from alma_graph.retrieval import MemorySlice


class Answers:
    """The last answers by question; one is good until anything is written, and for at most the configured time."""

    def __init__(self, config: CacheConfig) -> None:
        self._config = config
        self._kept: OrderedDict[Hashable, tuple[Hashable, datetime, MemorySlice]] = OrderedDict()

    def get(self, question: Hashable, state: Hashable, now: datetime) -> MemorySlice | None:
        """The answer to this very question, if the store has not changed and it is not too old."""
        kept = self._kept.get(question) if self._config.enabled else None
        if kept is None or kept[0] != state:
            return None
        if abs((now - kept[1]).total_seconds()) > self._config.ttl_seconds:
            return None
        self._kept.move_to_end(question)
        return kept[2]

    def keep(self, question: Hashable, state: Hashable, now: datetime, answer: MemorySlice) -> None:
        """Remembers an answer; the least recently used one goes when there are too many."""
        if not self._config.enabled:
            return
        if self._kept and next(iter(self._kept.values()))[0] != state:
            self._kept.clear()  # none of them is good any more, and one may hold what was forgotten since
        self._kept[question] = (state, now, answer)
        self._kept.move_to_end(question)
        while len(self._kept) > self._config.max_size:
            self._kept.popitem(last=False)
