"""Everything that two claims have in common and in dispute, measured once; signals and guards only read it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from alma_graph.beliefs.alignment import Alignment, Pair, SideView, align
from alma_graph.beliefs.claim_model import NOMINAL_POS, Claim
from alma_graph.beliefs.events import change_score
from alma_graph.beliefs.holders import holder_conflict
from alma_graph.beliefs.identities import name_two_things
from alma_graph.beliefs.lexicon_function import COPULA_LIKE_VERBS, LIGHT_WORDS, SCOPE_WORDS
from alma_graph.beliefs.quantity_relation import QuantityRelation, relate_quantities
from alma_graph.beliefs.readings import averse, deontic, emptied, ended, event_against_rule, recurring
from alma_graph.beliefs.slots import (
    NO_SLOT,
    Slot,
    expresses_preference,
    find_inverse_slot,
    find_slot,
    rival_objects,
    value_phrase,
)
from alma_graph.beliefs.surface import NO_POLARITY, SurfacePolarity, surface_polarity, surface_value
from alma_graph.beliefs.wordlist import word_set
from alma_graph.beliefs.words import agrees_with_any

Spans = tuple[tuple[int, int], tuple[int, int]]

_UPDATE = re.compile(
    r"\b(now|no longer|any ?more|moved?|switch(?:ed)?|migrat\w+|upgrad\w+|replac\w+|just|recently|new job|resched\w+"
    r"|chang\w+|sold|quit|finally|finished|since|as of|from now on|instead|these days|already|became|promoted|renamed"
    r"|handed|latest|up to|got|has been|have been)\b"
)
_DENYING_VERBS = word_set("break violate lose prevent")
_PREDICATING = frozenset(("ROOT", "acomp", "conj", "oprd", "attr", "ccomp", "xcomp"))
_AFFIRMING_VERBS = word_set("be have support keep")
_QUANTIFIER_CONFLICTS = frozenset(
    frozenset(pair) for pair in (("all", "none"), ("all", "not_all"), ("most", "none"), ("most", "few"), ("all", "few"))
)
_BEGINNING = word_set("begin happen meet occur start")
_PARTIAL = word_set("some most not_all")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two claims compared. Pairs are (left, right); shares lie in [0, 1].

    Attributes:
        coverage: share of the weight that is matched.
        core: share of the names and nouns that is matched, -1 where a side has none.
        core_matches: how many names and nouns of the left agree with the right.
        shared_weight: their weight.
        subject: how well the subjects match.
        topic: coverage without values, opposites and linking verbs.
        beside_subject: coverage outside the subject.
        unmatched_nouns: weight of the nouns without a partner, on the side that has fewer.
        unmatched_beside_value: the same without the value phrases.
        predicate: how well the predicates match.
        polarity_differs: one side is negated.
        opposed: negations and antonyms between the claims are odd in number.
        order_reversed: one says before, the other after.
        opposite_predicates: the opposites are what the claims say, not words inside a phrase.
        antonyms: spans of the opposites.
        negated_coverage: coverage of the negated side, -1 where polarity is the same.
        negated_unmatched: weight without a partner on the negated side.
        rivals: the claims are about two different things.
        two_things: they name two single things: two commits, two sensors, two files.
        scope_conflict: environment, platform, day or fronted phrase differ.
        conditions: how many sides are conditional.
        condition_conflict: the conditions differ.
        conditional_share: where one side alone is conditional, the share of what matches that is its condition.
        quantity: relation of the quantities.
        slot, inverse_slot: values of one slot; `value_counts` the candidates on each side.
        other_objects: each side has an object that the other lacks.
        other_subjects: each side's subject phrase has a word that the other lacks.
        surface_value: how surely the words alone show two values of one slot, where the parse shows none.
        object_rivals: spans of one object noun modified differently on both sides.
        preferences: both express a preference.
        quantifier: how strongly the quantifiers exclude each other.
        partial: both say "some" or "most".
        valence: +1 the outcomes are opposite, -1 they agree.
        surface: polarity by words alone.
        change: one side tells of a change that ends the other.
        denied: one side says what the other names only to deny it: share of the rest that is matched.
        holders: how surely they name two holders of one post.
        updated: one side has a word of change.
        substance: weight of the lighter side.
        assertive: both sides say something, no pleasantries.
        modalities: modality of each side.
        deontic: one side permits what the other forbids or demands, so that its "may" is no doubt.
        emptied: one side calls empty what the other says holds some.
        ended: one side says that it is no longer so, the other that it once was.
        event_against_rule: one side tells what was let through or turned away once, the other what the rule is.
        recurring: both tell of a happening that comes again and again.
    """

    left: Claim
    right: Claim
    coverage: Pair
    core: Pair
    core_matches: int
    shared_weight: float
    subject: Pair
    topic: Pair
    beside_subject: Pair
    unmatched_nouns: float
    unmatched_beside_value: float
    predicate: float
    polarity_differs: bool
    opposed: bool
    order_reversed: bool
    opposite_predicates: bool
    antonyms: tuple[Spans, ...]
    negated_coverage: float
    negated_unmatched: float
    rivals: bool
    two_things: bool
    scope_conflict: bool
    conditions: int
    condition_conflict: bool
    conditional_share: float
    quantity: QuantityRelation
    slot: Slot
    inverse_slot: Slot
    value_counts: tuple[int, int]
    other_objects: bool
    other_subjects: bool
    surface_value: float
    object_rivals: Spans | None
    preferences: bool
    quantifier: float
    partial: bool
    valence: int
    surface: SurfacePolarity
    change: float
    denied: float
    holders: float
    updated: bool
    substance: float
    assertive: bool
    modalities: frozenset[str]
    deontic: bool
    emptied: bool
    ended: bool
    event_against_rule: bool
    recurring: bool

    @property
    def core_low(self) -> float:
        """Share of matched nouns on the side that has the smaller one; 1 where neither side has nouns."""
        return min((share for share in self.core if share >= 0), default=1.0)


def compare(left: Claim, right: Claim, *, one_slot: bool = False) -> Comparison:
    """Compare two claims; `one_slot` as in `find_slot`."""
    alignment = align(left, right)
    sides = alignment.left, alignment.right
    coverage = alignment.both(SideView.coverage)
    core = alignment.both(SideView.core_coverage)
    subject = alignment.both(SideView.subject_match)
    agreeing = [index for index in left.core if alignment.left.agrees(index)]
    antonyms = [(i, j) for i, j in alignment.antonyms if left.tokens[i].weight >= 0.4 or right.tokens[j].weight >= 0.4]
    negated = _polarities(alignment, antonyms)
    differs = negated[0] != negated[1]
    opposed = bool(antonyms) != differs
    slot, value_counts = find_slot(alignment, one_slot=one_slot)
    inverse = NO_SLOT
    if slot is NO_SLOT and agreeing:
        inverse = find_inverse_slot(alignment, min(core))
    left_values, right_values = _value_phrases(alignment, slot, inverse)
    unmatched = alignment.both(SideView.unmatched_noun_weight)
    object_rivals = rival_objects(alignment)
    plain = not opposed and not antonyms and not {left.quantifier, right.quantifier} & {"not_all", "only"}
    negated_side = sides[0] if negated[0] else sides[1]
    return Comparison(
        left=left,
        right=right,
        coverage=coverage,
        core=core,
        core_matches=len(agreeing),
        shared_weight=sum(left.tokens[index].weight for index in agreeing),
        subject=subject,
        topic=Pair(
            _topic(alignment.left, {i for i, _ in alignment.antonyms} | left_values),
            _topic(alignment.right, {j for _, j in alignment.antonyms} | right_values),
        ),
        beside_subject=alignment.both(SideView.beside_subject_coverage),
        unmatched_nouns=unmatched.low,
        unmatched_beside_value=_beside_values(alignment, unmatched, left_values, right_values),
        predicate=_predicate_match(alignment),
        polarity_differs=differs,
        opposed=opposed,
        opposite_predicates=bool(antonyms)
        and all({left.tokens[i].dependency, right.tokens[j].dependency} <= _PREDICATING for i, j in antonyms),
        order_reversed=any(
            {left.tokens[i].surface, right.tokens[j].surface} == {"before", "after"} for i, j in antonyms
        ),
        antonyms=tuple(
            (
                (left.tokens[i].start, left.tokens[i].end),
                (right.tokens[j].start, right.tokens[j].end),
            )
            for i, j in antonyms
        ),
        negated_coverage=negated_side.coverage() if differs else -1.0,
        negated_unmatched=(
            sum(negated_side.claim.tokens[i].weight for i in negated_side.unmatched()) if differs else 0.0
        ),
        rivals=alignment.rivals,
        two_things=name_two_things(left, right),
        scope_conflict=_scope_conflict(left, right) and not slot.places_apart,
        conditions=("conditional" in left.traits) + ("conditional" in right.traits),
        condition_conflict=_condition_conflict(left, right),
        conditional_share=_conditional_share(alignment),
        quantity=relate_quantities(left, right),
        slot=slot,
        inverse_slot=inverse,
        value_counts=value_counts,
        other_objects=_has_own_object(alignment.left) and _has_own_object(alignment.right),
        other_subjects=_has_own_subject(alignment.left) and _has_own_subject(alignment.right),
        surface_value=0.0 if opposed or slot is not NO_SLOT or inverse is not NO_SLOT else surface_value(left, right),
        object_rivals=object_rivals,
        preferences=one_slot or (expresses_preference(left) and expresses_preference(right)),
        quantifier=_quantifier_conflict(left.quantifier, right.quantifier, differs),
        partial=_partial(left.quantifier, right.quantifier),
        valence=(left.valence * right.valence < 0) - (left.valence * right.valence > 0),
        surface=surface_polarity(left, right) if plain else NO_POLARITY,
        change=max(change_score(alignment.left, right), change_score(alignment.right, left)),
        denied=0.0 if differs else max(_denied(alignment.left, right), _denied(alignment.right, left)),
        holders=holder_conflict(left, right),
        updated=bool(_UPDATE.search(left.words) or _UPDATE.search(right.words)),
        substance=min(_substance(left), _substance(right)),
        assertive=_asserts(left) and _asserts(right),
        modalities=frozenset((left.modality, right.modality)),
        deontic=deontic(left, right),
        emptied=emptied(left, right) or emptied(right, left),
        ended=ended(left, right) or ended(right, left),
        event_against_rule=event_against_rule(left, right),
        recurring=recurring(left, right),
    )


def _polarities(alignment: Alignment, antonyms: list[tuple[int, int]]) -> tuple[bool, bool]:
    """Negation of each side, where a negating verb that is itself one of the antonyms is not counted twice."""
    left, right = alignment.left.claim, alignment.right.claim
    mine, yours = left.negated, right.negated
    if left.negating_verb and any(left.tokens[i].lemma == left.negating_verb for i, _ in antonyms):
        mine = not mine
    if right.negating_verb and any(right.tokens[j].lemma == right.negating_verb for _, j in antonyms):
        yours = not yours
    if _denies(alignment.left, right) and not _any_predicate(left, {i for i, _ in antonyms}):
        mine = not mine
    if _denies(alignment.right, left) and not _any_predicate(right, {j for _, j in antonyms}):
        yours = not yours
    if not antonyms and averse(left, right):
        mine = not mine
    if not antonyms and averse(right, left):
        yours = not yours
    return mine, yours


def _denied(side: SideView, other: Claim) -> float:
    """How fully `side` says, of the same thing, what `other` sets aside: "Bergen" against "Oslo, not Bergen"."""
    names = other.denied_lemmas
    if not names or not any(token.lemma in names and token.weight >= 0.7 for token in side.claim.tokens):
        return 0.0
    return 0.0 if names & other.lemma_set else side.coverage_beside(names)


def _any_predicate(claim: Claim, indices: set[int]) -> bool:
    return any(claim.tokens[index].lemma == claim.predicate for index in indices)


def _denies(side: SideView, other: Claim) -> bool:
    """ "breaks compatibility" against "is compatible"."""
    if side.claim.predicate not in _DENYING_VERBS or other.predicate not in _AFFIRMING_VERBS:
        return False
    return any(token.role == "o" and index in side.matches for index, token in enumerate(side.claim.tokens))


def _has_own_object(side: SideView) -> bool:
    tokens = side.claim.tokens
    return any(tokens[i].role in ("o", "x") or tokens[i].dependency in ("xcomp", "dobj") for i in side.unmatched())


def _has_own_subject(side: SideView) -> bool:
    tokens = side.claim.tokens
    return any(tokens[i].role == "s" and tokens[i].pos in NOMINAL_POS for i in side.unmatched())


def _topic(side: SideView, left_out: set[int]) -> float:
    share = side.topic_coverage(left_out)
    if share >= 0:
        return share
    return 1.0 if side.claim.first_person and side.claim.predicate not in LIGHT_WORDS else 0.0


def _value_phrases(alignment: Alignment, slot: Slot, inverse: Slot) -> tuple[set[int], set[int]]:
    mine: set[int] = set()
    yours: set[int] = set()
    for found in (slot, inverse):
        if found.left >= 0:
            mine |= value_phrase(alignment.left.claim, found.left)
            yours |= value_phrase(alignment.right.claim, found.right)
    return mine, yours


def _beside_values(alignment: Alignment, unmatched: Pair, mine: set[int], yours: set[int]) -> float:
    def weight(side: SideView, phrase: set[int]) -> float:
        return sum(side.claim.tokens[index].weight for index in phrase if index >= 0)

    left, right = unmatched.left - weight(alignment.left, mine), unmatched.right - weight(alignment.right, yours)
    return max(0.0, min(left, right))


def _predicate_match(alignment: Alignment) -> float:
    left, right = alignment.left.claim, alignment.right.claim
    mine = [i for i, token in enumerate(left.tokens) if token.role == "p" and token.weight >= 0.4]
    yours = [j for j, token in enumerate(right.tokens) if token.role == "p" and token.weight >= 0.4]
    matches = alignment.left.matches
    if any(i in matches and matches[i].other in yours for i in mine):
        return 1.0
    matched = any(i in matches for i in mine) or any(j in alignment.right.matches for j in yours)
    linking = COPULA_LIKE_VERBS | {"be"}
    if matched or left.predicate == right.predicate or {left.predicate, right.predicate} <= linking:
        return 0.7
    if "be" in (left.predicate, right.predicate) and {left.predicate, right.predicate} & _BEGINNING:
        return 0.7  # the meeting is, or starts, at ten
    return 0.3 if {left.predicate, right.predicate} & LIGHT_WORDS else 0.0


def _scope_conflict(left: Claim, right: Claim) -> bool:
    """Each side names an environment, platform, region or day that the other does not, not as its object."""
    mine, yours = _scopes(left), _scopes(right)
    my_own = {word for word in mine if not agrees_with_any(word, frozenset(yours))}
    your_own = {word for word in yours if not agrees_with_any(word, frozenset(mine))}
    if my_own and your_own:
        restricted = my_own | your_own
        if any(t.role != "o" for claim in (left, right) for t in claim.tokens if t.surface in restricted):
            return True
    my_front, your_front = left.fronted - right.fronted, right.fronted - left.fronted
    return bool(my_front and your_front and not (my_front <= right.surface_words or your_front <= left.surface_words))


def _scopes(claim: Claim) -> set[str]:
    return {form for word in claim.surface_words for form in (word, word.rstrip("s")) if form in SCOPE_WORDS}


def _condition_conflict(left: Claim, right: Claim) -> bool:
    if not left.condition or not right.condition or not {"conditional"} & (left.traits | right.traits):
        return False
    mine = any(not agrees_with_any(word, right.condition) for word in left.condition)
    return mine and any(not agrees_with_any(word, left.condition) for word in right.condition)


def _conditional_share(alignment: Alignment) -> float:
    conditional = [side for side in (alignment.left, alignment.right) if "conditional" in side.claim.traits]
    if len(conditional) != 1:
        return 0.0
    side = conditional[0]
    weights = {index: side.claim.tokens[index].weight for index in side.matches}
    in_condition = sum(weight for index, weight in weights.items() if side.claim.tokens[index].role == "c")
    return in_condition / max(1e-6, sum(weights.values()))


def _quantifier_conflict(left: str, right: str, polarity_differs: bool) -> float:
    both = frozenset((left, right))
    only_one = (left == "only") != (right == "only")
    if both in _QUANTIFIER_CONFLICTS or (only_one and "all" in both):
        return 1.0
    if "all" in both and polarity_differs:
        return 0.6
    return 0.5 if only_one else 0.0


def _partial(left: str, right: str) -> bool:
    return left in _PARTIAL and right in _PARTIAL


def _substance(claim: Claim) -> float:
    return sum(token.weight for token in claim.tokens if token.weight >= 0.4) + len(claim.quantities)


def _asserts(claim: Claim) -> bool:
    if claim.quantities or any(token.pos == "VERB" for token in claim.tokens):
        return True
    return claim.predicate == "be" and "pronoun" not in claim.traits
