"""Gateways on one foundation: what the next one continues with, and what ends with the last."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from gateway.app import Gateway
from gateway.app.parts.foundation import Foundation
from gateway.calls.guard import UpstreamGuard
from gateway.calls.upstreams import CallUpstreams
from gateway.contract.context import CallFacts
from gateway.errors import LimitExceeded, UpstreamTimeout, UpstreamUnavailable
from gateway.settings import Settings, read_settings

NUMBERS = count()


def airports() -> tuple[str, dict[str, str]]:
    """A call that no other one answers: failures of equal calls are remembered."""
    return "avinode.search_airports", {"query": f"Town {next(NUMBERS)}"}


class Vendor:
    """An upstream that hangs up, and can be made to wait first."""

    def __init__(self) -> None:
        self.url = ""
        self.asked = 0
        self.is_asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            self.asked += 1
            self.is_asked.set()
            await self.gate.wait()
        writer.close()


@asynccontextmanager
async def opened() -> AsyncIterator[Vendor]:
    vendor = Vendor()
    server = await asyncio.start_server(vendor.answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    vendor.url = f"http://{host}:{port}"
    try:
        yield vendor
    finally:
        vendor.gate.set()
        server.close()
        await server.wait_closed()


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with opened() as found:
        yield found


@pytest.fixture
async def foundation() -> AsyncIterator[Foundation]:
    async with AsyncExitStack() as stack:
        yield Foundation(stack)


def settings(folder: Path, vendor: Vendor, key: str = "first", **flags: Any) -> Settings:
    environ = {
        "GATEWAY_AVINODE_BASE_URL": vendor.url,
        "GATEWAY_AVINODE_API_TOKEN": key,
        "GATEWAY_AVINODE_ACCESS_TOKEN": key,
    }
    return read_settings(environ, None, {"data": folder, "database_url": "memory:", **flags})


def generation(foundation: Foundation, found: Settings) -> Gateway:
    gateway = Gateway.open(found)
    gateway.set_foundation(foundation)
    return gateway


def guard(gateway: Gateway) -> UpstreamGuard:
    found = gateway.parts.connections["avinode"].guard
    assert isinstance(found, UpstreamGuard)
    return found


async def test_an_upstream_with_the_same_settings_keeps_its_breaker(
    tmp_path: Path, vendor: Vendor, foundation: Foundation
) -> None:
    async with generation(foundation, settings(tmp_path, vendor)) as first:
        for _ in range(5):
            with pytest.raises(UpstreamUnavailable):
                await first.call(*airports(), max_attempts=1)
        assert guard(first).state == "open"

        async with generation(foundation, settings(tmp_path, vendor)) as second:
            assert guard(second) is guard(first)
        async with generation(foundation, settings(tmp_path, vendor, "another")) as renewed:
            assert guard(renewed).state == "closed"
        assert guard(first).state == "open"


async def test_calls_of_all_generations_take_the_same_places(
    tmp_path: Path, vendor: Vendor, foundation: Foundation
) -> None:
    one = settings(tmp_path, vendor, max_concurrent_calls=2, upstream_max_requests=50)
    more = settings(tmp_path, vendor, max_concurrent_calls=4)
    vendor.gate.clear()
    async with (
        generation(foundation, one) as first,
        generation(foundation, one) as second,
        generation(foundation, more) as larger,
    ):
        waiting = asyncio.create_task(first.call(*airports(), max_attempts=1))
        await vendor.is_asked.wait()
        with pytest.raises(LimitExceeded, match="At most 1 call to Avinode"):
            await second.call(*airports(), max_attempts=1)
        with pytest.raises(UpstreamTimeout):
            await larger.call(*airports(), timeout_seconds=0.1)
        vendor.gate.set()
        with pytest.raises(UpstreamUnavailable):
            await waiting
        assert second.parts.pipeline.admission.places.taken == 0


async def test_a_lock_has_one_holder_in_all_generations(
    tmp_path: Path, vendor: Vendor, foundation: Foundation
) -> None:
    """As `sheets` and `golf` use them: what one call reads and writes, no other one may change."""
    found, order = settings(tmp_path, vendor), list[str]()

    async def change(gateway: Gateway, name: str) -> None:
        shared: Any = gateway.parts.pipeline.dispatcher._shared
        context = CallUpstreams(CallFacts(id=name, now=""), {}, ANY, shared, ANY)
        async with context.exclusive("a spreadsheet"):
            order.append(f"{name} begins")
            for _ in range(9):
                await asyncio.sleep(0)
            order.append(f"{name} ends")

    async with generation(foundation, found) as first, generation(foundation, found) as second:
        await asyncio.gather(change(first, "first"), change(second, "second"))
    assert order == ["first begins", "first ends", "second begins", "second ends"]


async def test_results_that_no_other_process_can_change_are_kept(tmp_path: Path) -> None:
    """tests/functional/app has what is kept on a database that several processes may share."""
    found = read_settings({}, None, {"data": tmp_path, "database_url": "memory:"})
    async with Gateway.open(found) as gateway:
        kept = gateway.parts.pipeline.cache.kept
        for _ in range(2):
            await gateway.call("weather.get_weather", {"location": "London"})
        assert kept.hits == 1
        for _ in range(2):
            # The connector has tools that write.
            await gateway.call("avinode.search_airports", {"query": "London"})
        assert kept.hits == 2


async def test_a_source_keeps_what_its_senders_have_used(
    tmp_path: Path, vendor: Vendor, foundation: Foundation
) -> None:
    rate = {"GATEWAY_WEBHOOKS_AVINODE_RATE": "7"}
    usual = settings(tmp_path, vendor)
    limited = read_settings(rate, None, {"data": tmp_path, "database_url": "memory:"})

    async with (
        generation(foundation, usual) as first,
        generation(foundation, usual) as second,
        generation(foundation, limited) as third,
    ):
        before, same, other = (
            each.parts.work.quarantine._sources["avinode"].buckets
            for each in (first, second, third)
        )
        assert before is same
        assert before is not other
