# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 40e1cf524f602b54dafbec6eb4c40895; generator 1

"""What quote_updated of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import in_dollars
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    not_null,
    present,
    reference,
    whole,
)
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


def _operator_profile(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        present(
            {
                "avinode_operator_id": payload["operator"]["id"],
                "company_name": payload["operator"]["name"],
                "rating": not_null(payload["operator"].get("rating")),
                "safety_rating": not_null(payload["operator"].get("safety_rating")),
                "contact_email": not_null(payload["operator"].get("email")),
                "contact_phone": not_null(payload["operator"].get("phone")),
            }
        )
        if "operator" in payload
        else None
    )


def _request(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        present(
            {"avinode_rfp_id": payload["rfp_id"], "avinode_trip_id": payload.get("trip_id", ABSENT)}
        )
        if "rfp_id" in payload
        else None
    )


def _quote(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_quote_id": payload["quote_id"],
            "avinode_rfp_id": payload.get("rfp_id", ABSENT),
            "request_id": reference(
                "requests", whole({"avinode_rfp_id": payload.get("rfp_id", ABSENT)})
            ),
            "operator_profile_id": reference(
                "operator_profiles", whole({"avinode_operator_id": dig(payload, "operator", "id")})
            ),
            "aircraft_type": dig(payload, "aircraft", "type"),
            "aircraft_id": dig(payload, "aircraft", "id"),
            "aircraft_category": dig(payload, "aircraft", "category"),
            "amenities": dig(payload, "aircraft", "amenities"),
            "flight_minutes": payload.get("flight_minutes", ABSENT),
            "avinode_operator_id": dig(payload, "operator", "id"),
            "operator_name": dig(payload, "operator", "name"),
            "operator_rating": not_null(dig(payload, "operator", "rating")),
            "operator_safety_rating": not_null(dig(payload, "operator", "safety_rating")),
            "price": dig(payload, "price", "total"),
            "currency": dig(payload, "price", "currency"),
            "base_price": dig(payload, "price", "base"),
            "taxes_fees": dig(payload, "price", "taxes_fees"),
            "valid_until": converted(
                payload.get("valid_until", ABSENT), as_date_time, "/valid_until"
            ),
            "notes": payload.get("notes", ABSENT),
        }
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["quote_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "quote_id": payload["quote_id"],
            "row_id": reference("quotes", {"avinode_quote_id": payload["quote_id"]}),
            "rfp_id": payload.get("rfp_id", ABSENT),
            "trip_id": payload.get("trip_id", ABSENT),
            "operator_id": dig(payload, "operator", "id"),
            "operator_name": dig(payload, "operator", "name"),
            "aircraft_type": dig(payload, "aircraft", "type"),
            "price": dig(payload, "price", "total"),
            "currency": dig(payload, "price", "currency"),
            "price_usd": (
                not_null(in_dollars(payload["price"]["total"], payload["price"]["currency"]))
                if dig(payload, "price", "currency") is not ABSENT
                else ABSENT
            ),
            "valid_until": converted(
                payload.get("valid_until", ABSENT), as_date_time, "/valid_until"
            ),
        }
    )


EVENT: Final = WebhookEvent(
    type="quote_updated",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="operator_profiles", row=_operator_profile),
        EntityEffect(entity="requests", mode="create", row=_request),
        EntityEffect(entity="quotes", row=_quote),
    ),
    emission=Emission(event="gateway.quote.updated.v1", subject=_subject, data=_data),
)
