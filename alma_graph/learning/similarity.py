"""How alike two wordings are, and the two levels of sameness.

**pool**: one strategy; their counts are added. **kin**: shown as similar and used to back confidence off, never added.

score = .9 cosine + .1 Jaccard of content stems - .26 when each says something that the other does not
        - .08 for each number, technology or identifier that only one of them names

and kin from .34 on, unless blocked; pool also needs that nothing is exchanged (`exchanged`). So a wording that only
adds to another needs a cosine of about .35, two that each say something of their own about .65. The exchange costs a
constant instead of one minus the best cosine of the single words: on the labelled dev wordings the pool level is the
same, kin loses .012 F, and no single word ever needs an encode.
"""

from __future__ import annotations

from alma_graph.learning.blocks import blocked
from alma_graph.learning.signature import Signature

COSINE_WEIGHT = 0.9
LEXICAL_WEIGHT = 0.1
EXCHANGE_COST = 0.26
ONE_SIDED_COST = 0.08
THRESHOLD = 0.34
"""Score from which two wordings are kin."""
BLOCKED = -1.0
"""Score of two wordings that may not be one strategy."""


def lexical(left: Signature, right: Signature) -> float:
    """Jaccard index of the content stems, in [0, 1]."""
    union = left.content | right.content
    return len(left.content & right.content) / len(union) if union else 1.0


def one_sided(left: Signature, right: Signature) -> int:
    """How many sorts of detail only one of the two names: no contradiction, but more evidence is needed."""
    return (
        int(bool(left.numbers) != bool(right.numbers))
        + int(bool(left.technologies) != bool(right.technologies))
        + int(bool(left.identifiers) != bool(right.identifiers))
    )


def exchanged(left: Signature, right: Signature) -> bool:
    """Whether the two share a frame and each fills it with something of its own: kin perhaps, not the same.

    Two shared stems are a frame ("restart the auth service", "scale the auth service"); one is, when what is exchanged
    are things ("mock the database", "mock the clock").
    """
    only_left, only_right = left.content - right.content, right.content - left.content
    shared = left.content & right.content
    if not shared or not only_left or not only_right:
        return False
    things = bool(only_left & left.nouns and only_right & right.nouns)
    return things or len(shared) >= 2 or min(len(only_left), len(only_right)) >= 2


def kin_score(left: Signature, right: Signature, cosine: float) -> float:
    """Score of two wordings, at most 1, or `BLOCKED`. Symmetric; cosine in [-1, 1]."""
    if left.wording == right.wording:
        return 1.0
    if blocked(left, right) is not None:
        return BLOCKED
    if left.key == right.key:
        return 1.0
    score = COSINE_WEIGHT * cosine + LEXICAL_WEIGHT * lexical(left, right) - ONE_SIDED_COST * one_sided(left, right)
    if left.content - right.content and right.content - left.content:
        score -= EXCHANGE_COST
    return round(score, 4)


def pool_score(left: Signature, right: Signature, kin: float) -> float:
    """Score at the pool level from the one at the kin level: the same, or `BLOCKED` when something is exchanged."""
    return BLOCKED if kin > BLOCKED and exchanged(left, right) else kin
