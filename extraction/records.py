"""What extraction hands back: plain, frozen values. No library is imported here."""

from __future__ import annotations

from dataclasses import dataclass, field

ENTITY_TYPES: tuple[str, ...] = (
    "PERSON",
    "ORG",
    "LOCATION",
    "TECH",
    "COMPONENT",
    "VERSION",
    "FILE",
    "URL",
    "EMAIL",
    "ENV_VAR",
    "ERROR",
    "CODE",
    "TICKET",
    "DATE",
    "QUANTITY",
    "METRIC",
    "STRATEGY",
    "PROJECT",
)
"""Types of the entities that a text mentions."""

TERM = "TERM"
"""Type of a relation's argument that is a common noun ("the outage"), not one of the entities."""

PRONOUN = "PRONOUN"
"""Type of an argument that stayed a pronoun ("we"): it names nothing, so no node is made of it."""

_MEMORY_OF_NAMES = 32


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """One mention of an entity.

    Attributes:
        name: what to show; the known spelling of a known name ("PostgreSQL" for "postgres"), else the surface.
        surface: `text[start_char:end_char]`, as the caller wrote it.
        start_char, end_char: half-open span in the caller's text, in characters.
        type: one of `ENTITY_TYPES` (or `TERM`, only in `Extraction.nodes`).
        canonical: key under which equal names meet (`alma_graph.extraction.canonical`).
    """

    name: str
    surface: str
    start_char: int
    end_char: int
    type: str
    canonical: str


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """One triple that the text states.

    Attributes:
        subject, object: canonical names of the arguments, pronouns resolved where a referent is known.
        predicate: upper-case label such as `USES`, `DEPENDS_ON`, `WORKS_FOR`.
        negated: the text denies the triple ("no longer depends on").
        confidence: share of such triples that were right on development sentences, by kind of rule, in (0, 1).
        start_char, end_char: span of the text from the first argument to the last.
        subject_text, object_text: the arguments' wording.
        subject_type, object_type: entity type, or `TERM` / `PRONOUN` for what is no entity.
    """

    subject: str
    predicate: str
    object: str
    negated: bool
    confidence: float
    start_char: int
    end_char: int
    subject_text: str = ""
    object_text: str = ""
    subject_type: str = TERM
    object_type: str = TERM


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything found in one text.

    Attributes:
        entities: mentions, by position; no two overlap.
        relations: triples, by order of finding.
        nouns: casefolded surface forms and lemmas of the words that the parser called nouns or names; empty where no
            parser ran.
    """

    entities: tuple[ExtractedEntity, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    nouns: frozenset[str] = frozenset()

    @property
    def linked(self) -> tuple[ExtractedRelation, ...]:
        """Relations that can be edges: neither side is an unresolved pronoun."""
        return tuple(r for r in self.relations if PRONOUN not in (r.subject_type, r.object_type))

    @property
    def nodes(self) -> tuple[ExtractedEntity, ...]:
        """One entity for each canonical name of `entities` and `linked`, first mention first: no edge dangles.

        An argument that is no entity of the text comes as type `TERM` (or the type it had when it was mentioned
        earlier in the session) with the span of its relation.
        """
        found: dict[str, ExtractedEntity] = {}
        for entity in self.entities:
            found.setdefault(entity.canonical, entity)
        for relation in self.linked:
            for key, surface, kind in (
                (relation.subject, relation.subject_text, relation.subject_type),
                (relation.object, relation.object_text, relation.object_type),
            ):
                if key not in found:
                    start, end = relation.start_char, relation.end_char
                    found[key] = ExtractedEntity(surface, surface, start, end, kind, key)
        return tuple(found.values())


@dataclass(slots=True)
class SessionContext:
    """What a pronoun may look back at: the last 32 names of one session, oldest first.

    A plain value that the caller holds, one per session; extraction reads it and appends to it. Copy or store it
    with `dataclasses.asdict`.

    Attributes:
        speaker: who "I" is; filled by "my name is ..." when it was empty.
        people, orgs: names.
        things: (name, type) of components, technologies, files, code and projects.
    """

    speaker: str = ""
    people: list[str] = field(default_factory=list)
    orgs: list[str] = field(default_factory=list)
    things: list[tuple[str, str]] = field(default_factory=list)

    def mention(self, name: str, type_: str) -> None:
        """Remember that `name` was mentioned."""
        if type_ == "PERSON":
            self.people.append(name)
            del self.people[:-_MEMORY_OF_NAMES]
        elif type_ == "ORG":
            self.orgs.append(name)
            del self.orgs[:-_MEMORY_OF_NAMES]
        elif type_ in {"COMPONENT", "TECH", "FILE", "CODE", "PROJECT"}:
            self.things.append((name, type_))
            del self.things[:-_MEMORY_OF_NAMES]
