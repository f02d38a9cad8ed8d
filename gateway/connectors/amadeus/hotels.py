"""The tool `amadeus.search_hotels`: the hotels of a city that have a room, priced in US dollars."""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.amadeus.answers import (
    AmadeusRefusal,
    Price,
    conversion_notes,
    price_of,
    refusal,
)
from gateway.connectors.frankfurter.rates import Exchange, read_exchange
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall
from gateway.errors import InvalidArguments, ToolFailed
from generated.models.amadeus.search_hotels import SearchHotelsInput, SearchHotelsOutput

MAX_HOTELS: Final = 40
"""How many hotels are queried for offers, nearest to the centre. Large cities have thousands."""
BATCH: Final = 20
"""Hotels in one request: the maximum that Amadeus accepts."""
ASKING_SECONDS: Final = 20.0
"""After this time, a call sends no further request for offers: it has 30 seconds in all."""
_NO_HOTEL: Final = "Amadeus found no hotel for the city code."
_NO_ROOM: Final = "Amadeus found no hotel with a room for these dates."
_NOTHING_FOUND: Final = {895, 1797, 11126}
_INVALID_CITY: Final = {9, 383, 1157}
_NO_OFFER: Final = {392, 400, 424, 1257, 1297, 1797, 3237, 3289, 3494, 3664, 6698, 11126, 12247}
"""No room or rate is available, or the listed hotel is no longer sold."""
_INVALID_DATES: Final = {145, 175, 377, 381, 382, 404, 431, 704, 1300, 3273, 4413, 6987, 8194}
_MAX_NAME: Final = 200
_MAX_ADDRESS: Final = 500


class Stay(Struct, frozen=True, kw_only=True):
    """A city and the dates of a stay."""

    city_code: str
    check_in: str
    check_out: str
    nights: int


@tool_handler
async def search_hotels(arguments: SearchHotelsInput, context: CallContext) -> SearchHotelsOutput:
    """The hotels with a room for one adult, cheapest first.

    Raises `InvalidArguments` for invalid dates, and `ToolFailed` with `city_not_found` or
    `dates_refused`.
    """
    stay = _stay(arguments)
    known, hotels = await _nearest(context, stay.city_code)
    if not hotels:
        return SearchHotelsOutput(hotels=[], count=0, nights=stay.nights, message=_NO_HOTEL)
    offers, asked = await _offers(context, tuple(hotels), stay)
    scope = _scope_notes(asked, known)
    exchange = await read_exchange(context) if offers else None
    priced = [
        (price, each) for each in offers if exchange and (price := best_price(each, exchange))
    ]
    priced.sort(key=lambda one: one[0].rank)
    listed = [hotel_of(each["hotel"], price, hotels) for price, each in priced[:MAX_HOTELS]]
    notes = conversion_notes([price for price, _ in priced]) if listed else [_NO_ROOM]
    notes += scope
    members: dict[str, Any] = {"hotels": listed, "count": len(listed), "nights": stay.nights}
    if notes:
        members["message"] = " ".join(notes)
    return SearchHotelsOutput.model_validate(members)


def best_price(found: Mapping[str, Any], exchange: Exchange) -> Price | None:
    """The price of a hotel's cheapest offer; None for a hotel without offers."""
    prices = [each["price"] for each in found.get("offers", ())]
    totals = [(each.get("total") or each.get("sellingTotal"), each) for each in prices]
    candidates = [
        price_of(total, each["currency"], exchange)
        for total, each in totals
        if total is not None and "currency" in each
    ]
    return min(candidates, key=lambda price: price.rank, default=None)


def hotel_of(
    hotel: Mapping[str, Any], price: Price, listed: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """One hotel in the tool's output format. `listed` has the city's hotels by id."""
    entry = listed.get(hotel.get("hotelId", ""), {})
    return {
        "name": hotel["name"][:_MAX_NAME],
        "price": price.number,
        "currency": "USD",
        "original_amount": price.original_amount,
        "original_currency": price.original_currency,
        "rate_source": price.source,
        "rating": _rating(entry.get("rating")),
        "address": _address(entry.get("address", {})),
    }


def _stay(arguments: SearchHotelsInput) -> Stay:
    try:
        first = date.fromisoformat(arguments.check_in_date)
        last = date.fromisoformat(arguments.check_out_date)
    except ValueError:
        raise InvalidArguments.at(
            "/check_in_date", "order", "must be of the years 1 to 9999"
        ) from None
    if last <= first:
        raise InvalidArguments.at("/check_out_date", "order", "must be after check_in_date")
    return Stay(
        city_code=arguments.city_code,
        check_in=arguments.check_in_date,
        check_out=arguments.check_out_date,
        nights=(last - first).days,
    )


async def _nearest(
    context: CallContext, city_code: str
) -> tuple[int, dict[str, Mapping[str, Any]]]:
    """How many hotels the city has, and the nearest to the centre by id. Raises `ToolFailed`."""
    upstream_call = UpstreamCall("amadeus", "listHotelsInCity", query={"cityCode": city_code})
    reply = await context.send(upstream_call, expect={400, 404})
    if reply.status == 200:
        hotels = {hotel["hotelId"]: hotel for hotel in sorted(reply.body["data"], key=_distance)}
        return len(hotels), dict(islice(hotels.items(), MAX_HOTELS))
    refused = refusal(reply)
    if refused.is_only(_NOTHING_FOUND):
        return 0, {}
    raise ToolFailed("city_not_found") if refused.is_only(_INVALID_CITY) else refused.error


async def _offers(
    context: CallContext, hotel_ids: Sequence[str], stay: Stay
) -> tuple[list[Mapping[str, Any]], int]:
    """The offers of the hotels that have a room, and how many hotels were asked.

    Amadeus refuses a whole request if one hotel has no room, so the request is repeated for the
    others. Raises `ToolFailed`.
    """
    found: list[Mapping[str, Any]] = []
    batches = deque(hotel_ids[start : start + BATCH] for start in range(0, len(hotel_ids), BATCH))
    loop = asyncio.get_running_loop()
    until = loop.time() + ASKING_SECONDS
    while batches:
        batch = batches.popleft()
        upstream_call = UpstreamCall("amadeus", "searchHotelOffers", query=_query(batch, stay))
        reply = await context.send(upstream_call, expect={400, 404})
        if reply.status == 200:
            found.extend(reply.body.get("data", ()))
        else:
            batches.extend(_smaller_batches(batch, refusal(reply)))
        if loop.time() >= until:
            break
    return found, len(hotel_ids) - sum(map(len, batches))


def _scope_notes(asked: int, known: int) -> list[str]:
    """Notes about hotels of the city that were not asked for offers."""
    if asked == known:
        return []
    return [f"Only {asked} of the {known} hotels of the city were asked."]


def _query(hotel_ids: Iterable[str], stay: Stay) -> dict[str, str]:
    return {
        "hotelIds": ",".join(hotel_ids),
        "adults": "1",
        "checkInDate": stay.check_in,
        "checkOutDate": stay.check_out,
    }


def _smaller_batches(batch: Sequence[str], refused: AmadeusRefusal) -> list[Sequence[str]]:
    """The batches that replace the refused one. Raises `ToolFailed`."""
    if refused.is_only(_INVALID_DATES):
        raise ToolFailed("dates_refused")
    if not refused.is_only(_NO_OFFER):
        raise refused.error
    named = {hotel_id for hotel_id in batch if hotel_id in " ".join(refused.parameters)}
    if named:
        rest = [hotel_id for hotel_id in batch if hotel_id not in named]
        return [rest] if rest else []
    half = len(batch) // 2
    return [batch[:half], batch[half:]] if half else []


def _distance(hotel: Mapping[str, Any]) -> float:
    return float(hotel.get("distance", {}).get("value", "inf"))


def _rating(stars: Any) -> int | None:
    text = str(stars)
    return int(text) if text in {"1", "2", "3", "4", "5"} else None


def _address(address: Mapping[str, Any]) -> str | None:
    """The address in one line; None without a street, because a country alone is not an address."""
    lines = address.get("lines", ())
    if not lines:
        return None
    town = " ".join(filter(None, (address.get("postalCode"), address.get("cityName"))))
    return ", ".join(filter(None, (*lines, town)))[:_MAX_ADDRESS] or None
