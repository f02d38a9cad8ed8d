"""The `.mcp.json` files of the guide work as they stand: each entry is one connector."""

import json
import re
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.gateway_process import (
    GATEWAY,
    REPOSITORY,
    RunningGateway,
    clean_environment,
)

GUIDE: Final = (REPOSITORY / "docs/call/mcp.md").read_text("utf-8")
SECTION: Final = GUIDE.partition("## One server for each system")[2].partition("\n## ")[0]
FILES: Final = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)]
CONNECTORS: Final = {
    "avinode": ("avinode", "Avinode", "search_airports", {"query": "Teterboro"}),
    "google-sheets": ("sheets", "Client database", "list_clients", {}),
    "gmail": ("gmail", "Gmail", "get_email", None),
    "supabase": ("supabase", "Workspace tables", "query", None),
}
"""Entry to the name and the title of its server, and one of its tools."""
MOCKED: Final = {f"GATEWAY_BACKEND_{name.upper()}": "mock" for name, *_ in CONNECTORS.values()}
VARIABLE: Final = re.compile(r"\$\{([A-Z_]+)\}")
VALUES: Final = {
    "NEXT_PUBLIC_SUPABASE_URL": "https://project.supabase.example",
    "CLIENT_DATABASE_SHEET_ID": "sheet-0123456789",
}


def expanded(value: Any, variables: dict[str, str]) -> Any:
    """`value` with the environment in the place of `${NAME}`, as clients read the file."""
    if isinstance(value, str):
        return VARIABLE.sub(lambda found: variables.get(found[1], "value-of-the-user"), value)
    if isinstance(value, list):
        return [expanded(each, variables) for each in value]
    return {name: expanded(each, variables) for name, each in value.items()}


def test_both_files_have_the_same_servers() -> None:
    assert [set(each["mcpServers"]) for each in FILES] == [set(CONNECTORS)] * 2


@pytest.mark.parametrize(("entry", "mode"), [*zip(CONNECTORS, ["legacy", "auto"] * 2, strict=True)])
async def test_an_entry_with_a_command_starts_one_connector(
    entry: str, mode: str, tmp_path: Path
) -> None:
    """Each in one mode: both are used, and each start takes seconds."""
    server = expanded(FILES[0]["mcpServers"][entry], VALUES)
    environment = clean_environment(MOCKED | server["env"])
    environment["PATH"] = f"{GATEWAY.parent}:{environment['PATH']}"
    started = StdioServerParameters(
        command=server["command"], args=server["args"], env=environment, cwd=tmp_path
    )
    async with Client(started, mode=mode) as client:
        await look_at(client, entry)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("entry", CONNECTORS)
async def test_an_entry_with_a_url_reaches_one_connector(
    entry: str, mode: str, shared_gateway: RunningGateway
) -> None:
    server = expanded(FILES[1]["mcpServers"][entry], {"GATEWAY_KEY": shared_gateway.key})
    url = server["url"].replace("http://127.0.0.1:8700", shared_gateway.url)
    async with (
        httpx2.AsyncClient(headers=server["headers"]) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        await look_at(client, entry)


async def look_at(client: Client, entry: str) -> None:
    name, title, tool, arguments = CONNECTORS[entry]
    assert client.server_info is not None
    assert (client.server_info.name, client.server_info.title) == (name, title)
    assert client.server_info.description == client.instructions != ""
    assert tool in {each.name for each in (await client.list_tools()).tools}
    if arguments is not None:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
