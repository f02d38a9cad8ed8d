# Generated from schemas/tools/avinode/create_watch.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: dca1f4d80e582ee6cf835f7703b94206; generator 1

"""The binding of avinode.create_watch.

Requests go to `POST /emptylegs/watches` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import days_in_order
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, as_date_time, converted, mapped, present, text
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest

_STATUS: Final[Mapping[str, Any]] = {"ACTIVE": "active", "PAUSED": "paused"}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="createWatch",
        method="POST",
        path=("emptylegs", "watches"),
        body=present(
            {
                "startAirport": {"icao": arguments["departure_airport"]},
                "endAirport": {"icao": arguments["arrival_airport"]},
                "dateRange": days_in_order(arguments["date_range"]),
                "paxCount": text(arguments.get("passengers", ABSENT)),
                "maximumPrice": arguments.get("max_price", ABSENT),
                "currency": "USD",
            }
        ),
    )


def _result_2xx(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "watch_id": body["data"]["id"],
        "status": mapped(body["data"]["status"], _STATUS, "/data/status"),
        "created_at": converted(body["data"]["createdOn"], as_date_time, "/data/createdOn"),
    }


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="createWatch",
    request=_request,
    results={"2XX": _result_2xx},
    errors={
        "START_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "END_AIRPORT_INVALID": ErrorRule(reason="airport_not_found"),
        "SAME_AIRPORT": ErrorRule(reason="same_airport"),
        "DATES_IN_PAST": ErrorRule(reason="dates_in_past"),
        "422": ErrorRule(reason="request_refused"),
    },
)
