"""The embedder of a file and the one of the store that it comes into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alma_graph.backends import open_backend
from alma_graph.backends.protocol import NodeUpdate, UnitOfWork
from alma_graph.backends.schema import META_KEY
from alma_graph.embedding import Encoder, create_embedder
from alma_graph.errors import AlmaGraphError, EmbedderMismatchError
from alma_graph.store import Store
from alma_graph.store.opening import package_version
from alma_graph.transfer.lines import Header


def prepare(location: str, header: Header, *, lock_timeout: float, connection: Mapping[str, Any]) -> None:
    """Makes a new store at a location for the vectors of a file; one that is there stays as it is. The embedder itself
    is not needed for it."""
    backend = open_backend(location, lock_timeout=lock_timeout, **connection)
    try:
        if backend.meta() is None:
            backend.initialise(
                dimension=header.dimension,
                embedder=header.embedder,
                embedder_revision=header.embedder_revision,
                created_with=f"alma_graph {package_version()}",
            )
    finally:
        backend.close()


def adopt_embedder(store: Store, header: Header) -> None:
    """Makes sure that a file's vectors and a store's come from one embedder; a store without memories takes the file's.

    Raises:
        EmbedderMismatchError: the store has memories, or its vectors have another dimension.
    """

    def adopt() -> None:
        meta = store.backend.meta() or {}
        if _agree(meta, header):
            return
        if meta["dimension"] != header.dimension or store.backend.count("Memory"):
            raise _mismatch(store, header)
        values = {"embedder": header.embedder, "embedder_revision": header.embedder_revision}
        store.rewrite(UnitOfWork(node_updates=[NodeUpdate("Meta", META_KEY, values)]))
        store.shared.encoder = _encoder(header.embedder)

    store.transact(adopt)


def _agree(meta: dict[str, object], header: Header) -> bool:
    if (meta.get("embedder"), meta.get("dimension")) != (header.embedder, header.dimension):
        return False
    revision = meta.get("embedder_revision")
    return revision is None or header.embedder_revision is None or revision == header.embedder_revision


def _mismatch(store: Store, header: Header) -> EmbedderMismatchError:
    meta = store.backend.meta() or {}
    return EmbedderMismatchError(
        f"the export's vectors come from embedder {header.embedder!r} (dimension {header.dimension}, revision "
        f"{header.embedder_revision}), those of {store.location!r} from {meta.get('embedder')!r} (dimension "
        f"{meta.get('dimension')}, revision {meta.get('embedder_revision')}); import into a new store, or change "
        "one of the two with alma-graph reembed and export again. Nothing was written"
    )


def _encoder(name: str) -> Encoder | AlmaGraphError:
    try:
        return Encoder(create_embedder(name))
    except AlmaGraphError as error:
        return error
