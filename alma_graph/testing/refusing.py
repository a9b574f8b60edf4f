"""Bad input is refused before anything is written; any text is data."""

from __future__ import annotations

import pytest

from alma_graph.backends import Backend, EdgeMatch, EdgeRow, UnitOfWork
from alma_graph.testing.bad_input import BAD_UNITS, NASTY, Change
from alma_graph.testing.graphs import PROJECT, batch_of, dump, key, unit_of
from alma_graph.testing.stores import Reopen, StoreFixtures


class RefusingContract(StoreFixtures):
    """Nothing of a bad unit is written, the error says why, and no text can become part of a query."""

    @pytest.mark.parametrize(("make", "error", "words"), [pytest.param(*bad, id=name) for name, *bad in BAD_UNITS])
    def test_bad_input_is_refused_before_anything_is_written(
        self, backend: Backend, make: Change, error: type[Exception], words: str
    ) -> None:
        backend.write(unit_of("a"))
        before = dump(backend)
        work = unit_of("good")
        make(work)
        with pytest.raises(error, match=words):
            backend.write(work)
        assert dump(backend) == before
        backend.write(unit_of("next"))
        assert backend.count("Memory", project_id=PROJECT) == 2
        assert backend.verify() == []

    @pytest.mark.parametrize("text", NASTY)
    def test_any_text_is_data(self, backend: Backend, text: str) -> None:
        backend.write(_about(text, copies=1))
        assert _is_stored(backend, text, copies=1)
        change = EdgeMatch("RELATES_TO", source=key(text), where={"predicate": text})
        backend.write(UnitOfWork(edge_deletes=[change], node_deletes=[("Memory", key(f"{text}0"))]))
        assert backend.count("RELATES_TO") == 0
        assert backend.count("Memory", project_id=text) == 0

    def test_any_text_is_data_in_bulk(self, backend: Backend, reopen: Reopen) -> None:
        work = UnitOfWork()
        for text in NASTY:
            part = _about(text, copies=20)
            work.edges += part.edges
            for given, taken in ((part.nodes, work.nodes), (part.merge, work.merge)):
                for label, rows in given.items():
                    taken.setdefault(label, []).extend(rows)
        backend.write(work)
        store = reopen(backend)
        assert [text for text in NASTY if not _is_stored(store, text, copies=20)] == []
        store.close()


def _about(text: str, copies: int) -> UnitOfWork:
    """Memories that are made of the text, all the way to their project."""
    work = batch_of([f"{text}{number}" for number in range(copies)], (text,))
    for row in work.nodes["Memory"]:
        row.update(text=text, agent=text, project_id=text)
    work.merge["Entity"][0]["aliases"] = [text]
    work.edges.append(EdgeRow("RELATES_TO", key(text), key(text), {"predicate": text, "negated": True}))
    return work


def _is_stored(store: Backend, text: str, copies: int) -> bool:
    rows = store.nodes("Memory", project_id=text)
    return (
        [(row["text"], row["agent"]) for row in rows] == [(text, text)] * copies
        and [row["id"] for row in store.nodes("Memory", keys=[key(f"{text}0")])] == [f"{text}0"]
        and [row["aliases"] for row in store.nodes("Entity", keys=[key(text)])] == [[text]]
        and [edge.properties["predicate"] for edge in store.edges("RELATES_TO", sources=[key(text)])] == [text]
        and len(store.edges("MENTIONS", project_id=text)) == copies
    )
