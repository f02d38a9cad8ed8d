# Generated from schemas/tools/avinode/get_rfp_status.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 11fe4d3bba61bdf1b57687e4d2013f59; generator 1

"""The binding of avinode.get_rfp_status.

Requests go to `GET /rfqs/{id}` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import (
    in_dollars,
    minutes_between,
    rate_date,
    rate_source,
    rfp_status,
)
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    count,
    dig,
    each,
    mapped,
    not_null,
    or_none,
    present,
    text,
)
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest

_FIELDS: Final[Mapping[str, Any]] = {
    "true": "timestamps,latestquote,quotebreakdown",
    "false": "timestamps",
}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readRfq",
        method="GET",
        path=("rfqs", arguments["rfp_id"]),
        path_arguments=("", "/rfp_id"),
        query=(
            (
                "fields",
                text(mapped(arguments.get("include_quotes", False), _FIELDS, "/include_quotes")),
            ),
        ),
    )


def _quote(item: Any, call: CallFacts, body: Any) -> dict[str, Any]:
    return present(
        {
            "quote_id": item["latestQuote"]["id"],
            "thread_id": item["id"],
            "operator_id": item["sellerCompany"]["id"],
            "operator_name": item["sellerCompany"]["displayName"],
            "aircraft_type": item["latestQuote"]["lift"]["aircraftType"]["name"],
            "aircraft_id": item["latestQuote"]["lift"].get("id", ABSENT),
            "currency": item["latestQuote"]["sellerPrice"]["currency"],
            "base_price": dig(item["latestQuote"], "breakdown", "basePrice"),
            "taxes_fees": dig(item["latestQuote"], "breakdown", "taxesAndFees"),
            "total_price": item["latestQuote"]["sellerPrice"]["price"],
            "base_price_usd": not_null(
                in_dollars(
                    or_none(dig(item["latestQuote"], "breakdown", "basePrice")),
                    item["latestQuote"]["sellerPrice"]["currency"],
                    call.now,
                )
            ),
            "taxes_fees_usd": not_null(
                in_dollars(
                    or_none(dig(item["latestQuote"], "breakdown", "taxesAndFees")),
                    item["latestQuote"]["sellerPrice"]["currency"],
                    call.now,
                )
            ),
            "total_price_usd": not_null(
                in_dollars(
                    item["latestQuote"]["sellerPrice"]["price"],
                    item["latestQuote"]["sellerPrice"]["currency"],
                    call.now,
                )
            ),
            "rate_source": not_null(
                rate_source(item["latestQuote"]["sellerPrice"]["currency"], call.now)
            ),
            "rate_date": not_null(
                rate_date(item["latestQuote"]["sellerPrice"]["currency"], call.now)
            ),
            "response_time_minutes": minutes_between(
                body["data"]["createdOn"], item["latestQuote"]["createdOn"]
            ),
            "valid_until": converted(
                item["latestQuote"].get("validUntil", ABSENT),
                as_date_time,
                "/data/sellerLift/*/latestQuote/validUntil",
            ),
            "notes": item["latestQuote"].get("sellerMessage", ABSENT),
        }
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
            "quotes": each(
                body["data"]["sellerLift"],
                lambda item: _quote(item, call, body),
                limit=100,
                keep=lambda item: "latestQuote" in item,
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
