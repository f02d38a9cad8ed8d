# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9d34b5055d87e2702936f9540ea90ae6; generator 1

"""What message_received of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

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


def _conversation(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_thread_id": payload["thread_id"],
            "request_id": reference(
                "requests", whole({"avinode_rfp_id": payload.get("rfp_id", ABSENT)})
            ),
            "quote_id": reference(
                "quotes", whole({"avinode_quote_id": payload.get("quote_id", ABSENT)})
            ),
            "operator_profile_id": reference(
                "operator_profiles", whole({"avinode_operator_id": dig(payload, "operator", "id")})
            ),
            "last_message_at": converted(payload["timestamp"], as_date_time, "/timestamp"),
        }
    )


def _message(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "content_type": "text",
            "source_id": payload["message_id"],
            "conversation_id": reference(
                "conversations", {"avinode_thread_id": payload["thread_id"]}
            ),
            "sender_type": dig(payload, "sender", "type"),
            "sender_name": dig(payload, "sender", "name"),
            "body": payload["message"],
            "sent_at": converted(payload["timestamp"], as_date_time, "/timestamp"),
            "quote_id": reference(
                "quotes", whole({"avinode_quote_id": payload.get("quote_id", ABSENT)})
            ),
        }
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["message_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "message_id": payload["message_id"],
            "row_id": reference(
                "messages", {"content_type": "text", "source_id": payload["message_id"]}
            ),
            "thread_id": payload["thread_id"],
            "conversation_id": reference(
                "conversations", {"avinode_thread_id": payload["thread_id"]}
            ),
            "sender_type": dig(payload, "sender", "type"),
            "sender_name": dig(payload, "sender", "name"),
            "message": payload["message"],
        }
    )


EVENT: Final = WebhookEvent(
    type="message_received",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="operator_profiles", row=_operator_profile),
        EntityEffect(entity="conversations", row=_conversation),
        EntityEffect(entity="messages", row=_message),
    ),
    emission=Emission(event="gateway.message.received.v1", subject=_subject, data=_data),
)
