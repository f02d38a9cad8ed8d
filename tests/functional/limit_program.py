"""One of several processes that count calls at once.

They are forked from one that has loaded the code, which takes longer than the test.
"""

import asyncio
from contextlib import AsyncExitStack
from multiprocessing.connection import Connection
from uuid import uuid4

import sqlalchemy.dialects.postgresql.asyncpg  # noqa: F401 - loaded before the fork

from gateway.clock import SystemClock
from gateway.store import redis
from gateway.store.redis import RedisUsage
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.engine import open_store
from gateway.store.usage import CounterId, Demand, LimitKind, UsageStore
from tests.eventually import PATIENCE_SECONDS

AGENT = CounterId("golfer", "hour").text
PLACES = CounterId("golfer", "concurrent").text


async def count(usage: UsageStore, calls: int, allowed: int) -> int:
    """Make `calls` calls, some at a time."""
    demands = [
        Demand(counter=AGENT, max=allowed, kind=LimitKind.WINDOW, seconds=3600),
        Demand(counter=PLACES, max=2 * allowed, kind=LimitKind.LEASE, seconds=60),
    ]

    async def some() -> int:
        taking = (usage.take(demands, uuid4().hex) for _ in range(calls // 8))
        return sum([not (await each).refused for each in taking])

    return sum(await asyncio.gather(*(some() for _ in range(8))))


async def open_usage(url: str, stack: AsyncExitStack) -> ReservedUsage:
    """The counters in the database or the Redis at `url`, as a gateway uses them."""
    usage = ReservedUsage(await _open(url, stack), SystemClock())
    stack.push_async_callback(usage.close)
    return usage


async def _one_store() -> str:
    """All processes of the trial have one."""
    return "trial"


async def _open(url: str, stack: AsyncExitStack) -> UsageStore:
    if url.startswith("redis:"):
        in_redis = RedisUsage(url, _one_store)
        stack.push_async_callback(in_redis.close)
        return in_redis
    store = await open_store(url)
    stack.push_async_callback(store.close)
    return store.usage


async def work(url: str, calls: int, allowed: int, test: Connection) -> None:
    async with AsyncExitStack() as stack:
        usage = await open_usage(url, stack)
        test.send("ready")
        test.recv()
        test.send(await count(usage, calls, allowed))


def main(url: str, calls: int, allowed: int, test: Connection) -> None:
    """Make calls in a new process, of which `allowed` are; tell `test` how many were."""
    redis._LIMITS_TIMEOUT_SECONDS = PATIENCE_SECONDS
    asyncio.run(work(url, calls, allowed, test))
