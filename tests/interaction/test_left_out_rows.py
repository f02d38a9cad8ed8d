"""A broken row of a vendor's reply costs that row, and the answer says so over every transport."""

import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from gateway.app import Gateway
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.asgi_server import serving
from gateway.testing.live import FaultyUpstreams, answering
from tests.bridged import bridged
from tests.eventually import eventually
from tests.interaction.operated import operated

QUERY: Final = {"query": "Teterboro"}
PLACE: Final = {"country": {"code": "US"}, "coordinates": {"latitude": 1, "longitude": 2}}
GOOD: Final = {"icao": "KTEB", "iata": "TEB", "name": "Teterboro", "city": None, **PLACE}
BROKEN: Final = {"icao": "KVNY", "name": None, "city": "Los Angeles", **PLACE}
SAID: Final = '/data/1/name: the value is not of type "string"'


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    vendor = FaultyUpstreams({"avinode": catalogue.upstreams["avinode"]})
    vendor.fault = answering(200, json.dumps({"data": [GOOD, BROKEN]}).encode())
    async with serving(vendor) as url:
        settings = {
            "GATEWAY_AVINODE_BASE_URL": f"{url}/avinode",
            "GATEWAY_AVINODE_API_TOKEN": "token-of-the-tests",
            "GATEWAY_AVINODE_ACCESS_TOKEN": "access-of-the-tests",
        }
        async with operated(tmp_path, **settings) as found:
            yield found


async def test_over_rest_and_from_the_cache(desk: tuple[Gateway, httpx.AsyncClient]) -> None:
    for _ in range(2):
        answer = await desk[1].post("/v1/avinode/search_airports", json=QUERY)

        assert answer.headers["gateway-left-out"] == "1"
        [airport] = answer.json()["airports"]
        assert (airport["name"], airport["city"]) == ("Teterboro", "Teterboro")


async def test_over_mcp_and_in_the_audit(desk: tuple[Gateway, httpx.AsyncClient]) -> None:
    gateway, http = desk
    key = http.headers["authorization"].removeprefix("Bearer ")
    application: Any = gateway.http_app()
    async with serving(application) as url, bridged(f"{url}/mcp", key) as client:
        found = await client.call_tool("avinode_search_airports", QUERY)

    assert found.meta is not None
    assert found.meta["contract-gateway/leftOut"] == [SAID]
    said = found.content[1].text  # type: ignore[union-attr]  # a text block
    assert said == (
        f"Of the upstream's reply, 1 row could not be read, which the result lacks: {SAID}"
    )
    assert await eventually(partial(detail_of_the_call, gateway)) == (
        f"left out of the reply: {SAID}"
    )


async def detail_of_the_call(gateway: Gateway) -> str | None:
    """What the audit record says, once it is written."""
    records = await gateway.parts.store.audit.latest(9)
    found = [each.detail for each in records if each.operation == "avinode.search_airports"]
    return found[0] if found else None
