"""Arguments that are headers too (SEP-2243): both must agree, on both paths."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.catalogue import Entry
from gateway.contract.operation import PythonBinding
from tests.bridged import bridged
from tests.interaction.lifespan import on_a_socket
from tests.interaction.long_site import LongSite, open_site
from tests.interaction.test_call_messages import greet

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ADA = {"name": "Ada"}
MISMATCH = -32020


def with_header(entry: Entry) -> Entry:
    """The tool `example.greet`, whose argument is a header too."""
    if entry.id != "example.greet":
        return entry
    schema = entry.listing.input_schema
    name = {**schema["properties"]["name"], "x-mcp-header": "Person"}
    members = {**schema["properties"], "name": name}
    return replace(
        entry,
        listed=replace(entry.listing, input_schema={**schema, "properties": members}),
        operation=replace(entry.operation, task="never", binding=PythonBinding(run=greet)),
    )


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path, change=with_header) as opened:
        yield opened


async def call(
    site: LongSite,
    header: str | None,
    version: str = MODERN,
    path: str = "/mcp",
    key: str = "",
    arguments: dict[str, str] = ADA,
) -> Any:
    name = "example_greet" if path == "/mcp" else "greet"
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    headers: dict[str, Any] = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": version,
    }
    if version == MODERN:
        params["_meta"] = META
        headers |= {"mcp-method": "tools/call", "mcp-name": name}
    if header is not None:
        headers["mcp-param-person"] = header.encode("latin-1")
    if key:
        headers["authorization"] = f"Bearer {key}"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return await site.post(path, body, **headers)


PATHS = ("/mcp", "/mcp/example")


async def test_a_header_that_agrees_is_served(site: LongSite) -> None:
    for path in PATHS:
        for header in ("Ada", " Ada ", "=?base64?QWRh?="):
            answer = await call(site, header, path=path)
            assert answer.status_code == 200, (path, header)
            assert answer.json()["result"]["structuredContent"] == {"greeting": "Hello Ada"}


async def test_a_header_that_does_not_agree_is_refused(site: LongSite) -> None:
    for path in PATHS:
        for header in (None, "Bob", "ada", "=?base64?QWR?=", "=?base64?QWRh", "=?base64?\xe9?="):
            answer = await call(site, header, path=path)
            found = answer.status_code, answer.json()["error"]["code"]
            assert found == (400, MISMATCH), (path, header)


async def test_a_header_with_raw_bytes_is_refused_also_where_they_agree(site: LongSite) -> None:
    for header, text in (("\xe9", "\xe9"), ("\xc3\xa9", "\xe9"), ("\xc3\xa9", "\xc3\xa9")):
        answer = await call(site, header, arguments={"name": text})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, MISMATCH), header
    answer = await call(site, "=?base64?w6k=?=", arguments={"name": "\xe9"})
    assert answer.json()["result"]["structuredContent"] == {"greeting": "Hello \xe9"}


async def test_the_handshake_revisions_have_no_such_headers(site: LongSite) -> None:
    for header in (None, "Bob"):
        answer = await call(site, header, "2025-11-25")
        assert "Hello Ada" in answer.text


async def test_who_may_not_call_a_tool_does_not_learn_of_its_headers(site: LongSite) -> None:
    key = await site.new_key("golf_concierge")
    answer = await call(site, None, key=key.key)
    assert answer.json()["error"]["message"] == "Unknown tool: example_greet"


async def test_the_sdks_client_sends_the_header(site: LongSite) -> None:
    async with site.mcp(MODERN) as client:
        await client.list_tools()
        result = await client.call_tool("example_greet", ADA)
    assert result.structured_content == {"greeting": "Hello Ada"}


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_bridge_sends_the_header_also_without_a_list(site: LongSite, mode: str) -> None:
    async with (
        on_a_socket(site.app) as url,
        bridged(f"{url}/mcp", site.key, mode) as client,
    ):
        results = [await client.session.call_tool("example_greet", ADA) for _ in range(2)]
    assert [each.structured_content for each in results] == [{"greeting": "Hello Ada"}] * 2
