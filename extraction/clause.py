"""What one verb governs: subjects, objects, prepositions, and the predicate it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from alma_graph.extraction.grammar import conjuncts, is_negated, subjects, verb_name
from alma_graph.extraction.parse import Parse
from alma_graph.extraction.predicates import predicates
from alma_graph.extraction.vocabulary import PREFERS_NOT, RELATIVE_PRONOUNS, SUBJECT_RELATIONS

if TYPE_CHECKING:
    from spacy.tokens import Token


@dataclass(frozen=True, slots=True)
class Complement:
    """A prepositional object: the preposition, the token, how the preposition hangs on the verb, and "not on X"."""

    preposition: str
    index: int
    relation: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """One verb with its arguments as token indices; `negated` is already turned where the verb itself denies."""

    verb: Token
    lemma: str
    predicate: str
    negated: bool
    passive: bool
    subjects: list[int]
    objects: list[int]
    attributes: list[int]
    complements: list[Complement]
    agents: list[int]


def clause_of(parse: Parse, verb: Token) -> Clause:
    """Read the clause of a verb."""
    found_subjects, passive = subjects(parse, verb)
    lemma = verb_name(parse, verb)
    objects = _objects(parse, verb, found_subjects)
    complements = _complements(parse, verb, lemma, passive)
    predicate, turned = _predicate(parse, verb, lemma, found_subjects, objects, passive)
    return Clause(
        verb=verb,
        lemma=lemma,
        predicate=predicate,
        negated=is_negated(parse, verb) != turned,
        passive=passive,
        subjects=found_subjects,
        objects=objects,
        attributes=[
            index
            for child in verb.children
            if child.dep_ in {"attr", "acomp"} and child.pos_ in {"NOUN", "PROPN", "NUM"}
            for index in conjuncts(parse, child.i)
        ],
        complements=complements,
        agents=[c.index for c in complements if c.relation == "agent" or (c.preposition == "by" and passive)],
    )


def _objects(parse: Parse, verb: Token, found_subjects: list[int]) -> list[int]:
    objects = [
        index
        for child in verb.children
        if child.dep_ in {"dobj", "dative", "oprd"}
        for index in conjuncts(parse, child.i)
    ]
    if verb.dep_ == "relcl" and all(parse.word(index) in RELATIVE_PRONOUNS for index in objects):
        by_pronoun = bool(objects) or any(
            parse.word(child.i) in {"that", "which", "whom"} and child.dep_ in {"mark", "nsubjpass"}
            for child in verb.children
        )
        has_preposition = any(child.dep_ == "prep" for child in verb.children)
        stands_outside = verb.head.i not in found_subjects and not has_preposition
        if (found_subjects and found_subjects != [verb.head.i] and by_pronoun) or stands_outside:
            return [verb.head.i]  # "the PR that Bob submitted"
    return [index for index in objects if parse.word(index) not in RELATIVE_PRONOUNS]


def _complements(parse: Parse, verb: Token, lemma: str, passive: bool) -> list[Complement]:
    found: list[Complement] = []
    for child in verb.children:
        if child.dep_ not in {"prep", "agent"}:
            continue
        word = parse.word(child.i)
        denied = child.i > 0 and parse.word(child.i - 1) == "not" and parse.doc[child.i - 1].head.i != verb.i
        for part in child.children:
            if part.dep_ == "pcomp" and part.tag_ == "VBG" and passive and (child.dep_ == "agent" or word == "by"):
                found.append(Complement(word, part.i, "agent"))  # "fixed by downgrading numpy"
            if part.dep_ == "pobj":
                found += [Complement(word, index, child.dep_, denied) for index in conjuncts(parse, part.i)]
            elif part.dep_ == "prep":
                found += [
                    Complement(parse.word(part.i), index, "prep")
                    for inner in part.children
                    if inner.dep_ == "pobj"
                    for index in conjuncts(parse, inner.i)
                ]
    found += _complements_of_objects(parse, verb, lemma)
    for complement in list(found):  # "deployed X with blue-green on Kubernetes": the second preposition is the verb's
        noun = parse.doc[complement.index]
        for child in noun.children:
            word = parse.word(child.i)
            about_time = noun.ent_type_ in {"TIME", "DATE"} or parse.type(noun.i) == "DATE"
            if child.dep_ == "prep" and (f"{lemma} {word}" in predicates() or about_time):
                found += [Complement(word, inner.i, "prep") for inner in child.children if inner.dep_ == "pobj"]
    return found


def _complements_of_objects(parse: Parse, verb: Token, lemma: str) -> list[Complement]:
    """Prepositions that the parser hung on the object: "forwards traffic to X", "deployed X with a canary"."""
    found: list[Complement] = []
    for child in verb.children:
        if child.dep_ != "dobj":
            continue
        for preposition in child.children:
            if preposition.dep_ != "prep":
                continue
            word = parse.word(preposition.i)
            for part in preposition.children:
                type_ = parse.type(part.i) if part.dep_ == "pobj" else ""
                if type_ == "STRATEGY" and word in {"with", "via", "through", "using"}:
                    found.append(Complement(word, part.i, "prep"))
                elif type_ and f"{lemma} {word}" in predicates():
                    found += [Complement(word, index, "prep") for index in conjuncts(parse, part.i)]
    return found


def _predicate(
    parse: Parse, verb: Token, lemma: str, found_subjects: list[int], objects: list[int], passive: bool
) -> tuple[str, bool]:
    """The predicate of a verb, and whether the verb turns the polarity ("hates" is not PREFERS)."""
    if lemma in PREFERS_NOT:
        return "PREFERS", True
    if lemma == "lack":
        return "HAS", True
    if lemma in {"need", "require"} and found_subjects:
        first = found_subjects[0]
        if parse.word(first) in {"i", "we", "you"} or parse.type(first) == "PERSON":
            return "NEEDS", False
    if lemma == "write" and objects and not passive and parse.type(objects[0]) == "TECH":
        return "USES", False  # "I mostly write Go"
    return predicates().get(lemma, lemma.upper().replace(" ", "_")), False


def is_clause_verb(parse: Parse, token: Token) -> bool:
    """Whether a token governs a clause that relations can be read from."""
    if token.dep_ in {"aux", "auxpass"}:
        return False
    entity = parse.entity(token.i)
    if entity is not None and entity.type != "STRATEGY":
        return False
    if token.pos_ not in {"VERB", "AUX"} and not (
        token.dep_ == "ROOT" and any(child.dep_ in SUBJECT_RELATIONS for child in token.children)
    ):
        return False
    return not parse.is_asked(token)  # "Do you use X?" states nothing
