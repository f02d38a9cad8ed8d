# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2dd086957595b54b2287d74b06b09b80; generator 1

"""What quote_received of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import in_dollars, thread_of
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    not_null,
    or_default,
    present,
    reference,
    whole,
)
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


def _operator_profile(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_operator_id": payload["operator"]["id"],
            "company_name": payload["operator"]["name"],
            "rating": not_null(payload["operator"].get("rating")),
            "safety_rating": not_null(payload["operator"].get("safety_rating")),
            "contact_email": not_null(payload["operator"].get("email")),
            "contact_phone": not_null(payload["operator"].get("phone")),
        }
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
                "operator_profiles", {"avinode_operator_id": payload["operator"]["id"]}
            ),
            "status": "received",
            "aircraft_type": payload["aircraft"]["type"],
            "aircraft_id": payload["aircraft"].get("id", ABSENT),
            "aircraft_category": payload["aircraft"].get("category", ABSENT),
            "amenities": payload["aircraft"].get("amenities", ABSENT),
            "flight_minutes": payload.get("flight_minutes", ABSENT),
            "avinode_operator_id": payload["operator"]["id"],
            "operator_name": payload["operator"]["name"],
            "operator_rating": not_null(payload["operator"].get("rating")),
            "operator_safety_rating": not_null(payload["operator"].get("safety_rating")),
            "price": payload["price"]["total"],
            "currency": payload["price"].get("currency", ABSENT),
            "base_price": payload["price"].get("base", ABSENT),
            "taxes_fees": payload["price"].get("taxes_fees", ABSENT),
            "valid_until": converted(
                payload.get("valid_until", ABSENT), as_date_time, "/valid_until"
            ),
            "notes": payload.get("notes", ABSENT),
        }
    )


def _conversation(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_thread_id": thread_of(payload.get("thread_id"), payload["quote_id"]),
            "request_id": reference(
                "requests", whole({"avinode_rfp_id": payload.get("rfp_id", ABSENT)})
            ),
            "quote_id": reference("quotes", {"avinode_quote_id": payload["quote_id"]}),
            "operator_profile_id": reference(
                "operator_profiles", {"avinode_operator_id": payload["operator"]["id"]}
            ),
        }
    )


def _message(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {
        "content_type": "quote_shared",
        "source_id": payload["quote_id"],
        "conversation_id": reference(
            "conversations",
            {"avinode_thread_id": thread_of(payload.get("thread_id"), payload["quote_id"])},
        ),
        "sender_type": "system",
        "sent_at": converted(payload["timestamp"], as_date_time, "/timestamp"),
        "quote_id": reference("quotes", {"avinode_quote_id": payload["quote_id"]}),
        "rich_content": {
            "type": "quote_shared",
            "quote_id": reference("quotes", {"avinode_quote_id": payload["quote_id"]}),
            "operator_name": payload["operator"]["name"],
            "aircraft_type": payload["aircraft"]["type"],
            "price": payload["price"]["total"],
            "currency": or_default(payload["price"].get("currency", ABSENT), "USD"),
            "price_usd": in_dollars(payload["price"]["total"], payload["price"].get("currency")),
        },
    }


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["quote_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "quote_id": payload["quote_id"],
            "row_id": reference("quotes", {"avinode_quote_id": payload["quote_id"]}),
            "rfp_id": payload.get("rfp_id", ABSENT),
            "trip_id": payload.get("trip_id", ABSENT),
            "thread_id": thread_of(payload.get("thread_id"), payload["quote_id"]),
            "operator_id": payload["operator"]["id"],
            "operator_name": payload["operator"]["name"],
            "aircraft_type": payload["aircraft"]["type"],
            "price": payload["price"]["total"],
            "currency": or_default(payload["price"].get("currency", ABSENT), "USD"),
            "price_usd": not_null(
                in_dollars(payload["price"]["total"], payload["price"].get("currency"))
            ),
            "valid_until": converted(
                payload.get("valid_until", ABSENT), as_date_time, "/valid_until"
            ),
        }
    )


EVENT: Final = WebhookEvent(
    type="quote_received",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="operator_profiles", row=_operator_profile),
        EntityEffect(entity="requests", mode="create", row=_request),
        EntityEffect(entity="quotes", row=_quote),
        EntityEffect(entity="conversations", row=_conversation),
        EntityEffect(entity="messages", mode="create", row=_message),
    ),
    emission=Emission(event="gateway.quote.received.v1", subject=_subject, data=_data),
)
