"""Opening stores: which engine, which file, one handle per file and process."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

from alma_graph.arguments import path_text
from alma_graph.backends.bolt.dialects import BOLT_DIALECTS, SCHEMES
from alma_graph.backends.bolt.settings import is_server
from alma_graph.backends.embedded.backend import EmbeddedBackend
from alma_graph.backends.embedded.dialect import DIALECTS
from alma_graph.backends.embedded.files import choose_dialect
from alma_graph.backends.embedded.opening import DEFAULT_BUFFER_POOL, DEFAULT_QUERY_TIMEOUT, OpenedStore
from alma_graph.backends.handles import Handles
from alma_graph.backends.migrations import MIGRATIONS, Migration
from alma_graph.backends.plugins import is_plugin, open_plugin, plugin_names
from alma_graph.backends.protocol import Backend
from alma_graph.errors import InvalidInputError, shown

MEMORY = ":memory:"
BACKENDS: tuple[str, ...] = ("memory", *DIALECTS, *BOLT_DIALECTS)
"""Names of our own that `create_backend` takes; those of other distributions come beside them."""

_handles: Handles[str, EmbeddedBackend] = Handles()
_registry_lock = threading.RLock()
_path_locks: dict[str, threading.RLock] = {}


def create_backend(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    read_only: bool = False,
    lock_timeout: float = 5.0,
    create: bool = True,
    **engine_options: Any,
) -> Backend:
    """Opens a store of the named engine.

    Args:
        name: "memory", "ladybug", "kuzu", "neo4j", or one that another distribution offers (`backends.plugins`).
        path: the store's file; none for "memory"; the URI of a server; what the other distribution says.
        read_only: refuse writes; beside a writer of another process where the engine can (Ladybug).
        lock_timeout: seconds to wait for a store that another process holds.
        create: make the store where there is none.
        **engine_options: of Ladybug and Kuzu `buffer_pool_bytes` (default 512 MB), `threads` (default: all cores),
            `query_timeout` (seconds that a caller's Cypher statement may run; default 60). Of a server `username`,
            `password`, `database` (else from NEO4J_USERNAME, NEO4J_PASSWORD, NEO4J_DATABASE), `query_timeout`, and
            settings of its driver (`backends.bolt.settings`).

    A path that is open in this process gives the same object again; it closes with as many `close` calls as opens. A
    second open with another engine or another `read_only` is refused.

    Raises:
        InvalidInputError: the name, the path or an option is wrong.
        UnsupportedError: the engine cannot run here.
        StoreLockedError, StoreCorruptError, StoreVersionError: see there.
    """
    if name == "memory":
        if path not in (None, MEMORY):
            raise InvalidInputError(f"path={path!r}: the in-memory store has no file; leave the path out")
        if read_only:
            raise InvalidInputError("read_only=True: a new in-memory store has nothing to read")
        _no_options(engine_options, "memory")
        from alma_graph.backends.memory import MemoryBackend  # it needs numpy, which a short command does not

        return MemoryBackend()
    if name in BOLT_DIALECTS:
        if path is None:
            raise InvalidInputError(f"the {name} backend needs the URI of a server, e.g. bolt://localhost:7687")
        _checked_timeout(lock_timeout)
        place = path_text(path, "path")
        from alma_graph.backends.bolt.opening import open_server

        return open_server(place, engine=name, read_only=read_only, create=create, options=engine_options)
    if name not in DIALECTS:
        if isinstance(name, str) and is_plugin(name):
            place = "" if path is None else path_text(path, "path")
            timeout = _checked_timeout(lock_timeout)
            return open_plugin(
                name, place, read_only=read_only, create=create, lock_timeout=timeout, options=engine_options
            )
        known = ", ".join((*BACKENDS, *plugin_names()))
        raise InvalidInputError(f"backend={shown(name)} is unknown; the backends are {known}")
    if path is None:
        raise InvalidInputError(f"the {name} backend needs a path to its file")
    return _open_embedded(
        name, path, read_only=read_only, lock_timeout=lock_timeout, create=create, options=engine_options
    )


def open_backend(
    location: str | os.PathLike[str],
    *,
    read_only: bool = False,
    lock_timeout: float = 5.0,
    create: bool = True,
    **engine_options: Any,
) -> Backend:
    """Opens a store by its location: ":memory:", "ladybug:PATH", "kuzu:PATH", the URI of a server ("bolt://HOST:7687",
    "neo4j+s://HOST"), "NAME:..." of a backend that another distribution offers, or a path.

    The first bytes of an existing file name its engine; a new file at a plain path is Ladybug's. Otherwise as
    `create_backend`.
    """
    text = path_text(location, "location")
    if text == MEMORY:
        return create_backend("memory", read_only=read_only, **engine_options)
    scheme, colon, rest = text.partition(":")
    if is_server(text):
        _checked_timeout(lock_timeout)
        from alma_graph.backends.bolt.opening import open_server

        return open_server(text, read_only=read_only, create=create, options=engine_options)
    if colon and scheme.lower().split("+")[0] in SCHEMES:
        raise InvalidInputError(f"location={shown(text)} names no server; write e.g. {scheme}://localhost:7687")
    wanted = scheme if colon and scheme in DIALECTS else None
    if wanted is None and colon and is_plugin(scheme):
        return create_backend(
            scheme, rest, read_only=read_only, lock_timeout=lock_timeout, create=create, **engine_options
        )
    if wanted is None and colon and scheme.lower() in DIALECTS:
        raise InvalidInputError(
            f"location={shown(text)}: write {shown(f'{scheme.lower()}:{rest}')}, or {shown(f'./{text}')} for a file "
            "of that name"
        )
    if wanted is None and rest.startswith("//") and scheme.replace("+", "").isalnum():
        servers = ", ".join(f"{name}://" for name in SCHEMES)
        cure = f"give the path alone, {shown(rest[2:])}," if scheme.lower() == "file" else "give a path"
        raise InvalidInputError(f"location={shown(text)} is no store; {cure} or the URI of a server ({servers})")
    if wanted is not None and not rest:
        raise InvalidInputError(f"location={text!r} has no path behind {wanted}:; write {wanted}:PATH")
    return _open_embedded(
        wanted,
        rest if wanted is not None else text,
        read_only=read_only,
        lock_timeout=lock_timeout,
        create=create,
        options=engine_options,
    )


def file_of(location: str) -> str | None:
    """The path of the file that a location names; None where it names memory, a server or another distribution's
    store."""
    scheme, colon, rest = location.partition(":")
    if colon and scheme in DIALECTS:
        return rest
    elsewhere = location == MEMORY or (colon and (scheme.lower().split("+")[0] in SCHEMES or is_plugin(scheme)))
    return None if elsewhere else location


def _checked_timeout(lock_timeout: Any) -> float:
    if isinstance(lock_timeout, bool) or not isinstance(lock_timeout, (int, float)) or not 0 <= lock_timeout < 1e9:
        raise InvalidInputError(f"lock_timeout={shown(lock_timeout)} must be a number of seconds, 0 or more")
    return float(lock_timeout)


def _open_embedded(
    wanted: str | None,
    path: str | os.PathLike[str],
    *,
    read_only: bool,
    lock_timeout: float,
    create: bool,
    options: dict[str, Any],
) -> EmbeddedBackend:
    timeout = _checked_timeout(lock_timeout)
    migrations: Sequence[Migration] = options.pop("migrations", MIGRATIONS)
    buffer_pool_bytes = options.pop("buffer_pool_bytes", DEFAULT_BUFFER_POOL)
    threads = options.pop("threads", 0)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads < 4096:
        raise InvalidInputError(f"threads={shown(threads)} must be a whole number of threads; 0 is all cores")
    query_timeout = options.pop("query_timeout", DEFAULT_QUERY_TIMEOUT)
    if isinstance(query_timeout, bool) or not isinstance(query_timeout, (int, float)) or not 0 < query_timeout < 1e9:
        raise InvalidInputError(f"query_timeout={shown(query_timeout)} must be a number of seconds above 0")
    _no_options(options, wanted or "embedded")
    real = os.path.realpath(os.path.expanduser(path_text(path, "path")))
    with _lock_of(real):
        open_handle = _shared(real, wanted, read_only)
        if open_handle is not None:
            return open_handle
        try:
            dialect, new = choose_dialect(real, wanted, create=create and not read_only)
        except OSError as error:
            raise InvalidInputError(f"path={shown(real)} cannot be a store ({error.strerror}); give another") from error
        store = OpenedStore(
            real,
            dialect,
            read_only=read_only,
            lock_timeout=timeout,
            buffer_pool_bytes=buffer_pool_bytes,
            threads=threads,
            query_timeout=float(query_timeout),
        )
        store.open()
        try:
            if not new and not read_only:
                store.lock.mark_ready()
            backend = EmbeddedBackend(store, lambda: _give_back(real), migrations)
        except BaseException:
            store.close()
            raise
        _handles.keep(real, backend)
        return backend


def _shared(real: str, wanted: str | None, read_only: bool) -> EmbeddedBackend | None:
    backend = _handles.find(real)
    if backend is None:
        return None
    if wanted is not None and wanted != backend.name:
        raise InvalidInputError(f"{real} is open in this process as a {backend.name} store, not {wanted}")
    if read_only != backend.read_only:
        now, asked = ("reading only", "writing") if backend.read_only else ("writing", "reading only")
        raise InvalidInputError(
            f"{real} is open in this process for {now}, and was asked for {asked}; use that handle, or close it first"
        )
    _handles.open_again(real)
    return backend


def _give_back(real: str) -> None:
    with _lock_of(real):
        _handles.give_back(real)


def _lock_of(real: str) -> threading.RLock:
    with _registry_lock:
        return _path_locks.setdefault(real, threading.RLock())


def _no_options(options: dict[str, Any], name: str) -> None:
    if options:
        raise InvalidInputError(f"{next(iter(options))!r} is no option of the {name} backend")
