# Generated from schemas/tools/avinode/create_trip.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 57aa70478f302a3fb03432fbd4f270eb; generator 1

"""The binding of avinode.create_trip.

Requests go to `POST /trips` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import day_back
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, as_date, as_time, converted, listed, text
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="createTrip",
        method="POST",
        path=("trips",),
        body={
            "sourcing": True,
            "segments": listed(
                {
                    "startAirport": {"icao": arguments["departure_airport"]},
                    "endAirport": {"icao": arguments["arrival_airport"]},
                    "dateTime": {
                        "date": converted(arguments["departure_date"], as_date, "/departure_date"),
                        "time": converted(arguments["departure_date"], as_time, "/departure_date"),
                        "departure": True,
                        "local": False,
                    },
                    "paxCount": text(arguments["passengers"]),
                    "paxSegment": True,
                    "paxTBD": False,
                    "timeTBD": False,
                },
                (
                    {
                        "startAirport": {"icao": arguments["arrival_airport"]},
                        "endAirport": {"icao": arguments["departure_airport"]},
                        "dateTime": {
                            "date": day_back(arguments["departure_date"], arguments["return_date"]),
                            "time": converted(arguments["return_date"], as_time, "/return_date"),
                            "departure": True,
                            "local": False,
                        },
                        "paxCount": text(arguments["passengers"]),
                        "paxSegment": True,
                        "paxTBD": False,
                        "timeTBD": False,
                    }
                    if "return_date" in arguments
                    else ABSENT
                ),
            ),
            "criteria": {"requiredLift": [], "includeLiftUpgrades": True},
        },
    )


def _result_2xx(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "trip_id": body["data"]["id"],
        "deep_link": body["data"]["actions"]["searchInAvinode"]["href"],
        "status": "created",
        "next_action": "OPEN_AVINODE",
        "message": "Trip created. Open Avinode to search operators and send RFQs.",
    }


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="createTrip",
    request=_request,
    results={"2XX": _result_2xx},
    errors={
        "START_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "END_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "SAME_AIRPORT": ErrorRule(reason="same_airport"),
        "DEPARTURE_IN_PAST": ErrorRule(reason="departure_in_past"),
        "422": ErrorRule(reason="request_refused"),
    },
)
