# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 655937ae0988f6a629f7478261174171; generator 1

"""What leads of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.webhook import Emission, WebhookEvent


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {"lead_id": payload["id"], "href": payload["href"]}


EVENT: Final = WebhookEvent(
    type="leads",
    profiles=("pointer",),
    emission=Emission(event="gateway.lead.received.v1", subject=_subject, data=_data),
)
