# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 100649b498e75b7d479fe105f80f1b05; generator 1

"""What quote_rejected of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, present, reference, whole
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


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
            "status": "rejected",
            "rejection_reason": payload.get("reason", ABSENT),
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
            "reason": payload.get("reason", ABSENT),
        }
    )


EVENT: Final = WebhookEvent(
    type="quote_rejected",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="requests", mode="create", row=_request),
        EntityEffect(entity="quotes", row=_quote),
    ),
    emission=Emission(event="gateway.quote.rejected.v1", subject=_subject, data=_data),
)
