# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: bd509af3d7e565383363601de9386f4c; generator 1

"""What trip_created of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import own_link
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    not_null,
    present,
    reference,
)
from gateway.contract.webhook import Emission, EntityEffect, WebhookEvent


def _trip(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "avinode_trip_id": payload["trip_id"],
            "status": "active",
            "departure_airport": dig(payload, "flight", "departure_airport"),
            "arrival_airport": dig(payload, "flight", "arrival_airport"),
            "departure_at": converted(
                dig(payload, "flight", "departure_at"), as_date_time, "/flight/departure_at"
            ),
            "passengers": dig(payload, "flight", "passengers"),
            "return_at": converted(payload.get("return_at", ABSENT), as_date_time, "/return_at"),
            "deep_link": not_null(own_link(payload.get("deep_link"), call.settings["link_domain"])),
        }
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["trip_id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "trip_id": payload["trip_id"],
            "row_id": reference("trips", {"avinode_trip_id": payload["trip_id"]}),
            "departure_airport": dig(payload, "flight", "departure_airport"),
            "arrival_airport": dig(payload, "flight", "arrival_airport"),
            "departure_at": converted(
                dig(payload, "flight", "departure_at"), as_date_time, "/flight/departure_at"
            ),
            "passengers": dig(payload, "flight", "passengers"),
            "return_at": converted(payload.get("return_at", ABSENT), as_date_time, "/return_at"),
            "deep_link": not_null(own_link(payload.get("deep_link"), call.settings["link_domain"])),
        }
    )


EVENT: Final = WebhookEvent(
    type="trip_created",
    profiles=("signed",),
    occurred_at="/timestamp",
    effects=(EntityEffect(entity="trips", row=_trip),),
    emission=Emission(event="gateway.trip.created.v1", subject=_subject, data=_data),
)
