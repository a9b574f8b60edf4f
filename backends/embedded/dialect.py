"""What differs between the engines of Kuzu's line. Nothing else in the package asks which of them it has."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any

from alma_graph.backends.protocol import Capabilities
from alma_graph.errors import MissingDependencyError, UnsupportedError

MEGABYTE = 1 << 20

_ADDRESS_SPACE = 1 << 40
"""Address space that an open store reserves. The engines' own 8 TB allows 15 open stores in a process; Kuzu uses up
9 MB of it with each checkpoint, so it must not be small."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine.

    Attributes:
        name: the engine, and the module to import.
        magic: first bytes of its file.
        install: the line that installs it.
        shared_readers: other processes may read while one writes.
        bulk_lookup: UNWIND with a primary key is a lookup; otherwise keys are fetched one prepared statement each.
        guarded_checkpoints: a kill inside a checkpoint can lose the file, so a copy stands by during each.
        reopens_after_checkpoint: the database is opened anew behind each. Where edges were made and removed again since
            the last one, Kuzu keeps a broken memory of their table, and the next use of it ends the process.
        abandon_after_failure: a rolled back transaction leaves memory that must not be used again.
        replays_detach: DETACH DELETE comes back from the log as it was. Kuzu's replay of it, at a node whose edge the
            same transaction had removed already, takes away the first edge of that table, as seen from one end.
        torn_log_options: options with which a store opens whose log has a torn tail; None where it does so by itself.
        rewrites_vectors: a SET of a vector corrupts neighbouring rows, so the node is made again instead.
        recycle_after: statements after which a connection is replaced, because it leaks.
        copy_rows: rows of one table in a unit from which COPY is faster than prepared statements, measured.
        row_seconds: time of one prepared statement that makes a node or an edge, measured.
        lookup_rows: rows that are scanned in the time of looking up one key, measured.
        checkpoint_bytes: size of the log that calls for a checkpoint.
        update_budget: updated properties (a vector counts 30) after which a checkpoint must free the buffer pool.
        database_options: fixed options of the engine's Database.
    """

    name: str
    magic: bytes
    install: str
    shared_readers: bool
    bulk_lookup: bool
    guarded_checkpoints: bool
    reopens_after_checkpoint: bool
    abandon_after_failure: bool
    rewrites_vectors: bool
    replays_detach: bool
    torn_log_options: Mapping[str, Any] | None
    recycle_after: int
    copy_rows: int
    row_seconds: float
    lookup_rows: int
    checkpoint_bytes: int
    update_budget: int
    database_options: Mapping[str, Any] = field(
        default_factory=lambda: MappingProxyType({"auto_checkpoint": False, "max_db_size": _ADDRESS_SPACE})
    )

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do, for callers."""
        return Capabilities(cypher=True, durable=True, shared_readers=self.shared_readers)

    def load(self) -> ModuleType:
        """Imports the engine.

        Raises:
            UnsupportedError: the other engine of the family is loaded; both in one process crash it.
            MissingDependencyError: it is not installed.
        """
        for other in DIALECTS.values():
            if other.name != self.name and other.name in sys.modules:
                raise UnsupportedError(
                    f"this process has loaded {other.name}, so it cannot load {self.name} too: both register the same "
                    f"native types and the process would crash; open {self.name} stores in a process of their own"
                )
        if self.name not in sys.modules and importlib.util.find_spec(self.name) is None:
            raise MissingDependencyError(f"the engine {self.name} is not installed; install it with: {self.install}")
        return importlib.import_module(self.name)


LADYBUG = Dialect(
    name="ladybug",
    magic=b"LBUG1",
    install="pip install 'ladybug>=0.22,<0.23'",
    shared_readers=True,
    bulk_lookup=True,
    guarded_checkpoints=False,
    reopens_after_checkpoint=False,
    abandon_after_failure=False,
    rewrites_vectors=False,
    replays_detach=True,
    torn_log_options=MappingProxyType({"throw_on_wal_replay_failure": False}),
    recycle_after=20_000,
    copy_rows=200,
    row_seconds=0.0004,
    lookup_rows=20,
    checkpoint_bytes=32 * MEGABYTE,
    update_budget=1_000_000,
)

KUZU = Dialect(
    name="kuzu",
    magic=b"KUZU",
    install="pip install 'alma_graph[kuzu]'",
    shared_readers=False,
    bulk_lookup=False,
    guarded_checkpoints=True,
    reopens_after_checkpoint=True,
    abandon_after_failure=True,
    rewrites_vectors=True,
    replays_detach=False,
    torn_log_options=None,
    recycle_after=500,
    copy_rows=200,
    row_seconds=0.0008,
    lookup_rows=400,
    checkpoint_bytes=64 * MEGABYTE,
    update_budget=9_000,
)

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (LADYBUG, KUZU)}
