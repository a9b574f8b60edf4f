"""Sentences into clauses: one head each, with the words that belong to it and their roles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from alma_graph.beliefs.wordlist import word_set

_OFTEN_SEVERAL = word_set("""
    acquaintance ally aunt brother cat child client colleague cousin coworker customer daughter dog enemy friend
    grandchild guest hobby idea kid neighbor neighbour nephew niece pet plan project sister son student teammate uncle
""")
VERBAL = word_set("VERB AUX")
SUBJECTS = word_set("nsubj nsubjpass csubj expl")
_ADVERBIAL_MARKS = word_set("because since as so although though while whereas but")
_FINITE_TAGS = word_set("VBD VBZ VBP")
_AUXILIARIES = word_set("aux auxpass cop")
_ROLE_OF_DEPENDENCY = {
    **dict.fromkeys(SUBJECTS, "s"),
    **dict.fromkeys(("dobj", "attr", "oprd", "acomp", "dative", "ccomp", "pcomp", "agent"), "o"),
    "prep": "x",
    "advcl": "c",
    **dict.fromkeys(("aux", "neg", "prt", "auxpass"), "p"),
}


@dataclass(slots=True)
class Clause:
    """One clause of a sentence. Tokens are spaCy's.

    Attributes:
        head: its verb (or the root of a sentence without one).
        tokens: its words in order, an inherited subject included.
        subjects: its subjects, taken from the clause it is coordinated with where it has none of its own.
        inherited: head of the clause that the subject came from.
        chain: indices of the words of the verb chain.
        bare_copula: the head is tagged as a verb but only a form of "be" is one ("is read only").
        passive: the verb chain is passive.
        roles: index of a token -> its role, as in `Token.role`.
    """

    sentence: Any
    head: Any
    tokens: list[Any]
    subjects: list[Any]
    inherited: Any | None
    chain: set[int]
    bare_copula: bool
    passive: bool
    roles: dict[int, str] = field(default_factory=dict)

    @property
    def copular(self) -> bool:
        """It says what something is."""
        return bool(self.head.lemma_ == "be") or self.bare_copula


def split_clauses(sentence: Any) -> list[Clause]:
    """The clauses of a spaCy sentence, outer clauses first."""
    heads = [sentence.root, *(token for token in sentence if token != sentence.root and _heads_a_clause(token))]
    head_indices = {head.i for head in heads}
    owned: dict[int, list[Any]] = {head.i: [] for head in heads}
    for token in sentence:
        owner = token
        while owner.i not in head_indices:
            owner = owner.head
        owned[owner.i].append(token)
    depth = {head.i: sum(1 for _ in head.ancestors) for head in heads}
    return [_clause(sentence, head, owned) for head in sorted(heads, key=lambda head: (depth[head.i], head.i))]


def _heads_a_clause(token: Any) -> bool:
    if token.pos_ not in VERBAL:
        return False
    children = {child.dep_ for child in token.children}
    if token.dep_ == "conj":
        return token.head.pos_ in VERBAL
    if token.dep_ in ("ccomp", "parataxis"):
        finite = token.tag_ in _FINITE_TAGS or bool(children & {"aux", "auxpass", "mark"})
        return bool(children & {"nsubj", "nsubjpass", "expl"}) and finite
    if token.dep_ == "advcl":
        marks = {child.lemma_.lower() for child in token.children if child.dep_ in ("mark", "advmod")}
        return bool(marks & _ADVERBIAL_MARKS)
    return token.dep_ == "relcl" and any(
        child.dep_ == "nsubj" and child.pos_ in ("PRON", "PROPN", "NOUN") and not child.tag_.startswith("W")
        for child in token.children
    )


def _clause(sentence: Any, head: Any, owned: dict[int, list[Any]]) -> Clause:
    tokens = list(owned[head.i])
    subjects = [child for child in head.children if child.dep_ in SUBJECTS]
    ancestor = head
    while not subjects and ancestor.dep_ == "conj" and ancestor.head.pos_ in VERBAL:
        ancestor = ancestor.head
        subjects = [child for child in ancestor.children if child.dep_ in ("nsubj", "nsubjpass")]
        if subjects:
            shared = {token.i for token in owned.get(ancestor.i, owned[head.i])}
            tokens = [token for token in subjects[0].subtree if token.i in shared] + tokens
    unique = {token.i: token for token in tokens}
    tokens = [unique[index] for index in sorted(unique)]
    be_forms = {child.i for child in head.children if child.lemma_ == "be" and child.dep_ in _AUXILIARIES}
    bare_copula = bool(be_forms) and head.tag_ in ("VB", "VBP", "NN")
    chain = {child.i for child in head.children if child.dep_ in _AUXILIARIES} if bare_copula else {head.i}
    for token in tokens:
        if token.dep_ in ("xcomp", "aux", "auxpass", "prt") and token.head.i in chain:
            chain.add(token.i)
    clause = Clause(
        sentence=sentence,
        head=head,
        tokens=tokens,
        subjects=subjects,
        inherited=ancestor if ancestor is not head else None,
        chain=chain,
        bare_copula=bare_copula,
        passive=any(token.dep_ in ("auxpass", "nsubjpass") and token.head.i in chain for token in tokens),
    )
    own = set(unique)
    for token in tokens:
        _assign_role(clause, token, own)
    described = _described(clause)
    if described is not None:
        _turn_round(clause, described)
    return clause


def _described(clause: Clause) -> Any | None:
    """The complement of "Tom is my manager": a description, which "My manager is Tom" has as its subject."""
    if not clause.copular or len(clause.subjects) != 1 or clause.passive:
        return None
    subject = clause.subjects[0]
    if any(child.dep_ in ("det", "poss", "relcl") for child in subject.children) or subject.pos_ == "PRON":
        return None
    for token in clause.tokens:
        if token.dep_ == "attr" and token.head.i in clause.chain and token.pos_ == "NOUN":
            if token.lemma_.lower() in _OFTEN_SEVERAL:
                return None
            possessed = any(child.dep_ == "poss" and child.pos_ == "PRON" for child in token.children)
            plural = token.tag_ == "NNS"
            return token if possessed and not plural and token.i > subject.i else None
    return None


def _turn_round(clause: Clause, described: Any) -> None:
    mine = {token.i for token in clause.subjects[0].subtree}
    theirs = {token.i for token in described.subtree}
    for token in clause.tokens:
        if token.i in mine:
            clause.roles[token.i] = "o"
        elif token.i in theirs:
            clause.roles[token.i] = "s"
    clause.subjects = [described]


def _assign_role(clause: Clause, token: Any, own: set[int]) -> None:
    """Give `token` and the heads above it their roles: a word has the role of the phrase it stands in."""
    path = []
    while token.i not in clause.roles:
        role = _role(clause, token, own)
        if role:
            clause.roles[token.i] = role
            break
        path.append(token)
        token = token.head
    for below in path:
        clause.roles[below.i] = clause.roles[token.i]


def _role(clause: Clause, token: Any, own: set[int]) -> str:
    """The role of a phrase's head; empty for a word inside a phrase."""
    if token.i in clause.chain:
        return "p"
    if clause.bare_copula and token == clause.head:
        return "o"
    if clause.bare_copula and token.head == clause.head:
        return "s" if token.dep_.startswith("nsubj") else "x"
    if token.head == token or (token.head.i not in own and token.head.i not in clause.chain):
        return "s" if token.dep_.startswith("nsubj") else "p"
    if token.head.i in clause.chain:
        return _ROLE_OF_DEPENDENCY.get(token.dep_, "m")
    return ""
