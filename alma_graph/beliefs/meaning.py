"""How a clause is meant: polarity, quantifier, modality, tense, outcome."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from alma_graph.beliefs import lexicon_function as lexicon
from alma_graph.beliefs.clauses import Clause
from alma_graph.beliefs.wordlist import word_set

_FORBIDDING = word_set("forbid prohibit ban")
_EMPLOYED = frozenset(("at", "for", "as", "in", "from"))
_ENDING = word_set("stop quit cease")
_SUPPOSING = frozenset(("think", "assume", "believe", "suppose"))
_MISTAKEN_IMPERATIVES = frozenset(("reply", "answer", "respond", "email", "format", "name", "call", "sign", "text"))
_NEGATABLE_PLACES = word_set("det nsubj nsubjpass dobj attr preconj cc pobj")
_QUANTIFIER_PLACES = word_set("det advmod predet amod nsubj nsubjpass preconj nummod dep pobj dobj cc")
_YET_TO = re.compile(r"\byet to\b")
_UNABLE = re.compile(r"\bunable to\b|\bkept? out of\b")
_FREE_OF = re.compile(r"\bfree of\b|\bnothing wrong\b")
_NOT_ONLY = re.compile(r"\bnot (only|just|all|every)\b|n't (only|just)\b")
_NOT_ALL = re.compile(r"\bnot (all|every)\b")
_CANNOT_STAND = re.compile(r"\bca ?n't stand\b|\bcannot stand\b")
_UNCERTAIN = re.compile(r"\b(not sure|unclear|wonder|if i|whether|rumou?r)\b")
_PLANNED = re.compile(
    r"\b(going to|will|want to|planned for|we should|thinking of|intend to|trying to|would like|help me|make sure"
    r"|can you|could you|how (do|can|should) i)\b"
)
_UNCERTAIN_BEFORE = re.compile(r"\b(might|may|could) be\b|\b(maybe|perhaps|not sure|wonder|unclear|whether)\b")
_REPORTED_BEFORE = re.compile(
    r"\b(claim(s|ed)?|said|says|heard|reads?|rumou?rs?|told me|suggest(s|ed)?)\b( that)?[\s:,\"']*$"
)
_OWN_WORDS = re.compile(r"\b(i|we) (said|say)")
_FORMERLY = re.compile(
    r"\b(used to|formerly|previously|until (?:last|recently)|back then|in the past|originally|at first)\b"
)
_CONDITIONAL = re.compile(r"\b(if|unless|whenever|in case)\b")
_NO_EFFECT = re.compile(r"no (effect|difference|impact|luck|help)")
_WENT_AWAY = re.compile(r"went away|go(es)? away|gone")
_NEVER_DONE = re.compile(r"\bnever\b|n't .*\b(before|yet|so far|any)\b")


@dataclass(frozen=True, slots=True)
class Meaning:
    """See `Claim` for the fields of the same names."""

    negated: bool
    negating_verb: str
    quantifier: str
    modality: str
    conditional: bool
    tense: str
    valence: int


def read_meaning(clause: Clause, words: str, before: str, quotes: list[tuple[int, int]]) -> Meaning:
    """Meaning of a clause.

    Args:
        words: the clause's words, lower case, separated by spaces.
        before: lower-case text of the sentence that stands before the clause.
        quotes: character spans of quoted text.
    """
    negations = _negations(clause)
    count = _negation_count(clause, words, len(negations))
    negating = _ends_an_activity(clause.head) or any(
        token.lemma_ in lexicon.NEGATIVE_VERBS or token.lemma_ in _FORBIDDING for token in negations
    )
    valence, cancelled = _valence(clause, words, count)
    past = any(token.tag_ in ("VBD", "VBN") and token.i in clause.chain for token in clause.tokens)
    conditional = bool(_CONDITIONAL.search(words)) or (
        "when" in words.split() and not any(token.tag_ == "VBD" for token in clause.tokens)
    )
    return Meaning(
        negated=bool(count % 2) and not cancelled,
        negating_verb=clause.head.lemma_.lower() if negating else "",
        quantifier=_quantifier(clause, words),
        modality=_modality(clause, words, before, quotes),
        conditional=conditional,
        tense="never" if past and _NEVER_DONE.search(words) else "past" if past else "present",
        valence=valence,
    )


def _negations(clause: Clause) -> list[Any]:
    return [token for token in clause.tokens if _negates(clause, token)]


def _negates(clause: Clause, token: Any) -> bool:
    in_chain = token.i in clause.chain
    complement = token.head.dep_ in ("acomp", "attr", "oprd") and token.head.head.i in clause.chain
    if token.dep_ == "neg" and (token.head.i in clause.chain or complement):
        return True
    if token.lower_ in lexicon.NEGATIVE_DETERMINERS:
        no_longer = token.lower_ == "no" and token.head.lower_ == "longer"
        return no_longer or token.dep_ in _NEGATABLE_PLACES or token.head.i in clause.chain
    if token.lemma_ in lexicon.NEGATIVE_VERBS and in_chain:
        lacks = token.lemma_ in ("lack", "miss")
        return any(child.dep_ == "xcomp" or (lacks and child.dep_ == "dobj") for child in token.children)
    return in_chain and token.lemma_ in _FORBIDDING


def _ends_an_activity(head: Any) -> bool:
    """ "avoids X", "stopped doing X": the predicate denies what it governs."""
    if head.lemma_ == "avoid":
        return True
    return head.lemma_ in _ENDING and any(
        child.dep_ in ("xcomp", "ccomp") or (child.dep_ == "dobj" and _is_activity(child)) for child in head.children
    )


def _is_activity(token: Any) -> bool:
    """A verb in -ing, or a noun that was one: "quit smoking", not "quit the building"."""
    return token.tag_ == "VBG" or (token.tag_ == "NN" and token.lower_.endswith("ing") and not any(token.children))


def _negation_count(clause: Clause, words: str, count: int) -> int:
    head = clause.head
    if clause.inherited is not None:
        siblings = list(clause.inherited.children)
        contrasted = any(child.dep_ == "cc" and child.lower_ in ("but", "and") for child in siblings)
        count += any(child.dep_ == "neg" for child in siblings) and not contrasted
    if head.dep_ == "ccomp":
        governor = head.head
        denied = any(child.dep_ == "neg" for child in governor.children)
        count += denied and governor.lemma_ in ("think", "believe", "be", "true", "expect", "case")
        count += governor.lemma_ in ("deny", "doubt")
    count += bool(_YET_TO.search(words)) + bool(_UNABLE.search(words)) + bool(_FREE_OF.search(words))
    count += _ends_an_activity(head)
    if clause.subjects:
        count += any(token.lower_ == "without" and token.i > clause.subjects[0].i for token in clause.tokens)
    if _NOT_ONLY.search(words):
        count = max(0, count - 1)
    return 1 if _CANNOT_STAND.search(words) else count


def _quantifier(clause: Clause, words: str) -> str:
    if _NOT_ALL.search(words):
        return "not_all"
    for token in clause.tokens:
        if token.dep_ not in _QUANTIFIER_PLACES:
            continue
        word = token.lower_
        if word in ("no", "none", "nobody", "never", "neither"):
            return "none"
        if word in lexicon.ALL_QUANTIFIERS:
            return "all"
        if word in ("only", "most", "few"):
            return str(word)
        if word in lexicon.SOME_QUANTIFIERS:
            return "some"
    return ""


def _modality(clause: Clause, words: str, before: str, quotes: list[tuple[int, int]]) -> str:
    head = clause.head
    modality = _own_modality(clause, words)
    if any(start <= head.idx < end for start, end in quotes):
        modality = "report"
    if head.dep_ == "ccomp":
        governor = head.head
        third_person = any(child.dep_ == "nsubj" and child.lower_ not in ("i", "we") for child in governor.children)
        denied = any(child.dep_ == "neg" for child in governor.children)
        if governor.lemma_ in lexicon.HEDGES or (denied and governor.lemma_ in ("know", "sure")):
            modality = "hedge"
        elif governor.lemma_ in _SUPPOSING and governor.tag_ == "VBD" and not denied:
            modality = "past"  # "I thought that ...": it turned out otherwise
        elif third_person and (governor.lemma_ in lexicon.REPORT_VERBS or governor.lemma_ in lexicon.BELIEF_VERBS):
            modality = "report"
    if _UNCERTAIN_BEFORE.search(before):
        modality = "hedge"
    elif _REPORTED_BEFORE.search(before) and not _OWN_WORDS.search(before):
        modality = "report"
    if modality == "fact" and _FORMERLY.search(words):
        objects = {token.lower_ for token in clause.tokens if clause.roles[token.i] == "o"}
        return "fact" if "old" in objects else "past"
    return modality


def _own_modality(clause: Clause, words: str) -> str:
    sentence = clause.sentence.text
    auxiliaries = {token.lower_ for token in clause.tokens if token.dep_ == "aux" and token.head.i in clause.chain}
    if sentence.rstrip().endswith("?"):
        return "question"
    if "would" in auxiliaries or ("'d" in auxiliaries and "had" in sentence.lower()):
        return "hypothesis"
    if auxiliaries & {"may", "might", "could"} or any(_hedges(token) for token in clause.tokens):
        return "hedge"
    if _UNCERTAIN.search(words):
        return "hedge"
    planned = any(
        token.lemma_ in lexicon.PLAN_VERBS
        and token.i in clause.chain
        and any(child.dep_ == "xcomp" for child in token.children)
        for token in clause.tokens
    )
    if planned or auxiliaries & {"will", "'ll", "wo"} or _PLANNED.search(words):
        return "plan"
    if clause.head.i == clause.sentence.start and clause.head.lower_ in _MISTAKEN_IMPERATIVES and not clause.subjects:
        return "norm"
    if "should" in auxiliaries or (clause.head.tag_ == "VB" and not clause.subjects):
        return "norm"
    return "fact"


def _hedges(token: Any) -> bool:
    if token.lemma_.lower() not in lexicon.HEDGES:
        return False
    if token.pos_ == "ADV":
        return True
    return token.pos_ == "VERB" and any(child.dep_ in ("xcomp", "ccomp", "oprd") for child in token.children)


def _valence(clause: Clause, words: str, negations: int) -> tuple[int, bool]:
    """Whether the clause reports that something worked (+1) or did not (-1); True when that uses up its negation."""
    if _NO_EFFECT.search(words):
        return -1, True
    if _WENT_AWAY.search(words):
        return -1 if negations % 2 else 1, False
    forms: set[str] = set()
    tokens = clause.sentence if clause.head == clause.sentence.root else clause.tokens
    for token in tokens:
        if not (_can_evaluate(token)):
            continue
        forms |= {token.lemma_.lower(), token.lower_, token.lower_[:-2], token.lower_[:-1]}
    valence = bool(forms & lexicon.GOOD_WORDS) - bool(forms & lexicon.BAD_WORDS)
    return -valence if negations % 2 else valence, False


def _can_evaluate(token: Any) -> bool:
    if token.lemma_ == "fail" and any(child.dep_ == "xcomp" for child in token.children):
        return False
    if token.lemma_ == "work" and any(child.lower_ in _EMPLOYED for child in token.children):
        return False  # a job, not a success
    verbal = token.pos_ in ("VERB", "ADJ", "ADV", "AUX") and token.dep_ != "amod"
    return verbal or token.text.endswith("ed") or token.lemma_ in ("success", "failure")
