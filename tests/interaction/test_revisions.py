"""No revision of the protocol is sent members of tools and results that it does not have."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import anyio
import pytest
from mcp.server import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage
from mcp_types.methods import SERVER_RESULTS
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from gateway.auth.principal import Credentials
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.protocol import MODERN_VERSIONS
from gateway.transports.mcp.server import build_server
from tests.bridged import pipes

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
INFO = "io.modelcontextprotocol/clientInfo"
TESTER = {"name": "test", "version": "1"}
BOTH = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

Connection: TypeAlias = AbstractAsyncContextManager[tuple[Any, Any]]
"""The two streams of a client: those that it reads from and writes to."""

BARE = {"name", "description", "inputSchema"}
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
TOOL = {
    "2024-11-05": BARE,
    "2025-03-26": BARE | {"annotations"},
    "2025-06-18": BARE | {"annotations", "title", "outputSchema"},
    "2025-11-25": BARE | {"annotations", "title", "outputSchema"},
    "2026-07-28": BARE | {"annotations", "title", "outputSchema"},
}
"""The members of `Tool` in the schema of each revision, as far as the gateway has them."""
ANNOTATIONS = dict.fromkeys(TOOL, HINTS) | {"2025-03-26": HINTS | {"title"}}
RESULT = {
    "2024-11-05": {"content", "isError"},
    "2025-03-26": {"content", "isError"},
    "2025-06-18": {"content", "isError", "structuredContent"},
    "2025-11-25": {"content", "isError", "structuredContent"},
    "2026-07-28": {"content", "isError", "structuredContent", "resultType", "_meta"},
}
"""The same for `CallToolResult`."""
LIST = {version: {"tools"} for version in TOOL} | {
    "2026-07-28": {"tools", "ttlMs", "cacheScope", "resultType", "_meta"}
}
EVERY = pytest.mark.parametrize("version", sorted(TOOL))
Ask = Callable[[str, dict[str, Any]], Any]


def test_all_revisions_of_the_sdk_are_looked_at() -> None:
    assert sorted(KNOWN_PROTOCOL_VERSIONS) == sorted(TOOL)


@EVERY
@pytest.mark.usefixtures("mcp_path")
async def test_over_http_on_both_paths(site: Any, version: str) -> None:
    async def ask(method: str, params: dict[str, Any]) -> Any:
        return await asked(site, version, method, params)

    await look_at(version, ask)


@EVERY
async def test_over_stdio(site: Any, version: str, admin_key: str) -> None:
    principal = await site.pipeline.identification.identify(Credentials(bearer=admin_key))

    async def caller_of(_: Any) -> Caller:
        return Caller(
            principal=principal,
            credentials=Credentials(bearer=admin_key),
            transport="stdio",
            request_id="r",
            view=site.tools.view(principal),
        )

    async with conversation(streams_of(build_server(site.tools, caller_of, "1")), version) as ask:
        await look_at(version, ask)


@EVERY
async def test_through_the_bridge(
    socket_site: str, site: Any, version: str, admin_key: str
) -> None:
    async with conversation(pipes(f"{socket_site}/mcp", admin_key), version) as ask:
        await look_at(version, ask)


async def test_a_client_accepts_structured_content_without_a_listed_schema(
    site: Any, greeter_key: str
) -> None:
    for mode in ("2026-07-28", "legacy"):
        async with site.mcp(greeter_key, mode=mode) as client:
            (tool,) = (await client.list_tools()).tools
            result = await client.call_tool(tool.name, {"name": "Ada"})
        assert tool.output_schema is None
        assert result.structured_content["greeting"] == "Hello Ada"


async def test_two_views_of_one_tool_do_not_mix(site: Any, greeter_key: str) -> None:
    """Texts of tools are kept, and agents with other views get others."""
    for _ in range(2):
        for key, has_schema in ((None, True), (greeter_key, False)):
            async with site.mcp(*([key] if key else [])) as client:
                tools = (await client.list_tools()).tools
            assert {tool.output_schema is not None for tool in tools} == {has_schema}


async def look_at(version: str, ask: Ask) -> None:
    """Compare a list, a result and a failure with what `version` has."""
    listed = await ask("tools/list", {})
    fits(version, "tools/list", listed)
    assert set(listed) - {"_meta"} == LIST[version] - {"_meta"}
    for tool in listed["tools"]:
        assert set(tool) == TOOL[version]
        assert set(tool.get("annotations", HINTS)) == ANNOTATIONS[version]
    result = await ask("tools/call", {"name": "example_greet", "arguments": {"name": "Ada"}})
    fits(version, "tools/call", result)
    assert set(result) - {"_meta"} == RESULT[version] - {"_meta"}
    assert json.loads(result["content"][0]["text"])["greeting"] == "Hello Ada"
    failed = await ask("tools/call", {"name": "example_greet", "arguments": {}})
    fits(version, "tools/call", failed)
    assert set(failed) <= RESULT[version] | {"_meta"}
    assert failed["isError"] is True


def fits(version: str, method: str, result: dict[str, Any]) -> None:
    """Compare with the SDK's types, which drop what they do not know."""
    known = TypeAdapter(SERVER_RESULTS[(method, version)])
    read = known.validate_python(result, by_name=False)
    assert known.dump_python(read, by_alias=True, mode="json", exclude_none=True) == result


async def asked(site: Any, version: str, method: str, params: dict[str, Any]) -> Any:
    """The result of one request over HTTP in `version`."""
    return (await answered(site, version, method, params))["result"]


async def answered(site: Any, version: str, method: str, params: dict[str, Any]) -> Any:
    """The message that answers one request over HTTP in `version`."""
    headers = BOTH | {"mcp-protocol-version": version}
    if version in MODERN_VERSIONS:
        params = {"_meta": {VERSION: version, CAPABILITIES: {}}, **params}
        headers["mcp-method"] = method
        named = params.get("name", params.get("uri"))
        headers |= {} if named is None else {"mcp-name": named}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with site.http() as http:
        answer = await http.post("/mcp", headers=headers, json=body)
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        (line,) = [line for line in text.splitlines() if line.startswith("data: {")]
        text = line.removeprefix("data: ")
    return json.loads(text)


@asynccontextmanager
async def conversation(
    connection: Connection, version: str, info: dict[str, Any] = TESTER
) -> AsyncIterator[Ask]:
    """Asks over `connection`, as stdio does, after the handshake if there is one."""
    async with exchange(connection, version, info) as send:

        async def ask(method: str, params: dict[str, Any]) -> Any:
            return (await send(method, params))["result"]

        if version not in MODERN_VERSIONS:
            greeting = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
            assert (await ask("initialize", greeting))["protocolVersion"] == version
        yield ask


@asynccontextmanager
async def streams_of(server: Server[Any]) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a client of `server`, in memory."""
    options = server.create_initialization_options()
    async with (
        create_client_server_memory_streams() as (client, other),
        anyio.create_task_group() as group,
    ):
        group.start_soon(server.run, *other, options)
        yield client
        group.cancel_scope.cancel()


@asynccontextmanager
async def exchange(
    connection: Connection, version: str, info: dict[str, Any] = TESTER
) -> AsyncIterator[Ask]:
    """Sends requests over `connection`. They return the whole answers."""
    async with connection as (read, write):

        async def ask(method: str, params: dict[str, Any]) -> Any:
            if version in MODERN_VERSIONS:
                params = {"_meta": {VERSION: version, CAPABILITIES: {}, INFO: info}, **params}
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            message = TypeAdapter(JSONRPCMessage).validate_python(body)
            await write.send(SessionMessage(message))
            answer = await read.receive()
            return answer.message.model_dump(by_alias=True, mode="json", exclude_none=True)

        yield ask
