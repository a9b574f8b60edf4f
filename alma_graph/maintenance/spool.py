"""Encodings made so far, in a file of their own, so that a long re-embedding goes on where it was stopped.

A text is known by its digest alone; the file holds no text. It belongs to one embedder: of another one nothing is kept.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from alma_graph.backends.maintenance import VectorSpace
from alma_graph.backends.protocol import chunked
from alma_graph.embedding import Encoded
from alma_graph.embedding.encoding import Chunk
from alma_graph.errors import StoreError

_LAYOUT = 1
_FEW = 500
"""Digests asked for at once; SQLite binds at least 999 values."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS made_by (identity TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS encoded (
    digest BLOB PRIMARY KEY, vector BLOB NOT NULL, tokens BLOB, spans TEXT NOT NULL, parts BLOB NOT NULL
) WITHOUT ROWID;
"""


class VectorSpool:
    """Encodings by the digest of their text.

    Args:
        path: the file; None keeps them in memory.
        space: the embedder that makes them; a file of another one is emptied.

    Raises:
        StoreError: the file cannot be written.
    """

    def __init__(self, path: str | None, space: VectorSpace) -> None:
        self.path = path
        self._dimension = space.dimension
        identity = json.dumps([_LAYOUT, space.embedder, space.embedder_revision, space.dimension])
        try:
            try:
                self._database = _opened(path, identity)
            except sqlite3.OperationalError:
                raise  # another process is at it, or there is no room: nothing to throw away
            except sqlite3.DatabaseError:
                remove_spool(path)  # no spool, or a broken one: what it held is made again
                self._database = _opened(path, identity)
        except sqlite3.Error as error:
            raise StoreError(f"{path} cannot be written ({error}); make room, or choose another folder") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Which of the digests there are."""
        return {row[0] for row in self._rows("digest", digests)}

    def put(self, digests: Sequence[bytes], encoded: Sequence[Encoded]) -> None:
        """Keeps some encodings, durably."""
        rows = [
            (
                digest,
                item.vector.astype("<f4").tobytes(),
                item.token_embeddings,
                json.dumps([[chunk.start_char, chunk.end_char] for chunk in item.chunks]),
                b"".join(chunk.vector.astype("<f4").tobytes() for chunk in item.chunks),
            )
            for digest, item in zip(digests, encoded, strict=True)
        ]
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO encoded VALUES (?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be written ({error}); make room, and call it again") from error

    def get(self, digests: Sequence[bytes]) -> dict[bytes, Encoded]:
        """The encodings of these digests that there are."""
        return {row[0]: self._encoded(*row[1:]) for row in self._rows("*", digests)}

    def keep_only(self, digests: Iterable[bytes]) -> None:
        """Drops the encodings of all other texts, which are no longer in the store."""
        wanted = set(digests)
        try:
            gone = [row for row in self._database.execute("SELECT digest FROM encoded") if row[0] not in wanted]
            if gone:
                with self._database:
                    self._database.executemany("DELETE FROM encoded WHERE digest = ?", gone)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be written ({error}); make room, and call it again") from error

    def close(self) -> None:
        """Closes the file; what is in it is there the next time."""
        self._database.close()

    def remove(self) -> None:
        """Closes the file and removes it."""
        self.close()
        remove_spool(self.path)

    def _rows(self, columns: str, digests: Sequence[bytes]) -> Iterator[Any]:
        for part in chunked(list(dict.fromkeys(digests)), _FEW):
            marks = ", ".join("?" * len(part))
            try:
                asked = f"SELECT {columns} FROM encoded WHERE digest IN ({marks})"
                found = self._database.execute(asked, list(part)).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"{self.path} cannot be read ({error}); remove it, and call it again") from error
            yield from found

    def _encoded(self, vector: bytes, tokens: bytes | None, spans: str, parts: bytes) -> Encoded:
        vectors = np.frombuffer(parts, dtype="<f4").reshape(-1, self._dimension)
        chunks = tuple(Chunk(start, end, row) for (start, end), row in zip(json.loads(spans), vectors, strict=True))
        return Encoded(np.frombuffer(vector, dtype="<f4"), chunks, tokens)


def remove_spool(path: str | None) -> None:
    """Removes the file of a spool, if there is one."""
    if path is not None:
        for name in (path, f"{path}-journal"):
            Path(name).unlink(missing_ok=True)


def _opened(path: str | None, identity: str) -> sqlite3.Connection:
    database = sqlite3.connect(path or ":memory:", check_same_thread=False)
    try:
        database.executescript(_SCHEMA)
        with closing(database.execute("SELECT identity FROM made_by")) as rows:
            makers = [row[0] for row in rows]
        if makers != [identity]:
            with database:
                database.execute("DELETE FROM encoded")
                database.execute("DELETE FROM made_by")
                database.execute("INSERT INTO made_by VALUES (?)", [identity])
    except BaseException:
        database.close()
        raise
    return database
