"""Opening a store: which backend, which embedder, and whether they belong together."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from alma_graph.backends import open_backend
from alma_graph.backends.protocol import Backend
from alma_graph.backends.registry import file_of
from alma_graph.clock import Clock, utc_clock
from alma_graph.embedding import Embedder, Encoder, create_embedder, revision_of
from alma_graph.errors import AlmaGraphError, EmbedderMismatchError, InvalidInputError, StoreError
from alma_graph.extraction import Extractor, check_extractor
from alma_graph.store.embedders import check_embedder, stored_encoder
from alma_graph.store.store import Shared, Store

_lock = threading.Lock()
_shared: weakref.WeakValueDictionary[int, Shared] = weakref.WeakValueDictionary()


def open_store(
    location: str,
    *,
    embedder: str | Embedder | None,
    extractor: str | Extractor,
    clock: Clock,
    read_only: bool,
    create: bool,
    lock_timeout: float,
    connection: Mapping[str, Any],
    any_embedder: bool = False,
) -> Store:
    """Opens a store, or joins the one that this process has open at the same place. With `any_embedder`, also one whose
    own embedder is not here any more, or is another now.

    Raises:
        EmbedderMismatchError: the store's vectors come from another embedder or have another dimension.
        AlmaGraphError: the other reasons of `ALMA.open`.
    """
    chosen = create_embedder(embedder) if embedder is not None else None
    check_extractor(extractor)
    if chosen is None and create and not read_only and _is_new(location):
        chosen = create_embedder(None)  # what cannot be made leaves no file behind
    if chosen is not None and _is_new(location):
        _ = chosen.dimension  # likewise: a model that is not there is noticed before the file is made
    backend = open_backend(location, read_only=read_only, create=create, lock_timeout=lock_timeout, **connection)
    place = str(backend.path) if backend.capabilities.server else location  # a URI may have held a password
    try:
        with _lock:
            shared = _shared.get(id(backend))
            if shared is None or shared.backend is not backend:
                shared = Shared(backend, _encoder(backend, chosen, any_embedder), backend.sequence())
                _shared[id(backend)] = shared
            elif chosen is not None:
                check_embedder(backend.meta() or {}, chosen, place)
                if isinstance(shared.encoder, AlmaGraphError):
                    shared.encoder = Encoder(chosen)
            return Store(place, shared, extractor, utc_clock(clock))
    except BaseException:
        backend.close()
        raise


def _is_new(location: str) -> bool:
    """Whether no file stands at a location yet (one that is no path is not new)."""
    path = file_of(location)
    return path is not None and "\0" not in path and len(path) < 4096 and not os.path.lexists(path)


def package_version() -> str:
    """The installed version of this package."""
    try:
        return version("alma_graph")
    except PackageNotFoundError:
        return "0+unknown"


def _encoder(backend: Backend, chosen: Embedder | None, any_embedder: bool) -> Encoder | AlmaGraphError:
    """The store's encoder; a new store is initialised with it. An error where its embedder cannot be made here."""
    meta = backend.meta()
    if meta is None:
        if backend.read_only:
            raise InvalidInputError(f"{backend.path!r} holds no store yet; open it without read_only=True first")
        fresh = chosen if chosen is not None else create_embedder(None)
        try:
            backend.initialise(
                dimension=fresh.dimension,
                embedder=fresh.name,
                embedder_revision=revision_of(fresh),
                created_with=f"alma_graph {package_version()}",
            )
        except StoreError:
            if backend.meta() is None:
                raise
            return _encoder(backend, chosen, any_embedder)  # another process made it just now
        return Encoder(fresh)
    if chosen is not None:
        check_embedder(meta, chosen, str(backend.path))
        return Encoder(chosen)
    try:
        return stored_encoder(meta, str(backend.path))
    except EmbedderMismatchError as error:
        if not any_embedder:
            raise
        return error
    except AlmaGraphError as error:
        return error
