"""Retrieval: from a task to a ranked, explained slice of memories. Knows the index, not the engines."""

from alma_graph.retrieval.engine import Fetch, QueryEncoder, retrieve
from alma_graph.retrieval.scoring import ScoringConfig
from alma_graph.retrieval.slice import MemoryHit, MemorySlice, PathNode

__all__ = ["Fetch", "MemoryHit", "MemorySlice", "PathNode", "QueryEncoder", "ScoringConfig", "retrieve"]
