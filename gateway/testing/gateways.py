"""Gateways of this process that serve the project under test, on mocks."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
from msgspec import Struct
from msgspec.structs import replace

from gateway.app import VERSION, Gateway
from gateway.app.gateway import Grants
from gateway.auth.keys import ADMINISTRATOR
from gateway.auth.principal import Permit
from gateway.backends.http.client import Wire
from gateway.backends.mock.backend import MockBackend
from gateway.backends.wire import WireRequest
from gateway.calls.call import Arguments, Call, Outcome
from gateway.catalogue import Catalogue, Entry
from gateway.cli.options import settings_of
from gateway.cli.project import check_project, open_project
from gateway.contract.operation import Effect
from gateway.contract.upstream import Departure, Reply
from gateway.contract.values import jsontext
from gateway.settings import Settings, read_settings
from gateway.testing.cases import Case, stored_operation
from gateway.testing.judging import (
    Verdict,
    changed_on_the_way,
    changed_on_the_way_back,
    judged,
    verdict_on,
)
from gateway.testing.served import FROZEN
from gateway.testing.transports import (
    HANDSHAKE,
    MODERN,
    REST,
    SILENT_SECONDS,
    STDIO,
    BrokenAnswer,
    CallAnswer,
    Exchange,
    Mcp,
    Rest,
    TransportFailed,
    client,
    message_in,
    over_http,
    parameters,
    request,
)
from gateway.testing.upstream_contracts import ContractBreach, UpstreamJudge, taken
from gateway.transports.stdio.server import local_server, run_on_stdio

KEY = "contract-tests-administrator"
HANGING_SECONDS: Final = 120.0
"""After this time a call is given up: no mock takes so long."""
_NO_DEPARTURE = Departure()
_LARGEST: Final = 2**20
"""As `max_body_bytes` has it by default."""


def project_under_test() -> Settings:
    """The settings of the project in the working folder, or of the one in `GATEWAY_SCHEMAS`.

    Raises an `OperatorError` if there is none.
    """
    settings = settings_of({})
    check_project(settings)
    return settings


@cache
def catalogue_under_test() -> Catalogue:
    """The catalogue of the project, opened once."""
    return open_project(project_under_test())


def project_flags(data: Path) -> dict[str, Any]:
    """The settings that select the project under test, with its state in `data`."""
    project = project_under_test()
    return {
        "data": data,
        "schemas": project.schemas,
        "package": project.package,
        "handler_packages": project.handler_packages,
    }


def mocked_settings(data: Path, **variables: str) -> Settings:
    """Settings that serve the project under test on mocks only, with its state in `data`.

    Of the operator's settings, only those that select the project are used.
    """
    upstreams = open_project(project_under_test()).upstreams
    mocks = {f"GATEWAY_BACKEND_{name.upper()}": "mock" for name in upstreams}
    return read_settings({**FROZEN, **mocks, **variables}, None, project_flags(data))


class Site(Struct, frozen=True):
    """A gateway with the policies of the project, and a key for every agent."""

    gateway: Gateway
    client: httpx.AsyncClient
    keys: dict[str, str]
    settings: Settings

    async def post(self, agent: str, path: str, body: Any, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {
            "authorization": f"Bearer {self.keys[agent]}",
            "accept": "application/json, text/event-stream",
        }
        return await self.client.post(path, json=body, headers=named)

    async def mcp(self, agent: str, version: str, method: str, **params: Any) -> Any:
        headers, text = request(version, method, params)
        headers["authorization"] = f"Bearer {self.keys[agent]}"
        return message_in(await self.client.post("/mcp", content=text, headers=headers))


@asynccontextmanager
async def open_site(
    data: Path, agents: Collection[str], grants: Grants | None = None, **variables: str
) -> AsyncIterator[Site]:
    """The project on mocks, with a key for each of `agents`."""
    settings = mocked_settings(data, **variables)
    async with Gateway.open(settings, grants=grants) as gateway:
        dict(watch(gateway))
        create = gateway.parts.keys.create
        keys = {agent: (await create(agent, "test")).key for agent in agents}
        async with in_memory(gateway, None) as http:
            yield Site(gateway, http, keys, settings)


@asynccontextmanager
async def in_memory(gateway: Gateway, key: str | None) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway that is served without a socket."""
    site = gateway.http_app()
    async with (
        lifespan(site),
        client("http://localhost", key, httpx.ASGITransport(app=site)) as http,
    ):
        yield http


class WatchedWire:
    """A wire that counts the requests that reach it, access tokens aside, and keeps the last."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.requests = 0
        self.last: WireRequest | None = None

    async def exchange(self, request: WireRequest) -> Reply:
        self.requests += 1
        # Each has a departure of its own.
        self.last = replace(request, departure=_NO_DEPARTURE)
        return await self._wire.exchange(request)

    async def close(self) -> None:
        await self._wire.close()


class WatchedTools:
    """Keeps what a tool got in the last call that has reached one, and what it has made.

    It can put another result in the place of what the tool has made.
    """

    def __init__(self, gateway: Gateway) -> None:
        dispatcher = gateway.parts.pipeline.dispatcher
        self._dispatch = dispatcher.dispatch
        dispatcher.dispatch = self.dispatch  # type: ignore[method-assign]  # a watch on it
        self.last: bytes | None = None
        """The arguments as JSON text. None: no call since this was set."""
        self.made: bytes | None = None
        """The result. None: it has failed."""
        self.result: dict[str, Any] | None = None
        """What each call ends with. None: what its tool makes."""

    async def dispatch(self, permit: Permit, arguments: Arguments, call: Call) -> Outcome:
        self.last, self.made = jsontext.encode(arguments.values), None
        outcome = await self._dispatch(permit, arguments, call)
        self.made = jsontext.encode(outcome.values)
        return outcome if self.result is None else replace(outcome, values=self.result)


class CaseAnswers(Struct, frozen=True):
    """The answers to one case, and what was sent for each."""

    answers: dict[str, CallAnswer]
    """By transport. The first is REST's."""
    sent: list[int]
    """How many requests have gone to upstreams."""
    requests: list[WireRequest | None]
    """The last one to the upstream of the tool's own name."""
    arrived: dict[str, bytes]
    """By transport, the arguments that the tool got. A kept result needs no tool."""
    made: dict[str, bytes | None]
    """The result that the tool has made then."""
    breaches: dict[str, ContractBreach]
    """By transport: the first of them that an upstream's document does not allow."""
    again: CallAnswer | None = None
    """REST's, once more: what it has made is there, so that another transport was refused."""

    @property
    def first(self) -> CallAnswer:
        return self.answers[REST]

    @property
    def is_sent(self) -> bool:
        return any(self.sent)

    @property
    def is_accepted(self) -> bool:
        """Whether it is on every transport."""
        return all(each.accepted for each in self.answers.values())

    def verdicts(self, case: Case, catalogue: Catalogue) -> list[Verdict]:
        """The verdict on each transport's answer, and on what it has led to."""
        found = judged(case, catalogue, self.answers, is_sent=self.is_sent, again=self.again)
        entry = catalogue.find(case.contract)
        if made := self.made.get(REST):
            found += changed_on_the_way_back(case, entry, made, self.first)
        for transport, arrived in self.arrived.items():
            found += changed_on_the_way(case, entry, transport, arrived)
        for transport, breach in self.breaches.items():
            verdict = verdict_on(case, transport, str(breach), oracle="request")
            found.append(replace(verdict, place=breach.pointer))
        return found


class Faces:
    """A gateway on watched mocks, with a client for each transport."""

    def __init__(
        self,
        gateway: Gateway,
        http: httpx.AsyncClient,
        watched: Mapping[str, WatchedWire],
        piped: Exchange | None = None,
    ) -> None:
        self.gateway = gateway
        self.catalogue: Catalogue = gateway.parts.catalogue
        self.http = http
        self.rest = Rest(http).call
        self.get = Rest(http).get
        self._mcp = {each: Mcp(over_http(http), each).call for each in (MODERN, HANDSHAKE)}
        self._stdio = None if piped is None else Mcp(piped, MODERN).call
        self._watched = watched
        self.tools = WatchedTools(gateway)
        self._judged = UpstreamJudge(project_under_test().schemas)

    @property
    def sent(self) -> int:
        """How many requests have gone to upstreams so far."""
        return sum(wire.requests for wire in self._watched.values())

    async def mcp(
        self, entry: Entry, arguments: bytes, version: str, key: str | None = None
    ) -> CallAnswer:
        return await self._mcp[version](entry, arguments, *(() if key is None else (key,)))

    async def ask_all(self, entry: Entry, arguments: bytes, key: str | None = None) -> CaseAnswers:
        """The answers of all transports, one after the other, to a call with an idempotency key."""
        given = () if key is None else (key,)
        calls: dict[str, Callable[[], Awaitable[CallAnswer]]] = {
            REST: lambda: self.rest(entry, arguments, *given),
            f"MCP {MODERN}": lambda: self.mcp(entry, arguments, MODERN, *given),
            f"MCP {HANDSHAKE}": lambda: self.mcp(entry, arguments, HANDSHAKE, *given),
        }
        stdio = self._stdio
        if stdio is not None and b"\n" not in arguments:  # it would end the message
            calls[STDIO] = lambda: stdio(entry, arguments, *given)
        query = parameters(entry, arguments)
        if query is not None and key is None:
            calls["GET"] = lambda: self.get(entry, query)
        found = CaseAnswers({}, [], [], {}, {}, {})
        watched = self._watched.get(entry.operation.connector)
        for name, call in calls.items():
            before, self.tools.last = self.sent, None
            found.answers[name] = await _answered(call)
            if self.tools.last is not None:
                found.arrived[name], found.made[name] = self.tools.last, self.tools.made
            found.sent.append(self.sent - before)
            found.requests.append(watched.last if watched and found.sent[-1] else None)
            self._judge(entry, arguments, found.requests[-1])
            if breaches := taken():
                found.breaches[name] = breaches[0]
        is_write = entry.operation.effect is not Effect.READ
        if not is_write or not found.first.accepted or found.is_accepted:
            return found
        again = await _answered(calls[REST])
        taken()  # the others were refused by the same
        return replace(found, again=again)

    def _judge(self, entry: Entry, arguments: bytes, request: WireRequest | None) -> None:
        """An imported operation sends what it is called with."""
        if request is not None and entry.operation.is_imported:
            operation = stored_operation(self.catalogue, entry.id).whole()
            self._judged.must_say(operation, json.loads(arguments), request)

    async def verdicts(self, case: Case) -> list[Verdict]:
        """The verdict on each transport's answer to a case."""
        found = await self.ask_all(self.catalogue.find(case.contract), case.arguments)
        return found.verdicts(case, self.catalogue)


async def _answered(call: Callable[[], Awaitable[CallAnswer]]) -> CallAnswer:
    """The answer, or one that no expectation admits: the call hangs, or contradicts itself."""
    try:
        async with asyncio.timeout(HANGING_SECONDS):
            return await call()
    except TimeoutError:
        code, detail = "NO_ANSWER", f"no answer in {HANGING_SECONDS:g} seconds"
    except BrokenAnswer as broken:
        code, detail = "BROKEN_ANSWER", str(broken)
    return CallAnswer(False, 0, code, frozenset(), {"detail": detail})


@asynccontextmanager
async def open_faces(data: Path) -> AsyncIterator[Faces]:
    """A gateway on mocks, its backends watched, served in memory; every tool is granted."""
    settings = mocked_settings(data, GATEWAY_BOOTSTRAP_KEY=KEY)
    entries = open_project(settings).entries
    grants = {ADMINISTRATOR: frozenset(entry.id for entry in entries)}
    async with Gateway.open(settings, grants=grants) as gateway:
        watched = dict(watch(gateway))
        has_jobs = any(entry.operation.task == "required" for entry in entries)
        async with (
            in_memory(gateway, KEY) as http,
            over_inner_pipes(gateway) as piped,
            gateway.at_work() if has_jobs else nullcontext(),
        ):
            yield Faces(gateway, http, watched, piped)


def watch(gateway: Gateway) -> Iterator[tuple[str, WatchedWire]]:
    """Put a watch on the wire of each upstream of a running gateway, and judge what is sent."""
    judge = UpstreamJudge(project_under_test().schemas)
    for name, line in gateway.parts.pipeline.dispatcher._connections.items():
        assert isinstance(line.backend, MockBackend)
        judge.watch(line.backend, name)
        line.backend._wire = wire = WatchedWire(line.backend._wire)
        yield name, wire


class InnerPipes:
    """Two queues of lines, to the server and from it, as `gateway mcp` has file descriptors."""

    def __init__(self) -> None:
        self._sent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._written: asyncio.Queue[str] = asyncio.Queue()

    async def lines(self, max_bytes: int) -> AsyncIterator[bytes]:  # noqa: ARG002 - nothing is cut
        """See `Pipes`."""
        while (line := await self._sent.get()) is not None:
            yield line

    def output(self) -> "InnerPipes":
        """See `Pipes`."""
        return self

    async def write(self, text: str) -> None:
        """Keep what the server answers."""
        self._written.put_nowait(text)

    async def flush(self) -> None:
        """Do nothing: `write` has no buffer."""

    def close(self) -> None:
        """No more is sent."""
        self._sent.put_nowait(None)

    async def exchange(self, message: bytes, headers: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002 - pipes have none
        """The response to `message`. Notifications before it are left out."""
        self._sent.put_nowait(message)
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                while True:
                    response: dict[str, Any] = json.loads(await self._written.get())
                    if "method" not in response:
                        return response
        except TimeoutError:
            raise TransportFailed(f"no answer over stdio in {SILENT_SECONDS:g} seconds") from None


@asynccontextmanager
async def over_inner_pipes(gateway: Gateway) -> AsyncIterator[Exchange]:
    """`gateway` over stdio, for the administrator, until the block ends."""
    pipes = InnerPipes()

    async def serve() -> None:
        tools = gateway.local_tools(ADMINISTRATOR)
        async with local_server(tools, VERSION, max_message_bytes=_LARGEST) as server:
            await run_on_stdio(server.server, server.largest_bytes, server.shielded, pipes)

    serving = asyncio.create_task(serve())
    try:
        yield pipes.exchange
    finally:
        pipes.close()
        await serving


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
