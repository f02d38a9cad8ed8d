# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b8ff649ac86289253c8b96f80e8aaf29; generator 1

"""What rfq_updated of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    present,
    reference,
)
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


def _request(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_rfp_id": payload["rfp_id"],
            "avinode_trip_id": payload.get("trip_id", ABSENT),
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


EVENT: Final = WebhookEvent(
    type="rfq_updated",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(EntityEffect(entity="requests", row=_request),),
    emission=Emission(event="gateway.rfq.updated.v1", subject=_subject, data=_data),
)
