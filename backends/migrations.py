"""Numbered migrations: how a store of an older schema becomes one of this package's.

Version 1 is the first schema. A migration raises the version by one, in one transaction together with Meta; a store of
a newer version is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alma_graph.backends.schema import SCHEMA_VERSION
from alma_graph.errors import StoreError, StoreVersionError


@dataclass(frozen=True, slots=True)
class Migration:
    """One step.

    Attributes:
        version: the schema version that it leads to.
        title: what it does, in a few words.
        statements: Cypher of the embedded engines, in order; `{dimension}` stands for that of the vectors. An engine
            without tables, which has every property as soon as it is written, only raises the version.
    """

    version: int
    title: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        2,
        "why a memory was retired, and what it was before",
        (
            "ALTER TABLE `Memory` ADD IF NOT EXISTS `retired_reason` STRING",
            "ALTER TABLE `Memory` ADD IF NOT EXISTS `retired_state` STRING",
        ),
    ),
)
"""All of them, in order, from version 2 on."""


def pending(found: int, path: str, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """The migrations that a store of version `found` still needs.

    Raises:
        StoreVersionError: the store is newer than the last migration.
        StoreError: the versions have a gap, which is a fault of this package.
    """
    versions = [migration.version for migration in migrations]
    if versions != list(range(2, len(versions) + 2)):
        raise StoreError(f"the migrations lead to versions {versions}; they must be 2, 3, ... without a gap")
    supported = versions[-1] if versions else SCHEMA_VERSION
    if found > supported:
        raise StoreVersionError(
            f"{path} has schema version {found}; this package knows versions up to {supported}: install a newer "
            "alma_graph",
            found=found,
            supported=supported,
        )
    return [migration for migration in migrations if migration.version > found]
