"""A live upstream beside mocked ones starts, and each answer that a mock has a part in says so."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from gateway.app import Gateway
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.asgi_server import serving
from gateway.testing.live import FaultyUpstreams
from tests.bridged import bridged
from tests.interaction.operated import operated

FLIGHTS: Final = {"origin": "JFK", "destination": "LHR", "departure_date": "2027-03-15"}
DOLLARS: Final = {"amount": "10.00", "from": "EUR", "to": "USD"}
LEGS: Final = {"query": "Teterboro"}
META: Final = "contract-gateway/mocked"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    live = FaultyUpstreams({"frankfurter": catalogue.upstreams["frankfurter"]})
    async with serving(live) as url:
        settings = {
            "GATEWAY_BACKEND_FRANKFURTER": "live",
            "GATEWAY_FRANKFURTER_BASE_URL": f"{url}/frankfurter",
        }
        async with operated(tmp_path, **settings) as found:
            yield found


@pytest.mark.parametrize(
    ("tool", "arguments", "mocked"),
    [
        ("amadeus/search_flights", FLIGHTS, "amadeus"),
        ("avinode/search_airports", LEGS, "avinode"),
        ("frankfurter/convert_currency", DOLLARS, None),
        ("example/greet", {"name": "Ada"}, None),
    ],
)
async def test_rest_names_the_mocks_of_an_answer(
    desk: tuple[Gateway, httpx.AsyncClient], tool: str, arguments: Any, mocked: str | None
) -> None:
    answer = await desk[1].post(f"/v1/{tool}", json=arguments)

    assert answer.status_code == 200, answer.text
    assert answer.headers.get("gateway-mocked") == mocked


async def test_models_and_programs_are_told(desk: tuple[Gateway, httpx.AsyncClient]) -> None:
    gateway, http = desk
    key = http.headers["authorization"].removeprefix("Bearer ")
    application: Any = gateway.http_app()
    async with serving(application) as url, bridged(f"{url}/mcp", key) as client:
        mixed = await client.call_tool("amadeus_search_flights", FLIGHTS)
        real = await client.call_tool("frankfurter_convert_currency", DOLLARS)

    assert mixed.meta is not None
    assert mixed.meta[META] == ["amadeus"]
    said = mixed.content[-1].text  # type: ignore[union-attr]  # a text block
    assert said == "Made up: a mock answered for amadeus. Other data of this gateway is real."
    assert META not in (real.meta or {})
    assert len(real.content) == 1


async def test_probes_are_told_which_upstreams_are_mocks(
    desk: tuple[Gateway, httpx.AsyncClient],
) -> None:
    ready = (await desk[1].get("/readyz")).json()

    assert "amadeus" in ready["mocks"]
    assert "frankfurter" not in ready["mocks"]


async def test_where_all_is_mocked_no_answer_is_marked(tmp_path: Path) -> None:
    async with operated(tmp_path) as (_, http):
        answer = await http.post("/v1/avinode/search_airports", json=LEGS)

    assert answer.headers["gateway-backend"] == "mock"
    assert "gateway-mocked" not in answer.headers
