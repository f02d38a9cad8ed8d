"""A client of the handshake revisions over HTTP that answers what it is asked."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import httpx

from tests.eventually import PATIENCE_SECONDS
from tests.interaction.asking_site import ALL

Answer: TypeAlias = Callable[[dict[str, Any]], dict[str, Any] | None]


class Session:
    """A session of one client. `http` sends its requests."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.seen: list[dict[str, Any]] = []
        """All messages that the server has sent."""
        self.statuses: list[int] = []
        """Those of the answers."""

    async def reply(self, message: dict[str, Any], **headers: str) -> httpx.Response:
        return await self.http.post(
            "/mcp", json={"jsonrpc": "2.0", **message}, headers=headers or None
        )

    async def call(
        self, answer: Answer, name: str = "example_greet", **arguments: Any
    ) -> dict[str, Any]:
        """The answer to a call. `answer` makes what is posted for each request of the server."""
        params = {"name": name, "arguments": arguments or {"name": "Ada"}}
        body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        async with self.http.stream("POST", "/mcp", json=body) as response:
            async for message in events(response):
                self.seen.append(message)
                if "method" not in message:
                    return message
                made = answer(message) if "id" in message else None
                if made is not None:
                    posted = await self.reply({"id": message["id"], **made})
                    self.statuses.append(posted.status_code)
        raise AssertionError("the stream has ended without an answer")


async def events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The messages of an answer, which is a stream or JSON."""
    if response.headers["content-type"] == "application/json":
        yield json.loads(await response.aread())
        return
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


@asynccontextmanager
async def session(
    url: str,
    key: str | None,
    version: str = "2025-11-25",
    can: dict[str, Any] | None = None,
    name: str = "test",
) -> AsyncIterator[Session]:
    """A session that has begun. `can`: the capabilities. None: all three."""
    shown = {
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {key}",
        "mcp-protocol-version": version,
    }
    params = {
        "protocolVersion": version,
        "capabilities": ALL if can is None else can,
        "clientInfo": {"name": name, "version": "1"},
    }
    async with httpx.AsyncClient(base_url=url, headers=shown, timeout=PATIENCE_SECONDS) as http:
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        found = await http.post("/mcp", json=begin)
        http.headers["mcp-session-id"] = found.headers["mcp-session-id"]
        yield Session(http)


def result(given: Any) -> Answer:
    """Answers each question with this result."""
    return lambda _: {"result": given}


def structure(message: dict[str, Any]) -> Any:
    """The result of a call."""
    return json.loads(message["result"]["content"][0]["text"])


def problem_of(message: dict[str, Any]) -> dict[str, Any]:
    """Why a call failed."""
    found: dict[str, Any] = message["result"]["_meta"]["contract-gateway/problem"]
    return found
