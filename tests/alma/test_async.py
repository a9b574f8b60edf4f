"""The same store from an event loop."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from alma_graph import ALMA, AsyncALMA, UnsupportedError


def test_the_async_face_has_the_same_methods(location: str) -> None:
    async def story() -> None:
        async with await AsyncALMA.open(location, project_id="shop", embedder="hashing", extractor="none") as alma:
            await asyncio.gather(
                *(alma.learn(agent="a", task=f"task {n}", outcome=True, strategy_used="wait") for n in range(5))
            )
            assert len((await alma.retrieve(task="task 3")).hits) >= 1
            assert len(await alma.memories(kind="outcome")) == 5
            assert (await alma.stats()).by_kind["outcome"] == 5
            assert alma.project_id == "shop"
            [first, *_] = await alma.memories(kind="outcome", order="id", limit=1)
            await alma.retract(first.id, reason="faked")
            assert [version.reason for version in await alma.history(first.id)] == ["faked"]
            assert (await alma.restore(first.id)) == first
            assert len(await alma.forget(kind="outcome", dry_run=True)) == 5
            assert await alma.delete_project("shop", confirm="shop") >= 5
            assert await alma.projects() == []

    asyncio.run(story())


def public_methods() -> list[str]:
    return [name for name, _ in inspect.getmembers(ALMA, callable) if not name.startswith("_")]


def test_every_public_method_is_a_coroutine_function() -> None:
    assert {"learn", "retrieve", "open", "from_config", "close", "cypher"} <= set(public_methods())
    for name in public_methods():
        assert inspect.iscoroutinefunction(getattr(AsyncALMA, name)), name


def test_settings_may_change_what_a_file_says(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("project_id: shop\nstore: ':memory:'\nembedder: hashing\nextractor: none\n")

    async def story() -> None:
        async with await AsyncALMA.from_config(path, project_id="other") as alma:
            assert alma.project_id == "other"

    asyncio.run(story())


@pytest.mark.never("memory", reason="it has no Cypher", raises=UnsupportedError)
def test_named_queries_run_off_the_event_loop(location: str) -> None:
    async def story() -> None:
        async with await AsyncALMA.open(location, project_id="shop", embedder="hashing", extractor="none") as alma:
            await alma.add_domain_knowledge("a", "d", "The vault is in Bern.")
            assert len(await alma.queries["recent-memories"](limit=1)) == 1
            assert len(alma.queries) == len(alma.alma.queries)

    asyncio.run(story())
