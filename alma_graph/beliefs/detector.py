"""Does one memory contradict or support another? The default answer, by symbols alone.

All pairs of claims that share a content word are compared. Each signal is weighed by what speaks against it, and the
strongest one decides: a plain maximum, with no trained weights.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from alma_graph.beliefs.claim_model import NOMINAL_POS, Claim, Claims, Token
from alma_graph.beliefs.comparison import Comparison, compare
from alma_graph.beliefs.events import find_denial
from alma_graph.beliefs.guards import guard_factor
from alma_graph.beliefs.identities import name_two_things
from alma_graph.beliefs.languages import ENGLISH
from alma_graph.beliefs.multilingual import find_conflict
from alma_graph.beliefs.ownership import Relationship, Side, relationship
from alma_graph.beliefs.scales import DOUBTED, SUPPORTED, SUSPECTED
from alma_graph.beliefs.signals import Rule, contradiction_signals
from alma_graph.beliefs.supports import support_score
from alma_graph.beliefs.words import word_relation

Signal = Literal["negation", "antonym", "quantity", "exclusive_value", "outcome", "state", "nli", "user"]

MAX_PAIRS = 400
"""At most this many claim pairs of two memories are compared, those that share the most and rarest words first."""

_FEW_PAIRS = 9
_OPENING_WORDS = 5
_OTHER_TOPIC = 0.4
_OTHER_LABEL = 0.1
_SIGNAL_OF_RULE: dict[Rule, Signal] = {
    "negation": "negation",
    "antonym": "antonym",
    "quantity": "quantity",
    "exclusive_value": "exclusive_value",
    "preference": "exclusive_value",
    "quantifier": "negation",
    "outcome": "outcome",
    "change": "state",
}


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """A part of a memory's text that justifies a judgement: `text == side.text[start:end]`, never empty."""

    side: Literal["newer", "older"]
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What two memories are to each other.

    Attributes:
        relation: contradicts or supports.
        signal: what shows a contradiction; None for supports.
        score: in [0, 1]; see `scales` for the thresholds of an edge and of "suspected".
        evidence: at least one span of each side.
    """

    relation: Literal["contradicts", "supports"]
    signal: Signal | None
    score: float
    evidence: tuple[EvidenceSpan, ...]


class ContradictionDetector(Protocol):
    """Judges two memories. Must never raise on any text, and judge a text against itself as no contradiction."""

    def judge(self, newer: Side, older: Side) -> Judgement | None:
        """The relation, or None where there is none worth telling. The score does not depend on the order."""
        ...


class _Finding(NamedTuple):
    score: float
    signal: Signal | None
    left: tuple[int, int]
    right: tuple[int, int]


class SymbolicDetector:
    """The default detector: four main signals (negation, antonym, quantity, exclusive value) and their guards."""

    def judge(self, newer: Side, older: Side) -> Judgement | None:
        """See `ContradictionDetector.judge`. Some .2 to .4 ms for two short memories."""
        swapped = (older.text, older.claims.language) < (newer.text, newer.claims.language)
        left, right = (older, newer) if swapped else (newer, older)
        between = relationship(left, right)
        same_text = _normal(left.text) == _normal(right.text)
        if between.separate:
            return None
        compared = list(_compared(left.claims, right.claims, between))
        if not same_text:
            found = _contradiction(left, right, compared, between)
            if found.score >= SUSPECTED:
                return _judgement("contradicts", found, left, right, swapped)
            if found.score >= DOUBTED:
                return None
        support = _support(compared, same_text=same_text)
        if support is not None and support.score >= SUPPORTED:
            return _judgement("supports", support, left, right, swapped)
        return None


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _judgement(
    relation: Literal["contradicts", "supports"], found: _Finding, left: Side, right: Side, swapped: bool
) -> Judgement:
    names: tuple[Literal["newer", "older"], Literal["newer", "older"]] = ("newer", "older")
    spans = [(left.text, *_whole_words(left, *found.left)), (right.text, *_whole_words(right, *found.right))]
    if swapped:
        spans.reverse()
    evidence = tuple(
        EvidenceSpan(name, start, end, text[start:end]) for name, (text, start, end) in zip(names, spans, strict=True)
    )
    return Judgement(relation, found.signal, round(min(1.0, found.score), 4), evidence)


def _whole_words(side: Side, start: int, end: int) -> tuple[int, int]:
    """The span widened to whole words, in a language that puts spaces between them."""
    if side.claims.language == ENGLISH:
        while 0 < start < end and side.text[start - 1].isalnum() and side.text[start].isalnum():
            start -= 1
        while start < end < len(side.text) and side.text[end - 1].isalnum() and side.text[end].isalnum():
            end += 1
    return start, end


def _compared(left: Claims, right: Claims, between: Relationship) -> Iterator[tuple[Comparison, float]]:
    """The claim pairs worth comparing, each with a factor for its contradiction score."""
    one_topic = _open_on_one_topic(left.claims, right.claims)
    apart = _OTHER_LABEL if _labelled_apart(left.claims, right.claims) else 1.0
    for mine, yours in _pairs(left.claims, right.claims):
        opening = mine is left.claims[0] and yours is right.claims[0] and len(mine.tokens) <= 9
        factor = 1.0 if one_topic or opening else _OTHER_TOPIC
        facts = compare(mine, yours, one_slot=between.one_slot)
        yield facts, factor * apart * between.factor(facts)


def _pairs(left: tuple[Claim, ...], right: tuple[Claim, ...]) -> list[tuple[Claim, Claim]]:
    pairs = [(mine, yours) for mine in left for yours in right]
    if len(pairs) <= _FEW_PAIRS:
        return pairs
    spread = Counter(lemma for claim in (*left, *right) for lemma in claim.content_lemmas)
    shared = [
        (round(math.fsum(1 / spread[lemma] for lemma in mine.content_lemmas & yours.content_lemmas), 9), mine, yours)
        for mine, yours in pairs
    ]
    shared = sorted((entry for entry in shared if entry[0]), key=lambda entry: -entry[0])
    return [(mine, yours) for _, mine, yours in shared[:MAX_PAIRS]]


def _open_on_one_topic(left: tuple[Claim, ...], right: tuple[Claim, ...]) -> bool:
    """Notes of several claims whose opening words part at a noun are about different things."""
    if len(left) < 2 or len(right) < 2:
        return True
    mine, yours = _opening(left[0]), _opening(right[0])
    for index, (first, second) in enumerate(zip(mine, yours, strict=False)):
        if word_relation(first.lemma, second.lemma).agrees:
            continue
        if not index or first.pos not in NOMINAL_POS or second.pos not in NOMINAL_POS:
            return True
        return any(word_relation(first.lemma, other.lemma).score > 0.8 for other in yours)
    return True


def _labelled_apart(left: tuple[Claim, ...], right: tuple[Claim, ...]) -> bool:
    """Notes with a label before a colon that names two things: "Turn 12: ..." and "Turn 13: ..."."""
    labels = [claims[0] for claims in (left, right) if len(claims) > 1 and claims[0].words.endswith(":")]
    return len(labels) == 2 and name_two_things(*labels)


def _opening(claim: Claim) -> list[Token]:
    return [token for token in claim.tokens if token.weight >= 0.7][:_OPENING_WORDS]


def _contradiction(
    left: Side, right: Side, compared: list[tuple[Comparison, float]], between: Relationship
) -> _Finding:
    best = _Finding(0.0, None, (0, 0), (0, 0))
    for facts, ownership in compared:
        factor = ownership * guard_factor(facts) if ownership else 0.0
        for rule, raw in contradiction_signals(facts).items():
            score = raw * factor
            if score > best.score:
                best = _Finding(score, _SIGNAL_OF_RULE[rule], *_evidence(rule, facts))
    if left.claims.language == right.claims.language != ENGLISH:
        conflict = find_conflict(left.text, right.text, left.claims.language)
        if conflict is not None and not between.two_speakers and conflict.score > best.score:
            signal: Signal = "antonym" if conflict.signal == "antonym" else "negation"
            best = _Finding(conflict.score, signal, conflict.left, conflict.right)
    if between.two_speakers:
        return best
    denial = find_denial(left.claims, right.claims)
    if denial is not None and denial.score > best.score:
        facts = compare(denial.left, denial.right)
        score = denial.score * (0.1 if facts.scope_conflict else 1.0)
        if score > best.score:
            best = _Finding(score, "negation", *_claim_spans(facts))
    return best


def _support(compared: list[tuple[Comparison, float]], *, same_text: bool) -> _Finding | None:
    best: _Finding | None = None
    for facts, _ in compared:
        score = support_score(facts)
        if score > (best.score if best else 0.0):
            best = _Finding(1.0 if same_text else score, None, *_claim_spans(facts))
    return best


def _claim_spans(facts: Comparison) -> tuple[tuple[int, int], tuple[int, int]]:
    return (facts.left.start, facts.left.end), (facts.right.start, facts.right.end)


def _evidence(rule: Rule, facts: Comparison) -> tuple[tuple[int, int], tuple[int, int]]:
    """The values or opposites that conflict, else the claims."""
    if rule == "quantity" and facts.quantity.spans:
        return facts.quantity.spans
    if rule == "antonym" and facts.antonyms:
        return facts.antonyms[0]
    if rule == "preference" and facts.object_rivals:
        return facts.object_rivals
    if rule == "exclusive_value" and not facts.holders:
        for slot in (facts.slot, facts.inverse_slot):
            if slot.left >= 0:
                mine, yours = facts.left.tokens[slot.left], facts.right.tokens[slot.right]
                return (mine.start, mine.end), (yours.start, yours.end)
        last = facts.left.tokens[-1], facts.right.tokens[-1]
        return (last[0].start, last[0].end), (last[1].start, last[1].end)
    return _claim_spans(facts)
