"""What speaks against a conflict although the words differ: another thing, place, time, mood or speaker."""

from __future__ import annotations

from alma_graph.beliefs.comparison import Comparison
from alma_graph.beliefs.signals import DATE_KINDS


def guard_factor(facts: Comparison) -> float:
    """A factor in [0, 1] for every signal of the two claims: the product of what applies."""
    modalities, quantity = facts.modalities, facts.quantity
    conflicting = quantity.relation > 0
    factor = 1.0
    if facts.rivals:
        factor *= 0.15
    if facts.two_things:
        factor *= 0.1
    if facts.scope_conflict:
        factor *= 0.1
    if facts.condition_conflict:
        factor *= 0.3
    if quantity.other_date:
        factor *= 0.3
    if "question" in modalities:
        factor *= 0.05
    if modalities & {"hedge", "hypothesis"} and not facts.deontic:
        factor *= 0.2
    if "report" in modalities:
        factor *= 0.2
    if "past" in modalities:
        factor *= 0.25
    plan_against_fact = "plan" in modalities and len(modalities - {"norm"}) > 1
    if plan_against_fact and not facts.change and not (conflicting and quantity.presupposed):
        factor *= 0.35
    if modalities == {"plan"} and not (conflicting and facts.predicate == 1):
        factor *= 0.6
    if conflicting and quantity.kind in DATE_KINDS and (facts.opposed or facts.slot.functional > 0.5):
        factor *= 0.4
    if facts.order_reversed and len(facts.antonyms) > 1:
        factor *= 0.15  # green before, red after
    if facts.conditional_share > 0.5:
        factor *= 0.3
    if facts.ended:
        factor *= 0.2
    if facts.event_against_rule:
        factor *= 0.15
    if facts.recurring and conflicting:
        factor *= 0.25
    if facts.partial:
        factor *= 0.3
    return factor
