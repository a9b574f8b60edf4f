"""The signals of contradiction, each a score in [0, 1] before the guards.

Constants are measured on development pairs only. `benchmarks/contradiction_f1.py` shows what a change of any does.
"""

from __future__ import annotations

from typing import Literal

from alma_graph.beliefs.comparison import Comparison
from alma_graph.beliefs.scales import ramp
from alma_graph.beliefs.wordlist import word_set

Rule = Literal[
    "negation",
    "antonym",
    "quantity",
    "exclusive_value",
    "preference",
    "quantifier",
    "outcome",
    "change",
]
"""A way in which two claims conflict; preference, quantifier and change are kinds of a signal that an edge names."""

_ONCE = word_set("bear die graduate marry retire")
_REPEATED = word_set("attend do eat go have play practice practise see swim train visit watch work")
CLOCK_KINDS = word_set("date weekday clock")
DATE_KINDS = word_set("date weekday")


def contradiction_signals(facts: Comparison) -> dict[Rule, float]:
    """Score of each rule that applies."""
    scores: dict[Rule, float] = {
        "negation": _negation(facts),
        "antonym": _antonym(facts),
        "quantity": _quantity(facts),
        "exclusive_value": max(
            _exclusive_value(facts), facts.surface_value, facts.holders, 0.9 * ramp(facts.denied, 0.3, 0.7)
        ),
        "preference": _preference(facts),
        "quantifier": _quantifier(facts),
        "outcome": _outcome(facts),
        "change": facts.change,
    }
    if facts.valence > 0:  # opposite outcomes explain the negation
        scores["negation"] *= 0.2
        scores["antonym"] *= 0.2
    elif facts.other_subjects:
        pass
    elif facts.surface.signal == "negation":
        scores["negation"] = max(scores["negation"], facts.surface.score)
    elif facts.surface.signal == "antonym":
        scores["antonym"] = max(scores["antonym"], facts.surface.score)
    return {rule: score for rule, score in scores.items() if score > 0}


def _lift(facts: Comparison) -> float:
    """Long clauses share little of their weight; much shared noun weight stands in for it."""
    return 0.85 * ramp(facts.shared_weight, 1.9, 3.2) * ramp(facts.topic.high, 0.55, 0.85)


def _fewer_strangers(facts: Comparison) -> float:
    return 1 - 0.75 * ramp(facts.unmatched_nouns, 0.6, 1.6)


def _same_subject(facts: Comparison) -> float:
    other = facts.subject == (0.0, 0.0) or facts.other_subjects
    return _fewer_strangers(facts) * (0.35 if other else 1.0)


def _negation(facts: Comparison) -> float:
    """The negated claim must be covered: not-P against P-and-Q conflicts, not-(P-and-Q) against P does not."""
    if not (facts.polarity_differs and facts.opposed) or facts.antonyms:
        return 0.0
    covered, unmatched = facts.negated_coverage, facts.negated_unmatched
    if facts.core == (1.0, 1.0) and facts.core_matches >= 2:
        covered, unmatched = max(covered, 0.8), min(unmatched, 1.0)
    topic = max(
        ramp(covered, 0.45, 0.9),
        0.9 * ramp(facts.shared_weight, 1.9, 3.2) * ramp(covered, 0.5, 0.75),
    )
    score = 0.95 * topic * (0.6 + 0.4 * ramp(facts.coverage.low, 0.3, 0.7)) * (0.75 + 0.25 * facts.predicate)
    if unmatched > 1.2:
        score *= 0.5
    if facts.object_rivals or facts.other_objects:
        score *= 0.4  # it is denied of one thing and said of another
    return score * _same_subject(facts)


def _antonym(facts: Comparison) -> float:
    if facts.emptied:
        return 0.8
    if not facts.antonyms or not facts.opposed:
        return 0.0
    topic = max(ramp(facts.topic.low, 0.3, 0.75), _lift(facts))
    if facts.opposite_predicates and facts.topic.high == 1 and facts.subject == (1.0, 1.0):
        topic = max(topic, 0.75)  # one side says the opposite and more
    score = 0.92 * topic * (0.5 + 0.5 * ramp(facts.topic.high, 0.5, 0.9))
    return score * _same_subject(facts) * (0.7 if facts.core_low < 0.4 else 1.0)


def _quantity(facts: Comparison) -> float:
    found = facts.quantity
    if found.relation <= 0:
        return 0.0
    if found.kind == "ident" and (facts.subject.low == 0 or facts.other_subjects):
        return 0.0
    if found.kind == "age" and _both_speak_of_themselves(facts):
        return 0.85
    topic = max(ramp(facts.topic.low, 0.2, 0.6), _lift(facts)) * ramp(facts.topic.high, 0.45, 0.8)
    score = 0.95 * found.factor * topic * _fewer_strangers(facts)
    if facts.predicate < 0.3 and facts.topic.high < 0.9:
        score *= 0.5
    once = facts.left.predicate in _ONCE and facts.predicate == 1 and _both_speak_of_themselves(facts)
    habit = facts.topic == (1.0, 1.0) and facts.predicate == 1 and _both_speak_of_themselves(facts)
    habit = habit and found.kind == "clock" and facts.left.tense == facts.right.tense == "present"
    if not facts.core_matches and not once and not habit:
        score *= 0.5
    if found.kind == "weekday" and facts.left.predicate in _REPEATED and facts.right.predicate in _REPEATED:
        score *= 0.5  # one goes to the gym on several days
    if found.kind in CLOCK_KINDS and facts.predicate < 0.7:
        score *= 0.4
    if found.shared_near >= 0.75:
        score = max(score, 0.4 + 0.25 * found.shared_near)
    if found.shared_weight >= 1.8 and found.kind not in DATE_KINDS:
        score = max(score, 0.35 + 0.3 * ramp(found.shared_weight, 1.6, 3))
    if found.counted and facts.updated and not facts.rivals:
        score = max(score, 0.6)
    return score


def _both_speak_of_themselves(facts: Comparison) -> bool:
    """The subject of both is "I"."""
    claims = facts.left, facts.right
    return all(claim.first_person and claim.subject < 0 and "pronoun" not in claim.traits for claim in claims)


def _exclusive_value(facts: Comparison) -> float:
    functional, same_kind = max(
        (facts.slot.functional, facts.slot.same_kind), (facts.inverse_slot.functional, facts.inverse_slot.same_kind)
    )
    if not functional or facts.opposed:
        return 0.0
    topic = max(ramp(facts.topic.low, 0.3, 0.7), _lift(facts))
    score = functional * (0.55 + 0.45 * same_kind) * topic * (1 - 0.75 * ramp(facts.unmatched_beside_value, 0.6, 1.6))
    if facts.predicate < 0.3:
        score *= 0.6
    if same_kind < 0.25 and functional < 0.9:
        score *= 0.5
    return score * (0.5 if facts.quantity.one_sided else 1.0)


def _preference(facts: Comparison) -> float:
    if not facts.object_rivals or not facts.preferences:
        return 0.0
    return 0.8 * ramp(facts.coverage.low, 0.2, 0.45)


def _quantifier(facts: Comparison) -> float:
    quantifiers = (facts.left.quantifier, facts.right.quantifier)
    exclusive = "only" in quantifiers
    everywhere = exclusive and "all" in quantifiers and facts.subject == (1.0, 1.0)
    shared = facts.beside_subject.high if everywhere else facts.beside_subject.low
    score = 0.9 * facts.quantifier * ramp(shared, 0.5, 0.9)
    return score * (0.35 if facts.other_subjects and not exclusive else 1.0)


def _outcome(facts: Comparison) -> float:
    if facts.valence <= 0:
        return 0.0
    topic = ramp(facts.core.high, 0.3, 0.8) * ramp(facts.coverage.low, 0.35, 0.7)
    return 0.9 * topic * (0.3 if facts.object_rivals else 1.0)
