"""A whole gateway in memory: real pipeline, real edge, a small catalogue, two keys."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from litestar.utils.signature import ParsedSignature
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gateway.audit import AuditLog
from gateway.auth.authorize import policy_of
from gateway.auth.principal import Credentials, Principal
from gateway.bounds.rates import Throttle
from gateway.calls.caching.reads import ReadCache
from gateway.calls.dispatch import Dispatcher
from gateway.calls.idempotency import Once
from gateway.calls.pipeline import Pipeline
from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments, ToolListing
from gateway.catalogue.index import PackedText
from gateway.clock import Clock, SystemClock
from gateway.contract.agent_view import AgentView
from gateway.contract.context import CallContext
from gateway.contract.credentials import EVENTS
from gateway.contract.operation import DeclaredError, Effect, Operation, PythonBinding, Tool
from gateway.contract.server_description import Icon, ServerDescription, ServerDescriptions
from gateway.contract.values.schema import Validator
from gateway.errors import ToolFailed, Unauthenticated
from gateway.events.feed import Feed
from gateway.limits.places import Admission
from gateway.publication.view import Views
from gateway.store.publishing import SubscriptionStore
from gateway.store.records import AuditRecord
from gateway.transports import pages
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from gateway.transports.connections.listen import bind
from gateway.transports.events import Followers
from gateway.transports.health import Readiness, UpstreamState
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.http.problems import classify, described
from gateway.transports.http_app import HttpAppParts, build_http_app
from gateway.transports.mcp import paths
from gateway.transports.mcp.caller import OfferedAccess
from gateway.transports.mcp.tools import Tools
from gateway.transports.webhooks import WebhookEndpoint
from tests.entity_rows import NoEntities
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.lifespan import Lifespan
from tests.remembered import MemoryStore

ADMIN_KEY = "gw_administrator-0123456789"
GREETER_KEY = "gw_greeter-0123456789"
VIEWS = Views({"administrator": AgentView(list="full")})
"""Only the administrator is shown output schemas; the greeter has the default."""
AGENTS = {ADMIN_KEY: "administrator", GREETER_KEY: "greeter"}
MODERN = "2026-07-28"
MAX_BODY = 4096
ASYNCAPI = json.dumps(
    {"asyncapi": "3.0.0", "info": {}, "channels": {"gateway.x.v1": {}}, "operations": {"x": {}}}
).encode()
ICON = Icon(src="data:image/png;base64,iVBORw0KGgo=", mime_type="image/png", sizes=("1x1",))
SERVERS = ServerDescriptions(
    namespace="com.example",
    gateway=ServerDescription(description="All of it.", instructions="Ask.", icons=(ICON,)),
    connectors={
        "example": ServerDescription(
            name="example",
            title="Examples",
            description="Tools that greet.",
            instructions="Greet politely.",
            website_url="https://example.com/greetings",
            icons=(ICON,),
        ),
        "other": ServerDescription(name="other", title="Others", instructions="Greet coldly."),
    },
)
Handler = Callable[[Mapping[str, Any], CallContext], Awaitable[dict[str, Any]]]

GREET_INPUT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "Whom."},
        "code": {"type": "string", "pattern": "^[A-Z]{4}$", "description": "ICAO."},
        "times": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How often."},
        "note": {"type": ["string", "null"], "default": None, "description": "Anything."},
    },
}
GREET_OUTPUT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["greeting"],
    "properties": {
        "greeting": {"type": "string"},
        "note": {"type": ["string", "null"]},
        "weight": {"type": "number"},
    },
}


@dataclass
class Handlers:
    """What the tools of the catalogue under test do; `entered` and `release` hold `wait`."""

    greeted: int = 0
    failure: Exception | None = None
    """What `greet` raises."""
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: bool = False

    async def greet(self, arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        self.greeted += 1
        if self.failure is not None:
            raise self.failure
        greeting = ", ".join(["Hello"] * arguments.get("times", 1)) + f" {arguments['name']}"
        return {"greeting": greeting, "note": arguments.get("note"), "weight": 1.0}

    async def refuse(self, arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        raise ToolFailed("nobody_home")

    async def misbehave(self, arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        return {"greeting": 42}

    async def crash(self, arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        raise ZeroDivisionError("the secret of " + arguments["name"])

    async def wait(self, arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        self.entered.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return {"greeting": "at last"}


def entry(
    connector: str,
    name: str,
    run: Handler,
    *aliases: str,
    effect: Effect = Effect.READ,
    **promises: Any,
) -> Entry:
    """One operation answered by `run`, with its MCP face."""
    is_read = effect is Effect.READ
    operation = Operation(
        id=f"{connector}.{name}",
        connector=connector,
        title=f"The tool {name}",
        description="Do it.",
        effect=effect,
        timeout_seconds=PATIENCE_SECONDS,
        errors=(DeclaredError(reason="nobody_home", status=409, title="Nobody is at home."),),
        binding=PythonBinding(run=run),
        route=f"/v1/{connector}/{name}",
        **promises,
    )
    tool = Tool(
        operation=operation.id,
        name=f"{connector}_{name}",
        bare_name=name,
        aliases=aliases,
        read_only=is_read,
        destructive=False,
        idempotent=True,
        open_world=False,
    )
    annotations = {
        "readOnlyHint": is_read,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    listing = ToolListing(
        name=tool.name,
        title=operation.title,
        description=operation.description,
        input_schema=GREET_INPUT,
        output_schema=GREET_OUTPUT,
        annotations=annotations,
    )
    return Entry(operation, tool, listing, Validator(GREET_INPUT), Validator(GREET_OUTPUT))


class TwoKeys:
    """An administrator and a greeter."""

    def __init__(self) -> None:
        self.agents = dict(AGENTS)

    async def identify(self, credentials: Credentials) -> Principal:
        agent = self.agents.get(credentials.bearer or "")
        if agent is None:
            raise Unauthenticated(presented=credentials.bearer is not None)
        return Principal(subject=f"key-of-{agent}", agent=agent)


@dataclass
class Running:
    """The site under test and what can be seen of its inside."""

    app: Edge
    handlers: Handlers
    catalogue: Catalogue
    pipeline: Pipeline
    tools: Tools
    store: MemoryStore
    readiness: dict[str, Any]
    agents: dict[str, str]
    """By key; a test may take a key away."""

    async def records(self) -> list[AuditRecord]:
        """The audit records so far, oldest first."""
        await self.pipeline.audit.flush()
        return (await self.store.audit.latest(1000))[::-1]

    def http(self, key: str | None = ADMIN_KEY, **headers: str) -> httpx.AsyncClient:
        """A REST client that shows `key`."""
        shown = {"authorization": f"Bearer {key}"} if key else {}
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url="http://gateway.test",
            headers={**shown, **headers},
        )

    @asynccontextmanager
    async def mcp(
        self,
        key: str = ADMIN_KEY,
        *,
        path: str = "/mcp",
        mode: str = MODERN,
        url: str | None = None,
    ) -> AsyncIterator[Client]:
        """The SDK's own client, over HTTP in memory, or over the sockets at `url`."""
        async with httpx2.AsyncClient(
            transport=None if url else httpx2.ASGITransport(self.app),
            headers={"authorization": f"Bearer {key}"},
        ) as http:
            base = url or "http://gateway.test"
            transport = streamable_http_client(f"{base}{path}", http_client=http)
            async with Client(transport, mode=mode, cache=None) as client:
                yield client


@pytest.fixture(autouse=True, scope="session")
def _made_once() -> Iterator[None]:
    """Make for the first gateway what is the same in each of the hundreds that tests start.

    That is half of the time of a start: to pack the large files of the pages, and to read the
    signatures of the handlers.
    """
    read = ParsedSignature.from_fn
    known: dict[Any, ParsedSignature] = {}

    def read_once(handler: Any, namespace: dict[str, Any]) -> ParsedSignature:
        key = getattr(handler, "__code__", handler)
        if key not in known:
            known[key] = read(handler, namespace)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "PackedText", cache(PackedText))
        patch.setattr(ParsedSignature, "from_fn", read_once)
        yield


@pytest.fixture
def feed() -> Feed | None:
    """What there is to follow; tests of events put a feed in its place."""
    return None


@pytest.fixture
def subscriptions() -> SubscriptionStore | None:
    """Where MCP sessions subscribe; tests of events put a store in its place."""
    return None


@pytest.fixture
def effect() -> Effect:
    """What every tool of the site does; tests of writes put another effect in its place."""
    return Effect.READ


@pytest.fixture
async def site(
    feed: Feed | None, subscriptions: SubscriptionStore | None, effect: Effect
) -> AsyncIterator[Running]:
    """A running gateway; its application lifespan is open."""
    running = build_running(feed, subscriptions=subscriptions, effect=effect)
    async with serving(running):
        yield running


@asynccontextmanager
async def serving(running: Running) -> AsyncIterator[None]:
    """Keep the site open."""
    lifespan = Lifespan(running.app)
    await lifespan.start()
    yield
    await lifespan.stop()
    await running.pipeline.audit.close()


def build_running(
    feed: Feed | None = None,
    throttle: Throttle | None = None,
    webhooks: WebhookEndpoint | None = None,
    effect: Effect = Effect.READ,
    promises: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    *,
    subscriptions: SubscriptionStore | None = None,
    **rules: Any,
) -> Running:
    """`promises`: more members of each operation."""
    handlers = Handlers()
    catalogue = _catalogue(handlers, effect, promises or {})
    store = MemoryStore()
    keys = TwoKeys()
    policy = policy_of(catalogue)
    clock = clock or SystemClock()
    pipeline = Pipeline(
        identification=keys,
        catalogue=catalogue,
        policy=policy,
        admission=Admission(max_calls=3),
        cache=ReadCache(clock),
        dispatcher=Dispatcher({}, clock, NoEntities()),
        audit=AuditLog(store.audit, clock, classify),
        once=Once(store.keyed_calls, described),
    )
    upstreams = {"avinode": UpstreamState(backend="mock")}
    readiness: dict[str, Any] = {"store": "ok", "problems": (), "upstreams": upstreams}

    async def check_readiness() -> Readiness:
        return Readiness(**readiness)

    parts = HttpAppParts(
        invoke=pipeline.invoke,
        identification=pipeline.identification,
        catalogue=catalogue,
        policy=policy,
        views=VIEWS,
        check_readiness=check_readiness,
        rules=EdgeRules(
            hosts=HostRules(["gateway.test", "127.0.0.1"], ["https://ui.example.com"]),
            max_body_bytes=MAX_BODY,
            throttle=throttle,
            **{"body_deadline_seconds": PATIENCE_SECONDS, **rules},
        ),
        version="1.2.3",
        webhooks=webhooks,
        followers=feed
        and Followers(feed, pipeline.identification, policy, pipeline.audit, subscriptions),
        offered=OfferedAccess(catalogue, policy, pipeline.identification, pipeline.audit),
    )
    tools = Tools(parts.invoke, parts.identification, catalogue, policy, VIEWS)
    tools = tools.offering(parts.offered)
    site = build_http_app(parts)
    return Running(site, handlers, catalogue, pipeline, tools, store, readiness, keys.agents)


def _catalogue(handlers: Handlers, effect: Effect, promises: Mapping[str, Any]) -> Catalogue:
    one = partial(entry, effect=effect, **promises)
    entries = [
        one("example", "greet", handlers.greet, "say_hello"),
        one("example", "refuse", handlers.refuse),
        one("example", "misbehave", handlers.misbehave),
        one("example", "crash", handlers.crash),
        one("example", "wait", handlers.wait),
        one("other", "greet", handlers.greet),
    ]
    every = frozenset(entry.id for entry in entries)
    grants = {"administrator": every | {EVENTS}, "greeter": frozenset({"example.greet"})}
    published = PublishedDocuments(_openapi(entries), ASYNCAPI, servers=SERVERS)
    return Catalogue(entries, upstreams={}, agents=AgentPolicies(grants), published=published)


def _openapi(entries: list[Entry]) -> bytes:
    """A document of the tools, each with its own schema."""
    names = {entry.id: entry.operation.route for entry in entries}
    schemas: dict[str, Any] = {
        each.rpartition(".")[2]: {"$ref": "#/components/schemas/name"} for each in names
    }
    schemas["name"] = {"type": "string"}
    paths: dict[str, Any] = {
        path: {
            "post": {
                "operationId": name,
                "tags": [name.partition(".")[0]],
                "body": {"$ref": f"#/components/schemas/{name.rpartition('.')[2]}"},
            }
        }
        for name, path in names.items()
    }
    paths["/webhooks/desk"] = {"post": {"operationId": "desk.webhook"}}
    document = {
        "openapi": "3.1.1",
        "info": {"title": "t", "version": "1"},
        "tags": [{"name": "example"}, {"name": "other"}],
        "paths": paths,
        "webhooks": {"gateway.x.v1": {}},
        "components": {"schemas": schemas},
    }
    return json.dumps(document).encode()


@pytest.fixture(params=["fast", "sdk"])
def mcp_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """MCP messages take the fast path, or that of the SDK."""
    if request.param == "sdk":
        monkeypatch.setattr(paths, "recognise", lambda headers, body: None)


@pytest.fixture
def admin_key() -> str:
    """A key that may call every tool."""
    return ADMIN_KEY


@pytest.fixture
def greeter_key() -> str:
    """A key that may call `example.greet` alone."""
    return GREETER_KEY


class PatientConnection(Connection):
    """Waits for a client as long as a slow machine may take."""

    limits = ConnectionLimits(
        head_deadline_seconds=PATIENCE_SECONDS, stall_seconds=PATIENCE_SECONDS
    )


@pytest.fixture
def connection() -> type[Connection]:
    """What serves each connection to the socket; a test may put stricter limits in its place."""
    return PatientConnection


@pytest.fixture
async def socket_site(site: Running, connection: type[Connection]) -> AsyncIterator[str]:
    """The base URL of the gateway under test, served by uvicorn on a real socket."""
    async with served(site.app, connection) as url:
        yield url


@asynccontextmanager
async def served(app: Any, connection: type[Connection] = PatientConnection) -> AsyncIterator[str]:
    """Serve `app` on a real socket, at this base URL."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        server_header=False,
        http=connection,
        timeout_keep_alive=int(PATIENCE_SECONDS),
    )
    server = uvicorn.Server(config)
    listener = bind("127.0.0.1", 0)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
