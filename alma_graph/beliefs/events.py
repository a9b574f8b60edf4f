"""Two ways to contradict without the same words: an event that ends a state, and an experience denied."""

from __future__ import annotations

import re
from typing import NamedTuple

from alma_graph.beliefs import lexicon_function as lexicon
from alma_graph.beliefs.alignment import SideView
from alma_graph.beliefs.claim_model import NOMINAL_POS, Claim, Claims, Token
from alma_graph.beliefs.scales import ramp
from alma_graph.beliefs.words import agrees_with_any

_UNREAL = frozenset(("question", "hedge", "report", "hypothesis"))
_PLACED = frozenset(("be", "run", "plan", "schedule", "use", "host", "store", "keep", "set"))
_ENDED_BY: dict[str, frozenset[str]] = {
    "live": frozenset(("move", "relocate")),
    "reside": frozenset(("move", "relocate")),
    "work": frozenset(("switch", "change", "transfer", "move")),
}
_POSTPONING = frozenset(("push", "postpone", "delay", "shift", "defer", "slip"))
_REMAKING = frozenset(("rewrite", "rewrote", "port", "rebuild", "reimplement"))
_INTO = re.compile(r"\b(?:in|on|with)\b")
_TOWARDS = re.compile(r"\bto\b|\bas\b|new job|\bnow see\b")
_NOT = re.compile(r"\bnot\b|n't\b|\bnever\b")
_DONE = re.compile(r"\bmy\b|managed to|completed|using")


def change_score(state: SideView, event: Claim) -> float:
    """How surely `event` tells of a change that ends the state: replaced or quit V, moved from V, moved to another."""
    claim = state.claim
    happened = event.modality == "fact" and not event.negated and not _NOT.search(event.words)
    if not happened or claim.negated or claim.modality in _UNREAL:
        return 0.0
    if event.predicate == "leave" and any(q.value.kind in ("clock", "count") for q in event.quantities):
        return 0.0  # left at five
    lemmas = event.lemma_set
    shared = [
        (claim.tokens[i], event.tokens[match.other])
        for i, match in state.matches.items()
        if match.relation != "antonym" and claim.tokens[i].pos in NOMINAL_POS and claim.tokens[i].weight >= 0.5
    ]
    values = [(mine, theirs) for mine, theirs in shared if mine.role in ("o", "x") and mine.weight >= 0.8]
    if lemmas & lexicon.CHANGE_FROM_VERBS and any(theirs.role in ("o", "s") for _, theirs in values):
        return 0.35 if _elsewhere(state, event) else 0.75
    if not lemmas & lexicon.CHANGE_TO_VERBS:
        return 0.0
    if any(_comes_from(event, theirs) for _, theirs in values):
        return 0.9
    towards = _TOWARDS.search(event.words) or (event.predicate in _REMAKING and _INTO.search(event.words))
    if not towards or not _has_rest(state):
        return 0.0
    same_subject = any(mine.role == "s" for mine, _ in shared)
    placed = claim.predicate in _PLACED or bool(claim.quantities)
    if event.predicate in _POSTPONING and not (claim.quantities and event.quantities):
        return 0.0
    if placed and same_subject and event.predicate in lexicon.CHANGE_TO_VERBS:
        return 0.7
    ending = _ENDED_BY.get(claim.predicate, frozenset())
    one_subject = same_subject or (claim.first_person and event.first_person)
    if not one_subject or event.predicate not in ending:
        return 0.0
    new_job = claim.predicate != "work" or re.search(r"\bjobs?\b|\bcompan(?:y|ies)\b|\bemployers?\b", event.words)
    return 0.7 if new_job or same_subject else 0.0


def _elsewhere(state: SideView, event: Claim) -> bool:
    """Somebody else's state, and a change in some place or part only: "replaced X in sales", "engineering uses X"."""
    claim = state.claim
    others = claim.subject >= 0 and claim.subject not in state.matches and claim.tokens[claim.subject].weight >= 0.7
    matched = {match.other for match in state.matches.values()}
    parts = any(
        token.role == "x" and index not in matched and token.pos in NOMINAL_POS and _is_place_of(event, token)
        for index, token in enumerate(event.tokens)
    )
    return others and parts


def _is_place_of(event: Claim, token: Token) -> bool:
    return bool(re.search(r"\b(?:in|for|at) (?:\w+ )?" + re.escape(token.surface), event.words))


def _has_rest(state: SideView) -> bool:
    """The state has a value that the event does not repeat: living in Ghent is not ended by moving to Ghent."""
    return bool(state.claim.quantities) or any(
        index not in state.matches and token.role in ("o", "x") and token.weight >= 0.8
        for index, token in enumerate(state.claim.tokens)
    )


def _comes_from(event: Claim, token: Token) -> bool:
    return bool(re.search(r"\bfrom (\w+ )?" + re.escape(token.surface), event.words))


class Denial(NamedTuple):
    """ "I have never done O" against a report that O was done: the claims on each side."""

    score: float
    left: Claim
    right: Claim


def find_denial(left: Claims, right: Claims) -> Denial | None:
    """The strongest experience that one text denies and the other reports, both in the first person."""
    best: Denial | None = None
    for denying, reporting, swapped in ((left, right, False), (right, left, True)):
        for claim in denying.claims:
            if not (claim.negated and claim.first_person and claim.tense == "never"):
                continue
            for score, report in _reports(claim, reporting):
                if best is None or score > best.score:
                    best = Denial(score, report, claim) if swapped else Denial(score, claim, report)
    return best


def _reports(denial: Claim, reporting: Claims) -> list[tuple[float, Claim]]:
    denied = [
        token
        for token in denial.tokens
        if token.pos in ("NOUN", "PROPN", "VERB", "X", "ADJ")
        and token.weight >= 0.5
        and token.lemma not in lexicon.GENERIC_NOUNS
        and token.lemma not in lexicon.LIGHT_WORDS
    ]
    things = [token for token in denied if token.pos in NOMINAL_POS]
    if not things:
        return []
    sentences: dict[int, list[Claim]] = {}
    for claim in reporting.claims:
        sentences.setdefault(claim.sentence, []).append(claim)
    found = []
    for claims in sentences.values():
        cue = max(_reporting_cue(claim) for claim in claims)
        if not cue or any(claim.tense == "never" and claim.negated for claim in claims):
            continue
        words = tuple(token.lemma for claim in claims for token in claim.tokens)
        hits = [token for token in denied if agrees_with_any(token.lemma, words)]
        if not any(token in things for token in hits):
            continue
        covered = sum(token.weight for token in hits) / sum(token.weight for token in denied)
        if len(hits) > 1 and any(token.weight >= 1.4 for token in hits):
            covered = max(covered, 0.6)
        found.append((0.9 * cue * ramp(covered, 0.35, 0.7), claims[0]))
    return found


def _reporting_cue(claim: Claim) -> float:
    """How surely a first-person claim says that something was done."""
    if not claim.first_person or claim.negated:
        return 0.0
    if claim.modality == "fact" and claim.predicate not in lexicon.SEEKING_VERBS:
        return 1.0 if claim.tense == "past" or claim.progressive else 0.0
    return 0.75 if claim.modality == "plan" and _DONE.search(claim.words) else 0.0
