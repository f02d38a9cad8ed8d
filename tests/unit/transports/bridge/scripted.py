"""A remote whose answers the tests write, and a host that speaks to it over the bridge."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gateway.transports.bridge.remote import Remote
from gateway.transports.bridge.serving import Relay, checked
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.lifespan import on_a_socket

VERSION = "io.modelcontextprotocol/protocolVersion"
MODERN = {"_meta": {VERSION: "2026-07-28"}}
END = b""


@dataclass
class Request:
    """What the remote got, and how it answers."""

    method: str
    headers: dict[str, str]
    body: dict[str, Any]
    _send: Any
    is_gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(
        self,
        body: bytes | dict[str, Any],
        status: int = 200,
        kind: str = "application/json",
        **more: str,
    ) -> None:
        """Answer with one body."""
        await self._begin(status, kind, more)
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self._send({"type": "http.response.body", "body": text})

    async def result(self, result: Any = None, **more: str) -> None:
        """Answer the request with `result`."""
        await self.answer({"jsonrpc": "2.0", "id": self.body["id"], "result": result or {}}, **more)

    async def stream(self) -> None:
        """Begin a stream of events."""
        await self._begin(200, "text/event-stream", {})

    async def event(self, message: dict[str, Any], indent: int | None = None) -> None:
        """Send `message` on the stream."""
        lines = json.dumps(message, indent=indent).splitlines()
        text = "".join(f"data: {line}\n" for line in lines)
        frame = f"event: message\n{text}\n".encode()
        await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    async def end(self) -> None:
        """End the stream."""
        await self._send({"type": "http.response.body", "body": b""})

    async def _begin(self, status: int, kind: str, more: dict[str, str]) -> None:
        headers = {"content-type": kind} | {k.replace("_", "-"): v for k, v in more.items()}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})


Script: TypeAlias = Callable[[Request], Awaitable[None]]


class Host:
    """Writes lines to the bridge, and reads those that it writes."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.read: asyncio.Queue[bytes] = asyncio.Queue()
        self.seen: list[Request] = []
        """The requests that the remote got."""
        self.relay: Relay
        self.has_ended = asyncio.Event()
        """Nothing more will be said to the bridge."""

    def say(self, method: str, params: Any = None, **more: Any) -> None:
        """Send a message. `more`: its other members, such as `id`."""
        message = {"jsonrpc": "2.0", "method": method, **more}
        self.write({**message, "params": params} if params is not None else message)

    def write(self, message: Any) -> None:
        """Send `message`, a text or JSON."""
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.lines.put_nowait(text + b"\n")

    async def hear(self) -> dict[str, Any]:
        """The next message of the bridge."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            line = await self.read.get()
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        message: dict[str, Any] = json.loads(line)
        return message

    async def begin(self) -> None:
        """Shake hands."""
        self.say("initialize", {"protocolVersion": "2025-11-25"}, id=0)
        await self.hear()
        self.say("notifications/initialized")


@asynccontextmanager
async def talking(
    script: Script, answer_seconds: float = PATIENCE_SECONDS, key: str | None = "key"
) -> AsyncIterator[Host]:
    """A host of the bridge to a remote that answers as `script` says.

    A notification is accepted, and a handshake ends with the session `s`, before `script` is asked.
    """
    host = Host()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = await receive()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        content = json.loads(body["body"]) if body.get("body") else {}
        request = Request(scope["method"], headers, content, send)
        host.seen.append(request)
        if content.get("method") == "initialize":
            await request.result({"protocolVersion": "2025-11-25"}, mcp_session_id="s")
        elif content and ("id" not in content or "method" not in content):
            await request.answer(b"", status=202)
        else:
            await _attended(request, receive, script)

    async with on_a_socket(app) as url, Remote(f"{url}/mcp", key) as remote:
        host.relay = relay = Relay(remote, host.read.put, answer_seconds)
        running = asyncio.create_task(relay.run(checked(_lines(host), relay, 1000)))
        yield host
        host.lines.put_nowait(END)
        host.has_ended.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running


async def _attended(request: Request, receive: Any, script: Script) -> None:
    """Run `script` until it ends or the client leaves."""
    working = asyncio.ensure_future(script(request))
    leaving = asyncio.ensure_future(receive())
    await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
    if not working.done():
        request.is_gone.set()
        working.cancel()
    leaving.cancel()


async def _lines(host: Host) -> AsyncIterator[bytes]:
    while line := await host.lines.get():
        yield line
