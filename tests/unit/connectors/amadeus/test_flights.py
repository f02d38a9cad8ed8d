"""Flight offers as the tool shows them."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings

from gateway.connectors.amadeus.flights import search_flights, stops_of
from gateway.contract.handler import dump
from gateway.errors import InvalidArguments, ToolFailed, UpstreamRejected, UpstreamUnavailable
from generated.models.amadeus.search_flights import SearchFlightsInput
from tests.unit.connectors.travel import Scripted, admits_result, answers, errors

ASKED = {"origin": "JFK", "destination": "LHR", "departure_date": "2027-03-15"}


def segment(start, end, day="2027-03-15", hour=8, carrier="BA", stops=0):
    return {
        "departure": {"iataCode": start, "at": f"{day}T{hour:02d}:00:00"},
        "arrival": {"iataCode": end, "at": f"{day}T{hour + 7:02d}:30:00"},
        "carrierCode": carrier,
        "numberOfStops": stops,
    }


def offer(amount="400.00", currency="EUR", *itineraries, **price):
    ways = itineraries or ([segment("JFK", "LHR")],)
    return {
        "type": "flight-offer",
        "id": "1",
        "itineraries": [{"segments": way} for way in ways],
        "price": {"currency": currency, "total": amount, **price},
    }


def reply(*offers, carriers=None):
    return {
        "data": list(offers),
        "dictionaries": {"carriers": carriers or {"BA": "BRITISH AIRWAYS"}},
    }


async def search(context, **arguments):
    asked = SearchFlightsInput.model_validate({**ASKED, **arguments})
    result = dump(await search_flights(asked, context))
    assert admits_result("amadeus.search_flights", result)
    return result


async def test_an_offer_is_shown_with_both_prices():
    result = await search(Scripted(searchFlightOffers=reply(offer("400.00", "EUR"))))
    assert result == {
        "flights": [
            {
                "price": 500.0,
                "currency": "USD",
                "original_amount": "400.00",
                "original_currency": "EUR",
                "rate_source": "live",
                "departure": "2027-03-15T08:00:00",
                "arrival": "2027-03-15T15:30:00",
                "departure_airport": "JFK",
                "arrival_airport": "LHR",
                "airline": "BRITISH AIRWAYS",
                "stops": 0,
            }
        ],
        "count": 1,
    }


async def test_what_is_sent():
    context = Scripted(searchFlightOffers=reply(offer()))
    await search(context, return_date="2027-03-20")
    assert context.queries("searchFlightOffers") == [
        {
            "originLocationCode": "JFK",
            "destinationLocationCode": "LHR",
            "departureDate": "2027-03-15",
            "returnDate": "2027-03-20",
            "adults": "1",
            "max": "20",
        }
    ]
    assert context.queries("readLatestRates") == [{"base": "EUR"}]


async def test_the_cheapest_comes_first_in_dollars():
    """300 pounds are more than 400 dollars, and 40,000 yen less; shillings have no rate."""
    found = reply(
        offer("300", "GBP"), offer("9", "KES"), offer("400", "USD"), offer("40000", "JPY")
    )
    result = await search(Scripted(searchFlightOffers=found))
    flights = result["flights"]
    assert [each["original_currency"] for each in flights] == ["JPY", "USD", "GBP", "KES"]
    assert [each["price"] for each in flights] == [312.5, 400.0, 468.75, None]
    assert [each["rate_source"] for each in flights] == ["live", "same", "live", None]
    assert "KES" in result["message"]


async def test_fixed_rates_are_reported_with_their_day():
    found = reply(offer("100", "AED"), offer("100", "EUR"))
    result = await search(Scripted(searchFlightOffers=found, readLatestRates=UpstreamUnavailable()))
    assert {each["rate_source"] for each in result["flights"]} == {"fallback"}
    assert "AED, EUR" in result["message"]
    assert "2026-10-06" in result["message"]


async def test_dollars_are_right_without_any_rates():
    found = reply(offer("100.10", "USD"))
    result = await search(Scripted(searchFlightOffers=found, readLatestRates=UpstreamUnavailable()))
    assert (result["flights"][0]["price"], result["flights"][0]["rate_source"]) == (100.1, "same")
    assert "message" not in result


async def test_the_grand_total_is_what_it_costs():
    result = await search(Scripted(searchFlightOffers=reply(offer("1", "USD", grandTotal="7"))))
    assert result["flights"][0]["original_amount"] == "7"


async def test_a_flight_back_is_shown_beside_the_flight_there():
    there = [segment("JFK", "KEF"), segment("KEF", "LHR", hour=16, stops=1)]
    back = [segment("LHR", "JFK", day="2027-03-20", hour=10)]
    result = await search(Scripted(searchFlightOffers=reply(offer("1", "USD", there, back))))
    (flight,) = result["flights"]
    assert (flight["stops"], flight["return_stops"]) == (2, 0)
    assert flight["arrival"] == "2027-03-15T23:30:00"
    assert flight["return_departure"] == "2027-03-20T10:00:00"
    assert flight["return_arrival"] == "2027-03-20T17:30:00"


def test_stops_are_changes_and_technical_landings():
    assert stops_of([segment("A", "B")]) == 0
    assert stops_of([segment("A", "B", stops=1)]) == 1
    assert stops_of([{}, {"numberOfStops": 2}, {}]) == 4


async def test_an_airline_without_a_name_is_shown_by_its_code():
    found = reply(offer("1", "USD", [segment("JFK", "LHR", carrier="ZZ")]))
    result = await search(Scripted(searchFlightOffers=found))
    assert result["flights"][0]["airline"] == "ZZ"


@pytest.mark.parametrize("found", [{"data": []}, (404, errors(1797)[1])])
async def test_no_flights_are_an_empty_list_with_a_message(found):
    context = Scripted(searchFlightOffers=found)
    result = await search(context)
    assert (result["flights"], result["count"]) == ([], 0)
    assert "no flights" in result["message"]
    assert context.queries("readLatestRates") == []


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (errors(4926, parameter="originLocationCode"), "airport_not_found"),
        (errors(477, parameter="destinationLocationCode"), "airport_not_found"),
        (errors("425"), "dates_refused"),
        (errors(477, parameter="returnDate"), "dates_refused"),
    ],
)
async def test_what_amadeus_refuses_is_a_declared_error(refusal, reason):
    with pytest.raises(ToolFailed) as caught:
        await search(Scripted(searchFlightOffers=refusal))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("refusal", "reported"),
    [(errors(2668), "2668"), (errors(), "400"), (errors("<script>"), "400")],
)
async def test_any_other_refusal_names_the_code_and_no_text_of_amadeus(refusal, reported):
    with pytest.raises(UpstreamRejected, match=reported) as caught:
        await search(Scripted(searchFlightOffers=refusal))
    assert "REFUSED" not in str(caught.value)
    assert "script" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [({"destination": "JFK"}, "/destination"), ({"return_date": "2027-03-14"}, "/return_date")],
)
async def test_contradictions_are_refused_before_anything_is_sent(arguments, pointer):
    context = Scripted(searchFlightOffers=reply(offer()))
    with pytest.raises(InvalidArguments) as caught:
        await search(context, **arguments)
    assert [each.pointer for each in caught.value.violations] == [pointer]
    assert context.asked == []


async def test_a_flight_back_on_the_same_day_is_no_contradiction():
    assert await search(
        Scripted(searchFlightOffers=reply(offer())), return_date=ASKED["departure_date"]
    )


@settings(suppress_health_check=list(HealthCheck))
@given(body=answers("searchFlightOffers"))
async def test_every_answer_of_amadeus_becomes_a_result(body):
    """In order of price, none lost, and the original amount as it came."""
    context = Scripted(searchFlightOffers=body)
    result = await search(context)
    flights = result["flights"]
    assert result["count"] == len(flights) == min(len(body["data"]), 20)
    prices = [each["price"] for each in flights if each["price"] is not None]
    assert all(cheaper <= dearer for cheaper, dearer in pairwise(prices))
    assert flights[: len(prices)] == [each for each in flights if each["price"] is not None]
    quoted = [each["price"].get("grandTotal", each["price"]["total"]) for each in body["data"][:20]]
    assert sorted(each["original_amount"] for each in flights) == sorted(quoted)
    for each in flights:
        if each["original_currency"] == "USD" and each["price"] is not None:
            assert abs(Decimal(str(each["price"])) - Decimal(each["original_amount"])) <= Decimal(
                "0.005"
            )
