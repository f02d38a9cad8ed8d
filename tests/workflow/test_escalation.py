"""A search through a whole gateway: what it advises, who may book, and what it needs."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from generated import policies
from tests.gateway_process import EXAMPLES_BEGIN

SEARCH = "/v1/golf/search_tee_times"
BOOK = "/v1/golf/book_tee_time"
DAY = {"date": "2026-12-07", "players": 4}
NOW = {**DAY, "auto_book": True, "idempotency_key": "key-of-the-escalation"}
AGENTS = {
    "looker": frozenset({"golf.search_tee_times"}),
    "golfer": frozenset({"golf.search_tee_times", "golf.book_tee_time"}),
}


class Site:
    """A gateway on mocks, and a client for each of two agents."""

    def __init__(self, gateway: Gateway, url: str, keys: dict[str, str]) -> None:
        self.gateway, self._url, self._keys = gateway, url, keys

    async def post(self, agent: str, path: str, arguments: dict[str, Any]) -> httpx.Response:
        headers = {"authorization": f"Bearer {self._keys[agent]}"}
        async with httpx.AsyncClient(base_url=self._url, headers=headers) as http:
            return await http.post(path, json=arguments)

    async def recorded(self) -> list[Any]:
        """The audit records that are in the store now, oldest first."""
        records = await self.gateway.parts.store.audit.latest(100)
        return [each for each in records[::-1] if each.operation.startswith("golf.")]


@pytest.fixture
async def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setattr(policies, "GRANTS", {**policies.GRANTS, **AGENTS})
    # Reads are recorded late on purpose here: what is stored at once, was waited for.
    environment = {
        "GATEWAY_DATA": str(tmp_path),
        "GATEWAY_AUDIT_FLUSH_SECONDS": "5",
        "GATEWAY_MOCK_TIME": EXAMPLES_BEGIN,
    }
    async with (
        Gateway.open(read_settings(environment, None, {})) as gateway,
        serving(gateway.http_app()) as url,
    ):
        keys = {agent: (await gateway.parts.keys.create(agent, "test")).key for agent in AGENTS}
        yield Site(gateway, url, keys)


async def test_who_may_only_search_may_not_book_by_searching(site: Site) -> None:
    refused = await site.post("looker", SEARCH, NOW)
    assert (refused.status_code, refused.json()["code"]) == (403, "PERMISSION_ERROR")
    found = await site.gateway.call("golf.get_reservations", {"user_id": "user-001"})
    assert found["reservations"] == []
    assert (await site.post("looker", SEARCH, {**NOW, "auto_book": False})).status_code == 200
    assert (await site.post("golfer", SEARCH, NOW)).status_code == 200


async def test_a_search_that_books_needs_a_key_for_the_booking(site: Site) -> None:
    refused = await site.post("golfer", SEARCH, {**DAY, "auto_book": True})
    assert (refused.status_code, refused.json()["code"]) == (422, "VALIDATION_ERROR")
    assert [each["pointer"] for each in refused.json()["errors"]] == ["/idempotency_key"]


async def test_the_record_of_a_booking_is_stored_before_it_is_answered(site: Site) -> None:
    searched = await site.post("golfer", SEARCH, DAY)
    assert searched.status_code == 200
    assert await site.recorded() == []
    booked = await site.post("golfer", SEARCH, NOW)
    assert booked.json()["reservation"]["status"] == "confirmed"
    read, write = await site.recorded()
    assert (write.operation, write.agent, write.status) == ("golf.search_tee_times", "golfer", 200)
    assert write.arguments["auto_book"] is True
    assert "auto_book" not in read.arguments


async def test_a_search_after_a_booking_does_not_show_what_was_booked(site: Site) -> None:
    """Searches are kept for five minutes, but not beyond a booking through the same gateway."""
    first = (await site.post("golfer", SEARCH, DAY)).json()["tee_times"]
    taken = first[0]
    booking = {name: taken[name] for name in ("tee_time_id", "date", "time")} | {"players": 4}
    assert (await site.post("golfer", BOOK, booking)).status_code == 200
    assert (await site.post("looker", SEARCH, DAY)).json()["tee_times"] == first[1:]


async def test_a_search_is_kept_for_others(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request to the tee sheet serves two callers, and both calls are recorded."""
    line = site.gateway.parts.pipeline.dispatcher._connections["golf"]
    sent = []
    send = line.backend.send

    async def watched(request: Any, *, timeout_seconds: float, is_cut_short: bool = False) -> Any:
        sent.append(request.operation)
        return await send(request, timeout_seconds=timeout_seconds, is_cut_short=is_cut_short)

    monkeypatch.setattr(line.backend, "send", watched)
    answers = [await site.post(agent, SEARCH, DAY) for agent in ("looker", "golfer", "looker")]
    assert {answer.text for answer in answers} == {answers[0].text}
    assert sent == ["listTeeTimes"]


ADVISED = {
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
                return await http.post("/v1/avinode/search_flights", json=ADVISED | more)

        notice = (await search()).json()["notice"]
        assert ("create_trip: true" in notice) is may
        with_trip = await search(create_trip=True)
        assert (with_trip.status_code == 200) is may
        if may:
            assert with_trip.json()["trip_id"] in with_trip.json()["deep_link"]
