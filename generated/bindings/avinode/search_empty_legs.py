# Generated from schemas/tools/avinode/search_empty_legs.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a5b39d561f8aaac8da557bf7bbb5c4ab; generator 1

"""The binding of avinode.search_empty_legs.

Requests go to `POST /emptylegs/search` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import days_in_order
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    each,
    mapped,
    present,
    text,
)
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest

_CATEGORY: Final[Mapping[str, Any]] = {
    "Entry level jet (VLJ)": "light",
    "Light jet": "light",
    "Super light jet": "light",
    "Midsize jet": "midsize",
    "Super midsize jet": "midsize",
    "Heavy jet": "heavy",
    "Ultra long range": "ultra-long-range",
    "Turbo prop": "turboprop",
}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="searchEmptyLegs",
        method="POST",
        path=("emptylegs", "search"),
        body=present(
            {
                "startAirport": {"icao": arguments["departure_airport"]},
                "endAirport": {"icao": arguments["arrival_airport"]},
                "dateRange": days_in_order(arguments["date_range"]),
                "paxCount": text(arguments["passengers"]),
                "maximumPrice": arguments.get("max_price", ABSENT),
                "currency": "USD",
            }
        ),
    )


def _empty_leg(item: Any) -> dict[str, Any]:
    return {
        "id": item["id"],
        "aircraft": {
            "id": item["lift"]["id"],
            "type": item["lift"]["aircraftType"]["name"],
            "category": mapped(
                item["lift"]["aircraftCategory"]["name"],
                _CATEGORY,
                "/data/*/lift/aircraftCategory/name",
                "other",
            ),
            "capacity": item["lift"]["maximumPassengers"],
        },
        "operator": present(
            {
                "id": item["sellerCompany"]["id"],
                "name": item["sellerCompany"]["displayName"],
                "rating": item["sellerCompany"].get("rating", ABSENT),
                "safety_rating": item["sellerCompany"].get("safetyRating", ABSENT),
            }
        ),
        "window": {
            "from": converted(item["earliestDeparture"], as_date_time, "/data/*/earliestDeparture"),
            "to": converted(item["latestDeparture"], as_date_time, "/data/*/latestDeparture"),
        },
        "price": item["price"]["amount"],
        "discount": item["discountPercent"],
    }


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "empty_legs": each(body["data"], _empty_leg, limit=200),
        "total": body["meta"]["pagination"]["totalCount"],
    }


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="searchEmptyLegs",
    request=_request,
    results={"200": _result_200},
    errors={
        "START_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "END_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "SAME_AIRPORT": ErrorRule(reason="same_airport"),
        "DATES_IN_PAST": ErrorRule(reason="dates_in_past"),
        "422": ErrorRule(reason="request_refused"),
    },
)
