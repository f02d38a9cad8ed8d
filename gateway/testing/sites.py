"""A gateway with the policies of the project, and a key for each agent."""

import json
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct

from gateway.app import Gateway
from gateway.testing.faces import MODERN, lifespan
from gateway.testing.under_test import mocked_settings


class Site(Struct, frozen=True):
    """A gateway in memory, with a key for every agent."""

    gateway: Gateway
    client: httpx.AsyncClient
    keys: dict[str, str]

    async def post(self, agent: str, path: str, body: Any, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {
            "authorization": f"Bearer {self.keys[agent]}",
            "accept": "application/json, text/event-stream",
        }
        return await self.client.post(path, json=body, headers=named)

    async def mcp(self, agent: str, version: str, method: str, **params: Any) -> Any:
        headers = {"mcp_protocol_version": version}
        if version == MODERN:
            headers |= {"mcp_method": method} | (
                {"mcp_name": params["name"]} if "name" in params else {}
            )
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = await self.post(agent, "/mcp", body, **headers)
        data = [line[6:] for line in reply.text.splitlines() if line.startswith("data: ")]
        return json.loads(data[-1]) if data else reply.json()


@asynccontextmanager
async def open_site(data: Path, agents: Collection[str]) -> AsyncIterator[Site]:
    """The project on mocks, with a key for each of `agents`."""
    settings = mocked_settings(data)
    async with Gateway.open(settings) as gateway:
        create = gateway.parts.keys.create
        keys = {agent: (await create(agent, "test")).key for agent in agents}
        application = gateway.http_app()
        transport = httpx.ASGITransport(app=application)
        async with (
            lifespan(application),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            yield Site(gateway, client, keys)
