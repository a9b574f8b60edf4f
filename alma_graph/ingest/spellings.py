"""Spellings of entities that only a removed memory used: they go with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from alma_graph.backends.protocol import Backend, NodeUpdate, Row, UnitOfWork, chunked
from alma_graph.extraction.gazetteer import known_name

_TEXTS_AT_A_TIME = 50


def drop_spellings(
    work: UnitOfWork, backend: Backend, gone_texts: Iterable[str], left: Mapping[str, Sequence[str]]
) -> None:
    """Takes the spellings out that no memory which stays has; an entity that was named by one gets another name.

    A memory's edge to an entity has only the first of several spellings, so the texts are asked.

    Args:
        gone_texts: texts of the removed memories.
        left: entities that they mentioned and that stay; the memories that mention each.
    """
    if not left:
        return
    gone = " \n ".join(map(_flat, gone_texts))
    fresh = [_flat(row["text"] or "") for row in work.nodes.get("Memory", ())]
    coming = {update.key: update.values for update in work.node_updates if update.label == "Entity"}
    for row in backend.nodes("Entity", keys=sorted(left), columns=("key", "name", "aliases")):
        stored: list[str] = list(row["aliases"] or ())
        doubtful: set[str] = {alias for alias in stored if alias in gone and not _is_public(alias)}
        doubtful = {alias for alias in doubtful if not any(alias in text for text in fresh)}
        lost = _unused(backend, doubtful, left[row["key"]])
        if not lost:
            continue
        known = coming.get(row["key"], {}).get("aliases") or stored  # with those that this unit of work adds
        _rename(work, row, [alias for alias in known if alias not in lost], lost, coming)


def _rename(work: UnitOfWork, row: Row, aliases: list[str], lost: set[str], coming: Mapping[str, Row]) -> None:
    values: Row = {"aliases": aliases}
    if row["name"] in lost and aliases:
        values["name"] = aliases[0]
    if row["key"] in coming:
        coming[row["key"]].update(values)
    else:
        work.node_updates.append(NodeUpdate("Entity", row["key"], values))


def _unused(backend: Backend, aliases: set[str], memories: Sequence[str]) -> set[str]:
    """The aliases that none of these memories has."""
    unused = aliases
    for keys in chunked(memories, _TEXTS_AT_A_TIME):
        if not unused:
            break
        for row in backend.nodes("Memory", keys=keys, columns=("text",)):
            text = _flat(row["text"] or "")
            unused = {alias for alias in unused if alias not in text}
    return unused


def _is_public(alias: str) -> bool:
    """Whether everyone knows this spelling: it is shown for other ones too, so it tells of no text."""
    known = known_name(alias)
    return known is not None and known.name == alias


def _flat(text: str) -> str:
    return " ".join(text.split())
