"""How the Amadeus mock makes up flights and hotels."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from gateway.backends.mock.state import StoredState
from gateway.connectors.amadeus.mock.offers import AIRLINES, CURRENCIES, hotel_with, hotels_in
from gateway.connectors.amadeus.mock.places import AIRPORTS, CITIES, CITY_OF, COUNTRIES, distance_km
from gateway.connectors.amadeus.mock.upstream import BEHAVIOURS
from gateway.contract.mock import MockRequest, answer_of
from tests.unit import shipped
from tests.unit.tables import each_of

FLIGHT = {
    "originLocationCode": "LON",
    "destinationLocationCode": "TYO",
    "departureDate": "2027-03-15",
    "adults": 1,
}
STAY = {"checkInDate": "2027-03-15", "checkOutDate": "2027-03-18"}


def ask(operation, seed="0", **query):
    request = MockRequest(
        operation=operation,
        query=query,
        now=datetime(2026, 11, 20, 14, 30, tzinfo=UTC),
        seed=seed,
        fingerprint="",
    )
    return answer_of(BEHAVIOURS[operation], request, StoredState())


def flights(**query):
    return ask("searchFlightOffers", **{**FLIGHT, **query}).body["data"]


def code(reply):
    return reply.status, reply.body["errors"][0]["code"]


def test_every_operation_of_the_contract_has_a_behaviour():
    operations = {each.id for each in shipped.upstream("amadeus").operations}
    assert BEHAVIOURS.keys() == operations - {"issueToken"}


def test_the_tables_agree_with_each_other():
    assert len(CITIES) >= 40
    assert len(AIRPORTS) == len(CITY_OF) == sum(len(city.airports) for city in CITIES.values())
    assert {city.country for city in CITIES.values()} <= COUNTRIES.keys()
    assert {city.currency for city in CITIES.values()} <= CURRENCIES.keys()
    assert {airline.hub for airline in AIRLINES} <= AIRPORTS.keys()


def test_distances_are_those_of_the_globe():
    """Heathrow to Haneda is 9,600 kilometres, to within one in a hundred."""
    assert distance_km(AIRPORTS["LHR"], AIRPORTS["HND"]) == pytest.approx(9600, rel=0.01)


def test_the_same_search_finds_the_same_and_another_seed_something_else():
    assert ask("searchFlightOffers", **FLIGHT) == ask("searchFlightOffers", **FLIGHT)
    assert ask("searchFlightOffers", **FLIGHT) != ask("searchFlightOffers", seed="1", **FLIGHT)


@pytest.mark.parametrize(("origin", "currency"), [("LON", "GBP"), ("TYO", "JPY"), ("NBO", "KES")])
def test_prices_are_in_the_currency_of_the_origin(origin, currency):
    found = flights(originLocationCode=origin, destinationLocationCode="DXB")
    assert {offer["price"]["currency"] for offer in found} == {currency}
    is_whole = CURRENCIES[currency].decimals == 0
    assert all(("." in offer["price"]["total"]) is not is_whole for offer in found)


def test_segments_follow_each_other():
    for offer in flights(returnDate="2027-03-29"):
        there, back = [way["segments"] for way in offer["itineraries"]]
        for segments in (there, back):
            for first, second in pairwise(segments):
                assert first["arrival"]["iataCode"] == second["departure"]["iataCode"]
                assert first["arrival"]["at"] < second["departure"]["at"]
        assert back[0]["departure"]["at"] > there[-1]["arrival"]["at"]


def test_a_flight_that_is_too_long_lands_on_the_way():
    """London to Sydney is 17,000 kilometres."""
    found = flights(destinationLocationCode="SYD")
    (qantas,) = [each for each in found if each["validatingAirlineCodes"] == ["QF"]]
    assert [leg["numberOfStops"] for leg in qantas["itineraries"][0]["segments"]] == [1]
    assert flights(destinationLocationCode="SYD", nonStop=True) == []


def test_nobody_flies_inside_a_city():
    assert flights(originLocationCode="LHR", destinationLocationCode="LGW") == []


def test_what_is_sold_costs_more_for_two():
    one, two = flights(max=1), flights(max=1, adults=2)
    assert float(two[0]["price"]["total"]) == pytest.approx(2 * float(one[0]["price"]["total"]))


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ({"originLocationCode": "XXX"}, 4926),
        ({"destinationLocationCode": "LON"}, 2668),
        ({"departureDate": "2023-12-31"}, 425),
        ({"returnDate": "2027-03-14"}, 425),
    ],
)
def test_flights_that_cannot_be_are_refused(query, refusal):
    assert code(ask("searchFlightOffers", **{**FLIGHT, **query})) == (400, refusal)


@each_of("city", CITIES.values(), ids=CITIES)
def test_hotels_are_known_by_their_id(city):
    hotels = hotels_in(city)
    ids = [hotel.id for hotel in hotels]
    assert len(set(ids)) == len(ids) >= 10
    assert [hotel_with(hotel_id) for hotel_id in ids] == hotels


def test_some_hotels_are_full_and_the_others_sell():
    ids = [hotel.id for hotel in hotels_in(CITIES["LON"])]
    replies = [ask("searchHotelOffers", hotelIds=[hotel_id], **STAY) for hotel_id in ids]
    full = [reply for reply in replies if reply.status == 400]
    assert 0 < len(full) < len(ids) / 2
    assert {code(reply) for reply in full} == {(400, 3664)}


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ({"hotelIds": ["HILON999"]}, 3237),
        ({"hotelIds": ["ZZZZZZZZ"]}, 3237),
        ({"checkInDate": "2023-12-31"}, 381),
        ({"checkOutDate": "2027-03-15"}, 404),
    ],
)
def test_stays_that_cannot_be_are_refused(query, refusal):
    asked = {"hotelIds": [hotels_in(CITIES["LON"])[0].id], **STAY, **query}
    assert code(ask("searchHotelOffers", **asked)) == (400, refusal)


def test_a_city_without_hotels_is_refused():
    assert code(ask("listHotelsInCity", cityCode="XXX")) == (400, 895)


@pytest.mark.parametrize(
    ("keyword", "kinds", "found"),
    [
        ("york", ["AIRPORT"], ["JFK", "EWR", "LGA"]),
        ("NEW  YORK", ["CITY"], ["NYC"]),
        ("nrt", ["AIRPORT", "CITY"], ["NRT"]),
        ("ork", ["AIRPORT", "CITY"], []),
        ("Heath", ["AIRPORT"], ["LHR"]),
    ],
)
def test_locations_are_found_by_the_beginning_of_a_word(keyword, kinds, found):
    reply = ask("searchLocations", keyword=keyword, subType=kinds)
    assert [row["iataCode"] for row in reply.body["data"]] == found


def test_a_light_view_reports_less():
    query = {"keyword": "Tokyo", "subType": ["CITY"]}
    (full,) = ask("searchLocations", **query).body["data"]
    (light,) = ask("searchLocations", view="LIGHT", **query).body["data"]
    assert light.items() < {**full, "address": light["address"]}.items()
    assert light["address"].items() < full["address"].items()


@pytest.mark.parametrize("day", ["2023-12-31", "2100-01-01", "9999-12-31"])
def test_a_day_that_is_past_or_far_ahead_is_refused(day):
    assert code(ask("searchFlightOffers", **{**FLIGHT, "departureDate": day})) == (400, 425)
    assert code(ask("searchFlightOffers", **FLIGHT, returnDate=day)) == (400, 425)
    hotel_ids = [hotels_in(CITIES["LON"])[0].id]
    assert code(ask("searchHotelOffers", hotelIds=hotel_ids, checkInDate=day)) == (400, 381)
