"""Beliefs: what memories claim, and where they contradict or support each other."""

from __future__ import annotations

from alma_graph.beliefs.candidates import DEFAULT_LIMIT, LONG_TEXT_LIMIT, limit_for, select
from alma_graph.beliefs.claim_model import Claim, Claims
from alma_graph.beliefs.claims import parse_claims
from alma_graph.beliefs.detector import ContradictionDetector, EvidenceSpan, Judgement, Signal, SymbolicDetector
from alma_graph.beliefs.ownership import Side
from alma_graph.beliefs.scales import EDGE, SUPPORTED, SUSPECTED

__all__ = [
    "DEFAULT_LIMIT",
    "EDGE",
    "LONG_TEXT_LIMIT",
    "SUPPORTED",
    "SUSPECTED",
    "Claim",
    "Claims",
    "ContradictionDetector",
    "EvidenceSpan",
    "Judgement",
    "Side",
    "Signal",
    "SymbolicDetector",
    "limit_for",
    "parse_claims",
    "select",
]
