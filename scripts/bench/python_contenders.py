"""The contenders for a tool that is a Python function: the gateway, the MCP SDK and FastMCP."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import wire
from contenders import (
    FASTMCP_HANDSHAKE,
    FASTMCP_MODERN,
    HERE,
    KEY,
    SDK_HANDSHAKE,
    SDK_MODERN,
    Contender,
    Lineup,
    gateway_server,
    gateways,
    with_other,
)
from peer import FASTMCP
from processes import Server, ask, started

TOOL: Final = "example.greet"
_NOWHERE: Final = "http://127.0.0.1:9"
_ARGUMENTS: Final = {"name": "Ada"}


@contextmanager
def python_lineup(*, with_peers: bool, other: Path | None = None) -> Iterator[Lineup]:
    """Start everything, and stop it at the end of the block. Raises `BenchError`."""
    with ExitStack() as stack:
        gateway = stack.enter_context(gateway_server(_NOWHERE))
        own = gateways(gateway, TOOL, _ARGUMENTS)
        if other is not None:
            before = stack.enter_context(gateway_server(_NOWHERE, other))
            own = with_other(own, gateways(before, TOOL, _ARGUMENTS))
        sdk = stack.enter_context(_served("the MCP SDK", sys.executable, "sdk_greeting.py"))
        contenders = [*own, *_contenders(sdk, SDK_MODERN, SDK_HANDSHAKE)]
        if with_peers:
            python = str(FASTMCP.program())
            peer = stack.enter_context(_served("FastMCP", python, "fastmcp_greeting.py"))
            contenders += _contenders(peer, FASTMCP_MODERN, FASTMCP_HANDSHAKE)
        for each in contenders:
            ask(each.server, each.request)
        yield Lineup(tuple(contenders), b"Hello, Ada!", 0)


@contextmanager
def _served(name: str, python: str, script: str) -> Iterator[Server]:
    with started(name, [python, str(HERE / script)]) as server:
        yield server


def _contenders(server: Server, modern: str, handshake: str) -> list[Contender]:
    tool = TOOL.replace(".", "_")
    return [
        Contender(name, server, wire.mcp(server.port, revision, tool, _ARGUMENTS, KEY))
        for name, revision in ((modern, wire.MODERN), (handshake, wire.HANDSHAKE))
    ]
