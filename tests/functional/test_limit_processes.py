"""Four processes count calls at once: none too many, and none too few."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.functional.limit_program import open_usage
from tests.postgres import create_database, drop_database, server_url
from tests.redis_server import own_redis

PROCESSES = 4
CALLS = 80
"""Of each process."""
ALLOWED = 100
PROGRAM = Path(__file__).with_name("limit_program.py")


@pytest.fixture(params=[pytest.param("postgres", marks=pytest.mark.postgres), "redis"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "redis":
        with own_redis() as redis:
            yield redis.url
        return
    made = asyncio.run(create_database(server_url()))
    yield made
    asyncio.run(drop_database(server_url(), made))


def test_four_processes_admit_exactly_as_many_calls_as_the_limit_allows(url: str) -> None:
    asyncio.run(_migrate(url))
    started = [
        subprocess.Popen(
            [sys.executable, PROGRAM, url, str(CALLS), str(ALLOWED)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    try:
        assert {each.stdout.readline() for each in started} == {"ready\n"}
        for each in started:
            each.stdin.write("go\n")
            each.stdin.flush()
        counted = [int(each.communicate(timeout=60)[0]) for each in started]
    finally:
        for each in started:
            each.kill()

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
