# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2d93cba825ec8cc839c3e9c193178956; generator 1

"""What rfqs of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import category_of, version_id
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    each,
    not_null,
    or_none,
    present,
)
from gateway.contract.webhook import Derivation, Fetch, MessagePart, WebhookEvent


def _path(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {"id": payload["id"]}


def _query(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {"fields": "timestamps,latestquote,quotebreakdown"}


def _item(item: Any, payload: Any) -> dict[str, Any]:
    return present(
        {
            "event_type": "quote_received",
            "event_id": version_id(item["latestQuote"]["id"], item["latestQuote"]),
            "timestamp": converted(
                item["latestQuote"]["createdOn"],
                as_date_time,
                "/data/sellerLift/*/latestQuote/createdOn",
            ),
            "rfp_id": payload["data"]["id"],
            "trip_id": payload["data"].get("tripId", ABSENT),
            "quote_id": item["latestQuote"]["id"],
            "thread_id": item["id"],
            "operator": present(
                {
                    "id": item["sellerCompany"]["id"],
                    "name": item["sellerCompany"]["displayName"],
                    "rating": item["sellerCompany"].get("rating", ABSENT),
                    "safety_rating": item["sellerCompany"].get("safetyRating", ABSENT),
                }
            ),
            "aircraft": present(
                {
                    "type": item["latestQuote"]["lift"]["aircraftType"]["name"],
                    "id": item["latestQuote"]["lift"].get("id", ABSENT),
                    "category": not_null(
                        category_of(
                            or_none(dig(item["latestQuote"]["lift"], "aircraftCategory", "name"))
                        )
                    ),
                    "amenities": item["latestQuote"]["lift"].get("amenities", ABSENT),
                }
            ),
            "flight_minutes": item["latestQuote"].get("flightMinutes", ABSENT),
            "price": present(
                {
                    "total": item["latestQuote"]["sellerPrice"]["price"],
                    "currency": item["latestQuote"]["sellerPrice"]["currency"],
                    "base": dig(item["latestQuote"], "breakdown", "basePrice"),
                    "taxes_fees": dig(item["latestQuote"], "breakdown", "taxesAndFees"),
                }
            ),
            "valid_until": converted(
                item["latestQuote"].get("validUntil", ABSENT),
                as_date_time,
                "/data/sellerLift/*/latestQuote/validUntil",
            ),
            "notes": item["latestQuote"].get("sellerMessage", ABSENT),
        }
    )


def _quote_received(payload: Any, call: CallFacts) -> Any:
    return each(
        payload["data"]["sellerLift"],
        lambda item: _item(item, payload),
        keep=lambda item: "latestQuote" in item,
    )


EVENT: Final = WebhookEvent(
    type="rfqs",
    profiles=("pointer",),
    fetch=Fetch(
        upstream="avinode",
        operation="readRfq",
        path=_path,
        query=_query,
        href=MessagePart(pointer="/href"),
    ),
    derives=(Derivation(event="quote_received", payloads=_quote_received, message_id="/event_id"),),
)
