"""A changed contract is published once, and each time that it changes."""

import asyncio

from gateway.app.gateway import announce_contract
from gateway.store.sql.engine import open_store


async def announced(*digests: str, times: int = 1) -> list[str]:
    store = await open_store("memory:")
    try:
        for digest in digests:
            await asyncio.gather(*(announce_contract(store.events, digest) for _ in range(times)))
            await store.events.sequence(100)
        return [each.data["contract"] for each in await store.events.after(0, 100)]
    finally:
        await store.close()


async def test_a_contract_that_comes_back_and_changes_again_is_published_each_time() -> None:
    assert await announced(*"ABABC") == [*"ABABC"]


async def test_what_is_served_as_before_is_not_published() -> None:
    assert await announced(*"AAB") == [*"AB"]


async def test_processes_that_start_at_once_publish_one_change() -> None:
    assert await announced(*"AB", times=4) == [*"AB"]
