"""Questions to the tree: who is the subject, what is joined by "and", is it denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.extraction.parse import Parse
from alma_graph.extraction.predicates import predicates
from alma_graph.extraction.vocabulary import FAILING_VERBS, RELATIVE_PRONOUNS, SUBJECT_RELATIONS

if TYPE_CHECKING:
    from spacy.tokens import Token

_VERBAL = frozenset({"VERB", "AUX"})
_JOINABLE = frozenset({"NOUN", "PROPN", "NUM", "PRON", "X", "ADJ", "SYM"})
_NEGATIONS = frozenset({"not", "n't", "n’t", "never", "nor", "neither", "nobody", "hardly"})
_NEGATED_NOUNS = frozenset({"no", "neither", "nor"})
_CARRIES_NEGATION = frozenset({"want", "need", "should", "do", "seem"})
_DEEPEST_CLAUSE = 5
_LITERALS = frozenset({"None", "null", "nil", "NaN", "undefined", "true", "false", "True", "False"})


def conjuncts(parse: Parse, index: int) -> list[int]:
    """The token and all that is joined to it by conjunction."""
    found, pending = [index], [index]
    while pending:
        for child in parse.doc[pending.pop()].children:
            joined = child.dep_ == "conj" and child.pos_ in _JOINABLE
            listed = (
                child.dep_ == "appos"
                and parse.entity(child.i) is not None
                and any(grandchild.dep_ == "conj" for grandchild in child.children)
            )
            if joined or listed:
                found.append(child.i)
                pending.append(child.i)
    return found


def subjects(parse: Parse, verb: Token, depth: int = 0) -> tuple[list[int], bool]:
    """Subjects of a verb and whether it is passive; found through relative clauses, participles and conjunction."""
    own = next((child for child in verb.children if child.dep_ in SUBJECT_RELATIONS), None)
    passive = any(child.dep_ in {"nsubjpass", "auxpass"} for child in verb.children)
    if own is not None:
        stands_for_head = verb.dep_ in {"relcl", "acl", "ccomp"} and parse.entity(own.i) is None
        if stands_for_head and parse.word(own.i) in RELATIVE_PRONOUNS:
            noun = verb.head
            if parse.raw(noun.i) in _LITERALS and noun.head.pos_ in _VERBAL and depth < _DEEPEST_CLAUSE:
                return subjects(parse, noun.head, depth + 1)[0], passive  # "f returns None, which breaks g"
            return [noun.i], passive
        return conjuncts(parse, own.i), passive
    if depth >= _DEEPEST_CLAUSE:
        return [], passive
    if verb.dep_ == "acl" and verb.tag_ == "VBN":
        return [verb.head.i], True
    if verb.dep_ in {"acl", "relcl"} and verb.tag_ == "VBG":
        return [verb.head.i], False
    if verb.head.pos_ not in _VERBAL:
        return [], passive
    if verb.dep_ == "conj":
        shared, head_passive = subjects(parse, verb.head, depth + 1)
        has_object = any(child.dep_ == "dobj" for child in verb.children)
        return shared, passive or (head_passive and verb.tag_ == "VBN" and not has_object)
    if verb.dep_ == "xcomp":
        return subjects(parse, verb.head, depth + 1)[0], passive
    return [], passive


def is_negated(parse: Parse, verb: Token) -> bool:
    """Whether the clause of this verb is denied: not, never, no longer, nobody, fails to, doesn't want to."""
    for child in verb.children:
        word = parse.word(child.i)
        if child.dep_ == "neg" or word in _NEGATIONS:
            return True
        if word == "longer" and any(parse.word(grandchild.i) == "no" for grandchild in child.children):
            return True
    index = verb.i
    if index >= 2 and parse.word(index - 1) == "longer" and parse.word(index - 2) == "no":
        return True
    if verb.dep_ == "xcomp" and verb.head.lemma_ in FAILING_VERBS and index and parse.word(index - 1) == "to":
        return not is_negated(parse, verb.head)
    if verb.dep_ in {"xcomp", "ccomp"} and verb.head.pos_ in _VERBAL and verb.head.lemma_ in _CARRIES_NEGATION:
        return is_negated(parse, verb.head)
    return False


def is_negated_argument(parse: Parse, index: int) -> bool:
    """Whether a noun is denied by itself: "no service", "neither X nor Y", "nobody"."""
    if parse.word(index) in {"nobody", "nothing"} or parse.raw(index) == "none":  # "None" is a value of Python
        return True
    if any(parse.word(child.i) in _NEGATED_NOUNS and child.i < index for child in parse.doc[index].children):
        return True
    return index > 0 and parse.word(index - 1) in _NEGATED_NOUNS


def verb_name(parse: Parse, verb: Token) -> str:
    """Lemma with its particle: "roll out"."""
    lemma = verb.lemma_.lower()
    particle = next((parse.word(child.i) for child in verb.children if child.dep_ == "prt"), "")
    if not particle and verb.i + 1 < len(parse.doc) and parse.doc[verb.i + 1].pos_ == "ADV":
        following = parse.word(verb.i + 1)  # the parser sees an adverb in "rolled back"
        particle = following if f"{lemma} {following}" in predicates() else ""
    return f"{lemma} {particle}".strip()
