"""The one Meta row of a store."""

from __future__ import annotations

from datetime import datetime

from alma_graph.backends.protocol import Row
from alma_graph.backends.schema import META_KEY, SCHEMA_VERSION
from alma_graph.errors import InvalidInputError


def new_meta(dimension: int, embedder: str, embedder_revision: str | None, created_with: str, now: datetime) -> Row:
    """The Meta row of a new store.

    Raises:
        InvalidInputError: the dimension is no positive whole number, or the embedder has no name.
    """
    if isinstance(dimension, bool) or not isinstance(dimension, int) or not 1 <= dimension <= 65_536:
        raise InvalidInputError(f"dimension={dimension!r} must be a whole number from 1 to 65536")
    if not isinstance(embedder, str) or not embedder:
        raise InvalidInputError(f"embedder={embedder!r} must be a name")
    return {
        "key": META_KEY,
        "embedder": embedder,
        "embedder_revision": embedder_revision,
        "created_with": created_with,
        "schema_version": SCHEMA_VERSION,
        "dimension": dimension,
        "sequence": 0,
        "created_at": now,
    }
