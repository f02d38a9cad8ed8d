# Generated from schemas/tools/avinode/get_quote_status.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2081265ff7955f38abdad7217ddabd1b; generator 1

"""The binding of avinode.get_quote_status.

Requests go to `GET /rfqs/{id}` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import (
    average_response_minutes,
    first_response_minutes,
    rfp_status,
)
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    count,
    not_null,
    present,
)
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readRfq",
        method="GET",
        path=("rfqs", arguments["rfp_id"]),
        path_arguments=("", "/rfp_id"),
        query=(("fields", "timestamps"),),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return present(
        {
            "rfp_id": body["data"]["id"],
            "status": rfp_status(
                body["data"].get("quoteDeadline"), body["data"]["sellerLift"], call.now
            ),
            "total_operators": len(body["data"]["sellerLift"]),
            "responded": count(
                body["data"]["sellerLift"],
                lambda item: item["sourcingDisplayStatus"] in ("Accepted", "Declined"),
            ),
            "quoted": count(
                body["data"]["sellerLift"], lambda item: item["sourcingDisplayStatus"] == "Accepted"
            ),
            "declined": count(
                body["data"]["sellerLift"], lambda item: item["sourcingDisplayStatus"] == "Declined"
            ),
            "pending": count(
                body["data"]["sellerLift"],
                lambda item: item["sourcingDisplayStatus"] == "Unanswered",
            ),
            "created_at": converted(body["data"]["createdOn"], as_date_time, "/data/createdOn"),
            "deadline": converted(
                body["data"].get("quoteDeadline", ABSENT), as_date_time, "/data/quoteDeadline"
            ),
            "first_response_time_minutes": not_null(
                first_response_minutes(body["data"]["createdOn"], body["data"]["sellerLift"])
            ),
            "average_response_time_minutes": not_null(
                average_response_minutes(body["data"]["createdOn"], body["data"]["sellerLift"])
            ),
        }
    )


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="readRfq",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="rfp_not_found")},
)
