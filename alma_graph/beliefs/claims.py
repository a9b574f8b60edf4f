"""Text into claims, once, when it is stored; everything later works on the claims."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from alma_graph.beliefs import lexicon_function as lexicon
from alma_graph.beliefs.antecedents import with_antecedent
from alma_graph.beliefs.claim_model import DENIED, Claim, ClaimQuantity, Claims, Token
from alma_graph.beliefs.clauses import Clause, split_clauses
from alma_graph.beliefs.cleaning import CleanText, clean
from alma_graph.beliefs.contrast import denied_words
from alma_graph.beliefs.languages import ENGLISH, detect_language
from alma_graph.beliefs.meaning import read_meaning
from alma_graph.beliefs.parser import parse
from alma_graph.beliefs.quantities import find_quantities
from alma_graph.beliefs.wordlist import word_set

MAX_CLAIMS = 48
"""At most this many claims of a text are kept, the first ones (a note of about 900 words)."""

_CONTENT = word_set("NOUN PROPN VERB ADJ ADV NUM X INTJ")
_PARTICLES = word_set("on off up down before after without near inside outside")
_PARTICLE_PLACES = word_set("prt acomp advmod prep mark attr oprd")
_STOP_WORDS_THAT_COUNT = word_set("off down up empty full first last before after only")
_EMPTY_NOUNS = word_set("datum data information value number amount system setting application")
_VAGUE_MODIFIERS = word_set("my our the their most few some several many all such other new same own")
_VAGUE_FRONTED = word_set("way fact today general now moment record update")
_AUXILIARIES = word_set("be have do can will would should could may might must shall need")
_DETERMINERS = word_set("the my our his her their your")
_FIRST_PERSON = word_set("i we my our i've")
_TIME_NOUNS = word_set("""
    morning afternoon evening night day week month year spring summer autumn winter time moment minute hour today
    yesterday tomorrow tonight
""")
_NUMBERED_NOUNS = word_set("error status code response")
_PREFERRING = word_set("want prefer like love hate dislike")
_QUOTED = re.compile(r"\"[^\"]{3,200}\"|(?<!\w)'[^']{3,80}'(?!\w)")
_CODE_LIKE = re.compile(r"[_/\d]|[a-z][A-Z]")
_POSSESSED_BEFORE = re.compile(r"\b(my|our|the) [\w\s'-]{3,40} (of|to|at|is|was) (\w+ )?$")


def parse_claims(texts: Sequence[str]) -> list[Claims]:
    """The claims of each text, in order.

    Text beyond `cleaning.MAX_CHARACTERS` (cut at a sentence end) and claims beyond `MAX_CLAIMS` are not read. A text
    that is not English has no claims, only its language.

    Raises:
        MissingDependencyError: spaCy or its English model is not installed.
    """
    cleaned = [clean(text) for text in texts]
    languages = [detect_language(text.text) for text in cleaned]
    english = [index for index, language in enumerate(languages) if language == ENGLISH and cleaned[index].text]
    result = [Claims(language, ()) for language in languages]
    for index, document in zip(english, parse([cleaned[index].text for index in english]), strict=True):
        result[index] = Claims(ENGLISH, _claims_of(document, cleaned[index]))
    return result


def _claims_of(document: Any, cleaned: CleanText) -> tuple[Claim, ...]:
    quotes = [(match.start() + 1, match.end()) for match in _QUOTED.finditer(cleaned.text)]
    claims: list[Claim] = []
    before: Claim | None = None
    for number, sentence in enumerate(document.sents):
        if not sentence.text.strip():
            continue
        main: Claim | None = None
        for clause in split_clauses(sentence):
            claim = _claim(clause, cleaned, quotes, number)
            if claim is None:
                continue
            if before is not None:
                claim = with_antecedent(claim, before)
            main = main or claim
            claims.append(claim)
        before = main
        if len(claims) >= MAX_CLAIMS:
            break
    return tuple(claims[:MAX_CLAIMS])


def _claim(clause: Clause, cleaned: CleanText, quotes: list[tuple[int, int]], number: int) -> Claim | None:
    """The claim of a clause, or None where it has neither content words nor quantities."""
    denied = denied_words(clause)
    if denied:
        clause.roles.update((index, DENIED) for index in denied)
    whole = [token for token in clause.tokens if not token.is_space]
    if denied:
        clause.tokens = [token for token in clause.tokens if token.i not in denied]
    spoken = [token for token in clause.tokens if not token.is_space]
    if not spoken:
        return None
    words = " ".join(token.lower_ for token in spoken)
    first = spoken[0].idx
    before = cleaned.text[clause.sentence.start_char : first].lower()
    meaning = read_meaning(clause, words, before, quotes)
    quantities = _quantities(clause, spoken, cleaned.text)
    kept = [token for token in whole if _is_content(token) and not _inside(token, quantities)]
    tokens = _tokens(clause, kept, cleaned.text)
    if not tokens and not quantities:
        return None
    worded = [token for token in spoken if not token.is_punct] or spoken
    start, end = cleaned.original_span(worded[0].idx, worded[-1].idx + len(worded[-1]))
    return Claim(
        words=words,
        start=start,
        end=end,
        tokens=tuple(_in_original(token, cleaned) for token in tokens),
        quantities=tuple(_quantity_in_original(quantity, cleaned) for quantity in quantities),
        negated=meaning.negated,
        modality=meaning.modality,
        quantifier=meaning.quantifier,
        predicate="be" if clause.copular else clause.head.lemma_.lower(),
        subject=_subject_index(clause, kept, tokens),
        traits=_traits(clause, meaning.conditional),
        condition=frozenset(
            token.lemma_.lower()
            for token in spoken
            if clause.roles[token.i] == "c" and token.pos_ in _CONTENT and token.lower_ not in ("when", "if")
        ),
        fronted=_fronted(clause),
        first_person=any(token.lower_ in _FIRST_PERSON for token in spoken),
        tense=meaning.tense,
        valence=meaning.valence,
        negating_verb=meaning.negating_verb,
        sentence=number,
        progressive=any(token.tag_ == "VBG" and token.i in clause.chain for token in spoken),
    )


def _is_content(token: Any) -> bool:
    if token.lower_ == "longer" and any(child.lower_ == "no" for child in token.children):
        return False
    if (
        token.lower_ == "anymore"
        or token.dep_ == "neg"
        or token.lemma_.lower() in lexicon.NEGATIVE_DETERMINERS
        or token.is_punct
    ):
        return False
    if token.pos_ in _CONTENT or _is_mistagged_verb(token):
        return True
    if token.lower_ not in _PARTICLES or token.dep_ not in _PARTICLE_PLACES:
        return False
    return token.lower_ != "on" or not any(True for _ in token.children)


def _is_mistagged_verb(token: Any) -> bool:
    """ "caches" taken for a preposition: the root of a sentence, with a subject."""
    mistagged = token.dep_ == "ROOT" and token.pos_ in ("ADP", "AUX") and token.lemma_ not in _AUXILIARIES
    return mistagged and any(child.dep_ == "nsubj" for child in token.children)


def _inside(token: Any, quantities: list[ClaimQuantity]) -> bool:
    return any(quantity.value.start <= token.idx < quantity.value.end for quantity in quantities)


def _tokens(clause: Clause, kept: list[Any], text: str) -> list[Token]:
    """The content words as values; spans are still those of the cleaned text."""
    index_of = {token.i: index for index, token in enumerate(kept)}
    tokens = []
    for token in kept:
        pos = "PROPN" if _is_name(token, clause, text) else token.pos_
        lemma = token.lower_ if pos in ("PROPN", "ADJ", "ADV") else token.lemma_.lower()
        tokens.append(
            Token(
                lemma=lemma.strip(".,:;()'\"") or lemma,
                surface=token.lower_,
                pos=pos,
                dependency=token.dep_,
                role=clause.roles[token.i],
                head=index_of.get(token.head.i, -1),
                position=token.i,
                start=token.idx,
                end=token.idx + len(token),
                weight=_weight(token, pos, lemma, clause),
                modifiers=_modifiers(token),
            )
        )
    return _without_appositions(tokens)


def _is_name(token: Any, clause: Clause, text: str) -> bool:
    """A capitalised word inside a sentence is a name, whatever the tagger says."""
    if token.pos_ not in ("VERB", "ADJ", "ADV", "NOUN", "X", "INTJ") or not token.text[0].isupper() or token.is_stop:
        return False
    return token.i > clause.sentence.start and text[max(0, token.idx - 2) : max(0, token.idx - 1)] not in (
        ":",
        ".",
        "\n",
    )


def _weight(token: Any, pos: str, lemma: str, clause: Clause) -> float:
    if clause.roles[token.i] == DENIED:
        return 0.0
    if token.lower_ in _PARTICLES or token.lower_ == "far":
        return 0.8
    if (token.i in clause.chain and lemma in lexicon.COPULA_LIKE_VERBS) or lemma in _EMPTY_NOUNS:
        return 0.3
    stop = token.is_stop and token.pos_ != "NOUN" and lemma not in _STOP_WORDS_THAT_COUNT
    if pos != "PROPN" and (lemma in lexicon.LIGHT_WORDS or stop):
        return 0.15
    if token.dep_ == "npadvmod" and lemma in _TIME_NOUNS:
        return 0.3  # "this morning" says when, not what
    if lemma == "user" and clause.roles[token.i] == "s" and clause.head.lemma_.lower() in _PREFERRING:
        return 0.3
    if pos in ("PROPN", "X", "NUM") or _CODE_LIKE.search(token.text):
        return 1.4
    return {"NOUN": 1.0, "VERB": 0.8, "ADJ": 0.8, "ADP": 0.8, "AUX": 0.8}.get(pos, 0.4)


def _modifiers(token: Any) -> tuple[str, ...]:
    modifiers = []
    for child in token.children:
        lemma = child.lower_ if child.pos_ == "PROPN" else child.lemma_.lower()
        if child.dep_ in ("amod", "compound", "poss", "nmod", "nummod"):
            named = token.lemma_.lower() in _NUMBERED_NOUNS or not child.text[0].isdigit()
            if child.lemma_.lower() not in _VAGUE_MODIFIERS and named:
                modifiers.append(lemma)
        elif child.dep_ == "prep" and child.lower_ in ("of", "in", "for", "on"):
            modifiers += [grandchild.lemma_.lower() for grandchild in child.children if grandchild.dep_ == "pobj"]
    return tuple(modifiers)


def _without_appositions(tokens: list[Token]) -> list[Token]:
    """In "the billing service Ledger" the name decides; the common noun beside it weighs half."""
    names = [token for token in tokens if token.role == "s" and token.weight == 1.4]
    if not names or not any(token.dependency in ("nsubj", "nsubjpass") for token in tokens if token.role == "s"):
        return tokens
    return [
        replace(token, weight=0.5)
        if token.role == "s"
        and token.weight == 1.0
        and token.dependency in ("compound", "appos", "nsubj", "nsubjpass")
        and abs(token.start - names[0].start) < 40
        else token
        for token in tokens
    ]


def _subject_index(clause: Clause, kept: list[Any], tokens: list[Token]) -> int:
    index_of = {token.i: index for index, token in enumerate(kept)}
    for subject in clause.subjects:
        if subject.i in index_of and subject.dep_ != "expl":
            return index_of[subject.i]
    return next((index for index, token in enumerate(tokens) if token.role == "s" and token.dependency == "pobj"), -1)


def _traits(clause: Clause, conditional: bool) -> frozenset[str]:
    subjects = clause.subjects
    pronoun = any(subject.pos_ == "PRON" and subject.lower_ not in ("i", "we") for subject in subjects)
    definite = any(
        child.lower_ in _DETERMINERS or child.dep_ == "poss" for subject in subjects for child in subject.children
    )
    indefinite = clause.copular and any(
        child.lower_ in ("a", "an")
        for token in clause.tokens
        if clause.roles[token.i] == "o" and token.head.i in clause.chain
        for child in token.children
    )
    told = {
        "indefinite": indefinite,
        "copula": clause.copular,
        "definite": definite,
        "expletive": any(token.dep_ == "expl" for token in clause.tokens),
        "passive": clause.passive,
        "conditional": conditional,
        "pronoun": pronoun,
    }
    return frozenset(name for name, holds in told.items() if holds)


def _fronted(clause: Clause) -> frozenset[str]:
    """Content words of the phrases before the subject: where, when or under what the claim holds."""
    subject_start = min((token.i for subject in clause.subjects for token in subject.subtree), default=-1)
    if subject_start < 0:
        return frozenset()
    words = set()
    for token in clause.tokens:
        if token.i >= subject_start or token.is_space:
            continue
        phrase = any(
            above.dep_ in ("prep", "npadvmod") and above.i < subject_start for above in (token, *token.ancestors)
        )
        content = token.pos_ in ("NOUN", "PROPN", "ADJ", "NUM", "VERB", "X")
        if phrase and (content or token.lower_ in ("with", "without", "before", "after")):
            words.add(token.lower_)
    return frozenset(words - _VAGUE_FRONTED)


def _quantities(clause: Clause, spoken: list[Any], text: str) -> list[ClaimQuantity]:
    """Quantities of the clause, each placed at its token; spans are still those of the cleaned text."""
    start, end = spoken[0].idx, max(token.idx + len(token) for token in spoken)
    placed = []
    for quantity in find_quantities(text[start:end], start):
        token = next(
            (t for t in spoken if t.idx <= quantity.start < t.idx + len(t) or quantity.start <= t.idx < quantity.end),
            None,
        )
        if token is None:
            continue  # it belongs to another clause inside this one
        value = quantity
        if value.kind == "ident" and token.dep_ == "nummod" and token.head.i > token.i:
            value = replace(value, kind="count", noun="")  # "a task 3 times" counts; "task 3" names
        if value.kind == "count":
            value = replace(value, noun=_counted_noun(token, value.noun, text[value.end : value.end + 4]))
        role = clause.roles[token.i]
        previous = next((t.lower_ for t in spoken if t.i == token.i - 1 and t.pos_ in ("PROPN", "NOUN")), "")
        names_subject = role == "s" and bool(previous) and not (token.dep_ == "nummod" and token.head.i > token.i)
        if names_subject and value.kind in ("count", "port"):
            value = replace(value, kind="ident", noun=previous)  # "port 5432 is open", "user 17 has ..."
        names = value.kind in ("version", "date", "weekday", "ident")
        leads = token.i < clause.head.i and names and not clause.bare_copula and role != "o"
        before_subject = role in ("x", "m") and bool(clause.subjects) and token.i < clause.subjects[0].i
        placed.append(
            ClaimQuantity(
                value=value,
                role=role,
                position=token.i,
                fronted=leads or role == "s" or before_subject,
                presupposed=bool(_POSSESSED_BEFORE.search(text[max(0, value.start - 50) : value.start])),
                previous=previous,
            )
        )
    return placed


def _counted_noun(token: Any, noun: str, after: str) -> str:
    if token.dep_ == "nummod":
        return str(token.head.lemma_.lower())
    if token.dep_ in ("attr", "dobj", "pobj", "ROOT") and not (noun and after == " of "):
        return ""
    return noun


def _in_original(token: Token, cleaned: CleanText) -> Token:
    start, end = cleaned.original_span(token.start, token.end)
    return replace(token, start=start, end=end)


def _quantity_in_original(quantity: ClaimQuantity, cleaned: CleanText) -> ClaimQuantity:
    start, end = cleaned.original_span(quantity.value.start, quantity.value.end)
    return replace(quantity, value=replace(quantity.value, start=start, end=end))
