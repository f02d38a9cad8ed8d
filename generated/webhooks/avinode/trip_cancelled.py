# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e6cdb6f27d88d61f158f072d058a63f0; generator 1

"""What trip_cancelled of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, present, reference
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


def _trip(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_trip_id": payload["trip_id"],
            "status": "cancelled",
            "cancellation_reason": payload.get("reason", ABSENT),
        }
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["trip_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "trip_id": payload["trip_id"],
            "row_id": reference("trips", {"avinode_trip_id": payload["trip_id"]}),
            "reason": payload.get("reason", ABSENT),
        }
    )


EVENT: Final = WebhookEvent(
    type="trip_cancelled",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(EntityEffect(entity="trips", row=_trip),),
    emission=Emission(event="gateway.trip.cancelled.v1", subject=_subject, data=_data),
)
