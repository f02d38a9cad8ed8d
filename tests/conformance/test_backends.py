"""What every backend must do: the mock in process, and live against the same mock over a socket."""

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.contracts.upstreams import lower_upstream
from gateway.backends.http.live import LiveBackend
from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import MockBackend, asgi_app
from gateway.backends.mock.faults import parse_step
from gateway.contract.upstream import UpstreamRequest
from gateway.contract.values.schema import Validator
from gateway.errors import (
    InvalidReply,
    MalformedRequest,
    UpstreamRateLimited,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.testing.asgi_server import serving
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS

SCHEMAS = Path(__file__).parents[2] / "schemas"
TIMEOUT = PATIENCE_SECONDS
CREDENTIALS = {"api_token": "mock_api", "access_token": "mock_access"}


@pytest.fixture(scope="session")
def upstream():
    return lower_upstream(read_tree(SCHEMAS), "avinode")


@pytest.fixture
def clock():
    return ManualClock()


@asynccontextmanager
async def opened(kind, upstream, clock, *steps, credentials=CREDENTIALS):
    """A backend of this kind whose upstream commits the faults of `steps`."""
    application = MockApplication(upstream, clock, scenario=list(map(parse_step, steps)))
    if kind == "mock":
        backend = MockBackend(upstream, clock, credentials=credentials, application=application)
        yield backend
        await backend.close()
        return
    async with serving(asgi_app(application)) as url:
        backend = LiveBackend(upstream, clock, base_url=url, credentials=credentials)
        yield backend
        await backend.close()


@pytest.fixture(params=["mock", "live"])
def kind(request):
    return request.param


SEGMENT = {
    "startAirport": {"icao": "KTEB"},
    "endAirport": {"icao": "KVNY"},
    "dateTime": {"date": "2026-12-01"},
    "paxCount": "6",
}
ROUTE = {
    "startAirport": {"icao": "KTEB"},
    "endAirport": {"icao": "KOPF"},
    "dateRange": {"from": "2026-12-14", "to": "2026-12-16"},
    "currency": "USD",
}
AIRPORTS = UpstreamRequest(
    operation="searchAirports",
    method="GET",
    path=("airports", "search"),
    query=(("filter", "teter"), ("page[size]", "5")),
)
SEARCH = UpstreamRequest(
    operation="searchCharterOptions",
    method="POST",
    path=("searches",),
    body={"segments": [SEGMENT], "criteria": {}, "currency": "USD"},
)
TRIP = UpstreamRequest(
    operation="createTrip",
    method="POST",
    path=("trips",),
    body={"sourcing": True, "segments": [SEGMENT], "criteria": {}},
)
RFQ = UpstreamRequest(
    operation="createRfq",
    method="POST",
    path=("rfqs",),
    body={"segments": [SEGMENT], "sellerCompanies": [{"id": "OP-001"}, {"id": "OP-002"}]},
)
READ = UpstreamRequest(
    operation="readRfq",
    method="GET",
    path=("rfqs", "arfq-10000001"),
    query=(("fields", "timestamps,latestquote"),),
)
CHAT = UpstreamRequest(
    operation="sendChat",
    method="POST",
    path=("tripmsgs", "arfq-10000001", "chat"),
    body={"message": "Grüße\n"},
)
MESSAGE = UpstreamRequest(
    operation="readTripMessage", method="GET", path=("tripmsgs", "amsg-10000001")
)
LEGS = UpstreamRequest(
    operation="searchEmptyLegs",
    method="POST",
    path=("emptylegs", "search"),
    body={**ROUTE, "paxCount": "4"},
)
WATCH = UpstreamRequest(
    operation="createWatch", method="POST", path=("emptylegs", "watches"), body=ROUTE
)
EVERYTHING = (AIRPORTS, SEARCH, TRIP, RFQ, READ, CHAT, MESSAGE, LEGS, WATCH)


def test_the_requests_here_are_all_that_the_upstream_has(upstream):
    assert {each.operation for each in EVERYTHING} == {each.id for each in upstream.operations}


async def test_every_request_gets_a_reply_that_keeps_the_contract(kind, upstream, clock):
    operations = {each.id: each for each in upstream.operations}
    async with opened(kind, upstream, clock) as backend:
        for request in EVERYTHING:
            reply = await backend.send(request, timeout_seconds=TIMEOUT)
            assert 200 <= reply.status < 300, (request.operation, reply)
            replies = operations[request.operation].replies
            gate = Validator(replies.get(str(reply.status)) or replies["2XX"])
            assert gate.admits(json.loads(reply.body)), request.operation
            assert reply.headers["content-type"] == "application/json"


async def test_both_backends_get_the_same_replies(upstream, clock):
    """What holds on the mock holds over HTTP: one encoder, one application, one reading."""

    async def replies(kind):
        async with opened(kind, upstream, clock) as backend:
            found = [await backend.send(each, timeout_seconds=TIMEOUT) for each in EVERYTHING]
        return [(each.status, each.body, each.headers["x-rate-limit-limit"]) for each in found]

    assert await replies("mock") == await replies("live")


async def test_the_name_says_which_it_is(kind, upstream, clock):
    async with opened(kind, upstream, clock) as backend:
        assert backend.name == kind


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
async def test_a_failure_is_a_reply_and_not_an_error(kind, upstream, clock, status):
    """What a status means is decided by the binding, not by the backend."""
    async with opened(kind, upstream, clock, f"* 1 status={status};retry-after=2") as backend:
        reply = await backend.send(TRIP, timeout_seconds=TIMEOUT)
    assert (reply.status, reply.headers["retry-after"]) == (status, "2")


async def test_a_redirect_is_refused(kind, upstream, clock):
    async with opened(kind, upstream, clock, "* 1 status=302") as backend:
        with pytest.raises(InvalidReply):
            await backend.send(TRIP, timeout_seconds=TIMEOUT)


@pytest.mark.parametrize("fault", ["latency=200ms", "body-latency=200ms"])
async def test_a_slow_answer_meets_the_deadline(kind, upstream, clock, fault):
    async with opened(kind, upstream, clock, f"* 1 {fault}") as backend:
        with pytest.raises(UpstreamTimeout):
            await backend.send(TRIP, timeout_seconds=0.1)


async def test_a_connection_that_closes_in_the_body_is_unavailable(kind, upstream, clock):
    async with opened(kind, upstream, clock, "* 1 close") as backend:
        with pytest.raises(UpstreamUnavailable):
            await backend.send(TRIP, timeout_seconds=TIMEOUT)


async def test_a_truncated_body_arrives_as_it_is(kind, upstream, clock):
    """The message is whole, its JSON is not: reading it is not the backend's part."""
    async with opened(kind, upstream, clock, "* 1 truncate") as backend:
        reply = await backend.send(TRIP, timeout_seconds=TIMEOUT)
    with pytest.raises(ValueError, match="char"):
        json.loads(reply.body)


async def test_a_used_up_rate_limit_is_respected_until_it_resets(kind, upstream, clock):
    """No request is spent on an upstream that said that it has nothing left."""
    async with opened(kind, upstream, clock, "* 1 exhausted=30") as backend:
        await backend.send(TRIP, timeout_seconds=TIMEOUT)
        clock.advance(10)
        with pytest.raises(UpstreamRateLimited) as caught:
            await backend.send(TRIP, timeout_seconds=TIMEOUT)
        assert caught.value.retry_after_seconds == pytest.approx(20)
        clock.advance(20)
        assert (await backend.send(TRIP, timeout_seconds=TIMEOUT)).status == 201


@pytest.mark.parametrize("segment", ["", ".", "..", "a\x00b", "a\r\nb"])
async def test_a_segment_that_climbs_is_refused(kind, upstream, clock, segment):
    request = UpstreamRequest(operation="readRfq", method="GET", path=("rfqs", segment))
    async with opened(kind, upstream, clock) as backend:
        with pytest.raises(MalformedRequest):
            await backend.send(request, timeout_seconds=TIMEOUT)


@pytest.mark.parametrize("segment", ["%2e%2e", "..%2ftrips", "a/b", "?x", "#", "//evil", "\\", ";"])
async def test_a_segment_of_any_other_text_stays_one_segment(kind, upstream, clock, segment):
    """The upstream finds its own operation and refuses the id; nothing else is reached."""
    request = UpstreamRequest(operation="readRfq", method="GET", path=("rfqs", segment))
    async with opened(kind, upstream, clock) as backend:
        reply = await backend.send(request, timeout_seconds=TIMEOUT)
    assert reply.status == 400
    assert json.loads(reply.body)["meta"]["errors"][0]["path"] == "id"


async def test_missing_credentials_are_refused_by_the_upstream(kind, upstream, clock):
    credentials = {**CREDENTIALS, "access_token": "mock_expired"}
    async with opened(kind, upstream, clock, credentials=credentials) as backend:
        assert (await backend.send(TRIP, timeout_seconds=TIMEOUT)).status == 401


async def test_calls_run_side_by_side(kind, upstream, clock, monkeypatch):
    """None of forty is answered before all of them have arrived."""
    arrived = asyncio.Barrier(40)
    handle = MockApplication.handle

    async def handle_together(application, request):
        await arrived.wait()
        return await handle(application, request)

    monkeypatch.setattr(MockApplication, "handle", handle_together)
    async with opened(kind, upstream, clock) as backend:
        async with asyncio.timeout(PATIENCE_SECONDS):
            replies = await asyncio.gather(
                *(backend.send(TRIP, timeout_seconds=TIMEOUT) for _ in range(40))
            )
    assert len({reply.body for reply in replies}) == 40
