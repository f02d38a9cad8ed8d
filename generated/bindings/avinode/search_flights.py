# Generated from schemas/tools/avinode/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0a964144894caf4dedf1adb75b7a7530; generator 1

"""The binding of avinode.search_flights.

Requests go to `POST /searches` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, each, listed, mapped, present, text
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest

_AIRCRAFT_CATEGORY: Final[Mapping[str, Any]] = {
    "light": "Light jet",
    "midsize": "Midsize jet",
    "heavy": "Heavy jet",
    "ultra-long-range": "Ultra long range",
    "turboprop": "Turbo prop",
}
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
_AVAILABILITY: Final[Mapping[str, Any]] = {"AVAILABLE": "available", "ON_REQUEST": "on_request"}
_NOTICE: Final[Mapping[str, Any]] = {
    "true": (
        "Avinode offers this account no search through its API. With "
        "create_trip: true this tool creates a trip and returns a link to search "
        "from it."
    ),
    "false": (
        "Avinode offers this account no search through its API. Its website "
        "does: an agent with avinode.create_trip can create a trip, which has a "
        "link to search from."
    ),
}
_REQUIRED_LIFT_AIRCRAFT_CATEGORY: Final[Mapping[str, Any]] = {
    "light": "Light jet",
    "midsize": "Midsize jet",
    "heavy": "Heavy jet",
    "ultra-long-range": "Ultra long range",
    "turboprop": "Turbo prop",
}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="searchCharterOptions",
        method="POST",
        path=("searches",),
        body={
            "segments": [
                {
                    "startAirport": {"icao": arguments["departure_airport"]},
                    "endAirport": {"icao": arguments["arrival_airport"]},
                    "dateTime": {"date": arguments["departure_date"]},
                    "paxCount": text(arguments["passengers"]),
                }
            ],
            "criteria": present(
                {
                    "aircraftCategory": mapped(
                        arguments.get("aircraft_category", ABSENT),
                        _AIRCRAFT_CATEGORY,
                        "/aircraft_category",
                    ),
                    "aircraftTypes": arguments.get("aircraft_types", ABSENT),
                    "maximumPrice": arguments.get("max_budget", ABSENT),
                    "minimumSellerRating": arguments.get("min_operator_rating", ABSENT),
                }
            ),
            "currency": "USD",
        },
    )


def _aircraft(item: Any) -> dict[str, Any]:
    return present(
        {
            "id": item["id"],
            "type": item["aircraftType"]["name"],
            "category": mapped(
                item["aircraftCategory"]["name"],
                _CATEGORY,
                "/data/*/aircraftCategory/name",
                "other",
            ),
            "capacity": item["maximumPassengers"],
            "range_nm": item.get("rangeNauticalMiles", ABSENT),
            "speed_kts": item.get("cruiseSpeedKnots", ABSENT),
            "operator": present(
                {
                    "id": item["sellerCompany"]["id"],
                    "name": item["sellerCompany"]["displayName"],
                    "rating": item["sellerCompany"].get("rating", ABSENT),
                    "safety_rating": item["sellerCompany"].get("safetyRating", ABSENT),
                }
            ),
            "availability": mapped(item["availability"], _AVAILABILITY, "/data/*/availability"),
            "estimated_price_usd": item["price"]["amount"],
        }
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "aircraft": each(body["data"], _aircraft, limit=200),
        "total": body["meta"]["pagination"]["totalCount"],
        "query_time_ms": body["meta"]["queryTimeMs"],
    }


def _result_403(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    return {
        "aircraft": [],
        "total": 0,
        "query_time_ms": reply.elapsed_ms,
        "notice": mapped(call.may_escalate, _NOTICE, "/may_escalate"),
    }


def _fallback_request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="createTrip",
        method="POST",
        path=("trips",),
        body={
            "sourcing": True,
            "segments": [
                {
                    "startAirport": {"icao": arguments["departure_airport"]},
                    "endAirport": {"icao": arguments["arrival_airport"]},
                    "dateTime": {
                        "date": arguments["departure_date"],
                        "departure": True,
                        "local": True,
                    },
                    "paxCount": text(arguments["passengers"]),
                    "paxSegment": True,
                    "paxTBD": False,
                    "timeTBD": True,
                }
            ],
            "criteria": {
                "requiredLift": listed(
                    {
                        "aircraftCategory": mapped(
                            arguments["aircraft_category"],
                            _REQUIRED_LIFT_AIRCRAFT_CATEGORY,
                            "/aircraft_category",
                        )
                    }
                    if "aircraft_category" in arguments
                    else ABSENT
                ),
                "includeLiftUpgrades": True,
            },
        },
    )


def _fallback_result_2xx(
    arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts
) -> dict[str, Any]:
    body = reply.body
    return {
        "aircraft": [],
        "total": 0,
        "query_time_ms": reply.elapsed_ms,
        "trip_id": body["data"]["id"],
        "deep_link": body["data"]["actions"]["searchInAvinode"]["href"],
        "notice": (
            "Avinode offers this account no search through its API. Open the link to "
            "search on its website."
        ),
    }


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="searchCharterOptions",
    request=_request,
    results={"200": _result_200},
    errors={
        "START_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "END_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "SAME_AIRPORT": ErrorRule(reason="same_airport"),
        "DEPARTURE_IN_PAST": ErrorRule(reason="departure_in_past"),
        "422": ErrorRule(reason="request_refused"),
        "403": ErrorRule(result=_result_403),
    },
    fallback_on=("403",),
    fallback_writes=True,
    fallback=HttpBinding(
        upstream="avinode",
        upstream_operation="createTrip",
        request=_fallback_request,
        results={"2XX": _fallback_result_2xx},
        errors={
            "START_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
            "END_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
            "SAME_AIRPORT": ErrorRule(reason="same_airport"),
            "DEPARTURE_IN_PAST": ErrorRule(reason="departure_in_past"),
            "422": ErrorRule(reason="request_refused"),
        },
    ),
)
