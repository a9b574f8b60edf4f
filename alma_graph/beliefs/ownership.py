"""Whose memories they are: what the text does not say but the store knows.

Two people who say "my dog" speak of two dogs; the preferences of two users never conflict; facts of two
domains seldom do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from alma_graph.beliefs.claim_model import Claims
from alma_graph.beliefs.comparison import Comparison

_OTHER_CATEGORY = 0.5
_OTHER_DOMAIN = 0.5
_NAME_WEIGHT = 1.4


@dataclass(frozen=True, slots=True)
class Side:
    """One memory to be judged.

    Attributes:
        text: the memory's text; evidence is spans of it.
        claims: `parse_claims([text])[0]`.
        speaker: who speaks in the first person: the speaker of a turn, the agent of a note; None if unknown.
        user_id: whom it is about.
        kind: the memory's kind, by its plain name.
        category: category of a preference, domain of a fact.
        valid_from: when it became true; not used here, for detectors that weigh time.
    """

    text: str
    claims: Claims
    speaker: str | None = None
    user_id: str | None = None
    kind: str | None = None
    category: str | None = None
    valid_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class Relationship:
    """What the owners of two memories say about a conflict between them.

    Attributes:
        separate: they cannot conflict or support each other (two users).
        two_speakers: "I" and "my" mean different people.
        one_slot: both fill one slot: preferences of one user in one category.
        other_category: preferences of different categories.
        other_domain: facts of different domains.
    """

    separate: bool
    two_speakers: bool
    one_slot: bool
    other_category: bool
    other_domain: bool

    def factor(self, facts: Comparison) -> float:
        """Factor for the contradiction score of a claim pair, in [0, 1]."""
        if self.two_speakers and facts.left.first_person and facts.right.first_person:
            return 0.0
        if self.other_category and not facts.opposed:
            return _OTHER_CATEGORY
        if self.other_domain and not _share_a_name(facts):
            return _OTHER_DOMAIN
        return 1.0


def relationship(left: Side, right: Side) -> Relationship:
    """How the owners of two memories stand to each other; unknown owners say nothing."""
    preferences = left.kind == right.kind == "user_preference"
    facts = left.kind == right.kind == "domain_knowledge"
    same_user = left.user_id is not None and left.user_id == right.user_id
    categories = _known_and_equal(left.category, right.category)
    return Relationship(
        separate=left.user_id is not None and right.user_id is not None and left.user_id != right.user_id,
        two_speakers=left.speaker is not None and right.speaker is not None and left.speaker != right.speaker,
        one_slot=preferences and same_user and categories is True,
        other_category=preferences and categories is False,
        other_domain=facts and categories is False,
    )


def _known_and_equal(left: str | None, right: str | None) -> bool | None:
    if left is None or right is None:
        return None
    return left.strip().casefold() == right.strip().casefold()


def _share_a_name(facts: Comparison) -> bool:
    """A name or identifier that both claims contain says that they speak of one thing."""
    mine = {token.lemma for token in facts.left.tokens if token.weight >= _NAME_WEIGHT}
    return any(token.weight >= _NAME_WEIGHT and token.lemma in mine for token in facts.right.tokens)
