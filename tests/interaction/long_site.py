"""A gateway whose calls become jobs: two tools of the catalogue with handlers of the test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from msgspec.structs import replace

from gateway.app.gateway import Gateway
from gateway.auth.keys import NewKey
from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments, open_catalogue
from gateway.catalogue.index import EventContracts
from gateway.contract.operation import Effect, PythonBinding, TaskMode
from gateway.contract.policies.limits import ToolLimits
from gateway.errors import ToolFailed
from gateway.job_policy import WORK_POLICY
from gateway.settings import Settings, read_settings
from gateway.trace_context import current_parent
from gateway.transports.http.asgi import App
from tests.eventually import eventually
from tests.interaction.lifespan import Lifespan

KEY = "administrator-of-the-long-calls-0123456789abcdef"
REQUIRED = "/v1/example/greet"
AUTO = "/v1/example/calculate"
ADA = {"name": "Ada"}
SUM = {"operation": "add", "a": 1, "b": 2}


@dataclass
class Acts:
    """What the two tools do: they wait for `release`, and then end as `refuse` says."""

    made: int = 0
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    refuse: str | None = None
    breaks: bool = False
    """Whether they have a defect."""
    says: str = ""
    """What they say of their progress. Empty: nothing."""
    upstreams: tuple[str, ...] = ()
    ids: list[str] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    """The trace of each call, as its upstream would get it."""

    def binding(self, run: Any) -> PythonBinding:
        """How the gateway calls `run`, one of the two."""
        return PythonBinding(run=run, upstreams=self.upstreams)

    def renew(self) -> None:
        """As if no call had been made yet."""
        self.made = 0
        self.entered, self.release, self.cancelled = (asyncio.Event() for _ in range(3))
        self.ids.clear()
        self.parents.clear()

    async def greet(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        await self._act(context)
        return {"greeting": f"Hello {arguments['name']}"}

    async def calculate(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        await self._act(context)
        return {"result": arguments["a"] + arguments["b"]}

    async def _act(self, context: Any) -> None:
        self.made += 1
        self.ids.append(context.call.id)
        if self.says:
            context.progress(1, self.says)
        self.parents.append(current_parent())
        self.entered.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.breaks:
            raise LookupError("a defect")
        if self.refuse is not None:
            raise ToolFailed(self.refuse)


@dataclass
class LongSite:
    """The gateway under test."""

    gateway: Gateway
    app: App
    acts: Acts
    key: str = KEY

    def http(self, key: str | None = None, **headers: str) -> httpx.AsyncClient:
        """A client that shows `key`."""
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url="http://gateway.test",
            headers={"authorization": f"Bearer {key or self.key}", **headers},
        )

    @asynccontextmanager
    async def mcp(self, mode: str, path: str = "/mcp", on_log: Any = None) -> AsyncIterator[Client]:
        """The SDK's own client. `on_log` gets the messages of calls."""
        headers = {"authorization": f"Bearer {self.key}"}
        transport = httpx2.ASGITransport(self.app)
        async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
            url = f"http://gateway.test{path}"
            streams = streamable_http_client(url, http_client=http)
            async with Client(streams, mode=mode, cache=None, logging_callback=on_log) as client:
                yield client

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        async with self.http(**headers) as http:
            return await http.request(method, path, json=body)

    async def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return await self.send("POST", path, body, **headers)

    async def get(self, path: str, **headers: str) -> Any:
        return await self.send("GET", path, **headers)

    async def ended(self, path: str) -> dict[str, Any]:
        """The job at `path` when it has ended."""

        async def look() -> dict[str, Any] | None:
            job: dict[str, Any] = (await self.get(path)).json()
            return None if job["status"] in {"queued", "running"} else job

        return await eventually(look)

    async def new_key(self, agent: str = "administrator") -> NewKey:
        return await self.gateway.parts.keys.create(agent, "of a test")


@asynccontextmanager
async def open_site(
    database: str,
    folder: Path,
    effects: tuple[Effect, Effect] = (Effect.WRITE, Effect.WRITE),
    *,
    is_at_work: bool = True,
    acts: Acts | None = None,
    lease_seconds: float = WORK_POLICY.jobs["task"].lease_seconds,
    job_after_seconds: float = 0.05,
    limits: ToolLimits | None = None,
    change: Callable[[Entry], Entry] = lambda entry: entry,
    given: Mapping[str, Any] = {},
) -> AsyncIterator[LongSite]:
    """`effects` are those of the tool with `required`, and of that with `auto`.

    Both have `limits`. `change` changes both once more. `given`: more settings.
    """
    hosts = ("gateway.test", "127.0.0.1")
    set_here = {"data": folder, "database_url": database, "allowed_hosts": hosts, **given}
    settings = read_settings({"GATEWAY_BOOTSTRAP_KEY": KEY}, None, set_here)
    acts = acts or Acts()
    gateway = Gateway.open(settings)
    gateway.set_catalogue(_catalogue(settings, acts, effects, limits, change))
    policy = WORK_POLICY.in_each_row(lease_seconds=lease_seconds, busy_wait_seconds=0.05)
    gateway.set_work_policy(
        replace(
            policy,
            job_after_seconds=job_after_seconds,
            poll_seconds=0.02,
            sweep_seconds=0.05,
            crash_wait_seconds=0.02,
        )
    )
    async with gateway:
        site = LongSite(gateway, gateway.http_app(), acts)
        lifespan = Lifespan(site.app)
        await lifespan.start()
        async with gateway.at_work() if is_at_work else nullcontext():
            yield site
            # What still runs would keep the worker for its grace period.
            acts.release.set()
        await lifespan.stop()


_known = cache(open_catalogue)
_SERVED = frozenset({"example", "weather"})
"""The connectors whose tools there are. A start with all of them takes twice the time."""


def _catalogue(
    settings: Settings,
    acts: Acts,
    effects: tuple[Effect, Effect],
    limits: ToolLimits | None,
    change: Callable[[Entry], Entry],
) -> Catalogue:
    known = _known(settings.package, settings.handler_packages)
    upstreams = {*_SERVED, *acts.upstreams}
    changed = {
        "example.greet": (
            "required",
            PythonBinding(run=acts.greet, upstreams=acts.upstreams),
            effects[0],
        ),
        "example.calculate": (
            "auto",
            PythonBinding(run=acts.calculate, upstreams=acts.upstreams),
            effects[1],
        ),
    }
    entries = [
        change(_long(each, *changed[each.id], limits)) if each.id in changed else each
        for each in known.entries
        if each.operation.connector in _SERVED
    ]
    return Catalogue(
        entries,
        upstreams={name: each for name, each in known.upstreams.items() if name in upstreams},
        agents=AgentPolicies(known.grants, known.views),
        published=PublishedDocuments(known.openapi),
        event_contracts=EventContracts(
            webhooks=known.webhooks, events=known.events, entities=known.entities
        ),
    )


def _long(
    entry: Entry, task: TaskMode, binding: PythonBinding, effect: Effect, limits: ToolLimits | None
) -> Entry:
    operation = replace(
        entry.operation,
        task=task,
        effect=effect,
        binding=binding,
        timeout_seconds=60,
        limits=limits,
    )
    return replace(entry, operation=operation)
