"""The transports as clients use them: separate processes, sockets, pipes and official clients."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import httpx
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
)

from gateway.cli.verification.plan import Step
from gateway.cli.verification.serving import PROCESS, Gateways
from gateway.cli.verification.world import KEY, LOG, SILENT_SECONDS, TransportFailed

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
_JSON: Final = {"accept": "application/json"}
"""The bytes of a file are then a member of the result, as `_bytes_in` returns them."""
_DATA: Final = "data"
_UNDER_WAY: Final = "JOB_UNDER_WAY"
_LOOK_SECONDS: Final = 0.05
"""The time between two looks at a job."""

UNREACHABLE: Final = (MCPError, httpx.HTTPError, httpx2.HTTPError, OSError, ValueError)
"""The errors of clients when a transport breaks its protocol."""


class CallRefused(Exception):
    """A call returned no result. The text has the response."""


Ask = Callable[[Step], Awaitable[dict[str, Any]]]
"""One call over a transport. Raises `CallRefused`."""
OpenTransport = Callable[[Gateways], AbstractAsyncContextManager[Ask]]


@asynccontextmanager
async def rest(gateways: Gateways) -> AsyncIterator[Ask]:
    """`POST /v1/<connector>/<tool>`."""
    async with (
        gateways.serving() as url,
        httpx.AsyncClient(
            base_url=url, headers=_headers() | _JSON, timeout=SILENT_SECONDS, trust_env=False
        ) as http,
    ):

        async def ask(step: Step) -> dict[str, Any]:
            reply = await http.post(step.entry.operation.route, json=step.arguments)
            if reply.status_code == 202:
                reply = await _outcome(http, reply.headers["location"])
            body: dict[str, Any] = reply.json()
            if reply.status_code != 200:
                raise CallRefused(f"{reply.status_code} {body.get('code')}: {body.get('detail')}")
            return body

        yield ask


async def _outcome(http: httpx.AsyncClient, job: str) -> httpx.Response:
    """What the call would have been answered, had it not become this job."""
    while True:
        reply = await http.get(f"{job}/result")
        if reply.status_code != 409 or reply.json().get("code") != _UNDER_WAY:
            return reply
        await asyncio.sleep(_LOOK_SECONDS)


@asynccontextmanager
async def mcp_modern(gateways: Gateways) -> AsyncIterator[Ask]:
    """Streamable HTTP, without a handshake."""
    async with gateways.serving() as url, _over_http(url, MODERN, MODERN) as ask:
        yield ask


@asynccontextmanager
async def mcp_handshake(gateways: Gateways) -> AsyncIterator[Ask]:
    """Streamable HTTP, after `initialize`."""
    async with gateways.serving() as url, _over_http(url, "legacy", HANDSHAKE) as ask:
        yield ask


@asynccontextmanager
async def stdio(gateways: Gateways) -> AsyncIterator[Ask]:
    """`gateway mcp`, on the pipes of a child process."""
    world = gateways.world
    data = world.folder / "stdio"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", PROCESS, "mcp", str(data)],
        env=world.environment(),
        cwd=world.folder,
    )
    with data.with_suffix(LOG).open("w", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log), mode=MODERN) as client:
            yield _asking(client)


TRANSPORTS: Final[Mapping[str, OpenTransport]] = {
    "REST": rest,
    f"MCP {MODERN}": mcp_modern,
    f"MCP {HANDSHAKE}": mcp_handshake,
    "stdio": stdio,
}


@asynccontextmanager
async def _over_http(url: str, mode: str, version: str) -> AsyncIterator[Ask]:
    async with httpx2.AsyncClient(
        headers=_headers(), timeout=SILENT_SECONDS, trust_env=False
    ) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            if client.protocol_version != version:
                raise TransportFailed(f"spoke {client.protocol_version} instead of {version}")
            yield _asking(client)


def _asking(client: Client) -> Ask:
    async def ask(step: Step) -> dict[str, Any]:
        result = await client.call_tool(step.entry.tool.name, step.arguments)
        job = (result.structured_content or {}).get("job_id")
        if step.entry.operation.task != "never" and job is not None:
            result = await _result(client, str(job))
        text = getattr(result.content[0], "text", "") if result.content else ""
        if result.is_error:
            problem = json.loads(text)
            raise CallRefused(
                f"{problem.get('status')} {problem.get('code')}: {problem.get('detail')}"
            )
        if step.entry.operation.has_blocks:
            return {"content": [_as_json(each) for each in result.content]}
        member = step.entry.operation.text_member
        values = json.loads(text) if member is None else {member: text}
        if result.structured_content != values:
            raise CallRefused("the structured content differs from the text")
        return {**result.structured_content, **_bytes_in(result.content[1:])}

    return ask


async def _result(client: Client, job: str) -> CallToolResult:
    """The same over MCP."""
    while True:
        result = await client.call_tool("job_result", {"job_id": job})
        text = getattr(result.content[0], "text", "") if result.content else ""
        if not result.is_error or json.loads(text).get("code") != _UNDER_WAY:
            return result
        await asyncio.sleep(_LOOK_SECONDS)


def _as_json(block: ContentBlock) -> dict[str, Any]:
    return block.model_dump(mode="json", by_alias=True, exclude_none=True)


def _bytes_in(blocks: Iterable[ContentBlock]) -> dict[str, str]:
    """The bytes of a file as REST has them in JSON. Empty for other results."""
    for block in blocks:
        match block:
            case ImageContent(data=data) | AudioContent(data=data):
                return {_DATA: data}
            case EmbeddedResource(resource=BlobResourceContents(blob=data)):
                return {_DATA: data}
    return {}


def _headers() -> dict[str, str]:
    return {"authorization": f"Bearer {KEY}"}
