"""The travel tools through the whole call path, against both mocks."""

import pytest

from gateway.contract.operation import Attempts
from gateway.errors import (
    InvalidArguments,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
)
from tests.unit import shipped
from tests.unit.connectors.tools import ConnectorTools

FLIGHT = {"origin": "LON", "destination": "TYO", "departure_date": "2027-03-15"}
STAY = {"city_code": "TYO", "check_in_date": "2027-03-15", "check_out_date": "2027-03-18"}
EUROS = {"amount": "380.00", "from": "EUR", "to": "USD"}
ARGUMENTS = {
    "amadeus.get_airport_code": {"city_name": "New York"},
    "amadeus.search_flights": FLIGHT,
    "amadeus.search_hotels": STAY,
    "frankfurter.convert_currency": EUROS,
}


class Tools(ConnectorTools):
    """The tools of both connectors, by operation id; without arguments called with usual ones."""

    def __init__(self, *steps, **credentials):
        super().__init__("amadeus", *steps, also=("frankfurter",), **credentials)

    async def call(self, operation_id, arguments=None):
        given = ARGUMENTS[operation_id] if arguments is None else arguments
        return await super().call(operation_id, **given)


@pytest.mark.parametrize("tool", ARGUMENTS)
async def test_every_tool_answers_within_its_contract(tool):
    assert await Tools().call(tool)


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_every_tool_is_tried_three_times_a_second_and_two_seconds_apart(tool):
    attempts = shipped.catalogue().find(tool).operation.attempts
    assert attempts == Attempts(
        max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)
    )


@pytest.mark.parametrize("status", [429, 503])
async def test_a_search_succeeds_at_the_third_attempt(status):
    tools = Tools(f"searchFlightOffers 2 status={status}")
    assert (await tools.call("amadeus.search_flights"))["count"] > 0
    assert tools.asked.count("searchFlightOffers") == 3


async def test_there_is_no_fourth_attempt():
    tools = Tools("searchFlightOffers 3 status=429")
    with pytest.raises(UpstreamRateLimited):
        await tools.call("amadeus.search_flights")
    assert tools.asked == ["searchFlightOffers"] * 3


async def test_rates_are_read_once_an_hour():
    tools = Tools()
    for tool in ("amadeus.search_flights", "amadeus.search_hotels", "frankfurter.convert_currency"):
        await tools.call(tool)
    assert tools.asked.count("readLatestRates") == 1
    tools.clock.advance(3600)
    await tools.call("frankfurter.convert_currency")
    assert tools.asked.count("readLatestRates") == 2


@pytest.mark.parametrize(
    "fault", ["status=503", "status=422", "truncate", "close", "break-contract"]
)
async def test_a_failing_frankfurter_costs_no_result(fault):
    tools = Tools(f"readLatestRates 3 {fault}")
    result = await tools.call("amadeus.search_flights")
    assert {each["rate_source"] for each in result["flights"]} == {"fallback"}
    assert "fixed rates of 2026-10-06" in result["message"]


async def test_a_fixed_rate_is_kept_for_a_minute_and_not_for_an_hour():
    tools = Tools("readLatestRates 3 status=503")
    assert (await tools.call("frankfurter.convert_currency"))["rate_source"] == "fallback"
    asked = tools.asked.count("readLatestRates")
    assert (await tools.call("frankfurter.convert_currency"))["rate_source"] == "fallback"
    assert tools.asked.count("readLatestRates") == asked
    tools.clock.advance(60)
    assert (await tools.call("frankfurter.convert_currency"))["rate_source"] == "live"


async def test_prices_in_dollars_and_in_the_original_currency_agree():
    """Every flight's two prices differ by one rate, to the cent."""
    tools = Tools()
    flights = (await tools.call("amadeus.search_flights"))["flights"]
    rate = await tools.call(
        "frankfurter.convert_currency", {"amount": "1", "from": "GBP", "to": "USD"}
    )
    for flight in flights:
        assert flight["original_currency"] == "GBP"
        expected = float(flight["original_amount"]) * float(rate["rate"])
        assert flight["price"] == pytest.approx(expected, abs=0.0051)


async def test_full_hotels_are_left_out_and_the_others_found():
    """The mock has more full hotels than none, and names them in a refusal, as Amadeus does."""
    tools = Tools()
    result = await tools.call("amadeus.search_hotels")
    assert tools.asked.count("searchHotelOffers") > 2
    assert 20 < result["count"] < 40
    assert result["nights"] == 3


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("amadeus.get_airport_code", {"city_name": "Atlantis"}, "city_not_found"),
        ("amadeus.search_flights", {**FLIGHT, "origin": "XXX"}, "airport_not_found"),
        ("amadeus.search_flights", {**FLIGHT, "departure_date": "2020-01-01"}, "dates_refused"),
        ("amadeus.search_hotels", {**STAY, "check_in_date": "2020-01-01"}, "dates_refused"),
        ("amadeus.search_flights", {**FLIGHT, "departure_date": "2027-11-18"}, "dates_refused"),
        (
            "amadeus.search_hotels",
            {**STAY, "check_in_date": "2027-11-16", "check_out_date": "2027-11-17"},
            "dates_refused",
        ),
        (
            "amadeus.search_hotels",
            {**STAY, "check_in_date": "2027-03-01", "check_out_date": "2027-06-09"},
            "dates_refused",
        ),
        ("frankfurter.convert_currency", {**EUROS, "to": "XXX"}, "unknown_currency"),
    ],
)
async def test_what_does_not_exist_is_a_declared_error(tool, arguments, reason):
    with pytest.raises(ToolFailed) as caught:
        await Tools().call(tool, arguments)
    assert caught.value.reason == reason


async def test_a_name_that_amadeus_cannot_search_by_is_a_wrong_argument():
    tools = Tools()
    with pytest.raises(InvalidArguments) as caught:
        await tools.call("amadeus.get_airport_code", {"city_name": "東京"})
    assert [each.pointer for each in caught.value.violations] == ["/city_name"]
    assert tools.asked == []


async def test_a_city_without_flights_or_hotels_has_a_message():
    tools = Tools()
    nothing = await tools.call(
        "amadeus.search_flights", {**FLIGHT, "origin": "LHR", "destination": "LGW"}
    )
    nowhere = await tools.call("amadeus.search_hotels", {**STAY, "city_code": "XXX"})
    assert (nothing["count"], nowhere["count"]) == (0, 0)
    assert nothing["message"]
    assert nowhere["message"]


async def test_a_token_that_has_expired_is_renewed_unseen():
    tools = Tools()
    await tools.call("amadeus.get_airport_code")
    tools.clock.advance(1800)
    assert await tools.call("amadeus.get_airport_code")


async def test_credentials_that_were_revoked_are_the_operators_problem():
    tools = Tools(client_id="id", client_secret="revoked")
    with pytest.raises(UpstreamRefusedCredentials):
        await tools.call("amadeus.search_flights")
