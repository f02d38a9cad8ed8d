# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 406fe2873f466322a9346697f10d5383; generator 1

"""What rfq_received of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import rfq_received_note
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    or_none,
    present,
    reference,
    stated,
)
from gateway.contract.webhook import Emission, EntityEffect, Notification, WebhookEvent


def _request(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_rfp_id": payload["rfp_id"],
            "avinode_trip_id": payload.get("trip_id", ABSENT),
            "status": "open",
            "buyer_id": dig(payload, "buyer", "id"),
            "buyer_name": dig(payload, "buyer", "name"),
            "departure_airport": dig(payload, "flight", "departure_airport"),
            "arrival_airport": dig(payload, "flight", "arrival_airport"),
            "departure_at": converted(
                dig(payload, "flight", "departure_at"), as_date_time, "/flight/departure_at"
            ),
            "passengers": dig(payload, "flight", "passengers"),
            "quote_deadline_at": converted(
                payload.get("quote_deadline", ABSENT), as_date_time, "/quote_deadline"
            ),
            "special_requirements": payload.get("special_requirements", ABSENT),
        }
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["rfp_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "rfp_id": payload["rfp_id"],
            "row_id": reference("requests", {"avinode_rfp_id": payload["rfp_id"]}),
            "trip_id": payload.get("trip_id", ABSENT),
            "buyer_name": dig(payload, "buyer", "name"),
            "departure_airport": dig(payload, "flight", "departure_airport"),
            "arrival_airport": dig(payload, "flight", "arrival_airport"),
            "departure_at": converted(
                dig(payload, "flight", "departure_at"), as_date_time, "/flight/departure_at"
            ),
            "passengers": dig(payload, "flight", "passengers"),
        }
    )


def _gmail_send_template_email(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        {
            "to": call.settings["notification_email"],
            "template_name": "follow_up",
            "template_data": {
                "client_name": call.settings["notification_name"],
                "topic": "A request for proposal was received",
                "message": rfq_received_note(
                    payload["rfp_id"],
                    or_none(dig(payload, "buyer", "name")),
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
    type="rfq_received",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(EntityEffect(entity="requests", row=_request),),
    emission=Emission(event="gateway.rfq.received.v1", subject=_subject, data=_data),
    notifications=(
        Notification(operation="gmail.send_template_email", arguments=_gmail_send_template_email),
    ),
)
