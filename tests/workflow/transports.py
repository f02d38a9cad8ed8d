"""The transports of one gateway, each as a function that calls a tool over it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Protocol

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.workflow.story import CallTool


class OpenTransport(Protocol):
    """Opens a transport of the gateway at `url` with `key`."""

    def __call__(self, url: str, key: str) -> AbstractAsyncContextManager[CallTool]: ...


@asynccontextmanager
async def rest(url: str, key: str) -> AsyncIterator[CallTool]:
    """`POST /v1/<connector>/<tool>`."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:

        async def call(operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
            answer = await http.post(f"/v1/{operation.replace('.', '/')}", json=arguments)
            assert answer.status_code == 200, answer.text
            result: dict[str, Any] = answer.json()
            return result

        yield call


def mcp(mode: str) -> OpenTransport:
    """Streamable HTTP at `/mcp`, with the official client in `mode`."""

    @asynccontextmanager
    async def opened(url: str, key: str) -> AsyncIterator[CallTool]:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
        ):

            async def call(operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
                result = await client.call_tool(operation.replace(".", "_"), arguments)
                assert not result.is_error, result.content
                return _structured(result)

            yield call

    return opened


def _structured(result: Any) -> dict[str, Any]:
    (block,) = result.content
    assert json.loads(block.text) == result.structured_content
    content: dict[str, Any] = result.structured_content
    return content


TRANSPORTS: Final[Mapping[str, OpenTransport]] = {
    "rest": rest,
    "mcp-handshake": mcp("legacy"),
    "mcp-2026-07-28": mcp("2026-07-28"),
}
