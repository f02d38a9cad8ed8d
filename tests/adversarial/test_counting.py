"""Counting of unauthenticated requests: each counts once, and no other."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.app.parts import foundation
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.clock import SystemClock
from gateway.settings import read_settings
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.ingest import GroupCommit, Ingest
from tests.clocks import ManualClock
from tests.interaction.conftest import Running, build_running
from tests.webhook_sources import ACME, ListInbox, credentials_of, open_sources

KEY = "first-bootstrap-key-7c31f09be2"
BURST = 10
BODY = b'{"event_type": "thing_made", "event_id": "e-1", "thing": "a lamp"}'
REFUSED = [
    ("GET", "/events?nothing=1", 400),
    ("GET", "/events", 406),
    ("GET", "/operator/jobs", 404),
    ("HEAD", "/operator/jobs", 404),
    ("POST", "/v1/nothing/nothing", 415),
    ("PUT", "/v1/example/greet", 405),
    ("GET", "/mcp", 405),  # a stream needs a session
    ("PUT", "/mcp", 405),
    ("POST", "/mcp/info", 405),
    ("POST", "/tools/execute", 415),
    ("GET", "/openapi.json", 200),
    ("HEAD", "/asyncapi.json", 200),
]
"""What a caller with a key is refused, and two documents."""


@pytest.fixture
def clock() -> ManualClock:
    """The time of the gateway."""
    return ManualClock()


@pytest.fixture
async def gateway(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    """A whole gateway that serves ten unauthenticated requests, and then hardly one more."""
    given: dict[str, Any] = {
        "data": tmp_path / "data",
        "database_url": "memory:",
        "mock_speed": 0,
        "unauthenticated_requests_per_second": BURST // 10,
    }
    monkeypatch.setattr(foundation, "ThrottleLimits", partial(ThrottleLimits, delay_seconds=0))
    settings = read_settings({"GATEWAY_BOOTSTRAP_KEY": KEY}, None, given)
    async with Gateway.open(settings, clock=clock) as opened:
        yield opened


def client(gateway: Gateway, key: str | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(gateway.http_app()),  # type: ignore[arg-type]  # httpx's own ASGI types
        base_url="http://localhost",
        headers={"authorization": f"Bearer {key}"} if key else {},
    )


def site_of_webhooks(burst: int) -> Running:
    clock = SystemClock()
    limits = ThrottleLimits(of_one_host=Rate(1e-9, burst), delay_seconds=0.01)
    endpoint = WebhookEndpoint(Ingest(open_sources(clock), GroupCommit(ListInbox()), clock))
    return build_running(throttle=Throttle(clock, limits), webhooks=endpoint)


async def post_webhooks(running: Running, number: int, body: bytes, signed: bytes) -> set[int]:
    """The statuses of the answers to `body`, with the signature of `signed`."""
    headers = {"content-type": "application/json", **credentials_of(ACME, signed, _now())}
    async with running.http(None) as http:
        return {
            (await http.post("/webhooks/acme", content=body, headers=headers)).status_code
            for _ in range(number)
        }


def _now() -> float:
    return SystemClock().now().timestamp()


@pytest.mark.attack(
    "messages without a valid signature are sent to a webhook without end",
    required="they count as requests without a key: after a burst their sender waits",
)
async def test_messages_without_a_valid_signature_are_counted() -> None:
    running = site_of_webhooks(burst=5)
    assert await post_webhooks(running, 5, BODY, b"another body") == {401}
    async with running.http(None) as http:
        assert (await http.get("/docs")).status_code == 429


@pytest.mark.attack(
    "authentic messages come faster than unauthenticated clients may send, some of them malformed",
    required="none of them counts as unauthenticated: others at the same address go on",
)
async def test_authentic_messages_are_not_counted_also_when_they_are_refused() -> None:
    running = site_of_webhooks(burst=1)
    assert await post_webhooks(running, 5, BODY, BODY) <= {200, 202}
    assert await post_webhooks(running, 5, b"{", b"{") == {200, 202}
    async with running.http(None) as http:
        assert (await http.get("/docs")).status_code == 200


@pytest.mark.attack(
    "a caller with a key is refused, over each transport, more often than one without",
    required="none of its requests is counted: others at the same address go on",
)
async def test_who_shows_a_valid_key_is_not_counted(gateway: Gateway) -> None:
    agent = await gateway.parts.keys.create("flight_search", "")
    async with client(gateway, agent.key) as http:
        for method, path, status in REFUSED:
            headers = {"accept": "text/html"} if status == 406 else {"accept": "*/*"}
            answers = [await http.request(method, path, headers=headers) for _ in range(BURST + 5)]
            assert {answer.status_code for answer in answers} == {status}, path
    async with client(gateway) as http:
        found = {(await http.get("/docs")).status_code for _ in range(BURST)}
    assert found == {200}


@pytest.mark.attack(
    "keys are guessed at each transport",
    required="each request counts once: as many as the limit says get 401, and the next one 429",
)
async def test_a_request_without_a_valid_key_is_counted_once(
    gateway: Gateway, clock: ManualClock
) -> None:
    async with client(gateway, "wrong-key-0123456789") as http:
        for path in ("/mcp/info", "/openapi.json", "/events", "/operator/jobs"):
            found = [(await http.get(path)).status_code for _ in range(BURST + 1)]
            assert found == [401] * BURST + [429], path
            clock.advance(1000)


@pytest.mark.attack(
    "a client beyond the limit asks for events without a key, and hangs up at once, 300 times",
    required="the audit holds a bounded number of rows, and the number of those without one",
)
async def test_unauthenticated_clients_who_hang_up_write_a_bounded_number_of_rows(
    gateway: Gateway,
) -> None:
    site = gateway.http_app()
    before = len(await gateway.parts.store.audit.latest(1000))
    for _ in range(300):
        await _ask_and_leave(site, "/events")
    await gateway.parts.audit.flush()
    found = await gateway.parts.store.audit.latest(1000)
    assert len(found) - before <= 101
    assert gateway.parts.audit.denied == 300


async def _ask_and_leave(site: Any, path: str) -> None:
    """A GET of a client that leaves as soon as it has asked."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "client": ("192.0.2.1", 1),
    }

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return

    await site(scope, receive, send)
