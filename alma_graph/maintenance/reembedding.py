"""Every vector of a store made anew by another embedder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alma_graph import arguments
from alma_graph.backends.maintenance import MemoryVectors, VectorSpace, as_maintainable
from alma_graph.backends.protocol import Backend, Row, chunked
from alma_graph.clock import system_clock
from alma_graph.embedding import KNOWN_NAMES, Embedder, Encoder, create_embedder
from alma_graph.errors import InvalidInputError
from alma_graph.ingest.unit import chunk_rows
from alma_graph.maintenance.spool import VectorSpool
from alma_graph.store import Store, open_store
from alma_graph.store.spools import digest_of, spool_path

_BATCH = 256
"""Texts that are encoded between two notes in the spool: what a kill can cost."""

_PART = 512
"""Memories that are read at once, and told of at once."""

_FEW_LEFT = 64
"""New texts that are encoded while the store is held, rather than in another round before."""


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What was done.

    Attributes:
        embedder: its name, as the store now has it.
        dimension: of every vector.
        memories: how many have new vectors.
        texts: distinct texts among them.
        encoded: texts that were encoded in this call; the others had been in one that was interrupted.
    """

    embedder: str
    dimension: int
    memories: int
    texts: int
    encoded: int


def reembed(
    location: str | os.PathLike[str],
    embedder: str | Embedder,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Reembedded:
    """Gives every memory of every project of a store new vectors, made by another embedder.

    The store answers with the old vectors until the end, and after a kill it has the old ones or the new ones, never
    some of each. What was encoded is kept beside the store until then: a second call goes on where the first stopped,
    and encodes what was written meanwhile. Texts that are equal are encoded once. A store in a file needs room for a
    second one meanwhile; its other handles wait while that is made, some seconds for 10,000 memories.

    Args:
        location: where the store is, as in `ALMA.open`; of ":memory:" call `reembed` of the open `ALMA` instead.
        embedder: a name or an object, as in `ALMA.open`; the store's own makes all its vectors anew.
        progress: called with (memories done, memories in all) while texts are encoded.
        options: `lock_timeout`, and the connection's options, as in `ALMA.open`.

    Raises:
        InvalidInputError: no store is there, or the embedder is unknown.
        StoreLockedError: another process holds the store.
    """
    place = arguments.path_text(location, "location")
    if place == ":memory:":
        raise InvalidInputError("location=':memory:' is a new, empty store; call reembed() of the ALMA that is open")
    chosen = _embedder(embedder)
    store = open_store(
        place,
        embedder=None,
        extractor="none",
        clock=system_clock,
        read_only=False,
        create=False,
        lock_timeout=options.pop("lock_timeout", 5.0),
        connection=options,
        any_embedder=True,
    )
    try:
        return reembed_store(store, chosen, progress)
    finally:
        store.release()


def reembed_store(
    store: Store, embedder: str | Embedder, progress: Callable[[int, int], None] | None = None
) -> Reembedded:
    """As `reembed`, of an open store; all its handles in this process use the new embedder from then on."""
    arguments.callable_or_none(progress, "progress", signature="(done, total)")
    chosen = _embedder(embedder)
    store.check_writable()
    backend = as_maintainable(store.backend)
    encoder = Encoder(chosen, cache_size=0)
    space = VectorSpace(encoder.dimension, encoder.name, encoder.revision)
    with VectorSpool(spool_path(store.backend, space), space) as spool:
        work = _Work(spool, encoder)
        texts = work.encode_all(store.backend, progress)
        backend.stage_vectors(space, work.vectors_of)
        with store.lock:
            backend.replace_vectors(space, work.vectors_of)
            store.use_encoder(Encoder(chosen))
            memories = store.backend.count("Memory")
        spool.remove()
    return Reembedded(space.embedder, space.dimension, memories, texts, work.encoded)


def _embedder(embedder: str | Embedder) -> Embedder:
    """The embedder; the default of new stores is not meant by leaving it out.

    Raises:
        InvalidInputError: it is None, or no embedder.
    """
    if embedder is None:
        raise InvalidInputError(f"embedder=None: say which embedder the store is to have, of {KNOWN_NAMES}")
    return create_embedder(embedder)


class _Work:
    """Encodes texts, keeps what they became, and gives it out again."""

    def __init__(self, spool: VectorSpool, encoder: Encoder) -> None:
        self._spool = spool
        self._encoder = encoder
        self.encoded = 0

    def encode_all(self, backend: Backend, progress: Callable[[int, int], None] | None) -> int:
        """Encodes every text of the store that is not in the spool, while others may write; how many there are.

        What is written during one round is encoded in the next, until nothing is.
        """
        while True:
            sequence = backend.sequence()
            before = self.encoded
            keys = [row["key"] for row in backend.nodes("Memory", columns=("key",))]
            texts: set[bytes] = set()
            if progress is not None:
                progress(0, len(keys))
            for number, part in enumerate(chunked(keys, _PART)):
                texts |= self._encode_part(backend.nodes("Memory", keys=part, columns=("text",)))
                if progress is not None:
                    progress(min(len(keys), (number + 1) * _PART), len(keys))
            if backend.sequence() == sequence or self.encoded - before <= _FEW_LEFT:
                self._spool.keep_only(texts)
                return len(texts)

    def _encode_part(self, rows: Sequence[Row]) -> set[bytes]:
        texts = {digest_of(row["text"] or ""): row["text"] or "" for row in rows}
        known = self._spool.known(list(texts))
        missing = sorted(
            (digest for digest in texts if digest not in known), key=lambda digest: (len(texts[digest]), digest)
        )
        for part in chunked(missing, _BATCH):
            self._encode(part, texts)
        return set(texts)

    def vectors_of(self, rows: Sequence[Row]) -> list[MemoryVectors]:
        """The new vectors of some memories; see `VectorSource`."""
        texts = {digest_of(row["text"] or ""): row["text"] or "" for row in rows}
        found = self._spool.get(list(texts))
        missing = [digest for digest in texts if digest not in found]
        if missing:
            self._encode(missing, texts)
            found |= self._spool.get(missing)
        made = []
        for row in rows:
            encoded = found[digest_of(row["text"] or "")]
            chunks = chunk_rows(row["key"], row["project_id"], encoded)
            made.append(MemoryVectors(encoded.vector, encoded.token_embeddings, chunks))
        return made

    def _encode(self, digests: Sequence[bytes], texts: Mapping[bytes, str]) -> None:
        self._spool.put(digests, self._encoder.encode([texts[digest] for digest in digests]))
        self.encoded += len(digests)
