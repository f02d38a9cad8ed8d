"""What callers see while a server of the gateway is away: PostgreSQL, Redis."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.asgi_server import serving
from gateway.testing.live import FaultyUpstreams
from tests.eventually import eventually
from tests.interaction.operated import operated
from tests.interaction.test_failing_upstream import Desk
from tests.interaction.test_limits import BOOK, DAY
from tests.interaction.test_missing_database import EXPECTED, REQUESTS, asked, verdict
from tests.postgres import create_database, drop_database, run, server_url
from tests.redis_server import own_redis

ENDED: Final = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{}'"


@pytest.fixture
def database() -> Iterator[str]:
    url = asyncio.run(create_database(server_url()))
    yield url
    asyncio.run(drop_database(server_url(), url))


@pytest.mark.postgres
async def test_each_transport_says_so_while_postgresql_is_gone(
    database: str, tmp_path: Path
) -> None:
    name = urlsplit(database).path[1:]
    async with operated(tmp_path, GATEWAY_DATABASE_URL=database) as (gateway, http):
        made = await gateway.parts.keys.create("administrator", "of a test")
        await run(server_url(), f'alter database "{name}" allow_connections false')
        await run(server_url(), ENDED.format(name))
        found = [await asked(http, each, made.key) for each in REQUESTS]
        await run(server_url(), f'alter database "{name}" allow_connections true')
        later, _ = await asked(http, "rest", made.key)

    assert [verdict(*each) for each in found] == [EXPECTED] * len(REQUESTS)
    assert not any(name in answer.text or made.key in answer.text for answer, _ in found)
    assert later.status_code == 200


@pytest.mark.redis
async def test_a_redis_that_is_gone_refuses_limited_calls_only(tmp_path: Path) -> None:
    wrong = {"tee_time_id": "no-such-time", "date": DAY, "time": "08:00", "players": 1}
    with own_redis() as redis:
        async with operated(tmp_path, GATEWAY_REDIS_URL=redis.url) as (_, http):
            counted = await http.post(BOOK, json=wrong)
            redis.stop()
            refused = await http.post(BOOK, json=wrong)
            other = await http.post("/v1/example/greet", json={"name": "Ada"})
            redis.start()
            again = await http.post(BOOK, json=wrong)

    assert (counted.status_code, counted.headers["ratelimit"][:10]) == (404, '"hour";r=9')
    assert (refused.status_code, refused.json()["code"]) == (503, "NOT_COUNTED")
    assert redis.url not in refused.text
    assert (other.status_code, again.status_code) == (200, 404)


@pytest.mark.redis
async def test_gateways_that_share_a_redis_shut_an_upstream_together(tmp_path: Path) -> None:
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    upstream = FaultyUpstreams({"avinode": catalogue.upstreams["avinode"]})
    with own_redis() as redis:
        async with serving(upstream) as url:
            settings = {
                "GATEWAY_BACKEND_AVINODE": "live",
                "GATEWAY_AVINODE_BASE_URL": f"{url}/avinode",
                "GATEWAY_AVINODE_API_TOKEN": "token-of-the-tests",
                "GATEWAY_AVINODE_ACCESS_TOKEN": "access-of-the-tests",
                "GATEWAY_REDIS_URL": redis.url,
            }
            async with (
                operated(tmp_path / "one", **settings) as one,
                operated(tmp_path / "other", **settings) as other,
            ):
                await Desk(*one, upstream).fail()
                second = Desk(*other, upstream)

                async def shut() -> bool | None:
                    return await second.metric("gateway_upstream_breaker_open") == 1 or None

                await eventually(shut)
                assert (await second.call()).json()["type"] == "/problems/not-sent"
                assert upstream.seen == []
