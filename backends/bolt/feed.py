"""The change feed of a server: one Change node for each unit of work, written in its transaction.

It holds the keys of what a unit touched, for other processes that keep arrays of the graph, and a token, by which a
unit whose commit was not answered is found again. Old entries go; a key that is deleted goes from all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from alma_graph.backends.bolt.connection import Transaction, rows
from alma_graph.backends.bolt.statements import FEED_SALT
from alma_graph.backends.changes import Changes, digest
from alma_graph.backends.validation import CheckedWork

LABELS = ("Memory", "Entity")
"""Labels whose nodes the feed names; everything else hangs on one of them."""

TURN_SECONDS = 3.0
"""How long the others wait for a writer that was too slow once, so that it is not so for ever; and no longer where it
is killed meanwhile, since a turn is never taken while another runs."""

KEPT_UNITS = 5_000
KEPT_KEYS = 200_000
_PRUNE_EVERY = 50

# Meta is found by what only it has: a look-up by its key would lock the index's entry too, and two locks can deadlock.
_META = f"MATCH (m:`Meta`) WHERE m.`{FEED_SALT}` IS NOT NULL"
_LOCK = (
    f"{_META} SET m.`sequence` = m.`sequence` + 1 "
    "RETURN m.`sequence`, m.`dimension`, m.`feed_salt`, coalesce(m.`feed_keys`, 0), "
    "coalesce(m.`turn` <> $owner AND m.`turn_until` > timestamp(), false)"
)
_CLAIM = (
    f"{_META} AND coalesce(m.`turn_until`, 0) < timestamp() SET m.`turn` = $owner, m.`turn_until` = timestamp() + $span"
)
_KNOWN = "MATCH (c:`Change` {`key`: $token}) RETURN count(*)"
_RECORD = (
    f"CREATE (c:`Change`) SET c = $change WITH c {_META} SET m.`feed_keys` = c.`total`, "
    "m.`turn_until` = CASE WHEN m.`turn` = $owner THEN 0 ELSE m.`turn_until` END"
)
_SCRUB = (
    "MATCH (c:`Change`) WHERE c.`key` IS NOT NULL AND any(k IN c.`{name}` WHERE k IN $gone) "
    "SET c.`{name}` = [k IN c.`{name}` WHERE NOT k IN $gone]"
)
_PRUNE = "MATCH (c:`Change`) WHERE c.`key` IS NOT NULL AND (c.`sequence` <= $oldest OR c.`total` < $total) DELETE c"
_READ = (
    f"{_META} OPTIONAL MATCH (c:`Change`) WHERE c.`sequence` > $since "
    "AND c.`key` IS NOT NULL AND c.`sequence` <= m.`sequence` "
    "RETURN m.`sequence`, m.`feed_salt`, c.`sequence`, c.`Memory`, c.`Entity`, c.`gone_Memory`, c.`gone_Entity`, "
    "c.`all`"
)


class AppliedBeforeError(Exception):
    """The unit of work is there: its first commit was only not answered."""


@dataclass(frozen=True, slots=True)
class Locked:
    """The Meta node, locked by this transaction.

    Attributes:
        sequence: that of the unit of work which is being written.
        dimension: of the store's vectors.
        salt: for the digests of deleted keys.
        keys: how many keys the feed has ever held.
        waits: it is another writer's turn; nothing may be written now.
    """

    sequence: int
    dimension: int
    salt: str
    keys: int
    waits: bool


@dataclass(slots=True)
class Touched:
    """What one unit of work touches."""

    keys: dict[str, set[str]] = field(default_factory=lambda: {label: set() for label in LABELS})
    gone: dict[str, set[str]] = field(default_factory=lambda: {label: set() for label in LABELS})
    everything: bool = False

    def add(self, label: str | None, key: str) -> None:
        """A node that is new, changed, or has another edge."""
        if label in self.keys:
            self.keys[label].add(key)


def touched_by(work: CheckedWork, ends: Iterable[tuple[str, str]]) -> Touched:
    """What a unit of work touches; `ends`: labels and keys at edges that it changed by a match."""
    touched = Touched()
    for label, key in work.node_deletes:
        if label in touched.gone:
            touched.gone[label].add(key)
    for label, found in work.nodes.items():
        for row in found:
            touched.add(label, row["key"])
    for update in work.node_updates:
        touched.add(update.label, update.key)
    for edge in work.edges:
        touched.add(edge.source_label, edge.source)
        touched.add(edge.target_label, edge.target)
    for label, key in ends:
        touched.add(label, key)
    return touched


def lock(transaction: Transaction, owner: str) -> Locked | None:
    """Raises the sequence, which locks Meta until the end of the transaction, so that writers queue up; None where the
    store is not initialised."""
    for sequence, dimension, salt, keys, waits in rows(transaction, _LOCK, {"owner": owner}):
        return Locked(int(sequence), int(dimension), salt, int(keys), bool(waits))
    return None


def claim(transaction: Transaction, owner: str, ticks: int) -> None:
    """Makes it this writer's turn, unless it is another's; `ticks` of the server's clock are a second."""
    transaction.run(_CLAIM, {"owner": owner, "span": int(TURN_SECONDS * ticks)}).consume()


def is_known(transaction: Transaction, token: str) -> bool:
    """Whether a unit of work with this token was committed."""
    return bool(rows(transaction, _KNOWN, {"token": token})[0][0])


def record(transaction: Transaction, locked: Locked, token: str, touched: Touched, owner: str) -> None:
    """Writes the entry of the unit of work, and ends the writer's turn."""
    total = locked.keys + sum(len(keys) for keys in (*touched.keys.values(), *touched.gone.values()))
    change: dict[str, Any] = {"key": token, "sequence": locked.sequence, "total": total}
    for label in LABELS:
        if gone := touched.gone[label] - touched.keys[label]:
            change[f"gone_{label}"] = sorted(digest(key, locked.salt) for key in gone)
            transaction.run(_SCRUB.format(name=label), {"gone": sorted(gone)}).consume()
        if touched.keys[label]:
            change[label] = sorted(touched.keys[label])
    if touched.everything:
        change["all"] = True
    transaction.run(_RECORD, {"change": change, "owner": owner}).consume()
    if locked.sequence % _PRUNE_EVERY == 0:
        given = {"oldest": locked.sequence - KEPT_UNITS, "total": total - KEPT_KEYS}
        transaction.run(_PRUNE, given).consume()


def read(transaction: Transaction, since: int) -> Changes | None:
    """What was done after a sequence; None where the feed does not hold all of it."""
    found = rows(transaction, _READ, {"since": since})
    if not found:
        return None
    sequence, salt = int(found[0][0]), found[0][1]
    entries = [row[2:] for row in found if row[2] is not None]
    if len(entries) != sequence - since or any(entry[-1] for entry in entries):
        return None
    parts = [frozenset(key for entry in entries for key in entry[at] or ()) for at in range(1, 5)]
    return Changes(
        sequence=sequence,
        touched=dict(zip(LABELS, parts[:2], strict=True)),
        gone=dict(zip(LABELS, parts[2:], strict=True)),
        salt=salt,
    )
