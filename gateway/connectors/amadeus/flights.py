"""The tool `amadeus.search_flights`: offers of airlines, priced in US dollars."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.connectors.amadeus.answers import (
    AmadeusRefusal,
    Price,
    conversion_notes,
    price_of,
    refusal,
)
from gateway.connectors.frankfurter.rates import Exchange, read_exchange
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall, UpstreamReply
from gateway.errors import InvalidArguments, ToolFailed
from generated.models.amadeus.search_flights import SearchFlightsInput, SearchFlightsOutput

MAX_FLIGHTS: Final = 20
"""The number of requested offers. Amadeus would send 250, of several kilobytes each."""
_NOTHING: Final = "Amadeus found no flights for this route and date."
_NOT_FOUND: Final = 1797
_INVALID_DATE: Final = 425
_PLACES: Final = {"originLocationCode", "destinationLocationCode"}
_DATES: Final = {"departureDate", "returnDate"}
_MAX_NAME: Final = 200


@tool_handler
async def search_flights(
    arguments: SearchFlightsInput, context: CallContext
) -> SearchFlightsOutput:
    """The available flights for one adult, cheapest first.

    Raises `InvalidArguments` for airports or dates that contradict each other, and `ToolFailed`
    with `airport_not_found` or `dates_refused`.
    """
    _check(arguments)
    upstream_call = UpstreamCall("amadeus", "searchFlightOffers", query=_query(arguments))
    found = _offers(await context.send(upstream_call, expect={400, 404}))
    offers = found["data"][:MAX_FLIGHTS]
    if not offers:
        return SearchFlightsOutput(flights=[], count=0, message=_NOTHING)
    exchange = await read_exchange(context)
    priced = sorted(((_price(offer, exchange), offer) for offer in offers), key=_rank)
    carriers = found.get("dictionaries", {}).get("carriers", {})
    flights = [flight_of(offer, price, carriers) for price, offer in priced]
    members: dict[str, Any] = {"flights": flights, "count": len(flights)}
    notes = conversion_notes([price for price, _ in priced])
    if notes:
        members["message"] = " ".join(notes)
    return SearchFlightsOutput.model_validate(members)


def flight_of(
    offer: Mapping[str, Any], price: Price, carriers: Mapping[str, str]
) -> dict[str, Any]:
    """One offer of Amadeus in the tool's output format."""
    outbound, *inbound = [itinerary["segments"] for itinerary in offer["itineraries"][:2]]
    code = outbound[0]["carrierCode"]
    flight = {
        "price": price.number,
        "currency": "USD",
        "original_amount": price.original_amount,
        "original_currency": price.original_currency,
        "rate_source": price.source,
        "departure": outbound[0]["departure"]["at"],
        "arrival": outbound[-1]["arrival"]["at"],
        "departure_airport": outbound[0]["departure"]["iataCode"],
        "arrival_airport": outbound[-1]["arrival"]["iataCode"],
        "airline": carriers.get(code, code)[:_MAX_NAME],
        "stops": stops_of(outbound),
    }
    for segments in inbound:
        flight["return_departure"] = segments[0]["departure"]["at"]
        flight["return_arrival"] = segments[-1]["arrival"]["at"]
        flight["return_stops"] = stops_of(segments)
    return flight


def stops_of(segments: Sequence[Mapping[str, Any]]) -> int:
    """The number of stops: changes of aircraft and technical stops."""
    technical = sum(int(segment.get("numberOfStops", 0)) for segment in segments)
    return len(segments) - 1 + technical


def _check(arguments: SearchFlightsInput) -> None:
    if arguments.origin == arguments.destination:
        raise InvalidArguments.at("/destination", "order", "must differ from origin")
    return_date = arguments.return_date
    # Dates written YYYY-MM-DD sort as text.
    if return_date is not None and return_date < arguments.departure_date:
        raise InvalidArguments.at("/return_date", "order", "must not be before departure_date")


def _query(arguments: SearchFlightsInput) -> dict[str, str]:
    query = {
        "originLocationCode": arguments.origin,
        "destinationLocationCode": arguments.destination,
        "departureDate": arguments.departure_date,
        "adults": "1",
        "max": str(MAX_FLIGHTS),
    }
    if arguments.return_date is not None:
        query["returnDate"] = arguments.return_date
    return query


def _offers(reply: UpstreamReply) -> Mapping[str, Any]:
    """The body with the offers. Amadeus reports "no offers" as an error: an empty list here."""
    if reply.status == 200:
        found: Mapping[str, Any] = reply.body
        return found
    refused = refusal(reply)
    if refused.is_only({_NOT_FOUND}):
        return {"data": []}
    raise _declared(refused)


def _declared(refused: AmadeusRefusal) -> Exception:
    pointed = set(refused.parameters)
    if pointed & _PLACES:
        return ToolFailed("airport_not_found")
    if pointed & _DATES or refused.is_only({_INVALID_DATE}):
        return ToolFailed("dates_refused")
    return refused.error


def _price(offer: Mapping[str, Any], exchange: Exchange) -> Price:
    price = offer["price"]
    return price_of(price.get("grandTotal", price["total"]), price["currency"], exchange)


def _rank(priced: tuple[Price, Mapping[str, Any]]) -> tuple[bool, Any, str]:
    price, offer = priced
    return *price.rank, offer["itineraries"][0]["segments"][0]["departure"]["at"]
