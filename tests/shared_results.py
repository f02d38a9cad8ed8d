"""Processes that share results of reads in a Redis, and the upstream that they ask."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from gateway.auth.principal import Grant, Permit, Principal
from gateway.calls.caching.reads import ReadCache
from gateway.calls.caching.shared import SharedResults
from gateway.calls.call import Arguments, Result
from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.store.redis import RESULTS_PREFIX, RedisResults
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.unit.calls.shop import operation

PATIENT_SECONDS = PATIENCE_SECONDS
"""For Redis on a machine that is busy with other tests."""
SECRET = b"the same contracts and upstreams"
STATE = f"{RESULTS_PREFIX}{{shop}}:state"
WRITE = Arguments({}, Effect.WRITE)


class Upstream:
    """What all processes ask: it answers with the number of changes and of reads."""

    def __init__(self) -> None:
        self.changes = 0
        self.reads = 0
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def read(self) -> Result:
        self.reads += 1
        changes = self.changes
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return Result({"n": changes}, b'{"n":%d}' % changes, "live")

    async def write(self) -> Result:
        self.changes += 1
        return Result({}, b"{}", "live")


def permit(cache_seconds: float = 60, **members: object) -> Permit:
    made = operation(cache_seconds=cache_seconds, **members)
    entry = Entry(made, None, None, None, None)  # type: ignore[arg-type]  # the cache looks at the operation alone
    return Permit(Grant(Principal(subject="key", agent="agent"), entry))


def asked(**values: object) -> Arguments:
    return Arguments(values, Effect.READ)


class Process:
    """One of several processes on one PostgreSQL."""

    def __init__(
        self,
        url: str,
        upstream: Upstream,
        secret: bytes,
        changing: dict[str, float],
        timeout: float,
    ) -> None:
        self.clock = ManualClock()
        self.upstream = upstream
        board = RedisResults(url, changing, timeout_seconds=timeout)
        self.shared = SharedResults(board, self.clock, secret, changing)
        self.cache = ReadCache(self.clock, changing, others_write=True, shared=self.shared)

    async def read(self, of: Permit | None = None, **values: object) -> Result:
        return await self.cache.answer(of or permit(), asked(**values), self.upstream.read)

    async def number(self, of: Permit | None = None, **values: object) -> int:
        found: int = (await self.read(of, **values)).values["n"]
        return found

    async def write(self, of: Permit | None = None) -> None:
        await self.cache.answer(of or permit(), WRITE, self.upstream.write)


@asynccontextmanager
async def processes(
    *urls: str,
    secrets: tuple[bytes, ...] = (SECRET, SECRET),
    settling: float | None = 0.0,
    patience: float = PATIENT_SECONDS,
) -> AsyncIterator[tuple[Process, Process]]:
    """Two of them, and one upstream. `settling` None: their connector has no tools that write."""
    changing = {} if settling is None else {"shop": settling}
    upstream = Upstream()
    one, other = (
        Process(url, upstream, secret, changing, patience)
        for url, secret in zip((*urls, *urls)[:2], secrets, strict=True)
    )
    try:
        yield one, other
    finally:
        await one.shared.close()
        await other.shared.close()


@asynccontextmanager
async def outsider(url: str) -> AsyncIterator[Redis]:
    client: Redis = Redis.from_url(url)
    try:
        yield client
    finally:
        await client.aclose()
