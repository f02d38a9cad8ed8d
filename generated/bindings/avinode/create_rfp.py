# Generated from schemas/tools/avinode/create_rfp.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b3467dbc51909b02737a6bfcda616413; generator 1

"""The binding of avinode.create_rfp.

Requests go to `POST /rfqs` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import before_departure, wishes
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date,
    as_date_time,
    as_time,
    converted,
    each,
    not_null,
    present,
    text,
)
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _seller_company(item: Any) -> dict[str, Any]:
    return {"id": item}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="createRfq",
        method="POST",
        path=("rfqs",),
        body=present(
            {
                "segments": [
                    {
                        "startAirport": {"icao": arguments["flight_details"]["departure_airport"]},
                        "endAirport": {"icao": arguments["flight_details"]["arrival_airport"]},
                        "dateTime": {
                            "date": converted(
                                arguments["flight_details"]["departure_date"],
                                as_date,
                                "/flight_details/departure_date",
                            ),
                            "time": converted(
                                arguments["flight_details"]["departure_date"],
                                as_time,
                                "/flight_details/departure_date",
                            ),
                            "departure": True,
                            "local": False,
                        },
                        "paxCount": text(arguments["flight_details"]["passengers"]),
                    }
                ],
                "sellerCompanies": each(arguments["operator_ids"], _seller_company),
                "quoteDeadline": not_null(
                    before_departure(
                        arguments["flight_details"]["departure_date"], arguments.get("deadline")
                    )
                ),
                "messageToSeller": arguments.get("special_requirements", ABSENT),
                "requirements": not_null(wishes(arguments.get("requirements"))),
            }
        ),
    )


def _result_2xx(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return present(
        {
            "rfp_id": body["data"]["id"],
            "status": "created",
            "operators_notified": len(body["data"]["sellerLift"]),
            "created_at": converted(body["data"]["createdOn"], as_date_time, "/data/createdOn"),
            "deadline": converted(
                body["data"].get("quoteDeadline", ABSENT), as_date_time, "/data/quoteDeadline"
            ),
        }
    )


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="createRfq",
    request=_request,
    results={"2XX": _result_2xx},
    errors={
        "START_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "END_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "SAME_AIRPORT": ErrorRule(reason="same_airport"),
        "DEPARTURE_IN_PAST": ErrorRule(reason="departure_in_past"),
        "DEADLINE_IN_PAST": ErrorRule(reason="deadline_in_past"),
        "INSUFFICIENT_CAPACITY": ErrorRule(reason="insufficient_capacity"),
        "not_found": ErrorRule(reason="operator_not_found"),
        "422": ErrorRule(reason="request_refused"),
    },
)
