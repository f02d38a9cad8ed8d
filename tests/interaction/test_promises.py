"""What the first page of README.md promises ("Why"), over each transport.

Of webhooks, test_webhooks.py shows that 2xx means stored, tests/adversarial/test_webhook_replay.py
that each message counts once, and tests/conformance/test_deliveries.py that events are delivered at
least once.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from gateway.contract.operation import Effect
from gateway.errors import UpstreamUnavailable
from gateway.publication.view import ShownNames
from tests.interaction.conftest import ADMIN_KEY, GREETER_KEY, Running, build_running, serving
from tests.interaction.local import serve_locally
from tests.standard_streams import host

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
KEY = "contract-gateway/idempotencyKey"
STRANGER_KEY = "gw_stranger-0123456789"
ADA = {"name": "Ada"}
SECRET = "hunter2-of-the-caller"


class Answer(Struct):
    """An answer as its caller sees it."""

    result: dict[str, Any] | None
    """None if the call failed."""
    problem: dict[str, Any]
    """Empty if it did not."""
    text: str


class Caller(ABC):
    """An agent over one transport."""

    @abstractmethod
    async def call(self, tool: str, arguments: Any, key: str | None = None) -> Answer:
        """Call `tool`, such as `example.greet`, perhaps with an idempotency key."""

    @abstractmethod
    async def tools(self) -> set[str]:
        """The ids of the tools that the agent is shown."""


class Rest(Caller):
    def __init__(self, http: Any) -> None:
        self.http = http

    async def call(self, tool: str, arguments: Any, key: str | None = None) -> Answer:
        path, headers = f"/v1/{tool.replace('.', '/')}", {"idempotency-key": key} if key else {}
        answer = await self.http.post(path, json=arguments, headers=headers)
        body = answer.json()
        is_ok = answer.status_code == 200
        return Answer(body if is_ok else None, {} if is_ok else body, answer.text)

    async def tools(self) -> set[str]:
        paths = (await self.http.get("/openapi.json")).json()["paths"]
        return {path[4:].replace("/", ".") for path in paths if path.startswith("/v1/")}


class Mcp(Caller):
    def __init__(self, client: Client, site: Running) -> None:
        self.client = client
        self.names = ShownNames(site.catalogue, "gateway")

    async def call(self, tool: str, arguments: Any, key: str | None = None) -> Answer:
        meta: Any = {KEY: key} if key else {}
        try:
            result = await self.client.call_tool(tool.replace(".", "_"), arguments, meta=meta)
        except MCPError as error:
            data = error.error.data
            return Answer(None, data if isinstance(data, dict) else {}, str(error))
        text: str = result.content[0].text  # type: ignore[union-attr]  # a text block
        body = json.loads(text)
        if result.is_error:
            return Answer(None, body, text)
        assert body == result.structured_content
        return Answer(body, {}, text)

    async def tools(self) -> set[str]:
        listed = (await self.client.list_tools()).tools
        return {each.name.replace("_", ".", 1) for each in listed}


Open = Callable[[Running, str], AbstractAsyncContextManager[Caller]]


@asynccontextmanager
async def over_rest(site: Running, key: str) -> AsyncIterator[Caller]:
    async with site.http(key) as http:
        yield Rest(http)


def over_mcp(mode: str) -> Open:
    @asynccontextmanager
    async def opened(site: Running, key: str) -> AsyncIterator[Caller]:
        async with site.mcp(key, mode=mode) as client:
            yield Mcp(client, site)

    return opened


def over_stdio(mode: str) -> Open:
    """Here the agent is known without a key: its user has started the gateway."""

    @asynccontextmanager
    async def opened(site: Running, key: str) -> AsyncIterator[Caller]:
        streams = host(serve_locally(site, site.agents[key]))
        async with Client(streams, mode=mode, cache=None) as client:
            yield Mcp(client, site)

    return opened


TRANSPORTS: dict[str, Open] = {
    "rest": over_rest,
    "mcp": over_mcp(MODERN),
    "mcp-handshake": over_mcp("legacy"),
    "stdio": over_stdio(MODERN),
    "stdio-handshake": over_stdio("legacy"),
}


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> Open:
    """Each transport in turn."""
    return TRANSPORTS[request.param]


@pytest.fixture
async def site() -> AsyncIterator[Running]:
    """Its tools write, and their argument `note` is sensitive."""
    running = build_running(effect=Effect.WRITE, promises={"sensitive": ("/note",)})
    running.agents[STRANGER_KEY] = "stranger"
    async with serving(running):
        yield running


async def test_arguments_are_checked_before_anything_is_sent(
    site: Running, transport: Open
) -> None:
    async with transport(site, ADMIN_KEY) as caller:
        refused = await caller.call("example.greet", {"name": 7})

    assert refused.result is None
    assert refused.problem["code"] == "VALIDATION_ERROR"
    (error,) = refused.problem["errors"]
    assert (error["pointer"], bool(error["detail"])) == ("/name", True)
    assert site.handlers.greeted == 0


async def test_results_are_checked_before_they_are_returned(site: Running, transport: Open) -> None:
    """The tool makes a greeting that is a number."""
    async with transport(site, ADMIN_KEY) as caller:
        failed = await caller.call("example.misbehave", ADA)

    assert failed.result is None
    assert (failed.problem["status"], failed.problem["code"]) == (502, "TOOL_EXECUTION_ERROR")
    assert "42" not in failed.text.replace(failed.problem["request_id"], "")


@pytest.mark.parametrize(
    ("key", "granted"), [(GREETER_KEY, {"example.greet"}), (STRANGER_KEY, set())]
)
async def test_an_agent_sees_what_it_is_granted_and_may_call_nothing_else(
    site: Running, transport: Open, key: str, granted: set[str]
) -> None:
    async with transport(site, key) as caller:
        listed = await caller.tools()
        called = {
            entry.id: await caller.call(entry.id, ADA)
            for entry in site.catalogue.entries
            if entry.id not in {"example.wait", "example.misbehave", "example.crash"}
        }
        nothing = await caller.call("example.nothing", ADA)

    assert listed == granted
    assert {name for name, answer in called.items() if answer.result is not None} == granted
    for name, answer in called.items():
        if name not in granted:
            assert answer.problem.get("code") == nothing.problem["code"] == "TOOL_NOT_FOUND"
    assert site.handlers.greeted == len(granted)


async def test_every_call_leaves_one_record_without_secrets(site: Running, transport: Open) -> None:
    async with transport(site, ADMIN_KEY) as caller:
        await caller.call("example.greet", {"name": "Ada", "note": SECRET})
        await caller.call("example.greet", {"name": 7, "note": SECRET})
        await caller.call("example.crash", {"name": "Ada", "note": SECRET})
    records = await site.records()

    assert [(each.operation, each.outcome, each.agent) for each in records] == [
        ("example.greet", "ok", "administrator"),
        ("example.greet", "VALIDATION_ERROR", "administrator"),
        ("example.crash", "INTERNAL_ERROR", "administrator"),
    ]
    assert not any(secret in repr(records) for secret in (SECRET, ADMIN_KEY))
    assert records[0].arguments is not None
    assert records[0].arguments["name"] == "Ada"


async def test_a_write_is_repeated_only_with_its_key_and_then_made_once(
    site: Running, transport: Open
) -> None:
    async with transport(site, ADMIN_KEY) as caller:
        first = await caller.call("example.greet", ADA, "k1")
        again = await caller.call("example.greet", ADA, "k1")
        made = site.handlers.greeted
        await caller.call("example.greet", ADA)
        await caller.call("example.greet", ADA)
        without = site.handlers.greeted - made
        site.handlers.failure = UpstreamUnavailable("the connection was lost")
        failed = await caller.call("example.greet", ADA)

    assert first.result == again.result is not None
    assert (made, without) == (1, 2)
    assert failed.result is None
    assert site.handlers.greeted == 4
