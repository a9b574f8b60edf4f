"""Which memories mention which entities, how much each memory is about each, and the names entities go by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from alma_graph.backends.protocol import Row
from alma_graph.index.columns import Codes, Column, tie
from alma_graph.index.names import name_key
from alma_graph.index.postings import Ints, Postings

SUBJECT_LAG = 3
"""An entity that begins at most this many characters after a memory's first one is what the memory is about."""
_DECAY = 150.0
LEAST_SALIENCE = 0.01


class EntityIndex:
    """MENTIONS in both directions, by entity code and memory row, and entities by name."""

    def __init__(self) -> None:
        self._codes = Codes()
        self._rows: dict[str, Row] = {}
        self._mentions = Postings()
        self._frequency = Column(np.int32)
        self._ties = Column(np.uint64)
        self._by_canonical: dict[str, str] = {}
        self._by_alias: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        self._first: dict[int, int] = {}
        self._mentioning: dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {}
        self.longest_name = 1
        """Words of the longest name."""

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def keys(self) -> list[str]:
        """The keys of all entities."""
        return list(self._rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Adds Entity nodes, or replaces what is known of them."""
        for row in rows:
            key = row["key"]
            if key in self._rows:
                self._forget_names(self._rows[key])
            self._code(key)
            self._rows[key] = dict(row)
            self._learn_names(row)

    def update(self, key: str, values: Row) -> None:
        """New values of an entity's properties."""
        if key in self._rows:
            self.add([{**self._rows[key], **values}])

    def remove(self, key: str) -> None:
        """Forgets an entity and its mentions."""
        row = self._rows.pop(key, None)
        if row is None:
            return
        self._forget_names(row)
        code = self._codes.get(key)
        assert code is not None
        self._mentions.weights[self._mentions.of_item(code)] = 0.0
        self._mentioning.pop(code, None)
        self._frequency.view[code] = 0

    def mention(self, owners: Sequence[int], keys: Sequence[str], starts: Sequence[int]) -> None:
        """Adds MENTIONS edges: memory row, entity key, first character of the mention.

        Salience (RETRIEVAL's part B): 1 for what the memory is about, else half, fading with the distance from the
        memory's first mention.
        """
        for owner, start in zip(owners, starts, strict=True):
            self._first[owner] = min(self._first.get(owner, start), start)
        codes = [self._code(key) for key in keys]
        lags = [start - self._first[owner] for owner, start in zip(owners, starts, strict=True)]
        lag = np.array(lags, dtype=np.float64)
        salience = np.where(lag <= SUBJECT_LAG, 1.0, np.maximum(0.5 * np.exp(-lag / _DECAY), LEAST_SALIENCE))
        self._mentions.add(owners, codes, salience)
        np.add.at(self._frequency.view, codes, 1)
        self._forget_lookups(codes)

    def remove_memory(self, row: int) -> None:
        """Takes a memory's mentions out."""
        codes = self._mentions.remove_owner(row)
        np.subtract.at(self._frequency.view, codes, 1)
        self._forget_lookups(codes.tolist())
        self._first.pop(row, None)

    def remove_mention(self, row: int, key: str) -> None:
        """Takes one MENTIONS edge out."""
        code = self._codes.get(key)
        if code is None:
            return
        positions = self._mentions.of_owner(row)
        gone = positions[self._mentions.items[positions] == code]
        self._mentions.weights[gone] = 0.0
        self._frequency.view[code] -= len(gone)
        self._mentioning.pop(code, None)

    def code(self, key: str) -> int | None:
        """The number of an entity; None where it is not known."""
        return self._codes.get(key) if key in self._rows else None

    def key(self, code: int) -> str:
        """The key of an entity number."""
        return self._codes.names[code]

    def name(self, code: int) -> str:
        """The display name of an entity number."""
        row = self._rows.get(self._codes.names[code], {})
        return str(row.get("name") or row.get("canonical") or self._codes.names[code])

    def frequency(self, code: int) -> int:
        """How many memories mention the entity."""
        return int(self._frequency.view[code])

    @property
    def frequencies(self) -> npt.NDArray[Any]:
        """How many memories mention each entity, by number."""
        return self._frequency.view

    @property
    def ties(self) -> npt.NDArray[np.uint64]:
        """The order of entities that are equal otherwise, by number; it follows from their keys."""
        return self._ties.view

    def mentioned_by(self, row: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Entity numbers of a memory and their saliences."""
        positions = self._mentions.of_owner(row)
        return self._mentions.items[positions], self._mentions.weights[positions]

    def mentioning(self, code: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Memory rows that mention an entity and their saliences; not to be written to."""
        kept = self._mentioning.get(code)
        if kept is None:
            positions = self._mentions.of_item(code)
            kept = self._mentioning[code] = self._mentions.owners[positions], self._mentions.weights[positions]
        return kept

    def sharing(self, keys: Iterable[str]) -> tuple[Ints, Ints]:
        """Rows that mention any of these entities, and how many of them each mentions; rows ascending."""
        found = [self.mentioning(code)[0] for key in sorted(set(keys)) if (code := self.code(key)) is not None]
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        rows, counts = np.unique(np.concatenate(found), return_counts=True)
        return rows.astype(np.int64), counts.astype(np.int64)

    def entity_key(self, name: str) -> str | None:
        """Key of the entity with this canonical name, else of the one with this alias (the smallest key of several)."""
        return self._by_canonical.get(name) or min(self._by_alias.get(name, ()), default=None)

    def entity_aliases(self, key: str) -> Sequence[str]:
        """The spellings seen so far of an entity."""
        row = self._rows.get(key)
        return tuple(row.get("aliases") or ()) if row else ()

    def named(self, name: str) -> list[int]:
        """Numbers of the entities that go by this name, compared as `names.name_key`; ascending by key."""
        return [code for key in self._by_name.get(name, ()) if (code := self._codes.get(key)) is not None]

    def _forget_lookups(self, codes: Iterable[int]) -> None:
        for code in codes:
            self._mentioning.pop(code, None)

    def _code(self, key: str) -> int:
        code = self._codes.add(key)
        if code == len(self._frequency):
            self._frequency.append(0)
            self._ties.append(tie(key))
        return code

    def _names_of(self, row: Row) -> set[str]:
        spellings = [row.get("name"), row.get("canonical"), *(row.get("aliases") or ())]
        return {key for text in spellings if text and (key := name_key(text))}

    def _learn_names(self, row: Row) -> None:
        key = row["key"]
        if row.get("canonical"):
            self._by_canonical[row["canonical"]] = key
        for alias in row.get("aliases") or ():
            self._by_alias[alias] = sorted({*self._by_alias.get(alias, ()), key})
        for name in self._names_of(row):
            self._by_name[name] = sorted({*self._by_name.get(name, ()), key})
            self.longest_name = max(self.longest_name, name.count(" ") + 1)

    def _forget_names(self, row: Row) -> None:
        key = row["key"]
        if self._by_canonical.get(row.get("canonical") or "") == key:
            del self._by_canonical[row["canonical"]]
        for table, texts in ((self._by_alias, row.get("aliases") or ()), (self._by_name, self._names_of(row))):
            for text in texts:
                left = [other for other in table.get(text, ()) if other != key]
                if left:
                    table[text] = left
                else:
                    table.pop(text, None)
