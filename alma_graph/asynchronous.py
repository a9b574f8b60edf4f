"""`AsyncALMA`: the same methods as coroutines. The work itself is synchronous and runs in threads."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from alma_graph.alma import ALMA
from alma_graph.model import MemoryScope
from alma_graph.queries.catalogue import BoundQuery, Catalogue
from alma_graph.results import Table
from alma_graph.transfer import ImportSummary


class AsyncALMA:
    """An `ALMA` for event loops: every method has the name and the arguments it has there, and is awaited.

    Open it with `await AsyncALMA.open(...)` or `await AsyncALMA.from_config(...)`; close it, or use it with
    `async with`. `memories` gives a list; the named queries are awaited: `await alma.queries["recent-memories"]()`.
    """

    def __init__(self, alma: ALMA) -> None:
        self.alma = alma

    @classmethod
    async def open(cls, location: str | os.PathLike[str], **options: Any) -> Self:
        """See `ALMA.open`."""
        return cls(await asyncio.to_thread(functools.partial(ALMA.open, location, **options)))

    @classmethod
    async def from_config(cls, path: str | os.PathLike[str], **changes: Any) -> Self:
        """See `ALMA.from_config`."""
        return cls(await asyncio.to_thread(functools.partial(ALMA.from_config, path, **changes)))

    @classmethod
    async def import_(cls, path: str | os.PathLike[str], into: Any, *args: Any, **options: Any) -> ImportSummary:
        """See `ALMA.import_`; `into` is a location, an open `AsyncALMA` or an open `ALMA`."""
        place = into.alma if isinstance(into, AsyncALMA) else into
        return await asyncio.to_thread(functools.partial(ALMA.import_, path, place, *args, **options))

    @property
    def project_id(self) -> str:
        """The tenant that is worked in."""
        return self.alma.project_id

    @property
    def scopes(self) -> Mapping[str, MemoryScope]:
        """What single agents may learn and read."""
        return self.alma.scopes

    @property
    def queries(self) -> AsyncCatalogue:
        """The named queries of `queries/`, to be awaited."""
        return AsyncCatalogue(self.alma.queries)

    if TYPE_CHECKING:  # the methods of ALMA, put in below

        def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]: ...

    def __repr__(self) -> str:
        return f"Async{self.alma!r}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.alma.close)


class AsyncQuery:
    """One named query, bound to a store and a project. Call it with its parameters and await it."""

    def __init__(self, query: BoundQuery) -> None:
        self.query = query.query
        self._bound = query
        self.__doc__ = query.__doc__

    async def __call__(self, **parameters: Any) -> Table:
        """Runs the query in a thread; see `BoundQuery`."""
        return await asyncio.to_thread(functools.partial(self._bound, **parameters))

    def __repr__(self) -> str:
        return repr(self._bound)


class AsyncCatalogue(Mapping[str, AsyncQuery]):
    """The named queries of a store, by name; a table of what there is in Jupyter."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def __getitem__(self, name: str) -> AsyncQuery:
        return AsyncQuery(self._catalogue[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue)

    def __len__(self) -> int:
        return len(self._catalogue)

    def __repr__(self) -> str:
        return repr(self._catalogue)

    def _repr_html_(self) -> str:
        return self._catalogue._repr_html_()


def _in_thread(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @functools.wraps(method)
    async def awaited(self: AsyncALMA, *args: Any, **keywords: Any) -> Any:
        return await asyncio.to_thread(_call, method, self.alma, args, keywords)

    return awaited


def _call(method: Callable[..., Any], alma: ALMA, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Calls it; what comes bit by bit is read to its end here, in the thread."""
    value = method(alma, *args, **keywords)
    return list(value) if isinstance(value, Iterator) else value


for _name, _method in inspect.getmembers(ALMA, inspect.isfunction):
    if not _name.startswith("_"):
        setattr(AsyncALMA, _name, _in_thread(_method))
