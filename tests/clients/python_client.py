"""`mcp.Client`, the official Python client, in this process."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.clients.conversation import (
    HANDSHAKE,
    MODERN,
    Answer,
    ClientFailed,
    ClientUnderTest,
    HttpTransport,
    Step,
    Transcript,
    Transport,
)
from tests.eventually import PATIENCE_SECONDS

# Where the commands of stdio transports run: a folder in which no `gateway.toml` lies.
FOLDER: Final = Path(__file__).resolve().parent


def converse(mode: str, transport: Transport, steps: Sequence[Step]) -> Transcript:
    """Hold the conversation in `mode`: `legacy`, `auto` or a modern revision."""
    try:
        return asyncio.run(_over_transport(mode, transport, steps))
    except* (MCPError, httpx2.HTTPError) as failures:
        raise ClientFailed("; ".join(_messages(failures))) from failures


async def _over_transport(mode: str, transport: Transport, steps: Sequence[Step]) -> Transcript:
    async with asyncio.timeout(PATIENCE_SECONDS):
        if not isinstance(transport, HttpTransport):
            server = StdioServerParameters(
                command=transport.command,
                args=list(transport.args),
                env=dict(transport.env),
                cwd=FOLDER,
            )
            return await _converse(Client(server, mode=mode), steps)
        headers = dict(transport.headers)
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http:
            transport = streamable_http_client(transport.url, http_client=http)
            return await _converse(Client(transport, mode=mode), steps)


async def _converse(entering: Client, steps: Sequence[Step]) -> Transcript:
    async with entering as client:
        listed = await client.list_tools()
        return Transcript(
            protocol=client.protocol_version,
            tools=[_wire(tool) for tool in listed.tools],
            answers=[await _answer(client, step) for step in steps],
        )


async def _answer(client: Client, step: Step) -> Answer:
    try:
        return Answer(result=_wire(await client.call_tool(step.name, dict(step.arguments))))
    except MCPError as error:
        return Answer(error={"code": error.code, "message": error.message})


def _wire(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def _messages(failure: BaseException) -> list[str]:
    if isinstance(failure, BaseExceptionGroup):
        return [message for inner in failure.exceptions for message in _messages(inner)]
    return [str(failure)]


PYTHON_CLIENTS: Final = tuple(
    ClientUnderTest(
        name=f"python-{mode}",
        protocol=protocol,
        converse=partial(converse, mode),
        needs_node=False,
        transports=transports,
        is_own_program=mode != "auto",
    )
    for mode, protocol, transports in (
        ("legacy", HANDSHAKE, ("http", "bridge")),
        ("auto", MODERN, ("http",)),
        (MODERN, MODERN, ("http", "stdio")),
    )
)
