"""A gateway in memory, and its administrator over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.app import Gateway
from gateway.settings import read_settings


@asynccontextmanager
async def operated(data: Path, **settings: str) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    """The gateway, open, and a client with the administrator's key."""
    fixed = {"GATEWAY_DATABASE_URL": "memory:", "GATEWAY_DATA": str(data)}
    async with Gateway.open(read_settings(fixed | settings, None, {})) as gateway:
        new_key = gateway.parts.new_key
        assert new_key is not None
        app: Any = gateway.http_app()
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://localhost",
            headers={"authorization": f"Bearer {new_key.key}"},
        ) as http:
            yield gateway, http
