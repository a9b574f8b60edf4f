"""Spellings of entities that only a removed memory used: they go with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from alma_graph.backends.protocol import Backend, EdgeRow, NodeUpdate, Row, UnitOfWork, chunked

_TEXTS_AT_A_TIME = 200


def drop_spellings(
    work: UnitOfWork,
    backend: Backend,
    gone_texts: Iterable[str],
    entities: Collection[str],
    mentions: Sequence[EdgeRow],
) -> None:
    """Takes the spellings out that no memory which stays has; an entity that was named by one gets another name.

    Args:
        gone_texts: texts of the removed memories.
        entities: keys of the entities that they mentioned and that stay.
        mentions: MENTIONS that stay, of at least these entities.
    """
    if not entities:
        return
    gone = " \n ".join(_flat(text) for text in gone_texts)
    coming = {update.key: update.values for update in work.node_updates if update.label == "Entity"}
    left: dict[str, list[EdgeRow]] = {key: [] for key in entities}
    for edge in mentions:
        if edge.target in left:
            left[edge.target].append(edge)
    for row in backend.nodes("Entity", keys=sorted(entities), columns=("key", "name", "aliases")):
        stored = list(row["aliases"] or ())
        surfaces = {_flat(str(edge.properties.get("surface") or "")) for edge in left[row["key"]]}
        doubtful = [alias for alias in stored if alias in gone and alias not in surfaces]
        lost = _unused(backend, doubtful, left[row["key"]]) if doubtful else set()
        if not lost:
            continue
        known = coming.get(row["key"], {}).get("aliases") or stored  # with those that this unit of work adds
        _rename(work, row, [alias for alias in known if alias not in lost], surfaces, coming)


def _rename(work: UnitOfWork, row: Row, aliases: list[str], surfaces: set[str], coming: Mapping[str, Row]) -> None:
    values: Row = {"aliases": aliases}
    if row["name"] not in aliases:
        values["name"] = next(iter([*aliases, *sorted(surfaces - {""})]), row["name"])
    if row["key"] in coming:
        coming[row["key"]].update(values)
    else:
        work.node_updates.append(NodeUpdate("Entity", row["key"], values))


def _unused(backend: Backend, aliases: Sequence[str], mentions: Sequence[EdgeRow]) -> set[str]:
    """The aliases that none of the mentioning memories has; a memory notes only the first of several spellings."""
    unused = set(aliases)
    for keys in chunked(sorted({edge.source for edge in mentions}), _TEXTS_AT_A_TIME):
        for row in backend.nodes("Memory", keys=keys, columns=("text",)):
            text = _flat(row["text"] or "")
            unused = {alias for alias in unused if alias not in text}
        if not unused:
            break
    return unused


def _flat(text: str) -> str:
    return " ".join(text.split())
