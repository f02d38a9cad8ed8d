"""Clients that send a byte at a time or read nothing hold their own connections, and no others."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from gateway.transports import pages
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from tests.adversarial.wire import HOST, Wire, connected

KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
CALL = (
    b"POST /v1/example/greet HTTP/1.1\r\n" + HOST + KEY + b"content-type: application/json\r\n"
    b'content-length: 15\r\n\r\n{"name": "Ada"}'
)
DOCUMENT = b"GET /openapi.json HTTP/1.1\r\n" + HOST + KEY + b"\r\n"
SLOW = 500
GROUP = 50
ADDRESSES = [f"127.0.0.{number}" for number in range(60, 65)]
"""An address may open 200 connections in a second."""


class PatientConnection(Connection):
    """Waits for slow clients for as long as the test may take."""

    limits = ConnectionLimits(
        head_deadline_seconds=600,
        stall_seconds=600,
        max_unread_bytes=2**40,
        max_unread_bytes_of_one_host=2**40,
    )


@pytest.fixture
def connection() -> type[Connection]:
    return PatientConnection


@asynccontextmanager
async def slow_clients(url: str, start: bytes) -> AsyncIterator[list[Wire]]:
    """Connections of several addresses, each of which has sent `start`."""
    async with AsyncExitStack() as held:
        wires = []
        for number in range(SLOW):
            address = ADDRESSES[number % len(ADDRESSES)]
            wires.append(await held.enter_async_context(connected(url, address)))
            wires[-1].writer.write(start)
        yield wires


async def others_are_served(url: str) -> None:
    """Twenty callers of other addresses get their answers."""
    for number in range(2, 22):
        async with connected(url, f"127.0.0.{number}") as honest:
            await honest.send(CALL)
            assert (await honest.answer()).status == 200


@pytest.mark.attack(
    "500 connections that send a call one byte after the other",
    required="callers from other addresses are answered meanwhile, and so is each slow call that "
    "is whole in time",
)
async def test_callers_that_send_bytes_one_by_one_delay_nobody_else(socket_site: str) -> None:
    async with slow_clients(socket_site, CALL[:20]) as wires:
        for byte in range(20, 27):
            for wire in wires:
                wire.writer.write(CALL[byte : byte + 1])
            await others_are_served(socket_site)
        # In groups: as many at once as a slow machine serves within a second.
        for first in range(0, SLOW, GROUP):
            group = wires[first : first + GROUP]
            for wire in group:
                wire.writer.write(CALL[27:])
            assert {(await wire.answer()).status for wire in group} == {200}


@pytest.mark.attack(
    "500 connections that ask for large documents again and again, and read nothing",
    required="callers from other addresses are answered meanwhile",
)
async def test_callers_that_read_nothing_delay_nobody_else(socket_site: str) -> None:
    async with slow_clients(socket_site, DOCUMENT * 5) as wires:
        for wire in wires:
            wire.writer.transport.pause_reading()
        for _ in range(3):
            await others_are_served(socket_site)
        assert not any(wire.writer.transport.is_closing() for wire in wires)


@pytest.mark.attack(
    "strangers ask for the large files of the pages, again and again",
    required="the file is neither unpacked nor copied for an answer: all are made of one buffer",
)
def test_pages_are_answered_from_one_buffer():
    files = pages._files()
    assert max(len(each._text.read()) for each in files.values()) > 2**20
    assert all(each._text.read() is each._text.read() for each in files.values())
