"""Two processes of one gateway, with a Redis: what one has fetched, the other one answers."""

import asyncio
import json
import time
from base64 import b64encode
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from re import findall
from typing import Any

import httpx
import pytest
from msgspec import Struct
from redis.asyncio import Redis

from gateway.store.redis import RESULTS_PREFIX
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, running_gateway
from tests.redis_server import RedisServer, own_redis

pytestmark = [pytest.mark.postgres, pytest.mark.redis]
SEARCH = "/v1/golf/search_tee_times"
DAY = {"date": "2026-12-04", "players": 2}
BOOKED = DAY | {"auto_book": True, "idempotency_key": "4f6c1f0e-6a35-4c0b-9f0f-2f1f7a5f9a01"}


class Site(Struct):
    """A gateway of two processes."""

    gateway: RunningGateway
    redis: RedisServer

    def call(self, arguments: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        """On a connection of its own, which either process may take."""
        connection = HTTPConnection(
            self.gateway.url.removeprefix("http://"), timeout=PATIENCE_SECONDS
        )
        headers = {**self.gateway.authorization, "content-type": "application/json"}
        connection.request("POST", SEARCH, json.dumps(arguments), headers)
        with connection.getresponse() as found:
            body = json.loads(found.read())
            named = {name.lower(): value for name, value in found.getheaders()}
        connection.close()
        return found.status, named, body

    def book(self, arguments: dict[str, Any]) -> Any:
        """The reservation. The call is repeated while Redis does not answer soon enough."""
        status, _, booked = self.call(arguments)
        while status == 503 and booked["code"] == "NOT_ANNOUNCED":
            time.sleep(0.1)
            status, _, booked = self.call(arguments)
        assert status == 200, booked
        return booked["reservation"]

    def search(self) -> tuple[dict[str, float], dict[str, float]]:
        """Search until both processes have answered. How often, and how many asked the upstream."""
        hits, misses = self.counted()
        for _ in range(60):
            status, headers, _ = self.call(DAY)
            assert status == 200
            if headers["cache-control"] != "no-store":  # this machine may be busy
                assert headers["cache-control"] == "private, no-cache"
                assert 0 <= int(headers["age"]) < 60
            if min(grown(self.lookups("hit"), hits).values()) > 0:
                break
        more = self.counted()
        return grown(more[0], hits), grown(more[1], misses)

    def counted(self) -> tuple[dict[str, float], dict[str, float]]:
        """Hits and misses, once each process has written what it has counted up to now."""
        begun = self.written()
        # The first of its next two texts may be older than this call.
        for _ in range(2):
            before = self.written()
            while any(self.written()[each] == before[each] for each in begun):
                time.sleep(0.05)
        return self.lookups("hit"), self.lookups("miss")

    def written(self) -> dict[Path, int]:
        """When each process has last written its metrics for the other one."""
        files = [*(self.gateway.data / "processes").glob("*.prom")]
        assert len(files) == 2
        return {file: file.stat().st_mtime_ns for file in files}

    def lookups(self, outcome: str) -> dict[str, float]:
        """Those of results, by process."""
        headers = self.gateway.authorization
        url = f"{self.gateway.url}/metrics"
        text = httpx.get(url, headers=headers, timeout=PATIENCE_SECONDS).text
        found = findall(r"gateway_cache_lookups_total\{(.*)\} (\S+)", text)
        parts = 'cache="results"', f'outcome="{outcome}"'
        return {
            process: sum(
                float(number)
                for labels, number in found
                if all(each in labels for each in (*parts, f'process="{process}"'))
            )
            for process in "01"
        }

    async def settle(self) -> None:
        """As if the longest time of a write had passed since the start."""
        client: Redis = Redis.from_url(self.redis.url)
        await client.hdel(f"{RESULTS_PREFIX}{{golf}}:state", "write:unknown")
        await client.aclose()


def grown(now: dict[str, float], before: dict[str, float]) -> dict[str, float]:
    return {process: number - before[process] for process, number in now.items()}


@pytest.fixture
def site(postgres_url: str, tmp_path: Path) -> Iterator[Site]:
    with own_redis() as redis:
        shared = {
            "GATEWAY_DATABASE_URL": postgres_url,
            "GATEWAY_WORKSPACE_URL": postgres_url,
            "GATEWAY_REDIS_URL": redis.url,
            # The database of the tests may have no password.
            "GATEWAY_SECRETS_KEY": b64encode(bytes(range(32))).decode(),
            "GATEWAY_CALL_LIMITS": "false",
        }
        with running_gateway(tmp_path, "--processes", "2", environment=shared) as gateway:
            yield Site(gateway, redis)
        assert "Traceback" not in (tmp_path / "stderr.log").read_text()


@pytest.mark.slow
def test_processes_share_results_until_one_of_them_writes(site: Site) -> None:
    assert site.call(DAY)[0] == 200
    asyncio.run(site.settle())
    hits, misses = site.search()
    # One of them has made the result, and the other one has used it.
    assert (min(hits.values()) > 0, min(misses.values())) == (True, 0)
    found = site.call(DAY)[2]

    assert site.book(BOOKED)["status"] == "confirmed"
    hits, misses = site.search()
    assert (min(hits.values()) > 0, min(misses.values())) == (True, 0)
    assert max(misses.values()) > 0
    assert site.call(DAY)[2] != found

    site.redis.stop()
    for _ in range(4):
        status, headers, _ = site.call(DAY)
        assert (status, headers["cache-control"]) == (200, "no-store")
    again = BOOKED | {
        "date": "2026-12-05",
        "idempotency_key": "4f6c1f0e-6a35-4c0b-9f0f-2f1f7a5f9a02",
    }
    status, headers, problem = site.call(again)
    assert (status, problem["code"], headers["retry-after"]) == (503, "NOT_ANNOUNCED", "5")
    site.redis.start()
    assert site.book(again)["date"] == "2026-12-05"
