"""What a text claims, as plain values: tokens with roles, claims, and their compact stored form.

The stored form is a JSON array of arrays: short, deterministic, versioned. Words are kept as lemmas with spans into the
original text, so the text itself need not be stored twice.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from alma_graph.beliefs.lexicon_function import LIGHT_WORDS
from alma_graph.beliefs.quantities import Quantity
from alma_graph.beliefs.wordlist import word_set
from alma_graph.errors import InvalidInputError

FORMAT_VERSION = 1
DENIED = "d"
"""Role of a word that the claim names only to deny it ("Oslo, not Bergen"); it weighs nothing."""

NEAR_WORDS = 5
CONTEXT_WORDS = 12
CONTENT_POS = word_set("NOUN PROPN X NUM")
NOMINAL_POS = word_set("NOUN PROPN X")
_CONTEXT_POS = word_set("NOUN PROPN VERB ADJ")
_TIME_NOUNS = word_set("time way day week month year hour minute")


@dataclass(frozen=True, slots=True)
class Token:
    """One content word of a claim.

    Attributes:
        lemma: lower-case lemma (names and adjectives: the lower-case form).
        surface: lower-case form.
        pos: Universal POS tag; a capitalised word inside a sentence counts as PROPN.
        dependency: spaCy's label.
        role: `s` subject, `p` predicate, `o` object, `x` prepositional, `c` adverbial clause, `d` denied,
            `m` other.
        head: index of the head among the claim's tokens, -1 where it is not one of them.
        position: index of the word in the text, so that neighbours can be told.
        start, end: characters of the original text.
        weight: 1.4 names and identifiers, 1 nouns, .8 verbs and adjectives, .4 adverbs, less for words that say little.
        modifiers: lemmas of what modifies it.
    """

    lemma: str
    surface: str
    pos: str
    dependency: str
    role: str
    head: int
    position: int
    start: int
    end: int
    weight: float
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimQuantity:
    """A quantity and its place in the claim.

    Attributes:
        value: the quantity; its span is in the original text.
        role: role of its token, as in `Token`.
        position: index of its word in the text.
        fronted: it says when or which ("In v2, ..."), not how much.
        presupposed: it stands in passing ("my score on the 5 problems").
        previous: lower-case noun right before it, else empty.
    """

    value: Quantity
    role: str = ""
    position: int = 0
    fronted: bool = False
    presupposed: bool = False
    previous: str = ""


class Context(NamedTuple):
    """Words of a claim around one of its quantities.

    Attributes:
        near: content lemmas within `NEAR_WORDS`.
        weights: content lemmas within `CONTEXT_WORDS` with their weight.
    """

    near: frozenset[str]
    weights: dict[str, float]


@dataclass(frozen=True)
class Claim:
    """One claim of a text: a predicate with its subject, its words, its polarity and how it is meant.

    Attributes:
        words: its words in order, lower case, separated by spaces (contractions apart: `do n't`).
        start, end: characters of the original text.
        negated: parity of its negations.
        modality: fact, question, hypothesis, hedge, plan, norm, report or past.
        quantifier: all, none, not_all, only, most, few, some or empty.
        predicate: lemma of the head; `be` for copulas.
        subject: index of the subject among the tokens, -1 for none.
        traits: copula, indefinite ("is a ..."), definite (its subject is), expletive, passive, conditional, pronoun
            (its subject is one).
        condition: lemmas of its adverbial clause.
        fronted: words before the subject that say where or when.
        tense: past, present or never (an experience denied).
        valence: +1 it went well, -1 it went badly, 0 neither.
        negating_verb: avoid, stop, fail, ... when the predicate itself negates.
        sentence: number of its sentence in the text.
        progressive: it has a verb in -ing.
    """

    words: str
    start: int
    end: int
    tokens: tuple[Token, ...]
    quantities: tuple[ClaimQuantity, ...]
    negated: bool
    modality: str
    quantifier: str
    predicate: str
    subject: int
    traits: frozenset[str]
    condition: frozenset[str]
    fronted: frozenset[str]
    first_person: bool
    tense: str
    valence: int
    negating_verb: str
    sentence: int
    progressive: bool

    @functools.cached_property
    def total_weight(self) -> float:
        """Sum of the tokens' weights, never 0."""
        return sum(token.weight for token in self.tokens) or 1e-6

    @functools.cached_property
    def content_lemmas(self) -> frozenset[str]:
        """Lemmas of the tokens that weigh at least as much as a verb."""
        return frozenset(token.lemma for token in self.tokens if token.weight >= 0.8)

    @functools.cached_property
    def core(self) -> tuple[int, ...]:
        """Indices of names, nouns and numbers that carry the topic."""
        return tuple(
            index for index, token in enumerate(self.tokens) if token.pos in CONTENT_POS and token.weight >= 0.7
        )

    @functools.cached_property
    def contexts(self) -> tuple[Context, ...]:
        """The words around each quantity, in the order of `quantities`."""
        return tuple(self._context(quantity.position) for quantity in self.quantities)

    def _context(self, position: int) -> Context:
        near: set[str] = set()
        weights: dict[str, float] = {}
        for token in self.tokens:
            distance = abs(token.position - position)
            if (
                distance > CONTEXT_WORDS
                or token.role == DENIED
                or token.pos not in _CONTEXT_POS
                or token.lemma in LIGHT_WORDS
            ):
                continue
            if distance <= NEAR_WORDS:
                near.add(token.lemma)
            if token.lemma not in _TIME_NOUNS:
                weights[token.lemma] = {"PROPN": 1.4, "NOUN": 1.0}.get(token.pos, 0.6)
        return Context(frozenset(near), weights)

    @functools.cached_property
    def surface_words(self) -> frozenset[str]:
        """Lower-case forms of the tokens."""
        return frozenset(token.surface for token in self.tokens if token.role != DENIED)

    @functools.cached_property
    def denied_lemmas(self) -> frozenset[str]:
        """Lemmas of the words that it names only to deny them."""
        return frozenset(token.lemma for token in self.tokens if token.role == DENIED)

    @functools.cached_property
    def lemma_set(self) -> frozenset[str]:
        """Lemmas of all tokens."""
        return frozenset(token.lemma for token in self.tokens if token.role != DENIED)


@dataclass(frozen=True)
class Claims:
    """All that a text claims.

    Attributes:
        language: `en`; another code for a text that the English parser must not read (it then has no claims).
        claims: in the order of the text, at most `MAX_CLAIMS`.
    """

    language: str
    claims: tuple[Claim, ...]

    def to_json(self) -> str:
        """The stored form: about 1 KB for a short memory, the same for the same claims."""
        rows = [_claim_row(claim) for claim in self.claims]
        return json.dumps([FORMAT_VERSION, self.language, rows], separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, stored: str) -> Claims:
        """The claims that `to_json` wrote.

        Raises:
            InvalidInputError: the text is not a stored form of this version; parse the memory's text again.
        """
        try:
            version, language, rows = json.loads(stored)
            if version != FORMAT_VERSION:
                raise ValueError(f"format {version!r}, this release reads {FORMAT_VERSION}")
            return cls(str(language), tuple(_claim_of(row) for row in rows))
        except (ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
            raise InvalidInputError(
                f"these are not stored claims ({error}): {stored[:80]!r}; parse the memory's text again"
            ) from error

    @functools.cached_property
    def lemmas(self) -> frozenset[str]:
        """Lemmas of the names, nouns, verbs and adjectives of all claims: what a look-up by shared words needs."""
        return frozenset().union(*(claim.content_lemmas for claim in self.claims)) if self.claims else frozenset()


_POS_CODES = {
    "NOUN": "N",
    "PROPN": "P",
    "VERB": "V",
    "ADJ": "A",
    "ADV": "R",
    "NUM": "M",
    "X": "X",
    "INTJ": "I",
    "ADP": "D",
    "AUX": "U",
    "SCONJ": "C",
    "PART": "T",
}
_POS_NAMES = {code: name for name, code in _POS_CODES.items()}


def _claim_row(claim: Claim) -> list[Any]:
    return [
        claim.words,
        claim.start,
        claim.end,
        [_token_row(token) for token in claim.tokens],
        [_quantity_row(quantity) for quantity in claim.quantities],
        int(claim.negated) + 2 * int(claim.first_person) + 4 * int(claim.progressive),
        claim.modality,
        claim.quantifier,
        claim.predicate,
        claim.subject,
        sorted(claim.traits),
        sorted(claim.condition),
        sorted(claim.fronted),
        claim.tense,
        claim.valence,
        claim.negating_verb,
        claim.sentence,
    ]


def _claim_of(row: list[Any]) -> Claim:
    (words, start, end, tokens, quantities, flags, modality, quantifier, predicate, subject) = row[:10]
    (traits, condition, fronted, tense, valence, negating_verb, sentence) = row[10:]
    return Claim(
        words=str(words),
        start=int(start),
        end=int(end),
        tokens=tuple(_token_of(token) for token in tokens),
        quantities=tuple(_quantity_of(quantity) for quantity in quantities),
        negated=bool(flags & 1),
        modality=str(modality),
        quantifier=str(quantifier),
        predicate=str(predicate),
        subject=int(subject),
        traits=frozenset(traits),
        condition=frozenset(condition),
        fronted=frozenset(fronted),
        first_person=bool(flags & 2),
        tense=str(tense),
        valence=int(valence),
        negating_verb=str(negating_verb),
        sentence=int(sentence),
        progressive=bool(flags & 4),
    )


def _token_row(token: Token) -> list[Any]:
    row: list[Any] = [
        token.lemma,
        "" if token.surface == token.lemma else token.surface,
        _POS_CODES.get(token.pos, token.pos),
        token.dependency,
        token.role,
        token.head,
        token.position,
        token.start,
        token.end - token.start,
        token.weight,
    ]
    return [*row, *token.modifiers]


def _token_of(row: list[Any]) -> Token:
    lemma, surface, pos, dependency, role, head, position, start, length, weight = row[:10]
    return Token(
        lemma=str(lemma),
        surface=str(surface or lemma),
        pos=_POS_NAMES.get(str(pos), str(pos)),
        dependency=str(dependency),
        role=str(role),
        head=int(head),
        position=int(position),
        start=int(start),
        end=int(start) + int(length),
        weight=float(weight),
        modifiers=tuple(row[10:]),
    )


def _finite(bound: float) -> float | int | None:
    """None for no bound; whole numbers without a fraction, so that the stored form is one for one value."""
    if not math.isfinite(bound):
        return None
    return int(bound) if float(bound).is_integer() else bound


def _quantity_row(quantity: ClaimQuantity) -> list[Any]:
    value = quantity.value
    return [
        value.kind,
        _finite(value.low),
        _finite(value.high),
        value.comparison,
        value.noun,
        value.start,
        value.end - value.start,
        quantity.role,
        quantity.position,
        int(quantity.fronted) + 2 * int(quantity.presupposed),
        quantity.previous,
    ]


def _quantity_of(row: list[Any]) -> ClaimQuantity:
    kind, low, high, comparison, noun, start, length, role, position, flags, previous = row
    value = Quantity(
        kind=str(kind),
        low=-math.inf if low is None else float(low),
        high=math.inf if high is None else float(high),
        comparison=str(comparison),
        noun=str(noun),
        start=int(start),
        end=int(start) + int(length),
    )
    return ClaimQuantity(
        value=value,
        role=str(role),
        position=int(position),
        fronted=bool(flags & 1),
        presupposed=bool(flags & 2),
        previous=str(previous),
    )
