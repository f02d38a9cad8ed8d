"""The webhook endpoint on a real socket: edge, route, endpoint and ingest, over an inbox in
memory."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

import uvicorn
from litestar import Litestar

from gateway.bounds.addresses import Networks
from gateway.clock import SystemClock
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from gateway.transports.connections.listen import bind
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.http.senders import Peers
from gateway.transports.webhooks import WebhookEndpoint, webhook_route
from gateway.webhooks.ingest import GroupCommit, Ingest
from gateway.webhooks.source import OpenSource
from tests.eventually import PATIENCE_SECONDS
from tests.webhook_sources import ACME, ListInbox, credentials_of, open_sources

MAX_BODY = 64 * 1024
Fields = Sequence[tuple[str, str | bytes]]
PAYLOAD = {"event_type": "thing_made", "event_id": "e-1", "thing": "a lamp"}


class MovableClock(SystemClock):
    """The machine's clocks; the wall may be moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.seconds


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class WebhookSite:
    """The site under test, and what it stored."""

    port: int
    inbox: ListInbox
    group_commit: GroupCommit
    sources: dict[str, OpenSource]
    clock: MovableClock
    counted: Counter[tuple[str, str]]
    """Messages by provider and outcome."""

    async def send(self, *parts: bytes) -> Answer:
        """The answer to `parts`, sent as they are; status 0 when there is none."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            is_head = parts[0].startswith(b"HEAD ")
            return await asyncio.wait_for(_answer(reader, has_body=not is_head), PATIENCE_SECONDS)
        except (asyncio.IncompleteReadError, ConnectionError):
            return Answer(0, {}, b"")
        finally:
            writer.close()

    async def post(
        self,
        body: bytes,
        fields: dict[str, str] | Fields,
        *,
        path: str = "/webhooks/acme",
        extra: Fields = (),
    ) -> Answer:
        """The answer to one well-framed message."""
        return await self.send(request_bytes(body, fields, path=path, extra=extra))

    async def post_acme(self, payload: Any = PAYLOAD, *, extra: Fields = ()) -> Answer:
        """The answer to an authentic message of acme's."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return await self.post(body, credentials_of(ACME, body, time.time()), extra=extra)


def request_bytes(
    body: bytes,
    fields: dict[str, str] | Fields,
    *,
    path: str = "/webhooks/acme",
    extra: Fields = (),
) -> bytes:
    """One POST as it goes over the wire."""
    listed = list(fields.items()) if isinstance(fields, dict) else list(fields)
    own: list[tuple[str, str | bytes]] = [
        ("host", "gateway.test"),
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
    ]
    given = {name for name, _ in extra}
    kept = [field for field in own if field[0] not in given]
    lines = [
        name.encode() + b": " + (value if isinstance(value, bytes) else value.encode())
        for name, value in (*kept, *listed, *extra)
    ]
    return b"\r\n".join([f"POST {path} HTTP/1.1".encode(), *lines, b"", body])


async def _answer(reader: asyncio.StreamReader, *, has_body: bool) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status, *lines = head.strip().split("\r\n")
    pairs = [line.partition(": ") for line in lines]
    headers = {name.lower(): value for name, _, value in pairs}
    length = int(headers.get("content-length", 0)) if has_body else 0
    body = await reader.readexactly(length)
    return Answer(int(status.split(" ")[1]), headers, body)


@asynccontextmanager
async def serving_webhooks(
    *, proxies: Sequence[str] = (), networks: Sequence[Any] | None = None, **changes: Any
) -> AsyncIterator[WebhookSite]:
    """Serve the three sources of the tests; `changes` are the edge's rules."""
    clock = MovableClock()
    inbox = ListInbox()
    group_commit = GroupCommit(inbox)
    sources = open_sources(clock, networks)
    counted: Counter[tuple[str, str]] = Counter()
    ingest = Ingest(sources, group_commit, clock, lambda *found: counted.update([found]))
    endpoint = WebhookEndpoint(ingest)
    litestar = Litestar([webhook_route(endpoint)], openapi_config=None, logging_config=None)
    rules: dict[str, Any] = {
        "max_body_bytes": MAX_BODY,
        "body_deadline_seconds": PATIENCE_SECONDS,
        **changes,
    }
    rules["peers"] = Peers(Networks(ip_network(proxy) for proxy in proxies))
    edge = Edge(litestar, EdgeRules(hosts=HostRules(("gateway.test",), ()), **rules))
    async with _listening(edge) as port:
        yield WebhookSite(port, inbox, group_commit, sources, clock, counted)
    await group_commit.close()


class _PatientConnection(Connection):
    limits = ConnectionLimits(head_deadline_seconds=PATIENCE_SECONDS)


@asynccontextmanager
async def _listening(application: Any) -> AsyncIterator[int]:
    config = uvicorn.Config(
        application,
        loop="none",
        http=_PatientConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        server_header=False,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    listener = bind("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await serving
