"""Another process re-embeds the store between the reading of a text and its writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from alma_graph import ALMA, EmbedderMismatchError
from alma_graph.embedding import HashingEmbedder
from alma_graph.ingest.writer import Writer
from tests.backends.bolt.conftest import Connect

pytestmark = pytest.mark.engine

Meanwhile = Callable[[Callable[[], Any]], None]


class Private:
    """An embedder that only the process which brings it has."""

    name = "private"
    dimension = 12

    def __init__(self) -> None:
        self._inner = HashingEmbedder(self.dimension)

    def embed(self, texts: Sequence[str]) -> Any:
        """Their vectors."""
        return self._inner.embed(texts)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Does something once, after the next text was read and before it is written."""

    def once(happens: Callable[[], Any]) -> None:
        read, left = Writer.read, [happens]

        def slow(self: Writer, *args: Any, **given: Any) -> Any:
            found = read(self, *args, **given)
            if left:
                left.pop()()
            return found

        monkeypatch.setattr(Writer, "read", slow)

    return once


def change(alma: ALMA, call: str) -> str:
    """A revision or an addition; the id of what is new."""
    if call == "revise":
        return alma.revise("one", fact="The auth service has port 81.", reason="moved").id
    return alma.add_domain_knowledge(agent="dev", domain="d", fact="The auth service has port 81.").id


@pytest.mark.parametrize("call", ["revise", "add"])
def test_what_was_read_in_the_old_space_is_read_again_in_the_new_one(
    connect: Connect, meanwhile: Meanwhile, call: str
) -> None:
    one, two = connect(embedder="hashing:16"), connect(1, embedder="hashing:16")
    one.add_domain_knowledge(agent="dev", domain="d", fact="The auth service has port 80.", id="one")
    meanwhile(lambda: two.reembed("hashing:24"))
    new = change(one, call)
    for alma in (one, two):
        assert alma.stats().embedder == "hashing-24"
        assert alma.retrieve("The auth service has port 81.").hits[0].memory.id == new
        assert alma.doctor().ok
    keys, matrix = one._store.backend.vectors("Memory", project_id="shop")
    assert matrix.shape == (2, 24)
    assert [key.rpartition("/")[2] for key in keys] == sorted(["one", new])


@pytest.mark.parametrize("call", ["revise", "add"])
def test_where_the_new_embedder_is_not_here_the_error_says_so(
    connect: Connect, meanwhile: Meanwhile, call: str
) -> None:
    one, two = connect(embedder="hashing:16"), connect(1, embedder="hashing:16")
    one.add_domain_knowledge(agent="dev", domain="d", fact="The auth service has port 80.", id="one")
    meanwhile(lambda: two.reembed(Private()))
    with pytest.raises(EmbedderMismatchError, match=r"re-embedded .* meanwhile.*nothing was written.*again") as caught:
        change(one, call)
    assert "\n" not in str(caught.value)
    assert [memory.id for memory in two.memories()] == ["one"]
    again = connect(2, embedder=Private())
    assert again.stats().embedder == "private"
    assert change(again, call)
