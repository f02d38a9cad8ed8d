# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ef26eb1d096abe8fc16cf8d6b09bbba0; generator 1

"""What record_changed of standard does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import as_date_time, converted
from gateway.contract.webhook import Emission, WebhookEvent


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["data"]["id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {
        "record_id": payload["data"]["id"],
        "kind": payload["data"]["kind"],
        "change": payload["data"]["change"],
        "changed_at": converted(payload["timestamp"], as_date_time, "/timestamp"),
    }


EVENT: Final = WebhookEvent(
    type="record_changed",
    profiles=("signed",),
    occurred_at="/timestamp",
    emission=Emission(event="gateway.record.changed.v1", subject=_subject, data=_data),
)
