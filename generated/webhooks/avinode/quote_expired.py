# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5349bc1760e3e05aa14b09c8b1608778; generator 1

"""What quote_expired of avinode does.

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
            "status": "expired",
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
        }
    )


EVENT: Final = WebhookEvent(
    type="quote_expired",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(
        EntityEffect(entity="requests", mode="create", row=_request),
        EntityEffect(entity="quotes", row=_quote),
    ),
    emission=Emission(event="gateway.quote.expired.v1", subject=_subject, data=_data),
)
