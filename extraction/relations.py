"""Triples of one parsed piece by rules over the dependency tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from alma_graph.extraction.clause import Clause, Complement, clause_of, is_clause_verb
from alma_graph.extraction.grammar import verb_name
from alma_graph.extraction.nominal import add_between_neighbours, add_between_nouns
from alma_graph.extraction.parse import Parse
from alma_graph.extraction.predicates import MOVES_ITS_OBJECT, predicates
from alma_graph.extraction.records import SessionContext
from alma_graph.extraction.reference import Argument, Arguments
from alma_graph.extraction.spans import Span
from alma_graph.extraction.triples import Triple, Triples
from alma_graph.extraction.vocabulary import ROLE_HEADS, SUBJECT_RELATIONS

if TYPE_CHECKING:
    from spacy.tokens import Token

_INTRODUCTION = re.compile(r"\b[Mm]y name is ([A-Z]\w{0,30}(?: [A-Z]\w{0,30})?)")
_REFLEXIVE_PREPOSITION_VERBS = frozenset({"call", "talk", "recover", "retry", "break"})
_SUPERIORS = frozenset({"manager", "boss", "supervisor"})
_BUILDING = frozenset({"write", "rewrite", "build", "implement"})
_ADJUNCT_PREPOSITIONS = frozenset({"in", "on", "at", "during", "for", "after", "before", "since", "until", "within"})
"""With a verb that no rule names they say where or when, not what is related to what."""


def relations(parse: Parse, entities: list[Span], session: SessionContext) -> list[Triple]:
    """Triples of a piece whose entities are bound to its tokens; the session is read, and the speaker set."""
    introduced = _INTRODUCTION.search(parse.text)
    if introduced and not session.speaker:
        session.speaker = introduced.group(1)
    arguments = Arguments(parse, entities, session)
    triples = Triples(parse, arguments, session)
    rules = _VerbRules(parse, arguments, triples)
    for token in parse.tokens():
        if is_clause_verb(parse, token):
            rules.apply(clause_of(parse, token))
    add_between_nouns(parse, triples)
    add_between_neighbours(parse, entities, triples)
    return triples.found


class _VerbRules:
    """Triples of clauses."""

    def __init__(self, parse: Parse, arguments: Arguments, triples: Triples) -> None:
        self._parse = parse
        self._arguments = arguments
        self._triples = triples

    def apply(self, clause: Clause) -> None:
        """Add the triples that a clause states."""
        verb = clause.verb
        is_using = clause.lemma == "use" and verb.tag_ == "VBG" and verb.dep_ in {"acl", "advcl", "xcomp"}
        if is_using and verb.head.pos_ in {"VERB", "AUX"}:
            return  # "deployed X using Y" is read at "deployed"
        if clause.lemma == "decide" and any(c.preposition == "against" for c in clause.complements):
            for complement in clause.complements:
                if complement.preposition == "against":
                    self._pair(clause.subjects, "CHOSE", complement.index, True)
            return
        self._objects(clause)
        if clause.lemma == "be":
            self._attributes(clause)
        for complement in clause.complements:
            if complement.relation != "agent" and not (complement.preposition == "by" and clause.passive):
                self._complement(clause, complement)
        for child in verb.children:
            self._subordinate(clause, child)
        if clause.lemma == "do" and not clause.objects:
            self._ellipsis(clause)

    def _pair(self, subjects: list[int], predicate: str, object_: int, negated: bool) -> None:
        for subject in subjects:
            self._triples.add(subject, predicate, object_, negated)

    def _objects(self, clause: Clause) -> None:
        replaced = clause.lemma == "replace" and any(c.preposition == "with" for c in clause.complements)
        if clause.passive:
            for agent in clause.agents:
                for subject in clause.subjects:
                    if clause.predicate == "WORKS_FOR":  # "employed by"
                        self._triples.add(subject, clause.predicate, agent, clause.negated)
                    else:
                        self._triples.add(agent, clause.predicate, subject, clause.negated)
        elif not replaced:
            for subject in clause.subjects:
                for object_ in clause.objects:
                    self._triples.add(subject, clause.predicate, object_, clause.negated)

    def _attributes(self, clause: Clause) -> None:
        """ "Bob is the CTO of Acme", "Their CTO is Bob", "The limit is 200"."""
        parse = self._parse
        for subject in clause.subjects:
            for attribute in clause.attributes:
                owner = next((c for c in parse.doc[subject].children if c.dep_ == "poss"), None)
                names_a_person = parse.word(subject) in ROLE_HEADS and parse.type(attribute) == "PERSON"
                if names_a_person and owner is not None and parse.word(owner.i) not in {"my", "your"}:
                    employer = self._owner(owner)
                    if employer is not None:
                        self._triples.add(attribute, "WORKS_FOR", employer, clause.negated)
                elif parse.word(attribute) in ROLE_HEADS:
                    for child in parse.doc[attribute].children:
                        if child.dep_ == "prep" and parse.word(child.i) in {"of", "at", "for"}:
                            for part in child.children:
                                if part.dep_ == "pobj":
                                    self._triples.add(subject, "WORKS_FOR", part.i, clause.negated)
                elif not clause.agents:
                    self._triples.add(subject, "IS", attribute, clause.negated)
                self._superior(subject, attribute, clause.negated)
                self._superior(attribute, subject, clause.negated)

    def _owner(self, possessive: Token) -> Argument | None:
        return self._arguments.at(possessive.i)

    def _superior(self, role: int, person: int, negated: bool) -> None:
        """ "My manager is X", "X is my manager"."""
        if self._parse.word(role) not in _SUPERIORS or self._parse.type(person) != "PERSON":
            return
        for child in self._parse.doc[role].children:
            if child.dep_ == "poss" and self._parse.word(child.i) == "my":
                self._triples.add(self._arguments.speaker(child.i), "REPORTS_TO", person, negated)

    def _complement(self, clause: Clause, complement: Complement) -> None:
        """One prepositional object: of the verb, or of its light object."""
        parse, preposition, index = self._parse, complement.preposition, complement.index
        key = f"{clause.lemma} {preposition}"
        negated = clause.negated != complement.negated
        if clause.passive and clause.predicate == "USES" and preposition in {"in", "by", "for", "throughout"}:
            for subject in clause.subjects:  # "requests is used in sync.py"
                self._triples.add(index, "USES", subject, negated)
        elif key in predicates():
            first_word = clause.lemma.split()[0]
            about_object = first_word in MOVES_ITS_OBJECT or (preposition == "in" and first_word in _BUILDING)
            who = (about_object and clause.objects) or clause.subjects or clause.objects
            self._pair(who, predicates()[key], index, negated)
        elif preposition in {"with", "via", "through", "using"} and parse.type(index) == "STRATEGY":
            self._pair(clause.objects or clause.subjects, "USES", index, negated)
        elif preposition in {"over", "instead"} and clause.predicate in {"CHOSE", "PREFERS", "USES"}:
            self._pair(clause.subjects, clause.predicate, index, not negated)
        elif preposition in {"with", "for"} and clause.lemma == "replace" and clause.objects:
            for replaced in clause.objects:
                self._triples.add(index, "REPLACES", replaced, negated)
        elif clause.passive and (
            (preposition == "with" and clause.lemma in _BUILDING)
            or (preposition == "in" and clause.lemma in {"write", "rewrite"})
        ):
            self._pair(clause.subjects, "USES", index, negated)
        elif preposition == "from" and clause.lemma in {"move", "switch", "migrate"} and not clause.objects:
            return
        else:
            self._open_complement(clause, complement)

    def _open_complement(self, clause: Clause, complement: Complement) -> None:
        """A prepositional object that no rule names: its verb and preposition become the predicate."""
        parse, preposition, index = self._parse, complement.preposition, complement.index
        if parse.entity(index) is None or parse.type(index) in {"DATE", "QUANTITY"} or clause.attributes:
            return
        if clause.lemma == "be":
            if preposition in {"in", "at"} and not any(c.dep_ == "acomp" for c in clause.verb.children):
                self._pair(clause.subjects, "LOCATED_IN", index, clause.negated)
            return
        if clause.objects:
            return
        for subject in clause.subjects:
            if clause.lemma in _REFLEXIVE_PREPOSITION_VERBS and clause.lemma in predicates():
                self._triples.add(subject, predicates()[clause.lemma], index, clause.negated)
            elif parse.entity(subject) is not None and preposition not in _ADJUNCT_PREPOSITIONS:
                predicate = f"{clause.lemma}_{preposition}".upper().replace(" ", "_")
                self._triples.add(subject, predicate, index, clause.negated)

    def _subordinate(self, clause: Clause, child: Token) -> None:
        """ "deployed X using Y"; "raised KeyError because Y ..."."""
        parse = self._parse
        if child.dep_ in {"advcl", "xcomp"} and child.text.lower() == "using":
            for part in child.children:
                if part.dep_ == "dobj":
                    self._pair(clause.objects or clause.subjects, "USES", part.i, clause.negated)
            return
        if child.dep_ != "advcl":
            return
        marks = {parse.word(part.i) for part in child.children if part.dep_ == "mark"}
        if not marks & {"because", "since"}:
            return
        candidates = clause.objects + [c.index for c in clause.complements]
        errors = [i for i in candidates if parse.type(i) == "ERROR"] or [
            i for i in clause.subjects if parse.type(i) == "ERROR"
        ]
        for part in child.children:
            if part.dep_ in SUBJECT_RELATIONS and errors:
                self._triples.add(part.i, "CAUSES", errors[0], False)

    def _ellipsis(self, clause: Clause) -> None:
        """ "Fatima didn't approve the rollout, but Ben did": verb and object are those of the clause before."""
        parse, verb = self._parse, clause.verb
        left = parse.doc[verb.sent.start : verb.i]
        for candidate in [verb.head, *verb.children, *reversed(left)]:
            full_objects = [child.i for child in candidate.children if child.dep_ == "dobj"]
            if candidate.pos_ == "VERB" and candidate.i < verb.i and full_objects:
                predicate = predicates().get(verb_name(parse, candidate))
                for child in verb.children:
                    if predicate and child.dep_ in SUBJECT_RELATIONS:
                        for object_ in full_objects:
                            self._triples.add(child.i, predicate, object_, clause.negated)
                return
