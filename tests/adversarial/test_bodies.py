"""Bodies of hosts without a key: their memory is bounded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from ipaddress import ip_network
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from gateway.bounds.addresses import Networks
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.clock import SystemClock
from gateway.transports.connections.bounds import ConnectionLimits, Shared, shared_by
from gateway.transports.connections.connection import Connection
from gateway.transports.connections.listen import bind
from gateway.transports.http.senders import Peers
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.ingest import GroupCommit, Ingest
from tests.adversarial.wire import HOST, Wire, connected
from tests.eventually import eventually
from tests.interaction.conftest import Running, build_running
from tests.webhook_sources import ListInbox, open_sources

JSON = b"content-type: application/json\r\n"
KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
CALL = (
    b"POST /v1/example/greet HTTP/1.1\r\n" + HOST + KEY + JSON + b"content-length: 15\r\n"
    b'\r\n{"name": "Ada"}'
)
WEBHOOK = b"POST /webhooks/acme HTTP/1.1\r\n" + HOST + JSON
HALF = WEBHOOK + b"content-length: 4000\r\n\r\n" + b" " * 3000
WHOLE = WEBHOOK + b"content-length: 3000\r\n\r\n" + b" " * 3000
UNREAD = b"POST /docs HTTP/1.1\r\n" + HOST + b"content-length: 1000000\r\n\r\n"
ONE_READ = 256 * 1024
ATTACKER = "127.0.0.66"
PROXY = "127.0.0.77"


class SmallBudget(Connection):
    """Has room for four hosts with fifty half-sent webhooks each."""

    limits = ConnectionLimits(
        max_unauthenticated_bytes=600_000,
        max_unauthenticated_bytes_of_one_host=150_000,
        peers=Peers(Networks([ip_network(PROXY)])),
    )


class FewOfOne(Connection):
    """Serves two requests of one client at the same time."""

    limits = ConnectionLimits(max_connections_of_one_host=2, peers=SmallBudget.limits.peers)


@asynccontextmanager
async def listening(app: Any, kind: type[Connection]) -> AsyncIterator[tuple[str, ServerState]]:
    """The base URL at which `app` is served, and what its connections share."""
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, http=kind))
    listener = bind("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", server.server_state
    server.should_exit = server.force_exit = True
    await serving


def site_with_webhooks() -> Running:
    """The small gateway with a transport for webhooks, where a body may take as long as a test."""
    clock = SystemClock()
    endpoint = WebhookEndpoint(Ingest(open_sources(clock), GroupCommit(ListInbox()), clock))
    peers = Peers(Networks([ip_network(PROXY)]))
    return build_running(webhooks=endpoint, body_deadline_seconds=600, peers=peers)


async def held(shared: Shared, size: int) -> None:
    """Wait until unauthenticated clients hold `size` bytes."""

    async def look() -> bool | None:
        return shared.bodies.unauthenticated.taken == size or None

    await eventually(look)


async def half_sent(
    stack: AsyncExitStack, url: str, number: int, address: str, request: bytes = HALF
) -> list[Wire]:
    """`number` connections from `address`, each with a request whose end does not come."""
    wires = [await stack.enter_async_context(connected(url, address)) for _ in range(number)]
    for wire in wires:
        await wire.send(request)
    return wires


@pytest.mark.attack(
    "200 connections of one address each send half a webhook",
    required="all that is held of them stays within the budget of the address: the others are "
    "refused with 429, and a caller with a key goes on",
)
async def test_bodies_of_unauthenticated_clients_stay_within_their_budget() -> None:
    async with (
        listening(site_with_webhooks().app, SmallBudget) as (url, state),
        AsyncExitStack() as stack,
    ):
        await half_sent(stack, url, 50, ATTACKER)
        await held(shared_by(state, SmallBudget.limits), 150_000)
        for wire in await half_sent(stack, url, 150, ATTACKER):
            refused = await wire.answer()
            assert (refused.status, refused.headers["connection"]) == (429, "close")
        async with connected(url, "127.0.0.2") as honest:
            await honest.send(CALL)
            assert (await honest.answer()).status == 200


@pytest.mark.attack(
    "four addresses hold all bytes that clients without a key may hold, with half-sent webhooks",
    required="one more webhook gets 429, and callers with a key send bodies as before, from other "
    "addresses and from those of the attackers",
)
async def test_unauthenticated_clients_who_hold_all_their_bytes_stop_no_caller() -> None:
    async with (
        listening(site_with_webhooks().app, SmallBudget) as (url, state),
        AsyncExitStack() as stack,
    ):
        for number in range(4):
            await half_sent(stack, url, 50, f"127.0.0.{60 + number}")
        await held(shared_by(state, SmallBudget.limits), 600_000)
        async with connected(url, "127.0.0.2") as unauthenticated:
            await unauthenticated.send(WHOLE)
            assert (await unauthenticated.answer()).status == 429
        for address in ("127.0.0.2", "127.0.0.60"):
            async with connected(url, address) as honest:
                for _ in range(2):
                    await honest.send(CALL)
                    assert (await honest.answer()).status == 200


@pytest.mark.attack(
    "200 connections of one address each send a megabyte of a body that nobody asks for, to "
    "requests that wait for their refusal",
    required="no more than one read of each is held, and a caller with a key goes on",
)
async def test_of_a_body_that_nobody_asks_for_one_read_is_held() -> None:
    limits = ThrottleLimits(of_one_host=Rate(1e-9, 1), delay_seconds=600)
    running = build_running(throttle=Throttle(SystemClock(), limits))
    async with listening(running.app, SmallBudget) as (url, state), AsyncExitStack() as stack:
        for _ in range(200):
            wire = await stack.enter_async_context(connected(url, ATTACKER))
            wire.writer.write(UNREAD + b" " * 1_000_000)
        async with connected(url, "127.0.0.2") as honest:
            await honest.send(CALL)
            assert (await honest.answer()).status == 200
        bodies: list[int] = [len(each.cycle.body) for each in state.connections if each.cycle]  # type: ignore[union-attr]  # all are HTTP
        assert len(bodies) >= 200
        assert max(bodies) <= ONE_READ


@pytest.mark.attack(
    "a client without a key puts requests with bodies behind one that waits, again and again",
    required="what is held of the requests that wait for their turn stays within the budget",
)
async def test_bodies_of_requests_that_wait_for_their_turn_are_counted() -> None:
    limits = ThrottleLimits(of_one_host=Rate(1e-9, 1), delay_seconds=600)
    running = build_running(throttle=Throttle(SystemClock(), limits))
    follower = b"POST /docs HTTP/1.1\r\n" + HOST + b"content-length: 3000\r\n\r\n" + b" " * 3000
    async with listening(running.app, SmallBudget) as (url, state), AsyncExitStack() as stack:
        await half_sent(stack, url, 100, ATTACKER, follower + follower)
        held_bytes = shared_by(state, SmallBudget.limits).bodies.unauthenticated
        await held(shared_by(state, SmallBudget.limits), 150_000)
        assert held_bytes.taken == 150_000


@pytest.mark.attack(
    "an unauthenticated client behind our own proxy fills what one address may hold of bodies",
    required="the bytes count for the address that the proxy names: others behind it go on",
)
async def test_a_proxy_is_not_one_host_for_bodies() -> None:
    bad, good = (
        WEBHOOK + b"x-forwarded-for: 192.0.2.%d\r\n" % number + b"content-length: %d\r\n\r\n" % size
        for number, size in ((1, 4000), (2, 3000))
    )
    async with (
        listening(site_with_webhooks().app, SmallBudget) as (url, state),
        AsyncExitStack() as stack,
    ):
        await half_sent(stack, url, 50, PROXY, bad + b" " * 3000)
        await held(shared_by(state, SmallBudget.limits), 150_000)
        (more,) = await half_sent(stack, url, 1, PROXY, bad + b" " * 3000)
        assert (await more.answer()).status == 429
        async with connected(url, PROXY) as other:
            await other.send(good + b" " * 3000)
            # Read whole, and not authentic.
            assert (await other.answer()).status == 401


def forwarded(request: bytes, client: str) -> bytes:
    """The request, as the proxy sends it on for a client."""
    return request.replace(b"\r\n", b"\r\nx-forwarded-for: %b\r\n" % client.encode(), 1)


@pytest.mark.attack(
    "a client behind a trusted proxy sends more requests at the same time than one address may",
    required="the proxy gets 429 for those of this client, and calls of other clients are served",
)
async def test_a_client_takes_no_connections_of_a_proxy_from_others() -> None:
    async with (
        listening(site_with_webhooks().app, FewOfOne) as (url, state),
        AsyncExitStack() as stack,
    ):
        much = partial(half_sent, stack, url, address=PROXY, request=forwarded(HALF, ATTACKER))
        first, *_ = await much(2)
        await held(shared_by(state, FewOfOne.limits), 6000)
        (refused,) = await much(1)
        assert (await refused.answer()).status == 429
        async with connected(url, PROXY) as other:
            await other.send(forwarded(CALL, "127.0.0.2"))
            assert (await other.answer()).status == 200
        await first.send(b" " * 1000)
        assert (await first.answer()).status != 429
        async with connected(url, PROXY) as again:
            await again.send(forwarded(CALL, ATTACKER))
            assert (await again.answer()).status == 200
