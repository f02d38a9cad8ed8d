"""A whole gateway in the simulation, and what is outside of it."""

import asyncio
import logging
import os
import random
import shutil
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from anyio._backends._asyncio import CancelScope
from msgspec.structs import replace

from gateway.app import http_app, reloading
from gateway.app.gateway import Gateway
from gateway.app.parts.foundation import Foundation
from gateway.app.reloading import Generation, Reloader, ReloadSources, Switch
from gateway.backends.http.outbound import Outbound
from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments, open_catalogue
from gateway.catalogue.index import EventContracts
from gateway.contract.operation import Effect, PythonBinding, TaskMode
from gateway.contract.policies.limits import CallWindow, ToolLimits
from gateway.job_policy import WORK_POLICY
from gateway.observability.defects import DEFECT
from gateway.settings import Settings, read_settings
from gateway.store import reserving
from gateway.store.sql import sqlite as sqlite_file
from gateway.store.sql.database import Database
from gateway.transports import http_app as transports
from gateway.transports.http.connected import Client, name_client
from tests.made_once import make_alike
from tests.simulation.loop import LoopClock, SimulatedLoop
from tests.simulation.outside import Effects, Endpoint, Upstream
from tests.simulation.store import FaultyStore, InlineReader, InlineWriter

KEY = "administrator-of-the-simulation-0123456789abcdef"
PROVIDER_SECRET = "whsec_c2ltdWxhdGlvbi0wMTIzNDU2Nzg5YWJjZGVm"
GREET = "example.greet"
"""A write under a lock, with limits."""
CALCULATE = "example.calculate"
"""A read whose result is kept."""
NOTIFY = "ntfy.send_push_notification"
"""A write that becomes a job at once, one at a time."""
WINDOW_CALLS = 1000
"""So many that calls are counted ahead and in groups."""
_WINDOW = ToolLimits(calls=(CallWindow(max=WINDOW_CALLS, seconds=3600),))
_POLICY = replace(WORK_POLICY, sweep_seconds=15.0)
_SERVED = frozenset({"example", "ntfy"})
_known = cache(open_catalogue)


class Answer(msgspec.Struct):
    """What a caller got: status 0 if it had left."""

    status: int = 0
    headers: dict[str, str] = {}
    body: Any = None

    @property
    def code(self) -> str:
        return str(self.body.get("code", "")) if isinstance(self.body, dict) else ""


class _Log(logging.Handler):
    """Notes the defects that the gateway logs: what no caller sees, and what is no outage."""

    def __init__(self, violations: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._violations = violations
        self.is_stricter = False
        """Whether a process ended before it had given back what it had counted ahead."""

    def emit(self, record: logging.LogRecord) -> None:
        self.is_stricter |= record.name == reserving.__name__
        silent = getattr(record, DEFECT, None)
        if silent is not None:
            where = record.getMessage().strip().splitlines()
            self._violations.append(f"{where[0]}: {silent.error!r} {where[-2:]}")


class Process:
    """One process of the gateway, as its clients and its operator see it."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.settings = world.settings
        self.upstream = world.upstream
        self.died: asyncio.Future[None] = world.loop.create_future()
        self.is_listening = False
        self.requests: set[asyncio.Task[Any]] = set()
        self.served: list[weakref.ref[Catalogue]] = []
        """What it has served, oldest first."""

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Serve, as `gateway serve` does, until the block ends."""
        async with AsyncExitStack() as stack:
            foundation = Foundation(stack)

            def open_next(settings: Settings, catalogue: Catalogue) -> Gateway:
                gateway = Gateway.open(settings, clock=self._world.clock, is_server=True)
                gateway.set_foundation(foundation)
                gateway.set_catalogue(catalogue)
                gateway.set_work_policy(_POLICY)
                return gateway

            def read_catalogue(_: object) -> Catalogue:
                return catalogue_of(self.settings, self.upstream)

            first = await Generation.open(open_next(self.settings, read_catalogue(None)), "")
            self.switch = Switch(first)
            del first
            sources = ReloadSources(lambda: self.settings, read_catalogue)
            self.reloader = Reloader(self.switch, self.settings, sources, open_next, "")
            stack.push_async_callback(self.reloader.close)
            self.is_listening = True
            try:
                yield
            finally:
                await self._stop()

    async def reload(self) -> None:
        """Serve the same contracts as new objects."""
        self.served.append(weakref.ref(self.parts.catalogue))
        await self.reloader.reload()

    def die(self) -> None:
        """As after `kill -9`: clients get nothing more, and nothing reaches the disk any more."""
        self.is_listening = False
        self.upstream.is_dead = True
        self.died.set_result(None)

    @property
    def parts(self) -> Any:
        """Those of the current generation."""
        return self.switch.current.gateway.parts

    async def _stop(self) -> None:
        """As the server stops: streams end, requests have their grace, and then are cut."""
        self.is_listening = False
        self.reloader.stop_streams()
        for seconds in (self.reloader.grace_seconds(), 1.0):
            if self.requests:
                await asyncio.wait(self.requests, timeout=seconds)
            for each in self.requests:
                each.cancel()


class World:
    """The gateway's process, and what is outside of it."""

    def __init__(self, seed: int, folder: Path, template: Path | None) -> None:
        """`template`: a database to begin with. None: there is none yet."""
        self.random = Random(seed)  # noqa: S311 - chances, not secrets
        self.loop = SimulatedLoop(self.random)
        self.clock = LoopClock(self.loop)
        self.violations: list[str] = []
        self.effects = Effects()
        self.upstream = Upstream(self.random, self.violations, self.effects)
        self.endpoint = Endpoint(self.random, self.violations)
        self.store = FaultyStore(self.random)
        self.log = _Log(self.violations)
        self.database = folder / "gateway.db"
        if template is not None:
            shutil.copyfile(template, self.database)
        self.settings = _settings(folder, self.database)
        self.current = Process(self)
        self._living: list[asyncio.Task[None]] = []

    def set_calm(self, is_calm: bool) -> None:
        """Whether from now on nothing fails and nothing is slow."""
        self.store.is_calm = self.upstream.is_calm = self.endpoint.is_calm = is_calm

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Without threads, files that are read again, and chance that does not follow the seed."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite_file, "WritingConnection", InlineWriter)
            patch.setattr(sqlite_file, "ReadingConnection", InlineReader)
            make_alike(patch)
            # What "kill -9" leaves is in the files: only the system's own end would lose more.
            quick = tuple(each.replace("FULL", "OFF") for each in sqlite_file._PRAGMAS)
            patch.setattr(sqlite_file, "_PRAGMAS", quick)
            # Nobody asks for these routes: to make them is a tenth of a run.
            patch.setattr(http_app, "operator_routes", lambda *_: [])
            for name in ("card_routes", "page_routes", "operations_routes"):
                patch.setattr(transports, name, lambda *_: [])
            patch.setattr(reloading, "imported_afresh", lambda _: nullcontext())
            patch.setattr(reloading.Settling, "plan", lambda *_: None)
            run = self.store.run_to_end(Database._run_to_end)
            patch.setattr(Database, "_run_to_end", run)
            patch.setattr(Database, "write", self.store.write)
            # What is compiled in one run serves in all others.
            patch.setattr(Database, "forget_statements", lambda _: None)
            patch.setattr(Database, "_fetch", self.store.fetch(Database._fetch))
            for name in ("post", "refusal"):
                method = getattr(self.endpoint, name)
                patch.setattr(Outbound, name, staticmethod(method))
            patch.setattr(os, "urandom", self.random.randbytes)
            # That of `SystemRandom`, and so of `secrets`.
            patch.setattr(random, "_urandom", self.random.randbytes)
            patch.setattr(CancelScope, "__hash__", _numbered())
            log = logging.getLogger("gateway")
            patch.setattr(log, "handlers", [self.log])
            patch.setattr(log, "propagate", False)
            yield

    @asynccontextmanager
    async def process(self) -> AsyncIterator[None]:
        """A process that serves until the block ends, or until it is killed."""
        has_begun, ending = asyncio.Event(), asyncio.Event()
        process = self.current = Process(self)

        async def live() -> None:
            async with process.life():
                has_begun.set()
                await ending.wait()

        # A task of its own: a process that was killed ends what it has while the next one runs.
        living = asyncio.create_task(live(), name="process")
        beginning = asyncio.create_task(has_begun.wait())
        await asyncio.wait([living, beginning], return_when=asyncio.FIRST_COMPLETED)
        beginning.cancel()
        self._living.append(living)
        try:
            if not living.done():
                yield
        finally:
            ending.set()
            if not process.died.done():
                await living

    async def ended(self) -> None:
        """Wait for what processes that were killed still had."""
        await asyncio.gather(*self._living)

    def kill(self) -> None:
        """Kill the process. What was durable is what the next one finds."""
        self.current.die()
        self.store.dead.add(self.database)
        found = self.database.parent / "after" / self.database.name
        found.parent.mkdir()
        for end in ("", "-wal"):
            if (path := Path(f"{self.database}{end}")).exists():
                shutil.copyfile(path, f"{found}{end}")
        self.database = found
        self.settings = _settings(self.settings.data, found)
        self.upstream = Upstream(self.random, self.violations, self.effects)

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        leave_after: float | None = None,
        key: str | None = KEY,
        **headers: str,
    ) -> Answer:
        """Send a request, and leave after some seconds if that is given."""
        process = self.current
        if not process.is_listening:
            await asyncio.sleep(0.1)
            return Answer()
        answer, client = Answer(), Client()
        content = _written(body)
        given = {"host": "gateway.test", **headers}
        if key is not None:
            given["authorization"] = f"Bearer {key}"
        if body is not None:
            given |= {"content-type": "application/json", "content-length": str(len(content))}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 4000),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        name_client(scope, client)
        serving = asyncio.create_task(
            process.switch(scope, _receiving(content, client), self._sending(answer)),
            name="request",
        )
        process.requests.add(serving)
        serving.add_done_callback(process.requests.discard)
        return await self._answered(process, serving, client, answer, leave_after)

    async def _answered(
        self,
        process: Process,
        serving: "asyncio.Task[None]",
        client: Client,
        answer: Answer,
        leave_after: float | None,
    ) -> Answer:
        waiting = [serving, process.died]
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait(waiting, timeout=leave_after, return_when=first)
        if not serving.done() and not process.died.done():
            client.leave()
            await asyncio.wait(waiting, return_when=first)
            return Answer()
        if process.died.done():
            return Answer()
        if not serving.cancelled() and (error := serving.exception()) is not None:
            self.violations.append(f"a request raised {error!r}")
        return answer

    def _sending(self, answer: Answer) -> Callable[[Any], Any]:
        """A client that sometimes reads slowly, so that what is sent waits."""
        parts: list[bytes] = []

        async def send(message: dict[str, Any]) -> None:
            if not self.store.is_calm and self.random.random() < 0.1:
                await asyncio.sleep(self.random.random())
            if message["type"] == "http.response.start":
                answer.status = int(message["status"])
                answer.headers = {n.decode(): value.decode() for n, value in message["headers"]}
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                answer.body = _read(b"".join(parts), answer.headers.get("content-type", ""))

        return send


def _numbered() -> Callable[[Any], int]:
    """A hash that numbers objects, so that sets of them have the same order in each run."""
    known: dict[int, tuple[int, Any]] = {}

    def hash_(scope: Any) -> int:
        # Kept with its number, so that no other object gets its address.
        return known.setdefault(id(scope), (len(known), scope))[0]

    return hash_


def _receiving(content: bytes, client: Client) -> Callable[[], Any]:
    sent = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> dict[str, Any]:
        if (message := next(sent, None)) is not None:
            return message
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not client.has_left:
            await gone
        return {"type": "http.disconnect"}

    return receive


def _read(text: bytes, media_type: str) -> Any:
    """JSON, or the last message of a stream of them. None if there is none."""
    if media_type == "text/event-stream":
        # A comment may follow: the stream is kept open by them.
        text = text.rpartition(b"data: ")[2].splitlines()[0] if b"data: " in text else b""
    is_json = "json" in media_type or media_type == "text/event-stream"
    return msgspec.json.decode(text) if text and is_json else None


def _written(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return b"" if body is None else msgspec.json.encode(body)


def _settings(data: Path, database: Path) -> Settings:
    flags = {
        "data": data,
        "database_url": f"sqlite:///{database}",
        "allowed_hosts": ("gateway.test",),
        "aliases": False,
        "unauthenticated_requests_per_second": 1,
        "all_unauthenticated_requests_per_second": 1,
    }
    variables = {
        "GATEWAY_BOOTSTRAP_KEY": KEY,
        "GATEWAY_WEBHOOKS_STANDARD_SIGNED_SECRETS": PROVIDER_SECRET,
    }
    return read_settings(variables, None, flags)


def catalogue_of(settings: Settings, upstream: Upstream) -> Catalogue:
    known = _known(settings.package, settings.handler_packages)
    changed: dict[str, tuple[Any, Effect, TaskMode, float, ToolLimits | None]] = {
        GREET: (
            upstream.greet,
            Effect.WRITE,
            "never",
            0.0,
            ToolLimits(concurrent=3, calls=(CallWindow(max=1000, seconds=600),)),
        ),
        CALCULATE: (upstream.calculate, Effect.READ, "never", 20.0, _WINDOW),
        NOTIFY: (upstream.notify, Effect.WRITE, "required", 0.0, ToolLimits(concurrent=2)),
    }
    entries = [_changed(each, *changed[each.id]) for each in known.entries if each.id in changed]
    return Catalogue(
        entries,
        upstreams={name: each for name, each in known.upstreams.items() if name in _SERVED},
        agents=AgentPolicies(known.grants, known.views),
        published=PublishedDocuments(known.openapi),
        event_contracts=EventContracts(
            webhooks=known.webhooks, events=known.events, entities=known.entities
        ),
    )


def _changed(
    entry: Entry,
    run: Any,
    effect: Effect,
    task: TaskMode,
    cache_seconds: float,
    limits: ToolLimits | None,
) -> Entry:
    operation = replace(
        entry.operation,
        binding=PythonBinding(run=run, upstreams=(), has_context=True),
        effect=effect,
        task=task,
        cache_seconds=cache_seconds,
        limits=limits,
        timeout_seconds=20.0,
    )
    return replace(entry, operation=operation)
