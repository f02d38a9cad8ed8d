"""One gateway seen through its faces: the same arguments over REST and over both eras of MCP."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.auth.keys import ADMINISTRATOR
from gateway.backends.http.client import Wire
from gateway.backends.mock.backend import MockBackend
from gateway.backends.wire import WireRequest
from gateway.catalogue import Catalogue, Entry, open_catalogue
from gateway.cli.verification.world import SILENT_SECONDS
from gateway.contract.upstream import Reply, UpstreamRequest
from gateway.testing.under_test import mocked_settings

KEY = "contract-tests-administrator"
MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
_UNDER_WAY = "JOB_UNDER_WAY"
_LOOK_SECONDS = 0.01
"""The time between two looks at a job."""


class Verdict(Struct, frozen=True):
    """What one face answered, in terms that all faces share."""

    accepted: bool
    status: int
    """The HTTP status, or the one that the problem inside an MCP result names."""
    code: str | None
    errors: frozenset[tuple[str, str]]
    """Pointer and keyword of each violation."""
    body: Any


class CountingWire:
    """A wire that counts the requests that reach it, access tokens aside."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.requests = 0

    async def exchange(self, request: WireRequest) -> Reply:
        self.requests += 1
        return await self._wire.exchange(request)

    async def close(self) -> None:
        await self._wire.close()


class Watched:
    """A backend that counts what it sends, and keeps the last that it is asked to send."""

    def __init__(self, backend: MockBackend) -> None:
        self._backend = backend
        # A backend refuses what no address can hold, so what it is asked to send may not leave it.
        self._wire = backend._wire = CountingWire(backend._wire)
        self.name = backend.name
        self.problem = backend.problem
        self.last: UpstreamRequest | None = None

    @property
    def sent(self) -> int:
        """How many requests have left the backend so far."""
        return self._wire.requests

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        self.last = request
        return await self._backend.send(
            request, timeout_seconds=timeout_seconds, is_cut_short=is_cut_short
        )

    async def close(self) -> None:
        await self._backend.close()


class Faces:
    """Calls an operation through a face and returns the verdict."""

    def __init__(
        self, gateway: Gateway, client: httpx.AsyncClient, watched: Mapping[str, Watched]
    ) -> None:
        self.gateway = gateway
        self.catalogue: Catalogue = gateway.parts.catalogue
        self._client = client
        self._watched = watched

    @property
    def sent(self) -> int:
        """How many requests have gone to upstreams so far."""
        return sum(backend.sent for backend in self._watched.values())

    def last_sent(self, upstream: str) -> UpstreamRequest | None:
        """The last request to this upstream."""
        return self._watched[upstream].last

    async def rest(self, entry: Entry, arguments: bytes) -> Verdict:
        reply = await self._client.post(
            entry.operation.route,
            content=arguments,
            headers={"content-type": "application/json"},
        )
        if reply.status_code == 202:
            reply = await self._outcome(reply.headers["location"])
        return read_rest(reply)

    async def _outcome(self, job: str) -> httpx.Response:
        """What the call would have been answered, had it not become this job."""
        async with _patience(job):
            while True:
                reply = await self._client.get(f"{job}/result")
                if reply.status_code != 409 or reply.json().get("code") != _UNDER_WAY:
                    return reply
                await asyncio.sleep(_LOOK_SECONDS)
        raise AssertionError("unreachable")

    async def get(self, entry: Entry, arguments: dict[str, Any]) -> Verdict:
        """The same with the arguments as query parameters; those of a list are repeated."""
        query: list[tuple[str, str | int | float | bool | None]] = [
            (name, each if isinstance(each, str) else json.dumps(each))
            for name, value in arguments.items()
            for each in (value if isinstance(value, list) else [value])
        ]
        return read_rest(await self._client.get(entry.operation.route, params=query))

    async def mcp(self, entry: Entry, arguments: bytes, version: str) -> Verdict:
        verdict = await self._tool(entry.tool.name, arguments, version)
        job = verdict.body.get("job_id") if verdict.accepted else None
        if entry.operation.task == "never" or job is None:
            return verdict
        named = json.dumps({"job_id": job}).encode()
        async with _patience(job):
            while True:
                verdict = await self._tool("job_result", named, version)
                if verdict.code != _UNDER_WAY:
                    return verdict
                await asyncio.sleep(_LOOK_SECONDS)
        raise AssertionError("unreachable")

    async def _tool(self, name: str, arguments: bytes, version: str) -> Verdict:
        meta: dict[str, Any] = {}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": version,
        }
        if version == MODERN:
            headers |= {"mcp-method": "tools/call", "mcp-name": name}
            meta = {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        params = (
            b'{"name":' + json.dumps(name).encode() + b',"_meta":' + json.dumps(meta).encode()
        ) + (b',"arguments":' + arguments + b"}")
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}"
        reply = await self._client.post("/mcp", content=body, headers=headers)
        return read_mcp(reply)


def read_rest(reply: httpx.Response) -> Verdict:
    """The verdict in an answer over REST. A file is described as over MCP."""
    media_type = reply.headers["content-type"]
    if reply.status_code == 200 and media_type != "application/json":
        described = {"content_type": media_type, "size": len(reply.content)}
        return Verdict(True, 200, None, frozenset(), described)
    body = reply.json()
    if reply.status_code == 200:
        return Verdict(True, 200, None, frozenset(), body)
    assert reply.headers["content-type"] == "application/problem+json"
    assert body["status"] == reply.status_code
    return refused(body)


def read_mcp(reply: httpx.Response) -> Verdict:
    """The verdict in an MCP answer, plain or as an event stream."""
    answer = _message(reply)
    if "error" in answer:
        error = answer["error"]
        code = (
            (error.get("data") or {}).get("code") if isinstance(error.get("data"), dict) else None
        )
        return Verdict(False, error["code"], code, frozenset(), error)
    result = answer["result"]
    if result.get("isError"):
        assert "structuredContent" not in result
        return refused(json.loads(result["content"][0]["text"]))
    if "structuredContent" not in result:
        # A list of content blocks is sent as these blocks.
        return Verdict(True, 200, None, frozenset(), {"content": result["content"]})
    text = result["content"][0]["text"]
    values = result["structuredContent"]
    # A result that is served as plain text has nothing but that text.
    assert [*values.values()] == [text] or values == json.loads(text)
    return Verdict(True, 200, None, frozenset(), values)


@asynccontextmanager
async def _patience(job: str) -> AsyncIterator[None]:
    """Refuse a job that does not end: one that asks would wait for a day."""
    try:
        async with asyncio.timeout(SILENT_SECONDS):
            yield
    except TimeoutError:
        raise AssertionError(f"{job} has not ended in {SILENT_SECONDS:g} seconds") from None


def refused(problem: dict[str, Any]) -> Verdict:
    errors = frozenset((e["pointer"], e["keyword"]) for e in problem.get("errors", ()))
    return Verdict(False, problem["status"], problem["code"], errors, problem)


def _message(reply: httpx.Response) -> dict[str, Any]:
    if reply.headers["content-type"].startswith("text/event-stream"):
        data = [line[6:] for line in reply.text.splitlines() if line.startswith("data: ")]
        message: dict[str, Any] = json.loads(data[-1])
        return message
    whole: dict[str, Any] = reply.json()
    return whole


@asynccontextmanager
async def open_faces(data: Path) -> AsyncIterator[Faces]:
    """A gateway on mocks, its backends watched, served in memory; every tool is granted."""
    settings = mocked_settings(data, GATEWAY_BOOTSTRAP_KEY=KEY, GATEWAY_MOCK_SPEED="60")
    entries = open_catalogue(settings.package, settings.handler_packages).entries
    grants = {ADMINISTRATOR: frozenset(entry.id for entry in entries)}
    async with Gateway.open(settings, grants=grants) as gateway:
        watched = dict(watch(gateway))
        site = gateway.http_app()
        has_jobs = any(entry.operation.task == "required" for entry in entries)
        async with lifespan(site), gateway.at_work() if has_jobs else nullcontext():
            transport = httpx.ASGITransport(app=site)
            async with httpx.AsyncClient(
                transport=transport,
                base_url="http://localhost",
                headers={"authorization": f"Bearer {KEY}"},
            ) as client:
                yield Faces(gateway, client, watched)


def watch(gateway: Gateway) -> Iterable[tuple[str, Watched]]:
    """Put a watch on the backend of each upstream of a running gateway."""
    lines = gateway.parts.pipeline.dispatcher._connections
    for name, line in list(lines.items()):
        assert isinstance(line.backend, MockBackend)
        watched = Watched(line.backend)
        lines[name] = replace(line, backend=watched)  # type: ignore[index]  # a dict behind a Mapping
        yield name, watched


@asynccontextmanager
async def lifespan(site: Any) -> AsyncIterator[None]:
    """Run the ASGI lifespan of `site` around the block."""
    events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    answers: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    task = asyncio.create_task(
        site({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, events.get, answers.put)
    )
    await events.put({"type": "lifespan.startup"})
    started = await answers.get()
    assert started["type"] == "lifespan.startup.complete", started
    try:
        yield
    finally:
        await events.put({"type": "lifespan.shutdown"})
        await answers.get()
        await task
