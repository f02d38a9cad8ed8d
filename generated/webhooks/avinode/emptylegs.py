# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e899cb0bf4270c619c08f51db06d320e; generator 1

"""What emptylegs of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.webhook import Emission, WebhookEvent


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {"empty_leg_id": payload["id"], "href": payload["href"]}


EVENT: Final = WebhookEvent(
    type="emptylegs",
    profiles=("pointer",),
    emission=Emission(event="gateway.empty_leg.changed.v1", subject=_subject, data=_data),
)
