# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: de03265bded6ce6509231c4140330f9b; generator 1

"""What booking_cancelled of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, present, reference, whole
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


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
            "status": "cancelled",
            "cancellation_reason": payload.get("reason", ABSENT),
        }
    )


def _request(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        present(
            {
                "avinode_rfp_id": payload["rfp_id"],
                "avinode_trip_id": payload.get("trip_id", ABSENT),
                "status": "reopened",
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
            "reason": payload.get("reason", ABSENT),
        }
    )


EVENT: Final = WebhookEvent(
    type="booking_cancelled",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="bookings", row=_booking),
        EntityEffect(entity="requests", row=_request),
    ),
    emission=Emission(event="gateway.booking.cancelled.v1", subject=_subject, data=_data),
)
