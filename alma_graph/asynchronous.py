"""`AsyncALMA`: the same methods as coroutines. The work itself is synchronous and runs in threads."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Self

from alma_graph.alma import ALMA


class AsyncALMA:
    """An `ALMA` for event loops: every method has the name and the arguments it has there, and is awaited.

    Open it with `await AsyncALMA.open(...)` or `await AsyncALMA.from_config(...)`; close it, or use it with
    `async with`. What is no method there (`project_id`, `scopes`, `queries`) is read as it is; `memories` gives a list.
    """

    def __init__(self, alma: ALMA) -> None:
        self.alma = alma

    @classmethod
    async def open(cls, location: str | os.PathLike[str], **options: Any) -> Self:
        """See `ALMA.open`."""
        return cls(await asyncio.to_thread(functools.partial(ALMA.open, location, **options)))

    @classmethod
    async def from_config(cls, path: str | os.PathLike[str]) -> Self:
        """See `ALMA.from_config`."""
        return cls(await asyncio.to_thread(ALMA.from_config, path))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.alma, name)
        return _in_thread(value) if callable(value) else value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.alma)})

    def __repr__(self) -> str:
        return f"Async{self.alma!r}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.alma.close)


def _in_thread(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @functools.wraps(method)
    async def awaited(*args: Any, **keywords: Any) -> Any:
        return await asyncio.to_thread(_call, method, args, keywords)

    return awaited


def _call(method: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Calls it; what comes bit by bit is read to its end here, in the thread."""
    value = method(*args, **keywords)
    return list(value) if isinstance(value, Iterator) else value
