# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a46e75f9ad89b0631ebab116e4f28e0f; generator 1

"""What booking_confirmed of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import booking_confirmed_note, in_dollars
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    not_null,
    or_default,
    or_none,
    present,
    reference,
    stated,
    whole,
)
from gateway.contract.webhook import Emission, EntityEffect, Notification, WebhookEvent


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


def _booking(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_booking_id": payload["booking_id"],
            "avinode_rfp_id": payload.get("rfp_id", ABSENT),
            "request_id": reference(
                "requests", whole({"avinode_rfp_id": payload.get("rfp_id", ABSENT)})
            ),
            "quote_id": reference(
                "quotes", whole({"avinode_quote_id": payload.get("quote_id", ABSENT)})
            ),
            "trip_id": reference(
                "trips", whole({"avinode_trip_id": payload.get("trip_id", ABSENT)})
            ),
            "status": "confirmed",
            "operator_profile_id": reference(
                "operator_profiles", whole({"avinode_operator_id": dig(payload, "operator", "id")})
            ),
            "departure_airport": dig(payload, "flight", "departure_airport"),
            "arrival_airport": dig(payload, "flight", "arrival_airport"),
            "departure_at": converted(
                dig(payload, "flight", "departure_at"), as_date_time, "/flight/departure_at"
            ),
            "passengers": dig(payload, "flight", "passengers"),
            "aircraft_type": dig(payload, "aircraft", "type"),
            "total_price": dig(payload, "price", "total"),
            "currency": dig(payload, "price", "currency"),
        }
    )


def _request(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        present(
            {
                "avinode_rfp_id": payload["rfp_id"],
                "avinode_trip_id": payload.get("trip_id", ABSENT),
                "status": "booked",
                "booking_id": reference("bookings", {"avinode_booking_id": payload["booking_id"]}),
            }
        )
        if "rfp_id" in payload
        else None
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["booking_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "booking_id": payload["booking_id"],
            "row_id": reference("bookings", {"avinode_booking_id": payload["booking_id"]}),
            "rfp_id": payload.get("rfp_id", ABSENT),
            "quote_id": payload.get("quote_id", ABSENT),
            "trip_id": payload.get("trip_id", ABSENT),
            "operator_name": dig(payload, "operator", "name"),
            "aircraft_type": dig(payload, "aircraft", "type"),
            "departure_airport": dig(payload, "flight", "departure_airport"),
            "arrival_airport": dig(payload, "flight", "arrival_airport"),
            "departure_at": converted(
                dig(payload, "flight", "departure_at"), as_date_time, "/flight/departure_at"
            ),
            "passengers": dig(payload, "flight", "passengers"),
            "total_price": dig(payload, "price", "total"),
            "currency": (
                or_default(payload["price"].get("currency", ABSENT), "USD")
                if "price" in payload
                else ABSENT
            ),
            "total_price_usd": not_null(
                in_dollars(
                    or_none(dig(payload, "price", "total")),
                    or_none(dig(payload, "price", "currency")),
                )
            ),
        }
    )


def _gmail_send_template_email(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        {
            "to": call.settings["notification_email"],
            "template_name": "follow_up",
            "template_data": {
                "client_name": call.settings["notification_name"],
                "topic": "A booking was confirmed",
                "message": booking_confirmed_note(
                    payload["booking_id"],
                    or_none(dig(payload, "operator", "name")),
                    or_none(dig(payload, "flight", "departure_airport")),
                    or_none(dig(payload, "flight", "arrival_airport")),
                    or_none(dig(payload, "flight", "departure_at")),
                ),
                "agent_name": "The gateway",
                "contact_phone": call.settings["contact_phone"],
            },
        }
        if stated(call.settings, "notification_email") is not ABSENT
        else None
    )


EVENT: Final = WebhookEvent(
    type="booking_confirmed",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="operator_profiles", row=_operator_profile),
        EntityEffect(entity="bookings", row=_booking),
        EntityEffect(entity="requests", row=_request),
    ),
    emission=Emission(event="gateway.booking.confirmed.v1", subject=_subject, data=_data),
    notifications=(
        Notification(operation="gmail.send_template_email", arguments=_gmail_send_template_email),
    ),
)
