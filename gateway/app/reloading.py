"""Opens a second gateway in the process, and lets the first one end its work."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from msgspec import Struct

from gateway.app.gateway import Gateway
from gateway.app.grace import grace_seconds
from gateway.app.memory import Settling
from gateway.catalogue import Catalogue
from gateway.catalogue.opening import imported_afresh
from gateway.errors import ConfigurationError, InternalError, OperatorError
from gateway.observability.defects import log_defect
from gateway.settings import Settings
from gateway.settings.sources import Secret
from gateway.threads import in_thread
from gateway.transports.http.asgi import App, Message, Receive, Scope, Send

# The result of a reload.


class ReloadVerdict(Struct, frozen=True, kw_only=True):
    """What a reload did."""

    began: float
    """The monotonic time of the machine, in seconds."""
    problem: str | None = None
    """Why the gateway continues with what it served before. None: it serves the new set."""
    tools: int = 0
    """The number of tools that it serves."""


# One set of contracts, policies and credentials that is served, and the switch to the next.


@asynccontextmanager
async def lifespan_of(app: App) -> AsyncIterator[None]:
    """Start `app`, and shut it down when the block ends. Raises what its start raises."""
    lifespan = _Lifespan(app)
    try:
        await lifespan.step("startup")
        try:
            yield
        finally:
            await lifespan.step("shutdown")
            await lifespan.running
    finally:
        # It still runs if this was cancelled, as when a server stops while it reloads.
        if lifespan.running.cancel():
            await asyncio.wait({lifespan.running})


class _Lifespan:
    def __init__(self, app: App) -> None:
        self._asked: asyncio.Queue[Message] = asyncio.Queue()
        self._answered: asyncio.Queue[Message] = asyncio.Queue()
        scope: dict[str, Any] = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self.running = asyncio.ensure_future(app(scope, self._asked.get, self._answered.put))

    async def step(self, name: str) -> None:
        """Ask the application to start or to shut down, and wait until it has, or has ended."""
        self._asked.put_nowait({"type": f"lifespan.{name}"})
        answer = asyncio.ensure_future(self._answered.get())
        try:
            await asyncio.wait({answer, self.running}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_missing = answer.cancel()
        if is_missing:
            await self.running
        elif answer.result()["type"] != f"lifespan.{name}.complete":
            raise InternalError


class Generation:
    """An open gateway with its HTTP application, until its last request has ended."""

    def __init__(self, gateway: Gateway, app: App, stack: AsyncExitStack) -> None:
        self.gateway = gateway
        self._app = app
        self._stack = stack
        self._requests: set[asyncio.Task[object]] = set()

    @classmethod
    async def open(cls, gateway: Gateway, url: str) -> "Generation":
        """Open `gateway`, its application and its background work.

        Raises an `OperatorError`. Then nothing stays open.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(gateway)
            # With many tools, to make their routes would stop the calls of the one before.
            app = await in_thread(gateway.http_app)
            await stack.enter_async_context(gateway.at_work(url))
            await stack.enter_async_context(lifespan_of(app))
            return cls(gateway, app, stack.pop_all())
        raise AssertionError  # for mypy: an exit stack could suppress errors, and this one does not

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is served in a task")
        self._requests.add(task)
        try:
            await self._app(scope, receive, send)
        finally:
            self._requests.discard(task)

    async def drain(self, seconds: float) -> int:
        """End the streams, and wait for the requests that are under way.

        Those that still run after `seconds` are answered with `STOPPING`. Returns their number.
        """
        self.gateway.stop_streams(is_replaced=True)
        await self._ended(seconds)
        late = self.cut()
        await self._ended(seconds)
        return late

    def cut(self) -> int:
        """Answer the requests that still run with `STOPPING`. Returns their number."""
        for each in self._requests:
            each.cancel()
        return len(self._requests)

    async def _ended(self, seconds: float) -> None:
        if self._requests:
            await asyncio.wait(self._requests, timeout=seconds)

    async def close(self) -> None:
        """Close the gateway. Its foundation stays open."""
        await self._stack.aclose()


class Switch:
    """The ASGI application of the server. Each request is served by one generation to its end."""

    def __init__(self, first: Generation) -> None:
        self.current = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with the current generation. The lifespan is that of each generation."""
        if scope["type"] == "http":
            await self.current.serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
        else:
            await send({"type": "websocket.close", "code": 1008})


# Reloads contracts, policies, settings and credentials. What cannot be opened changes nothing.

FIXED: Final = (
    "host",
    "port",
    "data",
    "database_url",
    "redis_url",
    "schemas",
    "package",
    "handler_packages",
    "trusted_proxies",
    "max_connections",
    "max_connections_per_address",
    "max_connects_per_second",
    "max_bodies_bytes",
    "max_unauthenticated_body_bytes",
    "max_webhook_bytes",
    "unauthenticated_requests_per_second",
    "all_unauthenticated_requests_per_second",
    "audit_flush_seconds",
    "audit_batch_records",
    "audit_queue_records",
    "log_calls",
    "trace_endpoint",
    "trace_sample",
    "sentry_dsn",
    "slow_callback_seconds",
)
"""The listening socket, the database, the audit log, the limits of connections, spans, reports of
defects and the event loop use them as long as the process runs. A generation without a Redis would
not announce its writes to one that has it."""


def refuse_fixed(before: Settings, after: Settings) -> None:
    """Raise `ConfigurationError` if `after` changes a setting that only a restart can change."""
    changed = [key for key in FIXED if _value(before, key) != _value(after, key)]
    if changed:
        raise ConfigurationError(
            f"a reload cannot change {', '.join(changed)}; restart the gateway, or set the old"
            " values again"
        )


def _value(settings: Settings, key: str) -> object:
    found = getattr(settings, key)
    return found.reveal() if isinstance(found, Secret) else found


_log: Final = logging.getLogger(__name__)
_DEFECT: Final = "a defect of the gateway, see its log; report it"


class ReloadSources(Struct, frozen=True):
    """Reads again what the gateway serves. Both raise an `OperatorError`."""

    settings: Callable[[], Settings]
    catalogue: Callable[[Settings], Catalogue]
    """Reads the generated package, and prepares the process for its secrets."""


class Reloader:
    """Opens a new generation when it is asked to, and ends the one before."""

    def __init__(
        self,
        switch: Switch,
        settings: Settings,
        sources: ReloadSources | None,
        open_next: Callable[[Settings, Catalogue], Gateway],
        url: str,
    ) -> None:
        self._switch = switch
        self._settings = settings
        self._sources = sources
        self._open_next = open_next
        self._url = url
        self._wanted = asyncio.Event()
        self._settling = Settling(lambda: switch.current)
        self._retiring: dict[Generation, asyncio.Task[None]] = {}
        self.on_verdict: Callable[[ReloadVerdict], None] = lambda _: None

    def request(self) -> None:
        """Reload soon: what changes until it begins is part of it."""
        self._wanted.set()

    async def run(self) -> None:
        """Reload at each request, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self.on_verdict(await self.reload())

    async def reload(self) -> ReloadVerdict:
        """Serve what contracts, policies and settings say now, or keep what is served."""
        began = time.monotonic()
        try:
            await self._replace()
        except OperatorError as error:
            _log.error("not reloaded, and the old contracts and settings stay: %s", error.detail)
            return self._verdict(began, error.detail)
        except Exception as error:  # noqa: BLE001 - code of the project runs; the old set goes on
            log_defect(_log, error, "not reloaded, and the old contracts and settings stay")
            return self._verdict(began, _DEFECT)
        verdict = self._verdict(began, None)
        seconds = time.monotonic() - began
        _log.info("reloaded: %d tools are served, after %.1f s", verdict.tools, seconds)
        return verdict

    def grace_seconds(self) -> float:
        """How long the calls of what is served now may take to end.

        Raises `ConfigurationError` if a call may need longer than the settings say.
        """
        return grace_seconds(self._settings, self._switch.current.gateway.parts.catalogue)

    def announce_stop(self) -> float:
        """See `Gateway.announce_stop`."""
        return self._switch.current.gateway.announce_stop()

    def stop_streams(self) -> None:
        """See `Gateway.stop_streams`."""
        self._switch.current.gateway.stop_streams()

    def cut(self) -> None:
        """Give the jobs of all generations no more time."""
        for each in (self._switch.current, *self._retiring):
            each.gateway.cut_work()

    async def close(self) -> None:
        """End all generations, when the server has ended."""
        for each in self._retiring:
            each.cut()
        await asyncio.gather(*self._retiring.values())
        await self._settling.close()
        await self._switch.current.close()

    async def _replace(self) -> None:
        if self._sources is None:
            raise ConfigurationError("this program serves what it has; restart it")
        settings = await asyncio.to_thread(self._sources.settings)
        refuse_fixed(self._settings, settings)
        with imported_afresh((settings.package, *settings.handler_packages)):
            catalogue = await asyncio.to_thread(self._sources.catalogue, settings)
            grace_seconds(settings, catalogue)
            gateway = self._open_next(settings, catalogue)
            generation = await Generation.open(gateway, self._url)
        old, self._switch.current = self._switch.current, generation
        seconds = grace_seconds(self._settings, old.gateway.parts.catalogue)
        self._settings = settings
        self._retiring[old] = asyncio.create_task(self._retire(old, seconds), name="retire")

    async def _retire(self, old: Generation, seconds: float) -> None:
        catalogue = old.gateway.parts.catalogue
        late = await old.drain(seconds)
        if late:
            _log.warning("%d requests outlived the old contracts and were cut", late)
        try:
            await old.close()
        except Exception as error:  # noqa: BLE001 - what is served now goes on, and is closed later
            log_defect(_log, error, "the old contracts and settings could not be closed")
        finally:
            del self._retiring[old]
        parts = self._switch.current.gateway.parts
        # It has given back jobs, and may have added some, that only it knew of.
        parts.work.wake()
        parts.store.forget_statements()
        # The tasks that have just ended hold parts of it, until the loop has let go of them.
        self._settling.plan(old, old.gateway, catalogue)

    def _verdict(self, began: float, problem: str | None) -> ReloadVerdict:
        served = self._switch.current.gateway.parts.catalogue.entries
        return ReloadVerdict(began=began, problem=problem, tools=len(served))
