"""The mixed load of `soak.py`: calls, webhooks, followers, and clients that behave badly."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

from faulty import FAULTS, HEALTHY, FaultyServer
from gateways import KEY, SECRET
from sender import Connection, quote, signed

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
_MOST: Final = 250
"""Requests at the same time. The gateway allows one address 300 connections."""
_IDLE_SECONDS: Final = 3.0
"""After this time a connection is not used again: the gateway is about to close it."""
_TICK_SECONDS: Final = 0.005
_HEALTHY_SECONDS: Final = 12.0
_FAULTY_SECONDS: Final = 6.0
_AIRPORTS: Final = 300
_UNKNOWN_KEYS: Final = 300
_CLIENT: Final = {"name": "soak", "version": "1"}
_JOURNEY: Final = {
    "flight_details": {
        "departure_airport": "KTEB",
        "arrival_airport": "KVNY",
        "passengers": 6,
        "departure_date": "2099-12-01T15:00:00Z",
    },
    "operator_ids": ["OP-001", "OP-002"],
}


def request(method: str, target: str, body: Any = None, **more: str) -> bytes:
    """An HTTP request with a valid key."""
    text = b"" if body is None else json.dumps(body).encode()
    headers = {
        "Host": "127.0.0.1",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {KEY}",
        **({} if body is None else {"Content-Type": "application/json"}),
        "Content-Length": str(len(text)),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    if method == "GET":
        del headers["Content-Length"]
    lines = [f"{method} {target} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + text


def mcp(revision: str, method: str, params: dict[str, Any], **more: str) -> bytes:
    """An MCP request."""
    headers = {"MCP_Protocol_Version": revision, **more}
    if revision == MODERN:
        headers |= {"Mcp_Method": method}
        headers |= {"Mcp_Name": params["name"]} if "name" in params else {}
        meta = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": _CLIENT,
        }
        params = {**params, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return request("POST", "/mcp", message, **headers)


class SoakLoad:
    """Begins requests at a constant rate, each of a random kind, and counts their outcomes."""

    def __init__(
        self, url: str, upstream: FaultyServer, random: Random, kinds: Sequence[str] = ()
    ) -> None:
        """`kinds`: begins only these; none means all."""
        self._url = url
        self._upstream = upstream
        self._random = random
        self._idle: list[tuple[float, Connection]] = []
        """Connections with the time of their last answer."""
        self._busy: set[asyncio.Task[None]] = set()
        self._number = 0
        self.outcomes: Counter[str] = Counter()
        """By kind and status; `None` is a request without an answer."""
        self.skipped = 0
        """Requests that were due while `_MOST` others were under way."""
        self._kinds: dict[Callable[[], Awaitable[int | None]], int] = {
            self._greet: 32,
            self._airports: 10,
            self._mcp_call: 18,
            self._mcp_list: 2,
            self._session: 4,
            self._webhook: 10,
            self._write: 4,
            self._long_call: 1,
            self._malformed: 4,
            self._left: 6,
            self._half: 3,
            self._follower: 1,
            self._page: 3,
            self._unknown_key: 2,
        }
        if kinds:
            self._kinds = {
                each: weight
                for each, weight in self._kinds.items()
                if each.__name__.removeprefix("_") in kinds
            }

    async def run(self, rate: float) -> None:
        """Go on until cancelled."""
        kinds, weights = list(self._kinds), list(self._kinds.values())
        began, begun = time.monotonic(), 0
        faults = asyncio.create_task(self._fail_sometimes())
        try:
            while True:
                for _ in range(int((time.monotonic() - began) * rate) - begun):
                    begun += 1
                    self._begin(self._random.choices(kinds, weights)[0])
                await asyncio.sleep(_TICK_SECONDS)
        finally:
            faults.cancel()
            await asyncio.gather(faults, *self._busy, return_exceptions=True)
            for _, connection in self._idle:
                connection.close()

    def _begin(self, kind: Callable[[], Awaitable[int | None]]) -> None:
        if len(self._busy) >= _MOST:
            self.skipped += 1
            return
        self._number += 1
        task = asyncio.create_task(self._count(kind))
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)

    async def _count(self, kind: Callable[[], Awaitable[int | None]]) -> None:
        status: int | None = None
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            status = await kind()
        self.outcomes[f"{kind.__name__[1:]} {status}"] += 1

    async def _fail_sometimes(self) -> None:
        while True:
            self._upstream.fault = HEALTHY
            await asyncio.sleep(_HEALTHY_SECONDS)
            self._upstream.fault = FAULTS[self._random.choice(list(FAULTS))]
            self._upstream.share = self._random.choice([0.1, 0.5, 1.0])
            await asyncio.sleep(_FAULTY_SECONDS)

    async def _ask(self, text: bytes) -> int | None:
        since, connection = self._idle.pop() if self._idle else (0.0, Connection(self._url))
        if time.monotonic() - since > _IDLE_SECONDS:
            connection.close()
        status = await connection.ask(text)
        self._idle.append((time.monotonic(), connection))
        return status

    async def _ask_alone(self, text: bytes) -> int | None:
        connection = Connection(self._url)
        try:
            return await connection.ask(text)
        finally:
            connection.close()

    async def _greet(self) -> int | None:
        return await self._ask(request("POST", "/v1/example/greet", {"name": "Ada"}))

    async def _airports(self) -> int | None:
        return await self._ask(request("POST", "/v1/avinode/search_airports", self._airport()))

    def _airport(self) -> dict[str, str]:
        # There are few: each has an answer in a cache of 16 MiB, which would take hours to fill.
        return {"query": f"airport {self._random.randrange(_AIRPORTS)}"}

    async def _mcp_call(self) -> int | None:
        revision = self._random.choice([MODERN, HANDSHAKE])
        params = {"name": "example_greet", "arguments": {"name": "Ada"}}
        return await self._ask(mcp(revision, "tools/call", params))

    async def _mcp_list(self) -> int | None:
        return await self._ask(mcp(MODERN, "tools/list", {}))

    async def _session(self) -> int | None:
        """A session that is opened and never ended."""
        hello = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT}
        # The answer is a stream, whose end `Connection` does not find.
        return await self._ask_alone(mcp(HANDSHAKE, "initialize", hello))

    async def _webhook(self) -> int | None:
        message = quote(f"soak-{time.time_ns()}-{self._number}")
        return await self._ask(signed(message, SECRET.encode(), "/webhooks/avinode"))

    async def _write(self) -> int | None:
        """A write over the upstream that fails, with a key, and sometimes with one used before."""
        number = self._number - self._random.choice([0, 0, 500])
        body = {"thread_id": "arfq-10000001", "message": f"Is there Wi-Fi on board? {number}"}
        key = f"soak-{number}"
        return await self._ask(
            request("POST", "/v1/avinode/send_message", body, Idempotency_Key=key)
        )

    async def _long_call(self) -> int | None:
        """A call that becomes a job when the upstream hangs, and a look at all jobs."""
        await self._ask(request("POST", "/v1/avinode/create_rfp", _JOURNEY))
        return await self._ask(request("GET", "/v1/jobs"))

    async def _malformed(self) -> int | None:
        """A request that must be refused. Some of them end their connection."""
        bad = self._random.choice(
            [
                request("POST", "/v1/example/greet", {"name": 1}),
                request("POST", "/v1/example/nothing", {}),
                request("POST", "/mcp", {"jsonrpc": "1.0", "id": [], "method": 3}),
                request("POST", "/webhooks/avinode", {"event_type": "forged"}),
                request("POST", "/v1/example/greet", {}, X_Large="x" * 40_000),
                request("POST", "/v1/example/greet", {}, Transfer_Encoding="chunked"),
                b"NONSENSE\r\n\r\n",
            ]
        )
        return await self._ask_alone(bad)

    async def _unknown_key(self) -> int | None:
        """A request with a key that nobody has. Of thousands, each would be remembered."""
        text = request("POST", "/v1/example/greet", {"name": "Ada"})
        return await self._ask(
            text.replace(
                KEY.encode(), f"unknown-{self._random.randrange(_UNKNOWN_KEYS):028}".encode()
            )
        )

    async def _left(self) -> int | None:
        """A client that leaves before its answer."""
        query = self._airport()
        text = self._random.choice(
            [
                request("POST", "/v1/avinode/search_airports", query),
                request("POST", "/v1/example/greet", {"name": "Ada"}),
                mcp(MODERN, "tools/call", {"name": "avinode_search_airports", "arguments": query}),
            ]
        )
        await self._leave(text, self._random.uniform(0, 0.02))
        return None

    async def _half(self) -> int | None:
        """A client that sends a part of a request, and leaves later."""
        text = request("POST", "/v1/example/greet", {"name": "Ada"})
        await self._leave(text[: self._random.randrange(1, len(text))], 1.0)
        return None

    async def _leave(self, text: bytes, seconds: float) -> None:
        parts = urlsplit(self._url)
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(text)
        await asyncio.sleep(seconds)
        writer.transport.abort()

    async def _follower(self) -> int | None:
        """A follower of events that vanishes."""
        await self._leave(
            request("GET", "/events", Accept="text/event-stream"), self._random.uniform(0, 3)
        )
        return None

    async def _page(self) -> int | None:
        path = self._random.choice(["/healthz", "/readyz", "/metrics", "/openapi.json"])
        return await self._ask(request("GET", path))
