"""Following the events of a whole gateway, which is asked to stop, or killed."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from gateway.store.records import NewEvent
from gateway.store.sql.engine import open_store
from gateway.store.sql.events import insert_events
from gateway.store.sql.store import SqlStore
from tests.chaos import IS_FULL
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import BOOTSTRAP_KEY, running_gateway, started_gateway
from tests.interaction.events.sse import Block, EventClient

EVENTS, FOLLOWERS, KILLS = (400, 6, 3) if IS_FULL else (200, 3, 2)
LIFE_SECONDS = 0.5
"""Of a gateway that is killed."""
PAUSE_SECONDS = 0.05
"""Of a client whose server is dead."""


def test_open_streams_do_not_hold_up_a_stop(tmp_path: Path) -> None:
    with running_gateway(tmp_path) as gateway:
        asyncio.run(follow_until_it_ends(gateway.url, gateway.pid))
    assert "Traceback" not in (tmp_path / "stderr.log").read_text()


async def follow_until_it_ends(url: str, pid: int) -> None:
    clients = [await EventClient.open(url, key=BOOTSTRAP_KEY, host="127.0.0.1") for _ in range(20)]
    assert [client.status for client in clients] == [200] * 20
    os.kill(pid, signal.SIGTERM)
    async with asyncio.timeout(PATIENCE_SECONDS):
        for client in clients:
            blocks = [block async for block in client.blocks()]
            client.close()
            assert blocks[-1].get("retry") == "2000"


class Server(Struct):
    """A gateway that is killed and started again, on one database."""

    database: str
    data: Path
    url: str = ""
    starts: int = 0

    async def run(self, is_over: asyncio.Event) -> None:
        """Start it, kill it after a while without any warning, and so on; at last let it serve."""
        serve = ("serve", "--port", "0", "--data", str(self.data))
        at = {"GATEWAY_DATABASE_URL": self.database}
        while not is_over.is_set():
            with started_gateway(self.data, *serve, environment=at) as started:
                self.url = await asyncio.to_thread(started.ready_url)
                self.starts += 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(LIFE_SECONDS if self.starts <= KILLS else None):
                        await is_over.wait()


@pytest.mark.postgres
async def test_followers_miss_nothing_though_the_gateway_is_killed(
    postgres_url: str, tmp_path: Path
) -> None:
    """R14, scaled: kills, random disconnects, and transactions that are held open."""
    server = Server(postgres_url, tmp_path)
    is_over = asyncio.Event()
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.run(is_over))
        async with opened(postgres_url) as store:
            writing = tasks.create_task(publish(store, server))
            following = [tasks.create_task(follow(server, seed)) for seed in range(FOLLOWERS)]
            await writing
            expected = await in_order(store)
            for follower in following:
                assert await follower == expected
        is_over.set()
    assert len(expected) == EVENTS
    assert server.starts > KILLS


@asynccontextmanager
async def opened(database: str) -> AsyncIterator[SqlStore]:
    store = await open_store(database)
    try:
        yield store
    finally:
        await store.close()


async def publish(store: SqlStore, server: Server) -> None:
    """From several transactions at once, each open for a while after it has its rows."""

    async def write(connection: Any, now: Any, numbers: range) -> None:
        await insert_events(connection, [event(number) for number in numbers], now)
        await asyncio.sleep(0.01 * (numbers.start % 7))

    async def publish_share(first: int) -> None:
        for start in range(first, first + EVENTS // 4, 5):
            await store.database.write(partial(write, numbers=range(start, start + 5)))
            await asyncio.sleep(PAUSE_SECONDS)
            is_late = start == first + EVENTS // 4 - 10
            while is_late and server.starts <= KILLS:  # noqa: ASYNC110 - another task's doing
                await asyncio.sleep(PAUSE_SECONDS)

    await asyncio.gather(*(publish_share(share * EVENTS // 4) for share in range(4)))


def event(number: int) -> NewEvent:
    return NewEvent(
        id=f"event-{number}",
        type="gateway.test.happened.v1",
        subject="subject",
        source="/tests",
        data={"number": number},
    )


async def in_order(store: SqlStore) -> list[str]:
    """The ids in the order of the log, once all have their positions."""
    while True:
        found = await store.events.after(0, 10_000, ("gateway.test.*",))
        if len(found) == EVENTS:
            return [each.id for each in found]
        await asyncio.sleep(PAUSE_SECONDS)


async def follow(server: Server, seed: int) -> list[str]:
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    seen: list[str] = []
    cursor: str | None = None
    while len(seen) < EVENTS:
        count = min(chance.randint(1, 80), EVENTS - len(seen))
        with suppress(OSError, asyncio.IncompleteReadError, ValueError):
            async for block in some_blocks(server.url, cursor, count):
                assert block.get("event") != "reset"
                seen.append(block.data["id"])
                cursor = block.get("id")
        await asyncio.sleep(PAUSE_SECONDS)
    return seen


async def some_blocks(url: str, cursor: str | None, count: int) -> AsyncIterator[Block]:
    shown = {"last_event_id": cursor} if cursor else {}
    query = "?types=gateway.test.*&from=earliest"
    client = await EventClient.open(url, query, key=BOOTSTRAP_KEY, host="127.0.0.1", **shown)
    try:
        if client.status != 200:
            return
        async for block in client.blocks():
            if block.get("data") is not None:
                yield block
                count -= 1
            if not count:
                return
    finally:
        client.abort()
