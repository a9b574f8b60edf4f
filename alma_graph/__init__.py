"""A knowledge graph of what agents learned: what worked, what failed, what supports it, what contradicts it.

from alma_graph import ALMA

with ALMA.open("agent.graph", project_id="shop") as alma:
    alma.learn(agent="dev", task="Deploy auth", outcome="success", strategy_used="Blue-green deployment")
    print(alma.retrieve(task="Deploy the auth service", agent="dev").to_prompt())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.lazy import attach

if TYPE_CHECKING:
    from alma_graph.alma import ALMA
    from alma_graph.asynchronous import AsyncALMA
    from alma_graph.config import CacheConfig
    from alma_graph.errors import (
        AlmaGraphError,
        EmbedderMismatchError,
        IdConflictError,
        InvalidInputError,
        MemoryNotFoundError,
        MissingDependencyError,
        ReadOnlyError,
        RetractedError,
        ScopeError,
        ServerError,
        StoreCorruptError,
        StoreLockedError,
        StoreVersionError,
        UnsupportedError,
    )
    from alma_graph.maintenance import backup, migrate, reembed
    from alma_graph.model import (
        AntiPattern,
        Authority,
        Disposition,
        DomainKnowledge,
        EdgeType,
        Heuristic,
        Memory,
        MemoryKind,
        MemoryScope,
        Observation,
        Outcome,
        Signal,
        Status,
        UserPreference,
    )
    from alma_graph.results import Contradiction, Explanation, ForgetReport, Table, Version
    from alma_graph.retrieval.scoring import ScoringConfig
    from alma_graph.retrieval.slice import MemoryHit, MemorySlice

__all__ = [
    "ALMA",
    "AlmaGraphError",
    "AntiPattern",
    "AsyncALMA",
    "Authority",
    "CacheConfig",
    "Contradiction",
    "Disposition",
    "DomainKnowledge",
    "EdgeType",
    "EmbedderMismatchError",
    "Explanation",
    "ForgetReport",
    "Heuristic",
    "IdConflictError",
    "InvalidInputError",
    "Memory",
    "MemoryHit",
    "MemoryKind",
    "MemoryNotFoundError",
    "MemoryScope",
    "MemorySlice",
    "MissingDependencyError",
    "Observation",
    "Outcome",
    "ReadOnlyError",
    "RetractedError",
    "ScopeError",
    "ScoringConfig",
    "ServerError",
    "Signal",
    "Status",
    "StoreCorruptError",
    "StoreLockedError",
    "StoreVersionError",
    "Table",
    "UnsupportedError",
    "UserPreference",
    "Version",
    "backup",
    "migrate",
    "reembed",
]

_HOMES = {
    "alma_graph.alma": ("ALMA",),
    "alma_graph.asynchronous": ("AsyncALMA",),
    "alma_graph.config": ("CacheConfig",),
    "alma_graph.errors": (
        "AlmaGraphError",
        "EmbedderMismatchError",
        "IdConflictError",
        "InvalidInputError",
        "MemoryNotFoundError",
        "MissingDependencyError",
        "ReadOnlyError",
        "RetractedError",
        "ScopeError",
        "ServerError",
        "StoreCorruptError",
        "StoreLockedError",
        "StoreVersionError",
        "UnsupportedError",
    ),
    "alma_graph.maintenance": (
        "backup",
        "migrate",
        "reembed",
    ),
    "alma_graph.model": (
        "AntiPattern",
        "Authority",
        "Disposition",
        "DomainKnowledge",
        "EdgeType",
        "Heuristic",
        "Memory",
        "MemoryKind",
        "MemoryScope",
        "Observation",
        "Outcome",
        "Signal",
        "Status",
        "UserPreference",
    ),
    "alma_graph.results": (
        "Contradiction",
        "Explanation",
        "ForgetReport",
        "Table",
        "Version",
    ),
    "alma_graph.retrieval.scoring": ("ScoringConfig",),
    "alma_graph.retrieval.slice": (
        "MemoryHit",
        "MemorySlice",
    ),
}
"""Where each public name lives; it is imported on first use, so that `alma-graph --help` costs nothing."""

__getattr__, __dir__ = attach(__name__, _HOMES)
