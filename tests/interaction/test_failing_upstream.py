"""An upstream that fails gets no more requests, and every face of the gateway says so alike."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.app import Gateway
from gateway.calls.guard import NotSent
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import LimitExceeded
from gateway.testing.asgi_server import serving
from gateway.testing.cases import first_example
from gateway.testing.live import FaultyUpstreams, answering, silence
from tests.bridged import bridged
from tests.eventually import eventually
from tests.interaction.operated import operated

TOOL: Final = "avinode.search_airports"
TETERBORO: Final = {"query": "Teterboro"}
ONCE: Final = {"gateway-max-attempts": "1"}
"""Spares the waits between attempts."""
FAILURES: Final = 5


class Desk:
    """A gateway whose live upstream `avinode` can fail, and its administrator."""

    def __init__(self, gateway: Gateway, http: httpx.AsyncClient, upstream: FaultyUpstreams):
        self.gateway = gateway
        self.http = http
        self.upstream = upstream

    async def call(self) -> httpx.Response:
        return await self.http.post("/v1/avinode/search_airports", json=TETERBORO, headers=ONCE)

    async def fail(self, times: int = FAILURES) -> None:
        """Answer so many calls with 503."""
        self.upstream.fault = answering(503)
        for _ in range(times):
            assert (await self.call()).json()["type"] == "/problems/upstream-unavailable"
        self.upstream.seen.clear()

    def pass_seconds(self, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the gateway's clock show so much more."""
        clock = type(self.gateway.parts.pipeline.dispatcher._clock)
        now = clock.monotonic
        monkeypatch.setattr(clock, "monotonic", lambda own: now(own) + seconds)

    async def metric(self, name: str) -> float:
        text = (await self.http.get("/metrics")).text
        samples = (s for each in text_string_to_metric_families(text) for s in each.samples)
        (found,) = (s for s in samples if s.name == name and s.labels == {"upstream": "avinode"})
        return float(found.value)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    upstream = FaultyUpstreams({"avinode": catalogue.upstreams["avinode"]})
    async with serving(upstream) as url:
        settings = {
            "GATEWAY_BACKEND_AVINODE": "live",
            "GATEWAY_AVINODE_BASE_URL": f"{url}/avinode",
            "GATEWAY_AVINODE_API_TOKEN": "token-of-the-tests",
            "GATEWAY_AVINODE_ACCESS_TOKEN": "access-of-the-tests",
            "GATEWAY_MAX_CALLS_PER_KEY": "2000",
        }
        async with operated(tmp_path, **settings) as (gateway, http):
            yield Desk(gateway, http, upstream)


async def test_after_failures_nothing_is_sent_and_rest_says_when_to_come_back(
    desk: Desk,
) -> None:
    await desk.fail()

    answer = await desk.call()

    problem = answer.json()
    assert desk.upstream.seen == []
    assert (answer.status_code, problem["code"]) == (503, "TRANSPORT_ERROR")
    assert problem["type"] == "/problems/not-sent"
    assert problem["detail"] == "Avinode Group API failed repeatedly, so it gets no requests now."
    assert problem["retryable"] is True
    assert answer.headers["retry-after"] == str(problem["retry_after"])
    assert 1 <= problem["retry_after"] <= 2


async def test_it_is_the_same_verdict_at_every_face(desk: Desk) -> None:
    await desk.fail()
    execute = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/execute",
        "params": {"name": "avinode_search_airports", "arguments": TETERBORO},
    }
    key = desk.http.headers["authorization"].removeprefix("Bearer ")
    application: Any = desk.gateway.http_app()

    rest = (await desk.call()).json()
    executed = (await desk.http.post("/tools/execute", json=execute)).json()
    async with (
        serving(application) as url,
        bridged(f"{url}/mcp", key) as client,
    ):
        passed_on = await client.call_tool("avinode_search_airports", TETERBORO)
    with pytest.raises(Exception, match="gets no requests now"):
        await desk.gateway.call(TOOL, TETERBORO)

    assert desk.upstream.seen == []
    assert passed_on.is_error is True
    for text in (str(executed), passed_on.content[0].text):  # type: ignore[union-attr]  # a text block
        assert rest["detail"] in text
        assert rest["code"] in text
        assert "'retry_after': " in text or '"retry_after":' in text
    await desk.gateway.parts.audit.flush()
    records = (await desk.gateway.parts.store.audit.latest(100))[:4]
    assert {(r.outcome, r.status, r.stage) for r in records} == {("TRANSPORT_ERROR", 503, "admit")}
    assert {r.transport for r in records} >= {"rest", "mcp", "local"}


async def test_one_request_after_the_wait_ends_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.fail()
    desk.pass_seconds(3.0, monkeypatch)

    assert (await desk.call()).json()["type"] == "/problems/upstream-unavailable"
    assert (await desk.call()).json()["type"] == "/problems/not-sent"
    assert len(desk.upstream.seen) == 1

    desk.upstream.fault = None
    desk.pass_seconds(5.0, monkeypatch)
    assert (await desk.call()).status_code == 200
    assert (await desk.call()).status_code == 200


async def test_operators_see_it(desk: Desk) -> None:
    assert await desk.metric("gateway_upstream_breaker_open") == 0
    await desk.fail()
    await desk.call()

    ready = await desk.http.get("/readyz")
    seen = await desk.http.get("/operator/readiness")

    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert (ready.json()["problems"], "upstreams" in ready.json()) == ([], False)
    assert (seen.status_code, seen.json()["status"]) == (200, "degraded")
    problem = seen.json()["upstreams"]["avinode"]["problem"]
    assert seen.json()["problems"] == [f"avinode: {problem}"]
    assert "gets only single requests until one succeeds" in problem
    assert await desk.metric("gateway_upstream_breaker_open") == 1
    assert await desk.metric("gateway_upstream_requests_not_sent_total") == 1
    assert await desk.metric("gateway_upstream_requests_under_way") == 0
    text = (await desk.http.get("/metrics")).text
    assert 'gateway_upstream_breaker_open{upstream="golf"}' not in text


async def test_what_the_upstream_refuses_for_good_reasons_does_not_open_it(
    desk: Desk,
) -> None:
    for status in (400, 401, 404, 500):
        desk.upstream.fault = answering(status)
        for _ in range(FAILURES):
            await desk.call()
    assert len(desk.upstream.seen) == 4 * FAILURES


@pytest.mark.parametrize(
    ("queries", "waiting", "requests", "is_open"),
    [(range(1100), 200, 200, 1), ([0] * 1100, 500, 1, 0)],
    ids=["different calls", "equal calls"],
)
async def test_calls_that_hang_on_one_upstream_leave_room_for_others(
    desk: Desk,
    queries: Sequence[int],
    waiting: int,
    requests: int,
    is_open: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk.upstream.fault = silence
    calls = [
        asyncio.create_task(desk.gateway.call(TOOL, {"query": f"Teterboro {each}"}))
        for each in queries
    ]

    async def settled() -> bool | None:
        return sum(each.done() for each in calls) >= 1100 - waiting or None

    await eventually(settled)
    greeted = await desk.http.post("/v1/example/greet", json={"name": "Ada"})
    assert greeted.status_code == 200
    assert await desk.metric("gateway_upstream_requests_under_way") == requests
    refused = [each.exception() for each in calls if each.done()]
    assert len(refused) == 1100 - waiting
    assert {type(each) for each in refused} <= {NotSent, LimitExceeded}

    desk.pass_seconds(5.0, monkeypatch)
    for each in calls:
        each.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert await desk.metric("gateway_upstream_requests_under_way") == 0
    assert await desk.metric("gateway_upstream_breaker_open") == is_open


async def test_a_write_that_was_not_sent_can_be_sent_again_with_its_key(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = desk.gateway.parts.catalogue.find("avinode.create_trip")
    arguments = first_example(desk.gateway.parts.catalogue, entry)
    keyed = {"idempotency-key": "key-of-one-trip"}
    await desk.fail()

    refused = await desk.http.post("/v1/avinode/create_trip", json=arguments, headers=keyed)
    assert (refused.status_code, refused.json()["retryable"]) == (503, True)
    assert refused.json()["type"] == "/problems/not-sent"

    desk.pass_seconds(3.0, monkeypatch)
    desk.upstream.fault = None
    made = await desk.http.post("/v1/avinode/create_trip", json=arguments, headers=keyed)
    assert (made.status_code, len(desk.upstream.seen)) == (200, 1)


async def test_an_upstream_that_hangs_is_shut_before_its_requests_time_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.upstream.fault = silence
    calls = [
        asyncio.create_task(desk.gateway.call(TOOL, {"query": f"Teterboro {each}"}))
        for each in range(FAILURES)
    ]

    async def hanging() -> bool | None:
        return await desk.metric("gateway_upstream_requests_under_way") == FAILURES or None

    await eventually(hanging)
    desk.pass_seconds(5.0, monkeypatch)

    assert (await desk.call()).json()["type"] == "/problems/not-sent"
    assert not any(each.done() for each in calls)
    for each in calls:
        each.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
