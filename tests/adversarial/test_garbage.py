"""Refused requests leave nothing that only Python's garbage collector can free.

It stops all calls while it searches: up to 50 ms after some hundred refused requests.
"""

import gc
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from gateway.transports.connections.connection import Connection
from tests.adversarial.wire import HOST, connected

CALL = (
    b"POST %b HTTP/1.1\r\n" + HOST + b"content-type: application/json\r\n"
    b"accept: application/json, text/event-stream\r\n%bcontent-length: %d\r\n\r\n%b"
)
KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
GUESSED = b"authorization: Bearer gw_guessed-0123456789abcdef01\r\n"
UNKNOWN_TOOL = b'{"name": "no_tool", "arguments": {}}'
UNKNOWN_MCP_TOOL = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
    b' "params": {"name": "no_tool", "arguments": {}}}'
)
HANDSHAKE = b"mcp-protocol-version: 2025-06-18\r\n"


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """No collection but the test's own, which looks at nothing that was there before."""
    gc.disable()
    gc.freeze()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def _found_by_the_collector() -> list[Any]:
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    return gc.garbage


def _request(path: bytes, headers: bytes, body: bytes) -> bytes:
    return CALL % (path, headers, len(body), body)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (_request(b"/v1/example/greet", b"", b"{}"), 401),
        (_request(b"/v1/example/greet", GUESSED, b"{}"), 401),
        (_request(b"/v1/example/greet", KEY, b"{"), 400),
        (_request(b"/v1/example/greet", KEY, b'{"name": 1}'), 422),
        (_request(b"/v1/no/tool", KEY, b"{}"), 404),
        (_request(b"/no/page", b"", b"{}"), 404),
        (_request(b"/tools/execute", b"", UNKNOWN_TOOL), 401),
        (_request(b"/tools/execute", KEY, UNKNOWN_TOOL), 404),
        (_request(b"/mcp", b"", UNKNOWN_MCP_TOOL), 401),
        (_request(b"/mcp", GUESSED, UNKNOWN_MCP_TOOL), 401),
        (_request(b"/mcp", KEY + HANDSHAKE, UNKNOWN_MCP_TOOL), 200),
        (_request(b"/mcp", KEY + HANDSHAKE, b"{"), 400),
        (_request(b"/webhooks/example", b"", b"{}"), 404),
    ],
)
@pytest.mark.attack(
    "many requests that are refused",
    required="the memory of each is freed with its answer: nothing is left that stops the calls of "
    "others until Python's garbage collector has found it",
)
@pytest.mark.usefixtures("_no_collection")
async def test_a_refused_request_is_freed_with_its_answer(
    socket_site: str, request_: bytes, status: int
) -> None:
    async with connected(socket_site) as wire:
        # The first request of a kind may load code.
        for _ in range(2):
            gc.collect()
            await wire.send(request_)
            assert (await wire.answer()).status == status
        left = _found_by_the_collector()
    assert [each.f_code.co_qualname for each in left if isinstance(each, FrameType)] == []


@pytest.mark.parametrize("sent", [b"", b"G", _request(b"/v1/example/greet", b"", b"{}")])
@pytest.mark.attack(
    "many connections that are opened and closed",
    required="the memory of each is freed when it is closed, without Python's garbage collector",
)
@pytest.mark.usefixtures("_no_collection")
async def test_a_closed_connection_is_freed(socket_site: str, sent: bytes) -> None:
    for _ in range(3):
        async with connected(socket_site) as wire:
            await wire.send(sent + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n" * 2)
            await wire.answer()
    left = _found_by_the_collector()
    assert not [each for each in left if isinstance(each, Connection)]
