"""The vendor's own Python client against the Amadeus mock, over HTTP."""

import asyncio
import logging
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import amadeus
import httpx
import pytest

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.backends.mock.faults import parse_step
from gateway.testing.asgi_server import serving
from tests.clients.contracts import upstream
from tests.clocks import ManualClock

FLIGHT = {
    "originLocationCode": "MAD",
    "destinationLocationCode": "BKK",
    "departureDate": "2027-03-15",
    "adults": 2,
}
STAY = {"checkInDate": "2027-03-15", "checkOutDate": "2027-03-18"}


class Client:
    """The vendor's client, called from a thread, for it blocks."""

    def __init__(self, url, clock, key="some"):
        self.clock = clock
        address = urlsplit(url)
        self.sdk = amadeus.Client(
            client_id="id",
            client_secret=f"{key} key",
            host=address.hostname,
            port=address.port,
            ssl=False,
            # Its own logger would print to standard output.
            logger=logging.getLogger("test"),
        )

    async def get(self, endpoint, **query):
        return await asyncio.to_thread(endpoint.get, **query)


@asynccontextmanager
async def client(*steps, **options):
    clock = ManualClock()
    mock = MockApplication(upstream("amadeus"), clock, scenario=list(map(parse_step, steps)))
    async with serving(asgi_app(mock)) as url:
        yield Client(url, clock, **options)


async def test_locations_are_found():
    async with client() as it:
        reply = await it.get(
            it.sdk.reference_data.locations, keyword="LON", subType=amadeus.Location.ANY
        )
    assert reply.status_code == 200
    assert [row["iataCode"] for row in reply.data][:2] == ["LON", "LHR"]
    assert reply.headers["Content-Type"] == "application/vnd.amadeus+json"


async def test_pages_are_turned_by_the_client():
    """It follows the links of the mock's `meta`, which are written for the real host."""
    async with client() as it:
        first = await it.get(
            it.sdk.reference_data.locations,
            keyword="London",
            subType="AIRPORT",
            **{"page[limit]": 3},
        )
        second = await asyncio.to_thread(it.sdk.next, first)
        nothing = await asyncio.to_thread(it.sdk.next, second)
    assert [row["iataCode"] for row in first.data] == ["LHR", "LGW", "STN"]
    assert [row["iataCode"] for row in second.data] == ["LCY", "YXU"]
    assert nothing is None


async def test_flight_offers_are_found():
    async with client() as it:
        reply = await it.get(it.sdk.shopping.flight_offers_search, **FLIGHT, max=3)
    assert 0 < len(reply.data) <= 3
    totals = [float(offer["price"]["grandTotal"]) for offer in reply.data]
    assert totals == sorted(totals)
    carriers = reply.result["dictionaries"]["carriers"]
    for offer in reply.data:
        assert len(offer["travelerPricings"]) == 2
        (way,) = offer["itineraries"]
        assert way["segments"][0]["departure"]["iataCode"] == "MAD"
        assert way["segments"][-1]["arrival"]["iataCode"] == "BKK"
        assert all(segment["carrierCode"] in carriers for segment in way["segments"])


async def test_hotels_are_listed_and_the_offers_of_one_found():
    async with client() as it:
        hotels = await it.get(it.sdk.reference_data.locations.hotels.by_city, cityCode="PAR")
        first = hotels.data[0]["hotelId"]
        reply = await it.get(it.sdk.shopping.hotel_offers_search, hotelIds=first, **STAY)
    (found,) = reply.data
    assert found["hotel"]["hotelId"] == first
    assert found["hotel"]["name"] == hotels.data[0]["name"]
    price = found["offers"][0]["price"]
    assert price["currency"] == "EUR"
    assert float(price["total"]) > 3 * float(price["variations"]["average"]["base"])


async def test_a_full_hotel_refuses_the_others_and_is_named():
    async with client() as it:
        hotels = await it.get(it.sdk.reference_data.locations.hotels.by_city, cityCode="PAR")
        ids = [hotel["hotelId"] for hotel in hotels.data[:20]]
        with pytest.raises(amadeus.ClientError) as caught:
            await it.get(it.sdk.shopping.hotel_offers_search, hotelIds=",".join(ids), **STAY)
        (error,) = caught.value.response.result["errors"]
        full = error["source"]["parameter"].removeprefix("hotelIds=").split(",")
        rest = [hotel_id for hotel_id in ids if hotel_id not in full]
        reply = await it.get(it.sdk.shopping.hotel_offers_search, hotelIds=",".join(rest), **STAY)
    assert [found["hotel"]["hotelId"] for found in reply.data] == rest


@pytest.mark.parametrize(
    ("step", "error", "code"),
    [
        ("searchFlightOffers 1 status=400", amadeus.ClientError, 477),
        ("searchFlightOffers 1 status=404", amadeus.NotFoundError, 38196),
        ("searchFlightOffers 1 status=429", amadeus.ClientError, 38194),
        ("searchFlightOffers 1 status=500", amadeus.ServerError, 38189),
    ],
)
async def test_failures_are_the_clients_own_errors(step, error, code):
    async with client(step) as it:
        with pytest.raises(error) as caught:
            await it.get(it.sdk.shopping.flight_offers_search, **FLIGHT)
        assert caught.value.response.result["errors"][0]["code"] == code
        assert (await it.get(it.sdk.shopping.flight_offers_search, **FLIGHT)).data


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"originLocationCode": "XXX"}, "originLocationCode"),
        ({"departureDate": "2023-01-01"}, "departureDate"),
        ({"adults": 12}, "adults"),
        ({"returnDate": "2027-03-01"}, "returnDate"),
    ],
)
async def test_a_wrong_parameter_is_named(wrong, parameter):
    async with client() as it:
        with pytest.raises(amadeus.ClientError) as caught:
            await it.get(it.sdk.shopping.flight_offers_search, **{**FLIGHT, **wrong})
    assert caught.value.response.result["errors"][0]["source"]["parameter"] == parameter


async def test_a_token_that_has_expired_is_refused_and_a_new_one_admitted():
    """The client keeps its token by its own clock; the mock's has gone on by half an hour."""
    async with client() as it:
        search = it.sdk.shopping.flight_offers_search
        assert (await it.get(search, **FLIGHT)).data
        it.clock.advance(timedelta(minutes=30))
        with pytest.raises(amadeus.AuthenticationError) as caught:
            await it.get(search, **FLIGHT)
        assert caught.value.response.result["errors"][0]["code"] == 38192
        it.sdk.access_token.expires_at = 0
        assert (await it.get(search, **FLIGHT)).data


async def test_credentials_that_were_revoked_get_no_token():
    async with client(key="revoked") as it:
        with pytest.raises(amadeus.AuthenticationError) as caught:
            await it.get(it.sdk.shopping.flight_offers_search, **FLIGHT)
    assert caught.value.response.result["error"] == "invalid_client"
    assert caught.value.response.result["code"] == 38187


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "38191"),
        ({"authorization": "Basic x"}, "38191"),
        ({"authorization": "Bearer x"}, 38190),
    ],
)
async def test_requests_without_a_token_of_the_mock_are_refused(headers, code):
    clock = ManualClock()
    async with (
        serving(asgi_app(MockApplication(upstream("amadeus"), clock))) as url,
        httpx.AsyncClient(base_url=url, headers=headers) as http,
    ):
        reply = await http.get("/v2/shopping/flight-offers", params=FLIGHT)
    assert reply.status_code == 401
    assert reply.json()["errors"][0]["code"] == code
