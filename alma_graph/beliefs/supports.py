"""When one claim supports another: it says the same, or more, and nothing in it differs. Precision comes first."""

from __future__ import annotations

from alma_graph.beliefs.comparison import Comparison
from alma_graph.beliefs.quantity_relation import EQUAL, WITHIN
from alma_graph.beliefs.scales import ramp
from alma_graph.beliefs.signals import DATE_KINDS
from alma_graph.beliefs.wordlist import word_set

MIN_SUBSTANCE = 1.8
"""Lighter claims ("Thanks, Dave!") say too little to support anything."""

_NOT_ASSERTED = word_set("question hedge hypothesis past report")


def support_score(facts: Comparison) -> float:
    """How surely the two claims say the same, in [0, 1]."""
    if _differs(facts) or facts.substance < MIN_SUBSTANCE or not facts.assertive:
        return 0.0
    quantity = facts.quantity
    fuller = 0 if facts.coverage.left >= facts.coverage.right else 1
    if quantity.equal < quantity.counts[fuller] and quantity.relation > WITHIN:
        return 0.0
    if quantity.relation == WITHIN and not quantity.ranged:
        return 0.0
    equal_value = (
        quantity.relation == EQUAL
        and quantity.kind not in DATE_KINDS
        and facts.core_matches > 0
        and quantity.equal >= max(quantity.counts)
    )
    if equal_value and facts.topic.low >= 0.3 and facts.unmatched_nouns < 1.2:
        return 0.6
    if facts.predicate == 0 or facts.surface.score > 0.3:
        return 0.0
    score = ramp(facts.coverage.high, 0.55, 1.0) * (0.5 + 0.5 * ramp(facts.coverage.low, 0.3, 0.7))
    if quantity.one_sided:
        score *= 0.7
    return score * (0.6 if facts.subject == (0.0, 0.0) else 1.0)


def _differs(facts: Comparison) -> bool:
    """Anything that sets the claims apart, or makes one of them less than an assertion."""
    return bool(
        facts.opposed
        or facts.order_reversed
        or facts.quantity.relation > 0
        or facts.rivals
        or facts.scope_conflict
        or facts.modalities & _NOT_ASSERTED
        or "plan" in facts.modalities
        or facts.valence > 0
        or facts.quantifier >= 0.5
        or facts.object_rivals
        or facts.conditions == 1
        or (facts.value_counts[0] and facts.value_counts[1])
    )
