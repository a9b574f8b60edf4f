"""The same store from an event loop."""

from __future__ import annotations

import asyncio

from alma_graph import AsyncALMA


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

    asyncio.run(story())
