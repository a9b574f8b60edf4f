"""Where a re-embedding keeps its encodings meanwhile, and how what is forgotten goes from there, too.

A text is known there by its digest alone. `alma_graph.maintenance.spool` writes these files.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from alma_graph.backends.maintenance import VectorSpace
from alma_graph.backends.protocol import Backend
from alma_graph.embedding.cache import cache_folder
from alma_graph.errors import StoreError


def digest_of(text: str) -> bytes:
    """What a text is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def spool_path(backend: Backend, space: VectorSpace) -> str | None:
    """Where encodings are kept: beside the store's file; nowhere for a store in memory; of a server in this user's
    cache, where each database (known by when it was made) and each embedder has a file of its own.

    Raises:
        StoreError: the folder cannot be made.
    """
    if not backend.capabilities.durable or backend.path is None:
        return None
    if os.path.isfile(backend.path):
        return f"{backend.path}.vectors"
    folder = _server_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}); make room, or set another cache") from error
    identity = json.dumps([space.embedder, space.embedder_revision, space.dimension])
    return str(folder / f"{_database_of(backend)}-{_short(identity)}")


def forget_spooled(backend: Backend, texts: Iterable[str] | None) -> None:
    """Removes the encodings of these texts, or all of them for None, from what re-embeddings of the store left behind
    or are making.

    Raises:
        StoreError: the file cannot be written; the message names it.
    """
    digests = None if texts is None else [(digest_of(text),) for text in texts]
    for path in _spools_of(backend):
        try:
            with closing(sqlite3.connect(path)) as database, database:
                database.execute("PRAGMA secure_delete = ON")
                if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'encoded'").fetchall():
                    continue  # nothing was kept in it yet
                if digests is None:
                    database.execute("DELETE FROM encoded")
                else:
                    database.executemany("DELETE FROM encoded WHERE digest = ?", digests)
        except sqlite3.Error as error:
            raise StoreError(
                f"{path} holds vectors of what was removed, and cannot be written ({error}); remove that file"
            ) from error


def _spools_of(backend: Backend) -> list[Path]:
    if not backend.capabilities.durable or backend.path is None:
        return []
    beside = Path(f"{backend.path}.vectors")
    if not backend.capabilities.shared_writers:
        return [beside] if beside.is_file() else []
    folder = _server_folder()
    if not folder.is_dir() or not any(folder.iterdir()):
        return []
    return sorted(path for path in folder.glob(f"{_database_of(backend)}-*") if not path.name.endswith("-journal"))


def _server_folder() -> Path:
    return cache_folder() / "reembedding"


def _database_of(backend: Backend) -> str:
    return _short(json.dumps([backend.path, str((backend.meta() or {}).get("created_at"))]))


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
