"""Other vectors for all memories of a database, while other processes read and write it.

The new vectors are staged beside the old ones, in many transactions that nobody notices. One transaction then stages
what was written meanwhile and announces the exchange in Meta, with a new sequence: from there on it only goes forward.
One process makes it, in batches; others wait before they read or write anything, and the first of them goes on with it
when no batch has come for a while, since its maker was killed. The vector indexes are made last, as what is derived.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from alma_graph.backends.bolt import feed
from alma_graph.backends.bolt.connection import Connection, Transaction, rows
from alma_graph.backends.bolt.dialect import vector_index
from alma_graph.backends.bolt.schema import drop_index, make_indexes
from alma_graph.backends.bolt.statements import DELETE_STAGED, INDEXED, key_of
from alma_graph.backends.bolt.values import FULL_KEY, bound, properties, short_key
from alma_graph.backends.maintenance import SOURCE_COLUMNS, VectorSource, VectorSpace
from alma_graph.backends.protocol import Row, chunked
from alma_graph.backends.schema import META_KEY, NODES, ColumnType
from alma_graph.errors import StoreError

_BATCH = 500
_TURN_SECONDS = 10.0
"""How long an exchange may stand still before another process goes on with it."""

_PAUSE_SECONDS = 0.1

_META = f"MATCH (m:`Meta` {{`key`: '{META_KEY}'}})"
_PENDING = f"{_META} RETURN m.`exchange`, m.`exchange_until` < timestamp()"
_CLAIM = (
    f"{_META} WHERE m.`exchange_maker` = $owner OR m.`exchange_until` < timestamp() "
    "SET m.`exchange_maker` = $owner, m.`exchange_until` = timestamp() + $span RETURN m.`exchange`"
)
_STAGED_FOR = f"{_META} RETURN m.`staged_for`"
_BEGIN = f"{_META} SET m.`staged_for` = $identity"
_ANNOUNCE = (
    f"{_META} SET m.`exchange` = $exchange, m.`dimension` = $dimension, m.`embedder` = $embedder, "
    "m.`embedder_revision` = $revision, m.`exchange_maker` = $owner, m.`exchange_until` = timestamp() + $span"
)
_END = f"{_META} REMOVE m.`exchange`, m.`exchange_maker`, m.`exchange_until`, m.`staged_for`"

# What another program has under these labels has no such property.
_STAGED = "MATCH (n:`Staged`) WHERE n.`key` IS NOT NULL"
_STAGED_CHUNKS = "MATCH (c:`StagedChunk`) WHERE c.`owner` IS NOT NULL"

_UNSTAGED = (
    "MATCH (n:`Memory`) WHERE n.`key` IS NOT NULL AND (NOT n:`Staged` OR n.`staged_text` <> n.`text`) RETURN n.`key`"
)
_TEXTS = "UNWIND $keys AS k MATCH (n:`Memory` {`key`: k}) RETURN " + ", ".join(
    [f"{key_of('n')} AS key", *(f"n.`{name}` AS {name}" for name in SOURCE_COLUMNS if name != "key")]
)
_STAGE = (
    "UNWIND $rows AS r MATCH (n:`Memory` {`key`: r.key}) SET n:`Staged`, n.`staged_embedding` = r.vector, "
    "n.`staged_tokens` = r.tokens, n.`staged_text` = r.text"
)
_STAGE_CHUNKS = "UNWIND $rows AS r CREATE (c:`StagedChunk`) SET c = r"
_UNSTAGE = (
    f"{_STAGED} WITH n LIMIT $batch "
    "REMOVE n:`Staged`, n.`staged_embedding`, n.`staged_tokens`, n.`staged_text` RETURN count(*)"
)
_UNSTAGE_CHUNKS = f"{_STAGED_CHUNKS} WITH c LIMIT $batch DELETE c RETURN count(*)"

_TAKE = (
    _STAGED + " WITH n LIMIT $batch WITH n, {{vector: n.`staged_embedding`}} AS r {set_vector} "
    "WITH n SET n.`token_embeddings` = n.`staged_tokens` "
    "REMOVE n:`Staged`, n.`staged_embedding`, n.`staged_tokens`, n.`staged_text` RETURN count(*)"
)
_DROP_OLD = (
    "MATCH (c:`Chunk`) WHERE c.`key` IS NOT NULL AND (c.`made_in` IS NULL OR c.`made_in` <> $token) "
    "WITH c LIMIT $batch DETACH DELETE c RETURN count(*)"
)
_TAKE_CHUNKS = (
    _STAGED_CHUNKS + " WITH c AS n LIMIT $batch WITH n, {{vector: n.`staged_embedding`}} AS r {set_vector} "
    "WITH n MATCH (o:`Memory` {{`key`: n.`owner`}}) CREATE (o)-[:`HAS_CHUNK`]->(n) SET n:`Chunk`, n.`made_in` = $token "
    "REMOVE n:`StagedChunk`, n.`staged_embedding`, n.`owner` RETURN count(*)"
)


class Exchange:
    """The exchange of all vectors of one database; `owner` names this process in the feed."""

    def __init__(self, connection: Connection, owner: str) -> None:
        self._connection = connection
        self._owner = owner
        self._dialect = connection.settings.dialect

    def stage(self, space: VectorSpace, source: VectorSource) -> None:
        """Writes the new vectors beside the old ones; what is staged already stays."""
        self._begin(_identity(space))
        for batch in chunked(self._unstaged(), _BATCH):
            self._write(partial(self._stage, keys=list(batch), source=source))

    def run(self, space: VectorSpace, source: VectorSource) -> None:
        """Makes all of it.

        Raises:
            StoreError: another process began to re-embed the store meanwhile.
        """
        self.stage(space, source)
        token = secrets.token_hex(8)
        with suppress(feed.AppliedBeforeError):
            self._write(lambda transaction: self._announce(transaction, token, space, source))
        self.finish()

    def finish(self) -> bool:
        """Finishes an exchange that is announced; False where none is.

        Where another process makes it, this one waits for that.

        Raises:
            StoreError: it was interrupted, and this process only reads.
        """
        if self._pending() is None:
            return False
        while (found := self._pending()) is not None:
            if self._make(found["token"], resized=found["resized"]):
                make_indexes(self._connection, int(found["dimension"]))
                break
            self._wait()
        return True

    def _make(self, token: str, *, resized: bool) -> bool:
        """Goes on with the exchange to its end; False where another process is at it."""
        if self._connection.settings.read_only:
            return False
        if not self._write(lambda transaction: self._is_mine(transaction, token)):
            return False
        if resized:
            for label in ("Memory", "Chunk"):
                drop_index(self._connection, vector_index(label))
        given = {"token": token, "batch": _BATCH}
        for statement in (_TAKE, _DROP_OLD, _TAKE_CHUNKS):
            text = statement.format(set_vector=self._dialect.set_vector) if "set_vector" in statement else statement
            while self._write(partial(self._step, token=token, statement=text, given=given)):
                pass
        ending = secrets.token_hex(8)
        return bool(self._write(lambda transaction: self._end(transaction, token, ending)))

    def _begin(self, identity: str) -> None:
        """Takes away what an exchange for another embedder had staged."""
        staged = self._connection.read(lambda transaction: rows(transaction, _STAGED_FOR))
        if staged and staged[0][0] != identity:
            for statement in (_UNSTAGE, _UNSTAGE_CHUNKS):
                while self._write(partial(_batch_of, statement)):
                    pass
            self._write(lambda transaction: transaction.run(_BEGIN, {"identity": identity}).consume())

    def _unstaged(self) -> list[str]:
        return self._connection.read(lambda transaction: [row[0] for row in rows(transaction, _UNSTAGED)])

    def _stage(self, transaction: Transaction, keys: Sequence[str], source: VectorSource) -> None:
        given = [dict(zip(SOURCE_COLUMNS, row, strict=True)) for row in rows(transaction, _TEXTS, {"keys": list(keys)})]
        made = source(given)
        staged, chunks = [], []
        for row, item in zip(given, made, strict=True):
            owner = short_key(row["key"], self._dialect.max_key)
            staged.append(
                {
                    "key": owner,
                    "text": row["text"],
                    "vector": bound(ColumnType.VECTOR, item.embedding),
                    "tokens": bound(ColumnType.BYTES, item.token_embeddings, bytes_as_text=self._dialect.bytes_as_text),
                }
            )
            chunks += [self._chunk(chunk, owner) for chunk in item.chunks]
        transaction.run(DELETE_STAGED, {"keys": [row["key"] for row in staged]}).consume()
        transaction.run(_STAGE, {"rows": staged}).consume()
        for part in chunked(chunks, _BATCH):
            transaction.run(_STAGE_CHUNKS, {"rows": list(part)}).consume()

    def _chunk(self, chunk: Row, owner: str) -> Row:
        found = properties(
            NODES["Chunk"].columns, chunk, indexed=INDEXED["Chunk"], longest=self._dialect.max_text_index
        )
        short = short_key(chunk["key"], self._dialect.max_key)
        if short != chunk["key"]:
            found |= {"key": short, FULL_KEY: chunk["key"]}
        return {**found, "owner": owner, "staged_embedding": bound(ColumnType.VECTOR, chunk["embedding"])}

    def _announce(self, transaction: Transaction, token: str, space: VectorSpace, source: VectorSource) -> None:
        locked = feed.lock(transaction, self._owner)  # nobody writes from here to the commit
        if feed.is_known(transaction, token):
            raise feed.AppliedBeforeError
        if locked is None or rows(transaction, _STAGED_FOR)[0][0] != _identity(space):
            raise StoreError(f"{self._connection.settings.shown}: another process re-embeds the store; wait for it")
        for batch in chunked([row[0] for row in rows(transaction, _UNSTAGED)], _BATCH):
            self._stage(transaction, batch, source)
        transaction.run(f"{_STAGED_CHUNKS} {self._dialect.no_staged_owner}").consume()
        exchange = {"token": token, "dimension": space.dimension, "resized": locked.dimension != space.dimension}
        given = {
            "exchange": json.dumps(exchange),
            "dimension": space.dimension,
            "embedder": space.embedder,
            "revision": space.embedder_revision,
            "owner": self._owner,
            "span": int(_TURN_SECONDS * self._dialect.ticks),
        }
        transaction.run(_ANNOUNCE, given).consume()
        feed.record(transaction, locked, token, feed.Touched(everything=True), self._owner)

    def _step(self, transaction: Transaction, token: str, statement: str, given: Row) -> int:
        """One batch, with Meta locked; 0 where nothing is left, or another process took over."""
        if not self._is_mine(transaction, token):
            return 0
        return int(rows(transaction, statement, given)[0][0])

    def _end(self, transaction: Transaction, token: str, ending: str) -> bool:
        if not self._is_mine(transaction, token):
            return feed.is_known(transaction, ending)
        locked = feed.lock(transaction, self._owner)
        if locked is None:
            return False
        transaction.run(_END).consume()
        feed.record(transaction, locked, ending, feed.Touched(everything=True), self._owner)
        return True

    def _is_mine(self, transaction: Transaction, token: str) -> bool:
        """Whether this process makes the exchange, or takes it over; its turn is longer by that."""
        found = rows(transaction, _CLAIM, {"owner": self._owner, "span": int(_TURN_SECONDS * self._dialect.ticks)})
        return bool(found) and found[0][0] is not None and json.loads(found[0][0])["token"] == token

    def _pending(self) -> Row | None:
        found = self._connection.read(lambda transaction: rows(transaction, _PENDING))
        return json.loads(found[0][0]) if found and found[0][0] is not None else None

    def _wait(self) -> None:
        """Waits while another process makes the exchange.

        Raises:
            StoreError: it stopped, and this process cannot go on with it.
        """
        deadline = time.monotonic() + _TURN_SECONDS
        while found := self._connection.read(lambda transaction: rows(transaction, _PENDING)):
            pending, stopped = found[0]
            if pending is None:
                return
            if not stopped:
                deadline = time.monotonic() + _TURN_SECONDS
            elif not self._connection.settings.read_only:
                return
            elif time.monotonic() > deadline:
                raise StoreError(
                    f"{self._connection.settings.shown}: re-embedding was interrupted at its end; open the store once "
                    "without read_only=True, which finishes it"
                )
            time.sleep(_PAUSE_SECONDS)

    def _write(self, work: Callable[[Transaction], Any]) -> Any:
        return self._connection.repeat(work, "the vectors were not replaced")


def _batch_of(statement: str, transaction: Transaction) -> int:
    return int(rows(transaction, statement, {"batch": _BATCH})[0][0])


def _identity(space: VectorSpace) -> str:
    return json.dumps([space.embedder, space.embedder_revision, space.dimension])
