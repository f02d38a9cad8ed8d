"""What a search of a broker's account advises: only what the caller's key may do."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving

SEARCH = {
    "departure_airport": "KTEB",
    "arrival_airport": "KVNY",
    "passengers": 6,
    "departure_date": "2031-12-01",
}


@pytest.mark.parametrize(("agent", "may"), [("flight_search", False), ("administrator", True)])
async def test_a_notice_advises_nothing_that_the_key_may_not_do(
    agent: str, may: bool, tmp_path: Path
) -> None:
    environment = {
        "GATEWAY_DATA": str(tmp_path),
        "GATEWAY_AVINODE_API_TOKEN": "mock_application",
        "GATEWAY_AVINODE_ACCESS_TOKEN": "mock_broker",
    }
    async with (
        Gateway.open(read_settings(environment, None, {})) as gateway,
        serving(gateway.http_app()) as url,
    ):
        key = (await gateway.parts.keys.create(agent, "test")).key
        headers = {"authorization": f"Bearer {key}"}

        async def search(**more: Any) -> httpx.Response:
            async with httpx.AsyncClient(base_url=url, headers=headers) as http:
                return await http.post("/v1/avinode/search_flights", json=SEARCH | more)

        notice = (await search()).json()["notice"]
        assert ("create_trip: true" in notice) is may
        with_trip = await search(create_trip=True)
        assert (with_trip.status_code == 200) is may
        if may:
            assert with_trip.json()["trip_id"] in with_trip.json()["deep_link"]
