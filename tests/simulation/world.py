"""A whole gateway in the simulation, and what is outside of it."""

import asyncio
import logging
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from anyio._backends._asyncio import CancelScope
from msgspec.structs import replace

from gateway.app.gateway import Gateway
from gateway.app.parts.foundation import Foundation
from gateway.app.reloading import reloader as reloading
from gateway.app.reloading.generation import Generation, Switch
from gateway.app.reloading.reloader import Reloader, ReloadSources
from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments, open_catalogue
from gateway.catalogue.index import EventContracts
from gateway.contract.operation import Effect, PythonBinding, TaskMode
from gateway.contract.policies.limits import CallWindow, ToolLimits
from gateway.errors import GatewayError, StoreError, UpstreamTimeout, UpstreamUnavailable
from gateway.job_policy import WORK_POLICY
from gateway.observability.defects import DEFECT
from gateway.settings import Settings, read_settings
from gateway.store.sql.database import Database
from gateway.store.sql.sqlite import file as sqlite_file
from gateway.transports.http.connected import Client, name_client
from tests.simulation.loop import LoopClock, SimulatedLoop
from tests.simulation.store import FaultyStore, InlineReader, InlineWriter

KEY = "administrator-of-the-simulation-0123456789abcdef"
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
_SENT_AT = "2026-11-20T14:30:00Z"
_known = cache(open_catalogue)


class Answer(msgspec.Struct):
    """What a caller got: status 0 if it had left."""

    status: int = 0
    headers: dict[str, str] = {}
    body: Any = None

    @property
    def code(self) -> str:
        return str(self.body.get("code", "")) if isinstance(self.body, dict) else ""


class Upstream:
    """What the handlers change. It counts effects by what their callers named them."""

    def __init__(self, random: Random, violations: list[str]) -> None:
        self._random = random
        self._violations = violations
        self.failing = random.choice([0.0, 0.1, 0.3])
        self.effects: Counter[str] = Counter()
        self.row = 0
        self.holders = 0
        self.is_calm = True

    async def greet(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Read a row, and write it back, under a lock."""
        context.progress(1, "waiting")
        async with context.exclusive("row"):
            self.holders += 1
            if self.holders > 1:
                self._violations.append("two calls hold one lock")
            try:
                before = self.row
                await self._pause()
                self._refuse(UpstreamUnavailable(is_sent=False))
                self.effects[arguments["name"]] += 1
                self.row = before + 1
                context.progress(2, "changed")
                await self._pause()
                self._refuse(UpstreamTimeout())
                self._refuse(StoreError("the workspace is away"))
            finally:
                self.holders -= 1
        context.progress(3, "done")
        return {"greeting": f"Hello {arguments['name']}"}

    async def calculate(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Read."""
        await self._pause()
        return {"result": arguments["a"] + arguments["b"]}

    async def notify(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Say how far it is, and send."""
        context.progress(1, "sending")
        await self._pause()
        self._refuse(UpstreamUnavailable(is_sent=False))
        self.effects[arguments["message"]] += 1
        context.progress(2, "sent")
        await self._pause()
        self._refuse(UpstreamTimeout())
        return {"id": "1", "status": "sent", "sent_at": _SENT_AT}

    def _refuse(self, error: GatewayError) -> None:
        if not self.is_calm and self._random.random() < self.failing:
            raise error

    async def _pause(self) -> None:
        longest = 0.0 if self.is_calm else self._random.choice([0.0, 0.01, 0.5, 4.0])
        await asyncio.sleep(longest * self._random.random())


class _Defects(logging.Handler):
    """Notes the defects that the gateway logs: what no caller sees, and what is no outage."""

    def __init__(self, violations: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._violations = violations

    def emit(self, record: logging.LogRecord) -> None:
        silent = getattr(record, DEFECT, None)
        if silent is not None:
            where = record.getMessage().strip().splitlines()
            self._violations.append(f"{where[0]}: {silent.error!r} {where[-2:]}")


class World:
    """The gateway's process, and what is outside of it."""

    def __init__(self, seed: int, folder: Path, template: Path | None) -> None:
        """`template`: a database to begin with. None: there is none yet."""
        self.random = Random(seed)  # noqa: S311 - chances, not secrets
        self.loop = SimulatedLoop(self.random)
        self.clock = LoopClock(self.loop)
        self.violations: list[str] = []
        self.upstream = Upstream(self.random, self.violations)
        self.store = FaultyStore(self.random)
        self.is_listening = False
        self.requests: set[asyncio.Task[Any]] = set()
        self.database = folder / "gateway.db"
        if template is not None:
            shutil.copyfile(template, self.database)
        self.settings = _settings(folder, self.database)
        self.catalogue = _catalogue(self.settings, self.upstream)

    def set_calm(self, is_calm: bool) -> None:
        """Whether from now on nothing fails and nothing is slow."""
        self.store.is_calm = self.upstream.is_calm = is_calm

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Without threads, files that are read again, and chance that does not follow the seed."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite_file, "WritingConnection", InlineWriter)
            patch.setattr(sqlite_file, "aiosqlite", SimpleNamespace(Connection=InlineReader))
            patch.setattr(reloading, "imported_afresh", lambda _: nullcontext())
            patch.setattr(reloading.Settling, "plan", lambda _: None)
            run = self.store.run_to_end(Database._run_to_end)
            patch.setattr(Database, "_run_to_end", run)
            patch.setattr(os, "urandom", self.random.randbytes)
            patch.setattr(CancelScope, "__hash__", _numbered())
            log, handler = logging.getLogger("gateway"), _Defects(self.violations)
            patch.setattr(log, "handlers", [handler])
            patch.setattr(log, "propagate", False)
            yield

    @asynccontextmanager
    async def process(self) -> AsyncIterator[None]:
        """A process that serves, as `gateway serve` does, until the block ends."""
        async with AsyncExitStack() as stack:
            foundation = Foundation(stack)

            def open_next(settings: Settings, catalogue: Catalogue) -> Gateway:
                gateway = Gateway.open(settings, clock=self.clock, is_server=True)
                gateway.set_foundation(foundation)
                gateway.set_catalogue(catalogue)
                gateway.set_work_policy(_POLICY)
                return gateway

            first = await Generation.open(open_next(self.settings, self.catalogue), "")
            self.switch = Switch(first)
            sources = ReloadSources(lambda: self.settings, lambda _: self.catalogue)
            self.reloader = Reloader(self.switch, self.settings, sources, open_next, "")
            stack.push_async_callback(self.reloader.close)
            self.is_listening = True
            try:
                yield
            finally:
                await self._stop()

    async def _stop(self) -> None:
        """As the server stops: streams end, requests have their grace, and then are cut."""
        self.is_listening = False
        self.reloader.stop_streams()
        for seconds in (self.reloader.grace_seconds(), 1.0):
            if self.requests:
                await asyncio.wait(self.requests, timeout=seconds)
            for each in self.requests:
                each.cancel()

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        leave_after: float | None = None,
        key: str = KEY,
        **headers: str,
    ) -> Answer:
        """Send a request, and leave after some seconds if that is given."""
        if not self.is_listening:
            await asyncio.sleep(0.1)
            return Answer()
        answer, client = Answer(), Client()
        content = b"" if body is None else msgspec.json.encode(body)
        given = {"host": "gateway.test", "authorization": f"Bearer {key}", **headers}
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
            self.switch(scope, _receiving(content, client), self._sending(answer)), name="request"
        )
        self.requests.add(serving)
        serving.add_done_callback(self.requests.discard)
        try:
            await asyncio.wait([serving], timeout=leave_after)
            if not serving.done():
                client.leave()
                await asyncio.wait([serving])
                return Answer()
            serving.result()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the server would log it, and close
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
        text = text.rpartition(b"data: ")[2].strip() if b"data: " in text else b""
    is_json = "json" in media_type or media_type == "text/event-stream"
    return msgspec.json.decode(text) if text and is_json else None


def _settings(folder: Path, database: Path) -> Settings:
    flags = {
        "data": folder,
        "database_url": f"sqlite:///{database}",
        "allowed_hosts": ("gateway.test",),
        "unauthenticated_requests_per_second": 1,
        "all_unauthenticated_requests_per_second": 1,
    }
    return read_settings({"GATEWAY_BOOTSTRAP_KEY": KEY}, None, flags)


def _catalogue(settings: Settings, upstream: Upstream) -> Catalogue:
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
