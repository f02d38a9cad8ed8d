"""Four processes count calls at once: none too many, and none too few."""

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import Any

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.functional import limit_program
from tests.functional.limit_program import open_usage
from tests.redis_server import own_redis

PROCESSES = 4
CALLS = 80
"""Of each process."""
ALLOWED = 100
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([limit_program.__name__])


@pytest.fixture(
    params=[
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("redis", marks=pytest.mark.redis),
    ]
)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "redis":
        with own_redis() as redis:
            yield redis.url
        return
    yield request.getfixturevalue("postgres_url")


@contextmanager
def counting(url: str) -> Iterator[Connection]:
    """What a process of `limit_program` says and hears."""
    own, theirs = FORKS.Pipe()
    process = FORKS.Process(target=limit_program.main, args=(url, CALLS, ALLOWED, theirs))
    process.start()
    theirs.close()
    try:
        yield own
    finally:
        own.close()
        process.join(PATIENCE_SECONDS)
        process.kill()
        process.join()


def received(connection: Connection) -> Any:
    assert connection.poll(PATIENCE_SECONDS), "it hangs"
    return connection.recv()


def test_four_processes_admit_exactly_as_many_calls_as_the_limit_allows(url: str) -> None:
    asyncio.run(_migrate(url))
    with ExitStack() as stack:
        tests = [stack.enter_context(counting(url)) for _ in range(PROCESSES)]
        assert {received(each) for each in tests} == {"ready"}
        for each in tests:
            each.send("go")
        counted = [received(each) for each in tests]

    assert sum(counted) == ALLOWED
    assert asyncio.run(_used(url)) == {"hour": ALLOWED, "concurrent": ALLOWED}


async def _migrate(url: str) -> None:
    """So that the processes do not wait for each other."""
    async with AsyncExitStack() as stack:
        await open_usage(url, stack)


async def _used(url: str) -> dict[str, int]:
    async with AsyncExitStack() as stack:
        readings = await (await open_usage(url, stack)).readings(10)
    return {each.counter.limit: each.usage.used for each in readings}
