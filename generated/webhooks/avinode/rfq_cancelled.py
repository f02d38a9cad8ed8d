# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0eed6c019703a4f407c2b263dac5948a; generator 1

"""What rfq_cancelled of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, present, reference
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


def _request(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_rfp_id": payload["rfp_id"],
            "avinode_trip_id": payload.get("trip_id", ABSENT),
            "status": "cancelled",
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
            "reason": payload.get("reason", ABSENT),
        }
    )


EVENT: Final = WebhookEvent(
    type="rfq_cancelled",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(EntityEffect(entity="requests", row=_request),),
    emission=Emission(event="gateway.rfq.cancelled.v1", subject=_subject, data=_data),
)
