"""Two gateways on one PostgreSQL, behind a proxy that sends each request to the next of them."""

import asyncio
import json
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from itertools import cycle
from pathlib import Path
from subprocess import run
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
from aiohttp import web
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from msgspec import Struct

from tests.eventually import PATIENCE_SECONDS
from tests.functional.signed_messages import SECRET, SIGNED, send
from tests.gateway_process import (
    REPOSITORY,
    RunningGateway,
    clean_environment,
    run_gateway,
    running_gateway,
)
from tests.interaction.events.sse import Block, EventClient
from tests.postgres import PreparedDatabases

pytestmark = pytest.mark.postgres
GREET = "/v1/example/greet"
PUSH = "/v1/ntfy/send_push_notification"
OF_ONE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Pair(Struct):
    """Two gateways and the settings that they share."""

    gateways: list[RunningGateway]
    environment: dict[str, str]

    def create_key(self, agent: str) -> str:
        """By the command line, as an operator does on any machine."""
        folder = self.gateways[0].data
        text = run_gateway(folder, "keys", "create", agent, "--json", environment=self.environment)
        return str(json.loads(text)["key"])


@pytest.fixture(scope="module")
def pair(databases: PreparedDatabases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both start at once on an empty database, each with a data folder of its own."""
    database = databases.url("two gateways")
    shared = {
        "GATEWAY_DATABASE_URL": database,
        "GATEWAY_WORKSPACE_URL": database,
        "GATEWAY_SECRETS_KEY": b64encode(bytes(32)).decode(),
        SIGNED: SECRET,
    }

    def start(name: str) -> RunningGateway:
        folder = tmp_path_factory.mktemp(name)
        return stack.enter_context(running_gateway(folder, environment=shared))

    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        yield Pair(list(pool.map(start, ["one", "two"])), shared)


class Proxy(Struct):
    """A proxy without stickiness."""

    url: str
    served: list[str]
    """The gateway of each request."""


@asynccontextmanager
async def proxy_of(pair: Pair) -> AsyncIterator[Proxy]:
    targets, served = cycle([gateway.url for gateway in pair.gateways]), []

    async def forward(request: web.Request) -> web.StreamResponse:
        served.append(target := next(targets))
        passed = {k: v for k, v in request.headers.items() if k.lower() not in OF_ONE_CONNECTION}
        asked = session.request(
            request.method, f"{target}{request.path_qs}", headers=passed, data=await request.read()
        )
        async with asked as reply:
            kept = {k: v for k, v in reply.headers.items() if k.lower() not in OF_ONE_CONNECTION}
            answer = web.StreamResponse(status=reply.status, headers=kept)
            await answer.prepare(request)
            async for part in reply.content.iter_any():
                await answer.write(part)
        return answer

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", forward)
    runner = web.AppRunner(application, shutdown_timeout=1)
    async with aiohttp.ClientSession(
        auto_decompress=False, timeout=aiohttp.ClientTimeout(PATIENCE_SECONDS)
    ) as session:
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            yield Proxy(f"http://127.0.0.1:{runner.addresses[0][1]}", served)
        finally:
            await runner.cleanup()


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_one_conversation_is_served_by_both(pair: Pair, mode: str) -> None:
    """Nothing of a client's conversation over MCP is in the process that it began with."""
    authorization = pair.gateways[0].authorization
    async with (
        proxy_of(pair) as proxy,
        httpx2.AsyncClient(headers=authorization, timeout=PATIENCE_SECONDS) as http,
        Client(
            streamable_http_client(f"{proxy.url}/mcp", http_client=http), mode=mode, cache=None
        ) as client,
    ):
        lists = [[tool.name for tool in (await client.list_tools()).tools] for _ in range(4)]
        proxy.served.clear()
        calls = [await client.call_tool("example_greet", {"name": "Ada"}) for _ in range(4)]
    assert lists[0]
    assert lists == [lists[0]] * 4
    assert [call.is_error for call in calls] == [False] * 4
    assert set(proxy.served) == {gateway.url for gateway in pair.gateways}


async def test_a_key_that_was_created_has_its_grants_at_both(pair: Pair) -> None:
    key = await asyncio.to_thread(pair.create_key, "flight_search")
    query = {"query": "Teterboro"}
    async with (
        proxy_of(pair) as proxy,
        httpx.AsyncClient(
            base_url=proxy.url,
            headers={"authorization": f"Bearer {key}"},
            timeout=PATIENCE_SECONDS,
        ) as http,
    ):
        answers = [await http.post("/v1/avinode/search_airports", json=query) for _ in range(4)]
        refused = [await http.post(PUSH, json={}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.content for answer in answers}) == 1
    assert [answer.status_code for answer in refused] == [404, 404]


async def test_a_repetition_that_reaches_the_other_has_no_second_effect(pair: Pair) -> None:
    headers = {**pair.gateways[0].authorization, "idempotency-key": "one-effect"}
    body = {"title": "Booked", "message": "Tee time at 08:30"}
    async with (
        proxy_of(pair) as proxy,
        httpx.AsyncClient(base_url=proxy.url, headers=headers, timeout=PATIENCE_SECONDS) as http,
    ):
        first, second = [await http.post(PUSH, json=body) for _ in range(2)]
        other = await http.post(PUSH, json={**body, "message": "Another"})
    assert proxy.served[0] != proxy.served[1]
    assert (first.status_code, second.content) == (200, first.content)
    assert second.headers["idempotency-replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_a_stream_goes_on_at_the_other_with_the_next_event(pair: Pair) -> None:
    """Messages and their repetitions reach different gateways, and each makes one event."""
    key = pair.gateways[0].key
    async with proxy_of(pair) as proxy, asyncio.timeout(PATIENCE_SECONDS):
        first = await published(proxy, key, "e-first", None)
        second = await published(proxy, key, "e-second", first.get("id"))
        everything = await follow(proxy, key, 2, "0")
    assert [block.get("id") for block in everything] == [first.get("id"), second.get("id")]
    assert set(proxy.served) == {gateway.url for gateway in pair.gateways}


async def published(proxy: Proxy, key: str, event_id: str, after: str | None) -> Block:
    """The event of a message that is sent twice, read from the gateway whose turn it is."""
    sent = [await asyncio.to_thread(send, proxy.url, SECRET, event_id) for _ in range(2)]
    assert [answer.status_code for answer in sent] == [202, 200]
    changed = await asyncio.to_thread(send, proxy.url, SECRET, event_id, quote_id="Q-other")
    assert changed.status_code == 409
    assert proxy.served[-3] != proxy.served[-2]
    (block,) = await follow(proxy, key, 1, after or "0")
    return block


async def follow(proxy: Proxy, key: str, count: int, after: str) -> list[Block]:
    headers: dict[str, Any] = {"host": "127.0.0.1", "last_event_id": after}
    client = await EventClient.open(proxy.url, key=key, **headers)
    assert client.status == 200
    found = await client.take(count)
    client.close()
    return found


def test_the_health_check_of_the_image_knows_a_gateway_that_serves(
    pair: Pair, tmp_path: Path
) -> None:
    program = [sys.executable, str(REPOSITORY / "scripts" / "deploy" / "healthcheck.py")]
    port = pair.gateways[0].url.rpartition(":")[2]

    def check(**settings: str) -> tuple[int, str]:
        environment = clean_environment(settings)
        done = run(program, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert check(GATEWAY_PORT=port) == (0, "")
    status, message = check(GATEWAY_PORT=port, GATEWAY_ALLOWED_HOSTS="other.test,localhost")
    assert (status, message) == (
        1,
        f"/healthz on port {port} answers 421 for the host other.test\n",
    )
    assert check(GATEWAY_PORT="1")[0] == 1
