"""Mentions and relations of new memories as nodes and edges; names that are surely one thing meet in one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from alma_graph.backends.protocol import EdgeRow, NodeUpdate, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.extraction import Extraction
from alma_graph.ids import formed_id
from alma_graph.model import Memory

VALUES = frozenset({"DATE", "QUANTITY"})
"""Types of mentions that are values, not things: as nodes they would join memories that have nothing in common."""

MAX_ALIASES = 32
"""Spellings kept of one entity; beyond it a new spelling still leads to the node, it is only not listed."""


class EntityNames(Protocol):
    """The entities of a project by name."""

    def entity_key(self, name: str) -> str | None:
        """Key of the entity with this canonical name or alias."""
        ...

    def entity_aliases(self, key: str) -> Sequence[str]:
        """The spellings seen so far of an entity."""
        ...


class EntityLinker:
    """Collects the entities of one unit of work.

    A mention goes to the entity whose canonical name or alias equals the mention's canonical name, else it makes a new
    one. Likeness never merges: names that differ in a digit, a version or a word stay apart.
    """

    def __init__(self, project_id: str, names: EntityNames, work: UnitOfWork) -> None:
        self._project_id = project_id
        self._names = names
        self._work = work
        self._keys: dict[str, str] = {}
        self._aliases: dict[str, list[str]] = {}
        self._made: dict[str, dict[str, object]] = {}
        self._relations: set[tuple[object, ...]] = set()

    def link(self, memory: Memory, extraction: Extraction) -> tuple[str, ...]:
        """Adds MENTIONS and RELATES_TO of one memory to the unit of work; returns its entities' keys, in order."""
        source = node_key(memory.project_id, memory.id)
        seen: dict[str, None] = {}
        for mention in extraction.entities:
            if mention.type in VALUES:
                continue
            key = self._entity(mention.canonical, mention.name, mention.type)
            self._note_alias(key, mention.name)
            if key in seen:
                continue
            seen[key] = None
            properties = {
                "start_char": mention.start_char,
                "end_char": mention.end_char,
                "surface": mention.surface,
                "type": mention.type,
            }
            self._work.edges.append(EdgeRow("MENTIONS", source, key, properties))
        for relation in extraction.linked:
            subject, target = self._known(relation.subject), self._known(relation.object)
            if subject is None or target is None or subject == target or not {subject, target} & seen.keys():
                continue  # an argument that is no entity makes no node; one side at least stands in this text
            identity = (memory.id, subject, relation.predicate, target, relation.negated)
            if identity in self._relations:
                continue
            self._relations.add(identity)
            properties = {
                "predicate": relation.predicate,
                "memory_id": memory.id,
                "negated": relation.negated,
                "confidence": relation.confidence,
            }
            self._work.edges.append(EdgeRow("RELATES_TO", subject, target, properties))
        return tuple(seen)

    def finish(self) -> None:
        """Adds the new entities, and new spellings of known ones, to the unit of work."""
        for key, row in self._made.items():
            self._work.add_node("Entity", {**row, "aliases": self._aliases[key]})
        for key, aliases in self._aliases.items():
            if key not in self._made and list(self._names.entity_aliases(key)) != aliases:
                self._work.node_updates.append(NodeUpdate("Entity", key, {"aliases": aliases}))

    def _known(self, canonical: str) -> str | None:
        """The entity of this name, of this text or (behind a pronoun) of an earlier one."""
        return self._keys.get(canonical) or self._names.entity_key(canonical)

    def _entity(self, canonical: str, name: str, type_: str) -> str:
        key = self._keys.get(canonical)
        if key is None:
            key = self._names.entity_key(canonical)
            if key is None:
                key = node_key(self._project_id, formed_id(self._project_id, "entity", canonical))
                self._made[key] = {
                    "key": key,
                    "project_id": self._project_id,
                    "name": name,
                    "canonical": canonical,
                    "type": type_,
                }
            self._keys[canonical] = key
        return key

    def _note_alias(self, key: str, name: str) -> None:
        aliases = self._aliases.get(key)
        if aliases is None:
            known = [] if key in self._made else list(self._names.entity_aliases(key))
            aliases = self._aliases[key] = known
        if name not in aliases and len(aliases) < MAX_ALIASES:
            aliases.append(name)
