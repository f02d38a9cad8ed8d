# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f2c440800e899dda4372569bb68813de; generator 1

"""What quote_accepted of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fieldmap import (
    ABSENT,
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
from gateway.handlers.avinode_news import in_dollars, quote_accepted_note


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
            "status": "accepted",
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
            "operator_name": dig(payload, "operator", "name"),
            "aircraft_type": dig(payload, "aircraft", "type"),
            "price": dig(payload, "price", "total"),
            "currency": (
                or_default(payload["price"].get("currency", ABSENT), "USD")
                if "price" in payload
                else ABSENT
            ),
            "price_usd": not_null(
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
                "topic": "A quote was accepted",
                "message": quote_accepted_note(
                    payload["quote_id"],
                    payload.get("rfp_id"),
                    or_none(dig(payload, "operator", "name")),
                    or_none(dig(payload, "price", "total")),
                    or_none(dig(payload, "price", "currency")),
                ),
                "agent_name": "The gateway",
                "contact_phone": call.settings["contact_phone"],
            },
        }
        if stated(call.settings, "notification_email") is not ABSENT
        else None
    )


EVENT: Final = WebhookEvent(
    type="quote_accepted",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(EntityEffect(entity="quotes", row=_quote),),
    emission=Emission(event="gateway.quote.accepted.v1", subject=_subject, data=_data),
    notifications=(
        Notification(operation="gmail.send_template_email", arguments=_gmail_send_template_email),
    ),
)
