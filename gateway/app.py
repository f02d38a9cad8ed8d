"""The gateway as an object, for programs that embed it, and as a server."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from enum import StrEnum
from importlib.metadata import version
from types import TracebackType
from typing import Any, Final, Literal
from uuid import uuid4

import uvloop
from litestar.handlers import HTTPRouteHandler

from gateway.assembly import Parts, assemble
from gateway.assembly.announcement import announce_contract
from gateway.assembly.background import Task, keep, kept_going
from gateway.auth.keys import ADMINISTRATOR, NewKey
from gateway.auth.local import LocalIdentification
from gateway.auth.principal import Credentials, Identification
from gateway.calls.call import Call
from gateway.calls.pipeline import Pipeline
from gateway.catalogue import Entry, open_routes
from gateway.clock import Clock, SystemClock
from gateway.contract import jsontext
from gateway.errors import MalformedRequest, NotRunning, StoreError
from gateway.settings import Settings
from gateway.transports.asgi import App
from gateway.transports.edge import EdgeRules
from gateway.transports.following import Followers
from gateway.transports.hosts import HostRules
from gateway.transports.listen import bind, serve_http, url_of
from gateway.transports.mcp.tools import Tools
from gateway.transports.operations import Readiness, UpstreamState
from gateway.transports.operator_endpoints import endpoint_routes
from gateway.transports.operator_events import event_routes
from gateway.transports.operator_requests import OperatorDesk
from gateway.transports.operator_webhooks import WorkParts, work_routes
from gateway.transports.site import SiteParts, build_operator_site, build_site

_log: Final = logging.getLogger(__name__)
VERSION: Final = version("contract-gateway")
USUAL_THRESHOLDS: Final = (700, 10, 10)
"""Of Python's garbage collector; the command line has raised them for the start."""

Hook = Callable[["Gateway"], Coroutine[Any, Any, None]]


Grants = Mapping[str, frozenset[str]]
"""Agent to the operation ids it may call."""


class State(StrEnum):
    """Where a gateway is in its life."""

    IDLE = "idle"
    RUNNING = "running"
    ERROR = "error"
    STOPPED = "stopped"


class Gateway:
    """The gateway as an object: open it, call tools, close it.

        async with Gateway.open(read_settings(os.environ, None, {})) as gateway:
            greeting = await gateway.call("example.greet", {"name": "Ada"})

    `on_start` and `on_stop` run in order, after everything is open and before anything is closed.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock,
        grants: Grants | None = None,
        on_start: Sequence[Hook] = (),
        on_stop: Sequence[Hook] = (),
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._grants = grants
        self._on_start = on_start
        self._on_stop = on_stop
        self._stack = AsyncExitStack()
        self._parts: Parts | None = None
        self.state = State.IDLE

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        clock: Clock | None = None,
        grants: Grants | None = None,
        on_start: Sequence[Hook] = (),
        on_stop: Sequence[Hook] = (),
    ) -> "Gateway":
        """A gateway to be entered with `async with`.

        `grants` hold instead of the policies'; only a program that embeds the gateway can say so.
        """
        return cls(
            settings,
            clock=clock or SystemClock(),
            grants=grants,
            on_start=on_start,
            on_stop=on_stop,
        )

    async def __aenter__(self) -> "Gateway":
        """Start. Raises an `OperatorError` when a setting, a contract or the store is unfit."""
        try:
            async with AsyncExitStack() as stack:
                self._parts = await assemble(self._settings, self._clock, stack, self._grants)
                self.state = State.RUNNING
                for hook in self._on_start:
                    await hook(self)
                self._stack = stack.pop_all()
        except BaseException:
            self._end(State.ERROR)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async with self._stack:
            # Each of them runs, and everything is closed, also when one of them fails.
            self._stack.callback(self._end, State.STOPPED)
            for hook in reversed(self._on_stop):
                self._stack.push_async_callback(hook, self)

    def _end(self, state: State) -> None:
        self.state = state
        self._parts = None

    @property
    def parts(self) -> Parts:
        """What it is made of. Raises `NotRunning`."""
        if self._parts is None:
            raise NotRunning(f"The gateway is {self.state}; use it inside `async with`.")
        return self._parts

    def tools(self, agent: str = ADMINISTRATOR) -> tuple[Entry, ...]:
        """The operations that `agent` may call, in the order of their ids."""
        parts = self.parts
        return tuple(e for e in parts.catalogue.entries if parts.policy.allows(agent, e.id))

    def may_call(self, agent: str, operation_id: str) -> bool:
        """Whether `agent` may call this operation: what `gateway access can` says."""
        return self.parts.policy.allows(agent, operation_id)

    async def call(
        self, operation_id: str, arguments: Mapping[str, Any], *, agent: str = ADMINISTRATOR
    ) -> dict[str, Any]:
        """The result of one call, by the same pipeline as every other door's.

        Raises a `GatewayError`: `UnknownOperation`, `InvalidArguments`, `ToolFailed`, ….
        """
        try:
            text = jsontext.encode(arguments)
        except (TypeError, ValueError, OverflowError) as error:
            raise MalformedRequest("The arguments are no JSON object.") from error
        call = Call(
            operation_id=operation_id,
            credentials=Credentials(),
            arguments=text,
            transport="local",
            request_id=uuid4().hex,
        )
        return (await self.local_pipeline(agent).invoke(call)).values

    def local_pipeline(self, agent: str) -> Pipeline:
        """The pipeline for callers in this process, who act as `agent`."""
        return replace(self.parts.pipeline, identification=LocalIdentification(agent))

    def local_tools(self, agent: str) -> Tools:
        """The MCP face for callers in this process, who act as `agent`."""
        pipeline = self.local_pipeline(agent)
        parts = self.parts
        return Tools(pipeline.invoke, pipeline.identification, parts.catalogue, parts.policy)

    def site(self) -> App:
        """The HTTP face, an ASGI application. Raises `ContractError` for damaged routes."""
        parts, settings = self.parts, self._settings
        return build_site(
            SiteParts(
                invoke=parts.pipeline.invoke,
                identification=parts.identification,
                catalogue=parts.catalogue,
                policy=parts.policy,
                routes=open_routes(settings.package),
                check_readiness=self.readiness,
                rules=EdgeRules(
                    hosts=HostRules(settings.allowed_hosts, settings.allowed_origins),
                    max_body_bytes=settings.max_body_bytes,
                    body_deadline_seconds=settings.body_deadline_seconds,
                ),
                version=VERSION,
                followers=Followers(
                    parts.work.feed, parts.identification, parts.policy, parts.audit
                ),
                webhooks=parts.webhook_door,
                operator=self._operator_routes(parts.identification),
            )
        )

    def operator_site(self, agent: str) -> App:
        """The operator's routes alone, for callers in this process, who act as `agent`."""
        return build_operator_site(self._operator_routes(LocalIdentification(agent)))

    def _operator_routes(self, identification: Identification) -> list[HTTPRouteHandler]:
        parts = self.parts
        desk = OperatorDesk(identification, parts.policy, parts.audit)
        work = WorkParts(
            parts.store.inbox, parts.store.queue, parts.work.quarantine, parts.work.wake
        )
        return [
            *work_routes(desk, work),
            *endpoint_routes(desk, parts.work.book, parts.store.endpoints),
            *event_routes(desk, parts.store.events),
        ]

    @asynccontextmanager
    async def at_work(self, url: str | None = None) -> AsyncIterator[None]:
        """Do the work that webhooks and events make, for the length of a block.

        Mocks send their webhooks to the gateway at `url`, if there is one, and if time passes for
        them: where it stands still, nothing happens of itself.
        """
        parts = self.parts
        work = parts.work
        tasks: dict[str, Task] = {
            "sequencer": work.sequencer.run,
            "feed": work.feed.run,
            "retention": work.forgetting.work,
        }
        senders = parts.mock_senders(url) if url and self._settings.mock_speed else ()
        for number, sender in enumerate(senders):
            tasks[f"mock sender {number}"] = sender.run
        await announce_contract(parts.store.events, parts.catalogue.openapi)
        async with kept_going(tasks), self._worker_at_work():
            yield

    @asynccontextmanager
    async def _worker_at_work(self) -> AsyncIterator[None]:
        """The worker, which ends by itself: what it has begun has a grace."""
        worker = self.parts.work.worker
        if not self._settings.workers:
            yield
            return
        running = asyncio.create_task(keep("worker", worker.work), name="worker")
        try:
            yield
        finally:
            worker.stop()
            await running

    def stop_streams(self) -> None:
        """End what would outlast the grace of a stop: streams, and claims of new work."""
        self.parts.work.feed.close()
        self.parts.work.worker.stop()

    async def readiness(self) -> Readiness:
        """Whether calls can be served and recorded. Anybody may ask, so no detail is told."""
        parts = self.parts
        problems = ["Audit records cannot be stored."] if parts.audit.problem else []
        try:
            await parts.store.audit.latest(1)
        except StoreError as error:
            _log.error("the store cannot be read: %s", error.detail)
            problems.append("The store cannot be read.")
        store: Literal["ok", "failed"] = "failed" if problems else "ok"
        upstreams = {
            name: UpstreamState(
                backend=line.backend_name,
                problem=await self._workspace_problem(name) or line.backend.problem,
            )
            for name, line in parts.lines.items()
        }
        problems += [f"{name}: {u.problem}" for name, u in upstreams.items() if u.problem]
        return Readiness(store=store, upstreams=upstreams, problems=tuple(problems))

    async def _workspace_problem(self, upstream: str) -> str | None:
        workspace = self.parts.workspaces.get(upstream)
        try:
            if workspace is not None:
                await workspace.check()
        except StoreError as error:
            _log.error("the workspace cannot be used: %s", error.detail)
            return "The workspace database cannot be used."
        return None


OnReady = Callable[[str, NewKey | None], None]
"""Told the address, and the administrator's key when this start made one."""


def serve(settings: Settings, on_ready: OnReady, grants: Grants | None = None) -> None:
    """Serve over HTTP until SIGINT or SIGTERM. Raises an `OperatorError` when it cannot start."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, on_ready, grants))


async def _serve(settings: Settings, on_ready: OnReady, grants: Grants | None) -> None:
    # The port before the store: a second start must not touch what the first one has open.
    with bind(settings.host, settings.port) as listener:
        async with Gateway.open(settings, grants=grants) as gateway:
            new_key = gateway.parts.new_key
            site = gateway.site()
            # What the start has made lives as long as the process: a full collection that looks
            # through it all again stops every call for 50 ms.
            gc.collect()
            gc.freeze()
            gc.set_threshold(*USUAL_THRESHOLDS)
            url = url_of(listener)
            async with gateway.at_work(url):
                await serve_http(
                    site, listener, lambda: on_ready(url, new_key), gateway.stop_streams
                )
