"""Hotels with a room, as the tool shows them."""

from itertools import chain, pairwise

import pytest
from hypothesis import HealthCheck, given, settings

from gateway.connectors.amadeus.hotels import BATCH, MAX_HOTELS, search_hotels
from gateway.contract.handler import dump
from gateway.errors import InvalidArguments, ToolFailed, UpstreamRejected
from generated.models.amadeus.search_hotels import SearchHotelsInput
from tests.unit.connectors.travel import Scripted, admits_result, answers, errors

ASKED = {"city_code": "LON", "check_in_date": "2027-03-15", "check_out_date": "2027-03-18"}


def hotel_id(number):
    return f"HILON{number:03d}"


def listed(*numbers, **more):
    return {
        "data": [
            {"hotelId": hotel_id(n), "name": f"H{n}", "distance": {"value": n / 10}, **more}
            for n in numbers
        ]
    }


def offered(number, *totals, currency="GBP"):
    hotel = {"hotelId": hotel_id(number), "name": f"HOTEL {number}"}
    offers = [
        {"id": f"O{index}", "price": {"currency": currency, "total": total}}
        for index, total in enumerate(totals)
    ]
    return {"hotel": hotel, "offers": offers}


def data(*hotels):
    return {"data": list(hotels)}


async def search(context, **arguments):
    asked = SearchHotelsInput.model_validate({**ASKED, **arguments})
    result = dump(await search_hotels(asked, context))
    assert admits_result("amadeus.search_hotels", result)
    return result


async def test_a_hotel_is_shown_with_both_prices_for_the_whole_stay():
    context = Scripted(listHotelsInCity=listed(1), searchHotelOffers=data(offered(1, "640.00")))
    assert await search(context) == {
        "hotels": [
            {
                "name": "HOTEL 1",
                "price": 1000.0,
                "currency": "USD",
                "original_amount": "640.00",
                "original_currency": "GBP",
                "rate_source": "live",
                "rating": None,
                "address": None,
            }
        ],
        "count": 1,
        "nights": 3,
    }
    assert context.queries("listHotelsInCity") == [{"cityCode": "LON"}]
    assert context.queries("searchHotelOffers") == [
        {
            "hotelIds": "HILON001",
            "adults": "1",
            "checkInDate": "2027-03-15",
            "checkOutDate": "2027-03-18",
        }
    ]


async def test_the_cheapest_offer_of_each_and_the_cheapest_hotel_first():
    hotels = data(offered(1, "90", "80"), offered(2, "70"), offered(3, "1", currency="KES"))
    context = Scripted(listHotelsInCity=listed(1, 2, 3), searchHotelOffers=hotels)
    result = await search(context)
    shown = [(each["name"], each["original_amount"]) for each in result["hotels"]]
    assert shown == [("HOTEL 2", "70"), ("HOTEL 1", "80"), ("HOTEL 3", "1")]
    assert result["hotels"][-1]["price"] is None
    assert "KES" in result["message"]


async def test_what_the_list_reports_of_a_hotel_is_shown():
    address = {"countryCode": "GB", "lines": ["1 Main Street"], "postalCode": "N1", "cityName": "L"}
    context = Scripted(
        listHotelsInCity=listed(1, rating="4", address=address),
        searchHotelOffers=data(offered(1, "1")),
    )
    (hotel,) = (await search(context))["hotels"]
    assert (hotel["rating"], hotel["address"]) == (4, "1 Main Street, N1 L")


async def test_hotels_without_offers_are_left_out():
    sold = {**offered(1), "available": False}
    bare = {"hotel": {"name": "HOTEL 3"}}
    unpriced = {"hotel": {"name": "HOTEL 4"}, "offers": [{"id": "X", "price": {}}]}
    context = Scripted(
        listHotelsInCity=listed(1, 2, 3, 4),
        searchHotelOffers=data(sold, offered(2, "5"), bare, unpriced),
    )
    assert [each["name"] for each in (await search(context))["hotels"]] == ["HOTEL 2"]


async def test_the_nearest_hotels_are_asked_in_batches():
    context = Scripted(listHotelsInCity=listed(*reversed(range(1, 100))), searchHotelOffers=data())
    await search(context)
    batches = [each["hotelIds"].split(",") for each in context.queries("searchHotelOffers")]
    assert [len(batch) for batch in batches] == [BATCH, BATCH]
    assert list(chain(*batches)) == [hotel_id(number) for number in range(1, MAX_HOTELS + 1)]


async def test_hotels_that_amadeus_names_as_full_are_left_out_of_the_next_request():
    """Amadeus answers nothing for a request in which one hotel has no room."""
    full = errors(3664, parameter="hotelIds=HILON001,HILON003")
    context = Scripted(
        listHotelsInCity=listed(1, 2, 3), searchHotelOffers=[full, data(offered(2, "5"))]
    )
    assert (await search(context))["count"] == 1
    asked = [each["hotelIds"] for each in context.queries("searchHotelOffers")]
    assert asked == ["HILON001,HILON002,HILON003", "HILON002"]


async def test_a_batch_is_halved_when_amadeus_does_not_say_which_hotel_is_full():
    full = errors(3664)
    script = [full, data(offered(1, "5")), full, data(offered(3, "6")), full]
    context = Scripted(listHotelsInCity=listed(1, 2, 3, 4), searchHotelOffers=script)
    result = await search(context)
    asked = [each["hotelIds"] for each in context.queries("searchHotelOffers")]
    assert [ids.count(",") + 1 for ids in asked] == [4, 2, 2, 1, 1]
    assert result["count"] == 2


class Full(Scripted):
    """Amadeus, which refuses a request for any hotel of `full`, and does not name the hotel."""

    def __init__(self, full, count):
        super().__init__(listHotelsInCity=listed(*range(1, count + 1)), searchHotelOffers=data())
        self._full = {hotel_id(number) for number in full}

    async def send(self, asked, *, expect=()):
        ids = asked.query.get("hotelIds", "").split(",")
        found = [offered(int(each[5:]), "5") for each in ids if each]
        answer = errors(3664) if self._full & {*ids} else data(*found)
        self._script["searchHotelOffers"] = [answer]
        return await super().send(asked, expect=expect)


@pytest.mark.parametrize("full", [range(1, 41, 5), range(1, 9), range(2, 41, 2), [40]])
async def test_every_hotel_is_asked_however_many_are_full(full):
    result = await search(Full(full, 40))
    shown = {each["name"] for each in result["hotels"]}
    assert shown == {f"HOTEL {number}" for number in range(1, 41) if number not in full}
    assert "message" not in result


async def test_when_all_are_full_each_was_asked():
    result = await search(Full(range(1, 41), 40))
    assert result["message"] == "Amadeus found no hotel with a room for these dates."


async def test_hotels_that_were_not_asked_are_counted_in_the_message():
    found = await search(Full([], 99))
    assert found["count"] == MAX_HOTELS
    assert "Only 40 of the 99 hotels of the city were asked" in found["message"]
    full = await search(Full(range(1, 41), 99))
    assert full["count"] == 0
    assert "Only 40 of the 99 hotels of the city were asked" in full["message"]


async def test_there_is_an_end_to_asking_again(monkeypatch):
    monkeypatch.setattr("gateway.connectors.amadeus.hotels.ASKING_SECONDS", 0)
    context = Scripted(listHotelsInCity=listed(*range(1, 41)), searchHotelOffers=errors(3664))
    result = await search(context)
    assert len(context.queries("searchHotelOffers")) == 1
    assert "Only 0 of the 40 hotels of the city were asked" in result["message"]


@pytest.mark.parametrize("found", [data(), errors(895), errors("00895"), (404, errors(1797)[1])])
async def test_a_city_without_hotels_is_an_empty_list_with_a_message(found):
    context = Scripted(listHotelsInCity=found)
    result = await search(context)
    assert (result["hotels"], result["count"], result["nights"]) == ([], 0, 3)
    assert result["message"] == "Amadeus found no hotel for the city code."
    assert len(context.asked) == 1


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ({"listHotelsInCity": errors("01157")}, "city_not_found"),
        ({"listHotelsInCity": listed(1), "searchHotelOffers": errors(381)}, "dates_refused"),
        ({"listHotelsInCity": listed(1), "searchHotelOffers": errors(1300)}, "dates_refused"),
    ],
)
async def test_what_amadeus_refuses_is_a_declared_error(script, reason):
    with pytest.raises(ToolFailed) as caught:
        await search(Scripted(**script))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "script",
    [
        {"listHotelsInCity": errors(477)},
        {"listHotelsInCity": listed(1), "searchHotelOffers": errors(450)},
        {"listHotelsInCity": listed(1), "searchHotelOffers": errors(3664, 450)},
    ],
)
async def test_any_other_refusal_is_no_empty_list(script):
    with pytest.raises(UpstreamRejected):
        await search(Scripted(**script))


@pytest.mark.parametrize(
    ("dates", "pointer"),
    [
        ({"check_out_date": "2027-03-15"}, "/check_out_date"),
        ({"check_out_date": "2027-03-14"}, "/check_out_date"),
        ({"check_in_date": "0000-01-01"}, "/check_in_date"),
    ],
)
async def test_dates_that_are_no_stay_are_refused_before_anything_is_sent(dates, pointer):
    context = Scripted(listHotelsInCity=listed(1))
    with pytest.raises(InvalidArguments) as caught:
        await search(context, **dates)
    assert [each.pointer for each in caught.value.violations] == [pointer]
    assert context.asked == []


@settings(suppress_health_check=list(HealthCheck))
@given(body=answers("searchHotelOffers"))
async def test_every_answer_of_amadeus_becomes_a_result(body):
    context = Scripted(listHotelsInCity=listed(1), searchHotelOffers=body)
    result = await search(context)
    prices = [each["price"] for each in result["hotels"] if each["price"] is not None]
    assert all(cheaper <= dearer for cheaper, dearer in pairwise(prices))
    assert result["count"] == len(result["hotels"]) <= len(body.get("data", ()))
    assert result["hotels"] or result["message"]


@settings(suppress_health_check=list(HealthCheck))
@given(body=answers("listHotelsInCity"))
async def test_every_list_of_hotels_can_be_asked_for_offers(body):
    context = Scripted(listHotelsInCity=body, searchHotelOffers=data())
    await search(context)
    asked = [each["hotelIds"] for each in context.queries("searchHotelOffers")]
    assert all(0 < len(ids.split(",")) <= BATCH for ids in asked)
