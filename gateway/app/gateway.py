"""The gateway as an object that can be opened, called and closed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from msgspec import structs

from gateway.app.background import Task, run_to_end, running
from gateway.app.calling import local_call
from gateway.app.composition import Components, OpenOptions, assemble
from gateway.app.http_app import followers_of, http_app_of, offered_of, operator_routes
from gateway.app.parts.foundation import Foundation
from gateway.app.readiness import ReadinessProbe, readiness_of
from gateway.auth.keys import ADMINISTRATOR
from gateway.auth.principal import LOCAL_SUBJECT, LocalIdentification, Principal
from gateway.calls.guard import SharedBreakers, UpstreamGuard
from gateway.calls.hooks import ErrorHook, ExecutionHook
from gateway.calls.idempotency import read_key
from gateway.calls.pipeline import Pipeline
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue, Entry
from gateway.clock import Clock, SystemClock
from gateway.contract.event import CONTRACT_CHANGED
from gateway.errors import NotRunning
from gateway.job_policy import WorkPolicy
from gateway.jobs.worker import Worker
from gateway.settings import Secret, Settings
from gateway.store.protocols import BreakerBoard
from gateway.store.publishing import EventLog
from gateway.store.records import NewEvent
from gateway.store.sql.sqlite import SQLITE_PREFIXES, only_server
from gateway.transports.events import Followers
from gateway.transports.health import Readiness
from gateway.transports.http.asgi import App
from gateway.transports.http.call_headers import bounds_of
from gateway.transports.http_app import build_operator_app
from gateway.transports.mcp.tools import Tools

_SOURCE: Final = "/contract"
_SUBJECT: Final = "contract"


async def announce_contract(log: EventLog, digest: str) -> None:
    """Publish that the contract has changed, unless the last such event is about the same one.

    `digest` is the SHA-256 of the published OpenAPI document. It contains every tool, webhook and
    event. Raises `StoreError`.
    """
    last = await log.announced()
    position, previous = (0, None) if last is None else (last.position, str(last.data["contract"]))
    if previous == digest:
        return
    announced = (
        {"contract": digest} if previous is None else {"contract": digest, "previous": previous}
    )
    event = NewEvent(
        # Of processes that start at once, all name the same change, and the first one publishes it.
        id=str(uuid5(NAMESPACE_URL, f"{CONTRACT_CHANGED}/{position}/{previous}/{digest}")),
        type=CONTRACT_CHANGED,
        subject=_SUBJECT,
        source=_SOURCE,
        data=announced,
    )
    await log.append([event])


@asynccontextmanager
async def at_work(parts: Components, settings: Settings, url: str | None) -> AsyncIterator[None]:
    """Run the background work for webhooks and events until the block ends.

    Mocks send their webhooks to the gateway at `url`, if it is given and the clock of mocks does
    not stand still (`mock_speed` 0).
    """
    work = parts.work
    tasks: dict[str, Task] = {
        "sequencer": work.sequencer.run,
        "feed": work.feed.run,
        "retention": work.cleaner.work,
        "cut-off calls": work.cut_off_calls.work,
    }
    if work.lookout is not None:
        tasks["lookout"] = work.lookout.run
    senders = parts.mock_senders(url) if url and settings.mock_speed else ()
    for number, sender in enumerate(senders):
        tasks[f"mock sender {number}"] = sender.run
    # After this, the operator can remove replaced keys from the settings.
    await work.endpoint_registry.reseal()
    digest = await asyncio.to_thread(lambda: parts.catalogue.openapi_sha256)
    await announce_contract(parts.store.events, digest)
    async with running(tasks):
        if not settings.workers:
            yield
            return
        async with _working(work.worker):
            yield


@asynccontextmanager
async def following(parts: Components) -> AsyncIterator[None]:
    """Read the events that other processes publish, for followers in this process."""
    async with running({"feed": parts.work.feed.run}):
        yield


@asynccontextmanager
async def _working(worker: Worker) -> AsyncIterator[None]:
    """Run the worker. It is stopped and not cancelled, so that running jobs have a grace period."""
    task = asyncio.create_task(run_to_end("worker", worker.work), name="worker")
    try:
        yield
    finally:
        worker.stop()
        await task


async def share_breakers(
    settings: Settings, connections: Mapping[str, UpstreamConnection], foundation: Foundation
) -> None:
    """Do nothing without a Redis or without live upstreams. It connects in the background."""
    guards = [
        (_shared_name(connection, settings), connection.guard)
        for connection in connections.values()
        if isinstance(connection.guard, UpstreamGuard)
    ]
    if settings.redis_url is None or not guards or not settings.breaker_failures:
        return
    shared = await _shared(settings.redis_url, foundation)
    for name, guard in guards:
        guard.share(shared, name)


def _shared_name(connection: UpstreamConnection, settings: Settings) -> str:
    """A staging system and the real one must not be taken for each other."""
    upstream = connection.upstream
    base_url = settings.for_upstream(upstream).base_url or ""
    return f"{upstream.name}:{sha256(base_url.encode()).hexdigest()[:16]}"


async def _shared(url: Secret, foundation: Foundation) -> SharedBreakers:
    """The one of the process: generations share guards, and a refused reload closes nothing."""
    shared = foundation.shared_breakers.get(url.reveal())
    if shared is None:
        shared = SharedBreakers(_board(url, foundation.stack))
        foundation.shared_breakers[url.reveal()] = shared
        await foundation.stack.enter_async_context(running({"breakers": shared.work}))
    return shared


def _board(url: Secret, stack: AsyncExitStack) -> BreakerBoard:
    from gateway.store.redis import RedisBreakers  # noqa: PLC0415 - needs an optional package

    board = RedisBreakers(url.reveal())
    stack.push_async_callback(board.close)
    return board


Hook = Callable[["Gateway"], Coroutine[Any, Any, None]]

Grants = Mapping[str, frozenset[str]]
"""Agent to the operation ids it may call."""


class Lifecycle(StrEnum):
    """The state of a gateway object."""

    IDLE = "idle"
    RUNNING = "running"
    ERROR = "error"
    STOPPED = "stopped"


class Gateway:
    """The gateway as an object: open it, call tools, close it.

        async with Gateway.open(read_settings(os.environ, None, {})) as gateway:
            greeting = await gateway.call("example.greet", {"name": "Ada"})

    The hooks `on_start` run in order after everything is open. The hooks `on_stop` run in order
    before anything is closed.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock,
        grants: Grants | None = None,
        on_start: Sequence[Hook] = (),
        on_stop: Sequence[Hook] = (),
        is_server: bool = False,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._options = OpenOptions(grants=grants)
        self._on_start = on_start
        self._on_stop = on_stop
        self._is_server = is_server
        self._stack = AsyncExitStack()
        self._parts: Components | None = None
        self._probe: ReadinessProbe | None = None
        self.state = Lifecycle.IDLE

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        clock: Clock | None = None,
        grants: Grants | None = None,
        on_start: Sequence[Hook] = (),
        on_stop: Sequence[Hook] = (),
        is_server: bool = False,
    ) -> "Gateway":
        """A gateway for `async with`.

        `grants` replace the grants of the policies. There is no setting for them. If `is_server` is
        true, the gateway locks its SQLite database from the start, and not only during `at_work`,
        so that no other process works on it.
        """
        return cls(
            settings,
            clock=clock or SystemClock(),
            grants=grants,
            on_start=on_start,
            on_stop=on_stop,
            is_server=is_server,
        )

    def on_tool_execution(self, hook: ExecutionHook) -> None:
        """Run `hook` before each admitted call, over every transport.

        It only observes, as `CallHooks` describes. Raises `NotRunning` after `async with`.
        """
        hooks = self._options.hooks
        self._set(hooks=replace(hooks, on_execution=(*hooks.on_execution, hook)))

    def on_tool_error(self, hook: ErrorHook) -> None:
        """Run `hook` when an admitted call fails. Like `on_tool_execution` in all else."""
        hooks = self._options.hooks
        self._set(hooks=replace(hooks, on_error=(*hooks.on_error, hook)))

    def set_work_policy(self, policy: WorkPolicy) -> None:
        """Process jobs by `policy`. Raises `NotRunning` after `async with`."""
        self._set(work=policy)

    def set_catalogue(self, catalogue: Catalogue) -> None:
        """Serve `catalogue`, which the program opened by the same settings.

        So a project with many tools is opened once. Raises `NotRunning` after `async with`.
        """
        self._set(catalogue=catalogue)

    def set_foundation(self, foundation: Foundation) -> None:
        """Use the parts of `foundation`, which outlives this gateway. Raises `NotRunning` after
        `async with`.
        """
        self._set(foundation=foundation)

    def _set(self, **options: Any) -> None:
        if self.state is not Lifecycle.IDLE:
            raise NotRunning(
                f"The gateway is {self.state}; add hooks and policies before `async with`."
            )
        self._options = structs.replace(self._options, **options)

    async def __aenter__(self) -> "Gateway":
        """Start. Raises an `OperatorError` when a setting, a contract or the store is invalid."""
        try:
            async with AsyncExitStack() as stack:
                foundation = self._options.foundation or Foundation(stack)
                is_first = self._is_server and not foundation.is_open
                if is_first:
                    foundation.stack.enter_context(self._lock())
                options = structs.replace(self._options, foundation=foundation)
                self._parts = await assemble(self._settings, self._clock, stack, options)
                await share_breakers(self._settings, self._parts.connections, foundation)
                if is_first and self._settings.database.startswith(SQLITE_PREFIXES):
                    # The lock excludes other servers, so nobody runs these calls any more.
                    await self._parts.work.cut_off_calls.settle(is_only_process=True)
                self.state = Lifecycle.RUNNING
                for hook in self._on_start:
                    await hook(self)
                self._stack = stack.pop_all()
        except BaseException:
            self._end(Lifecycle.ERROR)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._stack:
            # All hooks run and everything is closed, even if a hook fails.
            self._stack.callback(self._end, Lifecycle.STOPPED)
            for hook in reversed(self._on_stop):
                self._stack.push_async_callback(hook, self)

    def _end(self, state: Lifecycle) -> None:
        self.state = state
        self._parts = None
        # What it was opened with, such as its catalogue, must not outlive it.
        self._options = OpenOptions()

    @property
    def parts(self) -> Components:
        """The parts of the gateway. Raises `NotRunning`."""
        if self._parts is None:
            raise NotRunning(f"The gateway is {self.state}; use it inside `async with`.")
        return self._parts

    def tools(self, agent: str = ADMINISTRATOR) -> tuple[Entry, ...]:
        """The operations that `agent` may call, in the order of their ids."""
        known = Principal(subject=LOCAL_SUBJECT, agent=agent)
        return tuple(self.parts.policy.visible(known, self.parts.catalogue))

    async def call(
        self,
        operation_id: str,
        arguments: Mapping[str, Any],
        *,
        agent: str = ADMINISTRATOR,
        timeout_seconds: float | None = None,
        max_attempts: int | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """The result of one call, through the pipeline of all transports.

        `timeout_seconds` and `max_attempts` can lower what the tool's contract allows, never raise
        it. With an `idempotency_key`, a call that writes can be repeated for a day, and has its
        effect once.
        Raises a `GatewayError`: `UnknownOperation`, `InvalidArguments`, `ToolFailed`, ….
        """
        key = None if idempotency_key is None else read_key(idempotency_key)
        bounds = bounds_of(timeout_seconds, max_attempts, key)
        call = local_call(operation_id, arguments, bounds)
        return (await self.local_pipeline(agent).invoke(call)).whole_values

    def local_pipeline(self, agent: str) -> Pipeline:
        """The pipeline for callers in this process, which act as `agent`."""
        return replace(self.parts.pipeline, identification=LocalIdentification(agent))

    def local_tools(self, agent: str) -> Tools:
        """The MCP tools for callers in this process, which act as `agent`."""
        pipeline, parts = self.local_pipeline(agent), self.parts
        invoke = parts.work.long.of(pipeline, has_worker=False).invoke
        own = parts.catalogue, parts.policy, parts.views, parts.work.long.owned
        offered = offered_of(parts, pipeline.identification)
        return Tools(invoke, pipeline.identification, *own).offering(offered)

    @asynccontextmanager
    async def local_followers(self, agent: str) -> AsyncIterator[Followers]:
        """Admits followers in this process, which act as `agent`, until the block ends."""
        parts = self.parts
        async with following(parts):
            yield followers_of(parts, LocalIdentification(agent))

    def http_app(self) -> App:
        """The HTTP interface, an ASGI application."""
        self._probe = ReadinessProbe(self.parts, self._clock)
        return http_app_of(self.parts, self._settings, self._probe)

    def operator_app(self) -> App:
        """The operator's routes alone, for callers in this process, who act as administrators."""
        return build_operator_app(operator_routes(self.parts, LocalIdentification(ADMINISTRATOR)))

    async def readiness(self) -> Readiness:
        """Whether calls can be served and recorded, and by which backends."""
        return await readiness_of(self.parts)

    @asynccontextmanager
    async def at_work(self, url: str | None = None) -> AsyncIterator[None]:
        """Run the background work for webhooks and events until the block ends.

        Mocks send their webhooks to the gateway at `url`, if there is one. Raises `StoreError` when
        another process works on the same SQLite file.
        """
        lock = nullcontext() if self._is_server else self._lock()
        with lock:
            async with at_work(self.parts, self._settings, url):
                yield

    def _lock(self) -> AbstractContextManager[None]:
        # The workspace is not locked: gateways with PostgreSQL as database may share its file.
        return only_server(self._settings.database)

    def announce_stop(self) -> float:
        """Make the readiness probe fail. Returns how many seconds to serve until it is noticed."""
        is_watched = self._probe is not None and self._probe.announce_stop()
        return self._settings.stop_notice_seconds if is_watched else 0.0

    def stop_streams(self, *, is_replaced: bool = False) -> None:
        """End streams and stop claiming jobs: both last too long. `is_replaced`: see `Feed`."""
        self.parts.work.stop(is_replaced=is_replaced)

    def cut_work(self) -> None:
        """Give running jobs no more time. Does nothing if the gateway is closed."""
        if self._parts is not None:
            self._parts.work.worker.cut()
