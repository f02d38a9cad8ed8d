"""The stream that a session of the handshake revisions opens by `GET`."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.interaction.asking_session import Session
from tests.interaction.asking_session import session as begun

EVENTS = "gateway://events"
UPDATED = "notifications/resources/updated"
LISTS = ["notifications/tools/list_changed", "notifications/resources/list_changed"]
SUBSCRIBE = "resources/subscribe"
UNSUBSCRIBE = "resources/unsubscribe"
Messages: TypeAlias = "asyncio.Queue[dict[str, Any] | None]"
"""What came on a stream. None: it has ended."""


def updated(uri: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}}


async def asked(client: Session, method: str, uri: str, path: str = "/mcp") -> dict[str, Any]:
    """The answer to a request about the resource `uri`."""
    body = {"jsonrpc": "2.0", "id": 5, "method": method, "params": {"uri": uri}}
    answer = await client.http.post(path, json=body)
    if answer.headers["content-type"] == "application/json":
        whole: dict[str, Any] = answer.json()
        return whole
    (line,) = (each for each in answer.text.splitlines() if each.startswith("data: {"))
    found: dict[str, Any] = json.loads(line.removeprefix("data: "))
    return found


async def subscribe(client: Session, uri: str = EVENTS) -> None:
    assert (await asked(client, SUBSCRIBE, uri))["result"] == {}


@asynccontextmanager
async def session_of(url: str, key: str, **options: Any) -> AsyncIterator[Session]:
    """A session of a client that cannot be asked."""
    async with begun(url, key, can={}, **options) as client:
        yield client


@asynccontextmanager
async def stream_of(client: Session, path: str = "/mcp") -> AsyncIterator[Messages]:
    """The stream of a session, from the moment when it is open until the block ends."""
    messages: Messages = asyncio.Queue()
    is_open = asyncio.Event()

    async def read() -> None:
        async with client.http.stream(
            "GET", path, headers={"accept": "text/event-stream"}, timeout=None
        ) as response:
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"] == "text/event-stream"
            try:
                async for line in response.aiter_lines():
                    # The first line is a ping: the stream has begun.
                    is_open.set()
                    if line.startswith("data: "):
                        messages.put_nowait(json.loads(line.removeprefix("data: ")))
            except httpx.RemoteProtocolError as error:
                pytest.fail(f"the stream was cut: {error}")
            messages.put_nowait(None)

    reading = asyncio.create_task(read())
    opened = asyncio.create_task(is_open.wait())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.wait([reading, opened], return_when=asyncio.FIRST_COMPLETED)
    if reading.done():
        await reading
    yield messages
    reading.cancel()
    opened.cancel()
    await asyncio.gather(reading, opened, return_exceptions=True)


async def next_of(messages: Messages) -> dict[str, Any] | None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await messages.get()


async def rest_of(messages: Messages) -> list[dict[str, Any]]:
    """All messages until the stream ends."""
    found = []
    while (message := await next_of(messages)) is not None:
        found.append(message)
    return found
